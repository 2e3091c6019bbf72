//! What the bits that are set tell of the keys inside and of the false-positive rate.

use super::Filter;
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
        let (ones, hits) = self.kernel.ones_and_hits(&self.blocks);
        let items = sizing::estimate_items(self.num_blocks(), self.k, ones);
        let rate = hits / self.num_blocks() as f64;
        (rate + sizing::shared_probe_rate(self.num_blocks(), items)).min(1.0)
    }

    fn ones(&self) -> u64 {
        self.kernel.ones(&self.blocks)
    }
}
