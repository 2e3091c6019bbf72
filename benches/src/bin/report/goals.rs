//! What gloom wants to reach, and what it has reached.

use crate::table::{markdown, number};
use gloom_benches::{KeyKind, RATE, Results, Row, Threads, Work, name};

/// All goals of which something was measured.
pub fn table(results: &Results) -> String {
    let header = ["goal", "wanted", "reached", ""].map(str::to_owned);
    let lines: Vec<Vec<String>> = all(results).iter().map(Goal::cells).collect();
    if lines.is_empty() {
        return "No goal is set for what was measured.\n".to_owned();
    }
    markdown(&header, 1, &lines)
}

struct Goal {
    what: String,
    limit: Limit,
    unit: Unit,
    reached: f64,
}

#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Clone, Copy)]
enum Unit {
    /// Times the time of the hash.
    Hashes,
    /// Nanoseconds more than the hash.
    OverHash,
    Nanoseconds,
    /// One measurement by another.
    Times,
}

const STRINGS: KeyKind = KeyKind::Strings;
const NUMBERS: KeyKind = KeyKind::Numbers;

/// How gloom was called.
#[derive(Clone, Copy)]
struct Call {
    filter: &'static str,
    work: Work,
    batch: bool,
}

const fn single(filter: &'static str, work: Work) -> Call {
    Call { filter, work, batch: false }
}

const fn batch(filter: &'static str, work: Work) -> Call {
    Call { filter, work, batch: true }
}

impl Call {
    fn text(self) -> String {
        format!("{} {}, {}", if self.batch { "batch" } else { "single" }, self.work.text(), self.filter)
    }

    fn row(self, results: &Results, keys: KeyKind, n: u64, threads: Threads) -> Option<&Row> {
        results.rows.iter().find(|row| {
            (row.keys, row.n, row.p, row.threads) == (keys, n, RATE, threads)
                && (row.filter.as_str(), row.work, row.batch) == (self.filter, self.work, self.batch)
        })
    }
}

fn all(results: &Results) -> Vec<Goal> {
    let tests = [Work::TestHit, Work::TestMiss];
    let mut goals = Vec::new();
    let sizes_of_tests = [(100_000, 1.4), (1_000_000, 1.6), (10_000_000, 2.2), (100_000_000, 3.0)];
    for (n, hashes) in sizes_of_tests {
        goals.extend(tests.map(|work| in_hashes(results, batch(name::ATOMIC, work), n, hashes)));
    }
    for (n, hashes) in [(100_000, 2.2), (1_000_000, 2.2), (10_000_000, 3.0)] {
        goals.push(in_hashes(results, batch(name::PLAIN, Work::Add), n, hashes));
    }
    goals.extend(tests.map(|work| over_hash(results, single(name::ATOMIC, work), 5.0)));
    for (filter, ns) in [(name::PLAIN, 10.0), (name::ATOMIC, 55.0), (name::SHARDED, 16.0)] {
        goals.push(over_hash(results, single(filter, Work::Add), ns));
    }
    goals.push(sharing(results, single(name::ATOMIC, Work::TestHit), 0.9));
    goals.push(sharing(results, batch(name::ATOMIC, Work::TestHit), 0.9));
    goals.push(sharing(results, batch(name::ATOMIC, Work::Add), 0.8));
    goals.push(sharing(results, batch(name::SHARDED, Work::Add), 0.7));
    for n in [1_000_000, 10_000_000] {
        let sharded = batch(name::SHARDED, Work::Add);
        for threads in [Threads::One, Threads::TwoOnOneFilter] {
            let times = Limit::AtLeast(2.8);
            goals.push(compared(results, sharded, batch(name::ATOMIC, Work::Add), threads, n, times));
        }
        let times = Limit::AtMost(1.3);
        goals.push(compared(results, sharded, batch(name::PLAIN, Work::Add), Threads::One, n, times));
    }
    for (n, ns) in [(100_000, 4.5), (1_000_000, 4.5), (10_000_000, 8.0), (100_000_000, 14.0)] {
        goals.extend(tests.map(|work| in_nanoseconds(results, batch(name::ATOMIC, work), n, ns)));
    }
    goals.into_iter().flatten().collect()
}

fn in_hashes(results: &Results, call: Call, n: u64, most: f64) -> Option<Goal> {
    let row = call.row(results, STRINGS, n, Threads::One)?;
    Some(Goal {
        what: format!("{}, {} strings", call.text(), number(n)),
        limit: Limit::AtMost(most),
        unit: Unit::Hashes,
        reached: row.ns / results.hash(row)?,
    })
}

fn over_hash(results: &Results, call: Call, most: f64) -> Option<Goal> {
    let row = call.row(results, STRINGS, 100_000, Threads::One)?;
    Some(Goal {
        what: format!("{}, 10^5 strings", call.text()),
        limit: Limit::AtMost(most),
        unit: Unit::OverHash,
        reached: row.ns - results.hash(row)?,
    })
}

fn in_nanoseconds(results: &Results, call: Call, n: u64, most: f64) -> Option<Goal> {
    let row = call.row(results, NUMBERS, n, Threads::One)?;
    Some(Goal {
        what: format!("{}, {} u64", call.text(), number(n)),
        limit: Limit::AtMost(most),
        unit: Unit::Nanoseconds,
        reached: row.ns,
    })
}

