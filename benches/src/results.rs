//! What was measured.

use crate::Machine;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// The false-positive rate at which everything is measured.
pub const RATE: f64 = 0.01;

/// The names of the filters in the report.
pub mod name {
    pub const HASH: &str = "XXH3-128 alone";
    pub const HASH_AGAIN: &str = "XXH3-128 alone, last";
    pub const PLAIN: &str = "gloom plain";
    pub const ATOMIC: &str = "gloom atomic";
    pub const SHARDED: &str = "gloom sharded";
    pub const FROM_RUST: &str = "gloom atomic, from Rust";
    pub const MUTEX: &str = "gloom plain in a mutex";
    pub const FASTBLOOM: &str = "fastbloom";
    pub const FASTBLOOM_XXH3: &str = "fastbloom, XXH3";
    pub const FASTBLOOM_ATOMIC: &str = "fastbloom atomic";
    pub const SBBF: &str = "sbbf-rs-safe, XXH3";
    pub const BLOOMFILTER: &str = "bloomfilter";
}

/// One run of the benchmarks.
#[derive(Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    pub rows: Vec<Row>,
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub keys: KeyKind,
    /// Keys that the filter was made for, and how many it held in the end.
    pub n: u64,
    /// The false-positive rate that was asked for.
    pub p: f64,
    pub threads: Threads,
    pub filter: String,
    pub work: Work,
    /// All keys in one call?
    pub batch: bool,
    /// Wall time for each key, whichever thread handled it.
    pub ns: f64,
    /// The part of the absent keys that was found; the hash alone has none.
    pub rate: Option<f64>,
    pub bits_per_key: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum KeyKind {
    Strings,
    Numbers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Threads {
    One,
    /// Two threads, each with half of the keys, on one filter.
    TwoOnOneFilter,
    /// The same, but each on a filter of its own of half the size.
    TwoOnTwoFilters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Work {
    Hash,
    /// Keys that were added.
    TestHit,
    /// Keys that were not.
    TestMiss,
    /// New keys, from empty to full.
    Add,
}

impl KeyKind {
    pub fn text(self) -> &'static str {
        match self {
            KeyKind::Strings => "strings",
            KeyKind::Numbers => "u64",
        }
    }
}

impl Threads {
    pub fn text(self) -> &'static str {
        match self {
            Threads::One => "1",
            Threads::TwoOnOneFilter => "2, one filter",
            Threads::TwoOnTwoFilters => "2, a filter each",
        }
    }
}

impl Work {
    pub fn text(self) -> &'static str {
        match self {
            Work::Hash => "hash",
            Work::TestHit => "test, hit",
            Work::TestMiss => "test, miss",
            Work::Add => "add",
        }
    }
}

impl Results {
    pub fn read(path: &Path) -> io::Result<Results> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_vec_pretty(self)?)
    }

    /// H, the time that the hash alone takes for keys such as this row's. It is measured first and last, so that
    /// one disturbance does not make everything else look fast: the shorter time counts.
    pub fn hash(&self, row: &Row) -> Option<f64> {
        let is_hash = |hash: &&Row| hash.work == Work::Hash && (hash.keys, hash.n) == (row.keys, row.n);
        self.rows.iter().filter(is_hash).map(|hash| hash.ns).min_by(f64::total_cmp)
    }

    /// The numbers of keys, from few to many.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.rows.iter().map(|row| row.n).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}
