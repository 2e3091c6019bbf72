//! Criterion, and its estimates as rows.

use crate::plan::is_test;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use gloom_benches::{Machine, Results, Row};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

pub struct Bench {
    criterion: Criterion,
    folder: PathBuf,
    started: SystemTime,
    rows: Vec<Row>,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench");
        fs::create_dir_all(&folder).expect("the target folder is writable");
        // One sweep over 10^5 keys takes about a millisecond and one over 10^7 a tenth of a second, so few
        // samples are enough, and the many that are usual would take hours.
        let criterion = Criterion::default()
            .sample_size(10)
            .warm_up_time(Duration::from_millis(50))
            .measurement_time(Duration::from_millis(250))
            .nresamples(2000)
            .output_directory(&folder.join("criterion"))
            .configure_from_args();
        Bench { criterion, folder, started: SystemTime::now(), rows: Vec::new() }
    }

    /// Measures `operation`, which handles all keys once and says how long that took, and keeps the row with the
    /// time filled in.
    pub fn run(&mut self, row: Row, mut operation: impl FnMut() -> Duration) {
        // As folders are named.
        let safe = |text: &str| -> String {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
        };
        let group_name =
            safe(&format!("{} {} p{} threads {}", row.keys.text(), row.n, row.p, row.threads.text()));
        let work = safe(&format!("{} {}", if row.batch { "batch" } else { "single" }, row.work.text()));
        let filter = safe(&row.filter);

        let mut group = self.criterion.benchmark_group(&group_name);
        group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(row.n));
        group.bench_function(BenchmarkId::new(&filter, &work), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| operation()).sum());
        });
        group.finish();

        let folder = self.folder.join("criterion").join(group_name).join(filter).join(work);
        if let Some(sweep) = self.estimate(&folder) {
            self.rows.push(Row { ns: sweep / row.n as f64, ..row });
        }
    }

    /// The median of the samples in ns, unless this benchmark was not measured (in tests, or if the command line
    /// has asked for others).
    fn estimate(&self, folder: &Path) -> Option<f64> {
        let path = folder.join("new/estimates.json");
        let is_new = path.metadata().and_then(|data| data.modified()).is_ok_and(|time| time >= self.started);
        if !is_new {
            return None;
        }
        let text = fs::read(path).expect("Criterion's estimates can be read");
        let estimates: serde_json::Value = serde_json::from_slice(&text).expect("Criterion writes JSON");
        Some(estimates["median"]["point_estimate"].as_f64().expect("Criterion estimates the median"))
    }

    /// Writes all rows to a file.
    pub fn finish(self, machine: Machine, file: &str) {
        self.criterion.final_summary();
        if is_test() {
            return;
        }
        let path = self.folder.join(file);
        Results { machine, rows: self.rows }.write(&path).expect("the target folder is writable");
        println!("results: {}", path.display());
    }
}

/// How long the work takes.
pub fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    black_box(work());
    begin.elapsed()
}