/// Two threads on one filter, as fast as two threads on a filter each.
fn sharing(results: &Results, call: Call, least: f64) -> Option<Goal> {
    let n = 10_000_000;
    let shared = call.row(results, STRINGS, n, Threads::TwoOnOneFilter)?;
    let apart = call.row(results, STRINGS, n, Threads::TwoOnTwoFilters)?;
    Some(Goal {
        what: format!(
            "{}, {} strings, 2 threads: as fast on one filter as on a filter each",
            call.text(),
            number(n)
        ),
        limit: Limit::AtLeast(least),
        unit: Unit::Times,
        reached: apart.ns / shared.ns,
    })
}

/// One kind and another: how many times as fast, or at most how many times as slow.
fn compared(
    results: &Results,
    call: Call,
    other: Call,
    threads: Threads,
    n: u64,
    limit: Limit,
) -> Option<Goal> {
    let ns = call.row(results, STRINGS, n, threads)?.ns;
    let other_ns = other.row(results, STRINGS, n, threads)?.ns;
    let num_threads = if threads == Threads::One { "1 thread" } else { "2 threads" };
    let (relation, reached) = match limit {
        Limit::AtLeast(_) => ("as fast as", other_ns / ns),
        Limit::AtMost(_) => ("as long as", ns / other_ns),
    };
    Some(Goal {
        what: format!("{}, {} strings, {num_threads}: {relation} {}", call.text(), number(n), other.filter),
        limit,
        unit: Unit::Times,
        reached,
    })
}

impl Goal {
    fn cells(&self) -> Vec<String> {
        let (relation, limit) = match self.limit {
            Limit::AtMost(limit) => ("≤", limit),
            Limit::AtLeast(limit) => ("≥", limit),
        };
        let wanted = format!("{relation} {}", self.unit.text(limit, 1));
        vec![self.what.clone(), wanted, self.unit.text(self.reached, 2), self.verdict()]
    }

    fn verdict(&self) -> String {
        let (limit, missing) = match self.limit {
            Limit::AtMost(limit) => (limit, self.reached - limit),
            Limit::AtLeast(limit) => (limit, limit - self.reached),
        };
        if missing <= 0.0 {
            return "met".to_owned();
        }
        match self.unit {
            Unit::OverHash | Unit::Nanoseconds => format!("missed by {missing:.2} ns"),
            Unit::Hashes | Unit::Times => format!("missed by {:.1} %", missing / limit * 100.0),
        }
    }
}

impl Unit {
    fn text(self, value: f64, digits: usize) -> String {
        match self {
            Unit::Hashes => format!("{value:.digits$} H"),
            Unit::OverHash => {
                format!("H {} {:.digits$} ns", if value < 0.0 { '-' } else { '+' }, value.abs())
            }
            Unit::Nanoseconds => format!("{value:.digits$} ns"),
            Unit::Times => format!("{value:.digits$} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u64, threads: Threads, call: Call, ns: f64) -> Row {
        Row {
            keys: STRINGS,
            n,
            p: RATE,
            threads,
            filter: call.filter.to_owned(),
            work: call.work,
            batch: call.batch,
            ns,
            rate: None,
            bits_per_key: None,
        }
    }

    fn cells(rows: Vec<Row>) -> Vec<Vec<String>> {
        all(&Results { machine: Default::default(), rows }).iter().map(Goal::cells).collect()
    }

    #[test]
    fn goals_in_hashes_are_met_or_missed() {
        let mut rows = vec![
            row(100_000, Threads::One, single(name::HASH, Work::Hash), 5.0),
            row(100_000, Threads::One, batch(name::ATOMIC, Work::TestHit), 7.0),
            row(100_000, Threads::One, batch(name::ATOMIC, Work::TestMiss), 10.5),
            row(100_000, Threads::One, single(name::PLAIN, Work::Add), 16.0),
        ];
        let expected = [
            ["batch test, hit, gloom atomic, 10^5 strings", "≤ 1.4 H", "1.40 H", "met"],
            ["batch test, miss, gloom atomic, 10^5 strings", "≤ 1.4 H", "2.10 H", "missed by 50.0 %"],
            ["single add, gloom plain, 10^5 strings", "≤ H + 10.0 ns", "H + 11.00 ns", "missed by 1.00 ns"],
        ];
        assert_eq!(cells(rows.clone()), expected);
        // Without the hash of the same run there is nothing to compare with.
        rows.remove(0);
        assert!(cells(rows).is_empty());
    }

    #[test]
    fn goals_for_two_threads_compare_with_the_same_run() {
        let n = 10_000_000;
        let sharded = batch(name::SHARDED, Work::Add);
        let rows = vec![
            row(n, Threads::TwoOnOneFilter, sharded, 12.0),
            row(n, Threads::TwoOnTwoFilters, sharded, 6.0),
            row(n, Threads::TwoOnOneFilter, batch(name::ATOMIC, Work::Add), 36.0),
        ];
        let sharing =
            "batch add, gloom sharded, 10^7 strings, 2 threads: as fast on one filter as on a filter each";
        let speed = "batch add, gloom sharded, 10^7 strings, 2 threads: as fast as gloom atomic";
        let expected = [
            [sharing, "≥ 0.7 times", "0.50 times", "missed by 28.6 %"],
            [speed, "≥ 2.8 times", "3.00 times", "met"],
        ];
        assert_eq!(cells(rows), expected);
    }
}
