//! How long adds and tests take, in gloom and in its peers.
//!
//! One operation is a whole set of keys: all are added to an empty filter, or all are tested. Every filter gets the
//! same keys in the same order. Single calls are a loop over the keys, a batch is one call.
//!
//! `BENCH_SIZES=1000,100000` sets the numbers of keys, `BENCH_QUICK=1` leaves out most peers and rates.
//! The results go to target/tmp/bench/results.json, or quick.json. `cargo test` runs each benchmark once, with few keys.

mod cores;
mod filters;
mod measure;
mod one_thread;
mod plan;
mod two_threads;

use cores::Cores;
use gloom_benches::keys::{self, Numbers};
use gloom_benches::{KeyKind, Machine};
use measure::Bench;
use plan::Plan;

/// Keys of one kind, to add and to be absent.
struct KeySets<K> {
    kind: KeyKind,
    present: K,
    absent: K,
}

fn main() {
    let plan = Plan::from_environment();
    let cores = Cores::of_this_process();
    if let Some(core) = cores.first() {
        cores::pin(core);
    }
    let mut bench = Bench::new();
    for &n in &plan.sizes {
        strings(&mut bench, &plan, &cores, n);
        numbers(&mut bench, &plan, n);
    }
    bench.finish(Machine::this(cores.len(), &filters::simd_level()), plan.file());
}

fn strings(bench: &mut Bench, plan: &Plan, cores: &Cores, n: usize) {
    let [present, absent] = keys::strings(n);
    let sets = KeySets { kind: KeyKind::Strings, present: present.all(), absent: absent.all() };
    one_thread::measure(bench, plan, &sets);
    match cores.two() {
        Some(cores) => two_threads::measure(bench, plan, &sets, cores),
        None => eprintln!("there is one core: nothing is measured with two threads"),
    }
}

fn numbers(bench: &mut Bench, plan: &Plan, n: usize) {
    let [present, absent] = keys::numbers(n);
    let (present, absent) = (Numbers::new(&present), Numbers::new(&absent));
    one_thread::measure(bench, plan, &KeySets { kind: KeyKind::Numbers, present, absent });
}
