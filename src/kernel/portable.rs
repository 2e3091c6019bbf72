//! Kernels in plain Rust, one for each k, so that every remainder is one by a constant.

use super::probe::{Probe, entry_points};
use super::tables::Tables;
use super::{Kernel, hash, or_block, or_block_shared, read_block};
use crate::layout::{BLOCK_WORDS, sizes_and_offsets};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;

pub(super) fn kernel(k: u32) -> Kernel {
    match k {
        3 => of::<3>(k),
        4 => of::<4>(k),
        5 => of::<5>(k),
        6 => of::<6>(k),
        7 => of::<7>(k),
        8 => of::<8>(k),
        9 => of::<9>(k),
        10 => of::<10>(k),
        11 => of::<11>(k),
        12 => of::<12>(k),
        13 => of::<13>(k),
        14 => of::<14>(k),
        15 => of::<15>(k),
        16 => of::<16>(k),
        _ => of::<17>(k),
    }
}

entry_points! {
    fn of<const K: usize>() -> Portable<K>, c"portable", hash::one_by_one;
}

struct Portable<const K: usize>;

impl<const K: usize> Probe<'_> for Portable<K> {
    #[inline(always)]
    unsafe fn new(_: &Tables) -> Self {
        Portable
    }

    /// No branch per probe: which bit of a missing key is clear cannot be predicted, and a
    /// misprediction costs more than the probes that would be saved.
    #[inline(always)]
    unsafe fn test(&self, block: &Block, probe: u32) -> bool {
        let (sizes, offsets) = const { sizes_and_offsets::<K>() };
        let mut set = 1;
        for i in 0..K {
            let bit = offsets[i] + probe % sizes[i];
            set &= block.words[(bit / 64) as usize].load(Relaxed) >> (bit % 64);
        }
        set & 1 == 1
    }

    #[inline(always)]
    unsafe fn set(&self, block: &Block, probe: u32) -> bool {
        or_block(block, &masks::<K>(probe))
    }

    #[inline(always)]
    unsafe fn set_shared(&self, block: &Block, probe: u32) -> bool {
        or_block_shared(block, &masks::<K>(probe))
    }

    #[inline(always)]
    unsafe fn or(target: &Block, source: &Block) {
        or_block(target, &read_block(source));
    }

    #[inline(always)]
    unsafe fn or_shared(target: &Block, source: &Block) {
        or_block_shared(target, &read_block(source));
    }

    #[inline(always)]
    unsafe fn and(target: &Block, source: &Block) {
        for (word, mask) in target.words.iter().zip(read_block(source)) {
            let old = word.load(Relaxed);
            if old & !mask != 0 {
                word.store(old & mask, Relaxed);
            }
        }
    }
}

/// The bits of a probe, by word.
#[inline(always)]
fn masks<const K: usize>(probe: u32) -> [u64; BLOCK_WORDS] {
    let (sizes, offsets) = const { sizes_and_offsets::<K>() };
    let mut masks = [0; BLOCK_WORDS];
    for i in 0..K {
        let bit = offsets[i] + probe % sizes[i];
        masks[(bit / 64) as usize] |= 1 << (bit % 64);
    }
    masks
}
