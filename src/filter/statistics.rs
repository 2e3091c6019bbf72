//! What the bits that are set tell of the keys inside and of the false-positive rate.

use super::Filter;
use crate::kernel::read_block;
use crate::layout::{BLOCK_WORDS, partitions};
use crate::sizing;

impl Filter {
    /// The number of distinct keys, estimated from the bits; duplicates do not inflate it.
    /// `u64::MAX` if all bits are set. Reads the whole filter.
    pub fn estimate_items(&self) -> u64 {
        sizing::estimate_items(self.num_blocks(), self.k, self.ones())
    }

    /// The part of the bits that is set, from 0 to 1. Reads the whole filter.
    pub fn fill_ratio(&self) -> f64 {
        self.ones() as f64 / self.bit_capacity() as f64
    }

    /// The false-positive rate that the bits give now, from 0 to 1: the chance that all bits of a
    /// random absent key are set, computed block by block. Reads the whole filter.
    pub fn current_fp_rate(&self) -> f64 {
        let mut hits = 0.0;
        let mut ones = 0;
        for block in self.blocks.iter() {
            let words = read_block(block);
            if words == [0; BLOCK_WORDS] {
                continue;
            }
            let ranks = Ranks::new(&words);
            let mut hit = 1.0;
            let mut offset = 0;
            for &size in partitions(self.k) {
                let set = ranks.below(offset + size) - ranks.below(offset);
                hit *= f64::from(set) / f64::from(size);
                offset += size;
            }
            hits += hit;
            ones += u64::from(ranks.below(offset));
        }
        let items = sizing::estimate_items(self.num_blocks(), self.k, ones);
        let rate = hits / self.num_blocks() as f64;
        (rate + sizing::shared_probe_rate(self.num_blocks(), items)).min(1.0)
    }

    fn ones(&self) -> u64 {
        let ones =
            |words: [u64; BLOCK_WORDS]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.blocks.iter().map(|block| ones(read_block(block))).sum()
    }
}

/// How many bits of a block are set below a position.
struct Ranks<'a> {
    words: &'a [u64; BLOCK_WORDS],
    before: [u32; BLOCK_WORDS + 1],
}

impl Ranks<'_> {
    fn new(words: &[u64; BLOCK_WORDS]) -> Ranks<'_> {
        let mut before = [0; BLOCK_WORDS + 1];
        for (i, word) in words.iter().enumerate() {
            before[i + 1] = before[i] + word.count_ones();
        }
        Ranks { words, before }
    }

    fn below(&self, bit: u32) -> u32 {
        let word = (bit / 64) as usize;
        let partial = match self.words.get(word) {
            Some(word) => (word & ((1 << (bit % 64)) - 1)).count_ones(),
            None => 0,
        };
        self.before[word] + partial
    }
}
