//! One thread: all filters.

use crate::KeySets;
use crate::filters::{Entry, Filter, for_one_thread, hash_all};
use crate::measure::{Bench, timed};
use crate::plan::Plan;
use gloom_benches::keys::KeySet;
use gloom_benches::{RATE, Row, Threads, Work, name};
use std::hint::black_box;

pub fn measure<'a, K: KeySet<'a>>(bench: &mut Bench, plan: &Plan, sets: &KeySets<K>) {
    let n = sets.present.len();
    measure_hash(bench, sets, name::HASH);
    let mut results = vec![0; n];
    for p in plan.rates(sets.kind, n) {
        for entry in for_one_thread() {
            if plan.wants(entry.name, sets.kind, n) {
                measure_filter(bench, sets, &entry, p, &mut results);
            }
        }
    }
    measure_hash(bench, sets, name::HASH_AGAIN);
}

fn measure_hash<'a, K: KeySet<'a>>(bench: &mut Bench, sets: &KeySets<K>, name: &str) {
    let row = Row {
        keys: sets.kind,
        n: sets.present.len() as u64,
        p: RATE,
        threads: Threads::One,
        filter: name.to_owned(),
        work: Work::Hash,
        batch: false,
        ns: 0.0,
        rate: None,
        bits_per_key: None,
    };
    bench.run(row, || timed(|| hash_all(black_box(sets.present))));
}

fn measure_filter<'a, K: KeySet<'a>>(
    bench: &mut Bench,
    sets: &KeySets<K>,
    entry: &Entry<dyn Filter<K>>,
    p: f64,
    results: &mut [u8],
) {
    let n = sets.present.len();
    let mut filter = (entry.make)(n, p);
    filter.add_all(sets.present);
    assert_eq!(filter.test_all(sets.present, results), n, "{} has lost a key", entry.name);
    let false_positives = filter.test_all(sets.absent, results);
    assert!(false_positives < n / 2, "{} finds what it does not have", entry.name);

    for &work in entry.works {
        let row = Row {
            keys: sets.kind,
            n: n as u64,
            p,
            threads: Threads::One,
            filter: entry.name.to_owned(),
            work,
            batch: entry.batch,
            ns: 0.0,
            rate: Some(false_positives as f64 / n as f64),
            bits_per_key: Some(filter.bits() as f64 / n as f64),
        };
        bench.run(row, || match work {
            Work::Hash => unreachable!("filters do more"),
            Work::TestHit => timed(|| filter.test_all(sets.present, results)),
            Work::TestMiss => timed(|| filter.test_all(sets.absent, results)),
            Work::Add => {
                filter.clear();
                timed(|| filter.add_all(sets.present))
            }
        });
    }
}
