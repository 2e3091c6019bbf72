//! The kernel in plain Rust. What is done with a probe is compiled for each k, so that every remainder is one by a
//! constant; the rest once.

use super::probe::{Combine, Probe, entry_points};
use super::tables::Vector;
use super::{hash, or_block, or_block_shared, read_block};
use crate::layout::{BLOCK_WORDS, MAX_K, MIN_K, sizes_and_offsets};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;

entry_points! {
    fn kernel() -> &'static Portable, WordByWord, c"portable", hash::one_by_one;
}

/// The functions of one k.
struct Portable {
    test: fn(&Block, u32) -> bool,
    masks: fn(u32) -> [u64; BLOCK_WORDS],
}

static BY_K: [Portable; (MAX_K - MIN_K + 1) as usize] = [
    of::<3>(),
    of::<4>(),
    of::<5>(),
    of::<6>(),
    of::<7>(),
    of::<8>(),
    of::<9>(),
    of::<10>(),
    of::<11>(),
    of::<12>(),
    of::<13>(),
    of::<14>(),
    of::<15>(),
    of::<16>(),
    of::<17>(),
];

const fn of<const K: usize>() -> Portable {
    Portable { test: test::<K>, masks: masks::<K> }
}

impl<'a> Probe<'a> for &'static Portable {
    #[inline(always)]
    unsafe fn new(vectors: &'a [Vector]) -> Self {
        &BY_K[(vectors[0].k - MIN_K) as usize]
    }

    #[inline(always)]
    unsafe fn test(&self, block: &Block, probe: u32) -> bool {
        (self.test)(block, probe)
    }

    #[inline(always)]
    unsafe fn set(&self, block: &Block, probe: u32) -> bool {
        or_block(block, &(self.masks)(probe))
    }

    #[inline(always)]
    unsafe fn set_shared(&self, block: &Block, probe: u32) -> bool {
        or_block_shared(block, &(self.masks)(probe))
    }
}

struct WordByWord;

impl Combine for WordByWord {
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

/// Calls a closure with 0, 1, ... K - 1. A loop is not always unrolled, and only then are remainders cheap.
macro_rules! unrolled {
    ($k:ident, $each:expr) => { unrolled!($k, $each; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16) };
    ($k:ident, $each:expr; $($i:literal)*) => {
        let mut each = $each;
        $(if $i < $k { each($i) })*
    };
}

/// Are all bits of the probe set?
///
/// No branch per probe: which bit of a missing key is clear cannot be predicted, and a misprediction costs more than the
/// probes that would be saved.
fn test<const K: usize>(block: &Block, probe: u32) -> bool {
    let (sizes, offsets) = const { sizes_and_offsets::<K>() };
    let mut set = 1;
    unrolled!(K, |i: usize| {
        let bit = offsets[i] + probe % sizes[i];
        set &= block.words[(bit / 64) as usize].load(Relaxed) >> (bit % 64);
    });
    set & 1 == 1
}

/// The bits of a probe, by word. Each is tried in all words that it may be in: a mask at an address that depends on the
/// bit would be in memory, and have to wait for the one before.
fn masks<const K: usize>(probe: u32) -> [u64; BLOCK_WORDS] {
    let (sizes, offsets) = const { sizes_and_offsets::<K>() };
    let mut masks = [0; BLOCK_WORDS];
    unrolled!(K, |i: usize| {
        let bit = offsets[i] + probe % sizes[i];
        for word in offsets[i] / 64..=(offsets[i] + sizes[i] - 1) / 64 {
            let shift = bit.wrapping_sub(word * 64);
            masks[word as usize] |= u64::from(shift < 64) << (shift % 64);
        }
    });
    masks
}
