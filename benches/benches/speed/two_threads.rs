//! Two threads, each on a core of its own: on one filter, and for comparison on a filter each.

use crate::KeySets;
use crate::cores::{CoreId, pin};
use crate::filters::{Entry, SharedFilter, for_two_threads};
use crate::measure::Bench;
use crate::plan::Plan;
use gloom_benches::keys::KeySet;
use gloom_benches::{RATE, Row, Threads, Work};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub fn measure<'a, K: KeySet<'a>>(bench: &mut Bench, plan: &Plan, sets: &KeySets<K>, cores: [CoreId; 2]) {
    let mut results = vec![0; sets.present.len()];
    for entry in for_two_threads() {
        if plan.wants(entry.name, sets.kind, sets.present.len()) {
            for threads in [Threads::TwoOnOneFilter, Threads::TwoOnTwoFilters] {
                measure_filter(bench, sets, &entry, threads, cores, &mut results);
            }
        }
    }
}

fn measure_filter<'a, K: KeySet<'a>>(
    bench: &mut Bench,
    sets: &KeySets<K>,
    entry: &Entry<dyn SharedFilter<K>>,
    threads: Threads,
    cores: [CoreId; 2],
    results: &mut [u8],
) {
    // As many keys in all, and as many bits, however many filters there are.
    let num_filters = if threads == Threads::TwoOnTwoFilters { 2 } else { 1 };
    let n = sets.present.len();
    let mut filters: Vec<_> = (0..num_filters).map(|_| (entry.make)(n.div_ceil(num_filters), RATE)).collect();
    let present = sets.present.halves();
    let absent = sets.absent.halves();

    // What each thread does with its half.
    let add = |filters: &[Box<dyn SharedFilter<K>>]| {
        together(cores, present, |thread, keys| filters[thread % num_filters].add_all_shared(keys))
    };
    let test = |filters: &[Box<dyn SharedFilter<K>>], halves: [K; 2], results: &mut [u8]| {
        let (first, second) = results.split_at_mut(halves[0].len());
        let hits = AtomicUsize::new(0);
        let work = [(halves[0], first), (halves[1], second)];
        let time = together(cores, work, |thread, (keys, results)| {
            let found = filters[thread % num_filters].test_all(keys, results);
            hits.fetch_add(black_box(found), Ordering::Relaxed);
        });
        (time, hits.into_inner())
    };

    add(&filters);
    let false_positives = test(&filters, absent, results).1;
    for &work in entry.works {
        let row = Row {
            keys: sets.kind,
            n: n as u64,
            p: RATE,
            threads,
            filter: entry.name.to_owned(),
            work,
            batch: entry.batch,
            ns: 0.0,
            rate: Some(false_positives as f64 / n as f64),
            bits_per_key: Some(filters.iter().map(|filter| filter.bits()).sum::<u64>() as f64 / n as f64),
        };
        bench.run(row, || match work {
            Work::Hash => unreachable!("filters do more"),
            Work::TestHit => test(&filters, present, results).0,
            Work::TestMiss => test(&filters, absent, results).0,
            Work::Add => {
                filters.iter_mut().for_each(|filter| filter.clear());
                add(&filters)
            }
        });
    }
    assert_eq!(test(&filters, present, results).1, n, "{} has lost a key", entry.name);
}

/// Lets two threads do their parts of the work at the same time; returns the time from when the first one
/// begins until the last one ends.
fn together<T: Send>(cores: [CoreId; 2], parts: [T; 2], work: impl Fn(usize, T) + Sync) -> Duration {
    let ready = AtomicUsize::new(0);
    let run = |thread: usize, part: T| {
        pin(cores[thread]);
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        let begin = Instant::now();
        work(thread, part);
        (begin, Instant::now())
    };
    let run = &run;
    let [first, second] = parts;
    let times = thread::scope(|scope| {
        let threads = [scope.spawn(move || run(0, first)), scope.spawn(move || run(1, second))];
        threads.map(|thread| thread.join().expect("the thread does not panic"))
    });
    times[0].1.max(times[1].1) - times[0].0.min(times[1].0)
}
