//! What is measured, of all that could be.

use gloom_benches::{KeyKind, RATE, name};
use std::env;

/// Rates that are measured at one number of keys.
const OTHER_RATES: [f64; 3] = [0.1, 0.001, 0.0001];

pub struct Plan {
    pub sizes: Vec<usize>,
    quick: bool,
}

impl Plan {
    pub fn from_environment() -> Plan {
        let quick = env::var_os("BENCH_QUICK").is_some();
        let mut sizes: Vec<usize> = match env::var("BENCH_SIZES") {
            Ok(sizes) => {
                sizes.split(',').map(|n| n.trim().parse().expect("BENCH_SIZES has numbers")).collect()
            }
            Err(_) if is_test() => vec![1000],
            Err(_) if quick => vec![100_000, 1_000_000],
            Err(_) => vec![100_000, 1_000_000, 10_000_000],
        };
        sizes.sort_unstable();
        assert!(sizes.iter().all(|&n| n >= 2), "two threads need two keys");
        Plan { sizes, quick }
    }

    /// Where the results go. A quick run does not replace those of a long one.
    pub fn file(&self) -> &'static str {
        if self.quick { "quick.json" } else { "results.json" }
    }

    /// The rates to measure with `n` keys: all at 10^6 (or at the most keys below), one elsewhere.
    pub fn rates(&self, keys: KeyKind, n: usize) -> Vec<f64> {
        let mut rates = vec![RATE];
        let at = self.sizes.iter().filter(|&&n| n <= 1_000_000).max();
        if at == Some(&n) && keys == KeyKind::Strings && !self.quick {
            rates.extend(OTHER_RATES);
        }
        rates
    }

    pub fn wants(&self, filter: &str, keys: KeyKind, n: usize) -> bool {
        let is_gloom = [name::PLAIN, name::ATOMIC, name::SHARDED].contains(&filter);
        let is_slow =
            [name::BLOOMFILTER, name::MUTEX, name::FROM_RUST, name::FASTBLOOM_XXH3].contains(&filter);
        let is_fastbloom = filter.starts_with(name::FASTBLOOM);
        let is_for_numbers = is_gloom || [name::FASTBLOOM, name::SBBF].contains(&filter);
        (is_gloom || is_fastbloom || !self.quick)
            && (keys == KeyKind::Strings || is_for_numbers)
            // A sweep of 10^8 keys takes these half a minute.
            && !(is_slow && n > 50_000_000)
    }
}

/// `cargo bench` passes this option, `cargo test` does not; Criterion looks at it in the same way.
pub fn is_test() -> bool {
    !env::args().any(|argument| argument == "--bench") || env::args().any(|argument| argument == "--test")
}
