//! Kernels in plain Rust, one for each k, so that every remainder is one by a constant.

use super::{Kernel, or_block, or_block_shared};
use crate::layout::{BLOCK_WORDS, sizes_and_offsets};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;

pub(super) fn kernel(k: u32) -> Kernel {
    match k {
        3 => of::<3>(),
        4 => of::<4>(),
        5 => of::<5>(),
        6 => of::<6>(),
        7 => of::<7>(),
        8 => of::<8>(),
        9 => of::<9>(),
        10 => of::<10>(),
        11 => of::<11>(),
        12 => of::<12>(),
        13 => of::<13>(),
        14 => of::<14>(),
        15 => of::<15>(),
        16 => of::<16>(),
        _ => of::<17>(),
    }
}

const fn of<const K: usize>() -> Kernel {
    Kernel {
        name: c"portable",
        test: test::<K>,
        set: |block, probe| or_block(block, &masks::<K>(probe)),
        set_shared: |block, probe| or_block_shared(block, &masks::<K>(probe)),
    }
}

/// No branch per probe: which bit of a missing key is clear cannot be predicted, and a misprediction
/// costs more than the probes that would be saved.
#[inline]
fn test<const K: usize>(block: &Block, probe: u32) -> bool {
    let (sizes, offsets) = const { sizes_and_offsets::<K>() };
    let mut set = 1;
    for i in 0..K {
        let bit = offsets[i] + probe % sizes[i];
        set &= block.words[(bit / 64) as usize].load(Relaxed) >> (bit % 64);
    }
    set & 1 == 1
}

/// The bits of a probe, by word.
#[inline]
fn masks<const K: usize>(probe: u32) -> [u64; BLOCK_WORDS] {
    let (sizes, offsets) = const { sizes_and_offsets::<K>() };
    let mut masks = [0; BLOCK_WORDS];
    for i in 0..K {
        let bit = offsets[i] + probe % sizes[i];
        masks[(bit / 64) as usize] |= 1 << (bit % 64);
    }
    masks
}
