//! What several tests need.
#![allow(dead_code)] // no test needs all of it

use gloom::{Filter, Kind, Options};

pub const KINDS: [Kind; 3] = [Kind::Plain, Kind::Atomic, Kind::Sharded];

/// A filter of exactly this size.
pub fn filter(kind: Kind, num_blocks: u64, k: u32) -> Filter {
    Filter::create(&Options::for_blocks(num_blocks, k).kind(kind)).unwrap()
}

/// The same, sharded.
pub fn sharded(num_blocks: u64, k: u32, num_shards: u32) -> Filter {
    let options = Options::for_blocks(num_blocks, k).kind(Kind::Sharded);
    Filter::create(&Options { num_shards, ..options }).unwrap()
}

/// A number that looks random, another one for each `i` (SplitMix64 of Steele, Lea and Flood, 2014).
pub fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A key that looks random; equal keys have equal numbers.
pub fn key(i: u64) -> [u8; 8] {
    mix(i).to_le_bytes()
}
