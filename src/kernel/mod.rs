//! Testing and setting the k bits of a key in one block, and hashing groups of keys, by the best
//! instructions that the processor has.
#![allow(unsafe_code)]

#[cfg(vectors)]
mod avx2;
#[cfg(vectors)]
mod avx512;
mod count;
mod hash;
#[cfg(vectors)]
mod hash8;
mod keys;
mod portable;
mod probe;
#[cfg(vectors)]
mod siphash8;
mod tables;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use hash::Located;
pub(crate) use keys::GROUP;
pub use keys::Keys;

use crate::hash::HashKind;
use crate::layout::BLOCK_WORDS;
use crate::memory::Block;
use crate::panics::may_panic;
use crate::sync::Ordering::Relaxed;
use std::ffi::CStr;
use tables::Vector;

/// What is done to blocks, for one k and one instruction set. Chosen once, when a filter is made.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    name: &'static CStr,
    vectors: &'static [Vector],
    // Invariant: the processor has the instructions that these use, and the vectors are those that they are for.
    test: ProbeOne,
    set: ProbeOne,
    set_shared: ProbeOne,
    test_many: TestMany,
    set_many: SetMany,
    set_many_shared: SetMany,
    or_all: Combine,
    or_all_shared: Combine,
    and_all: Combine,
    ones: Ones,
    ones_and_hits: OnesAndHits,
    hash: HashGroup,
}

/// Tests or sets one probe in its block.
type ProbeOne = unsafe fn(&[Vector], &Block, u32) -> bool;
/// Tests many probes, given the blocks, their indices, the probes, the indices to fetch meanwhile and room for
/// results.
type TestMany = unsafe fn(&[Vector], &[Block], &[u64], &[u32], &[u64], &mut [u8]) -> usize;
/// Sets many probes, given the blocks, their indices, the probes and the indices to fetch meanwhile.
type SetMany = unsafe fn(&[Vector], &[Block], &[u64], &[u32], &[u64]);
/// Combines blocks with as many others.
type Combine = unsafe fn(&[Block], &[Block]);
/// Counts the bits that are set.
type Ones = unsafe fn(&[Block]) -> u64;
/// The same, and how many random probes to expect to hit, given the constants.
type OnesAndHits = unsafe fn(&[Vector], &[Block]) -> (u64, f64);
/// Hashes a group of keys, given the first one's number, the seed and the number of blocks.
type HashGroup = unsafe fn(&Keys<'_>, usize, u64, u64, &mut Located);

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Plain Rust.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F, DQ, VL and BW.
    Avx512,
    /// These and IFMA.
    Avx512Ifma,
}

impl Level {
    /// All levels, the best last.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Avx2, Level::Avx512, Level::Avx512Ifma];

    /// Has this processor the instructions?
    pub fn is_available(self) -> bool {
        #[cfg(vectors)]
        {
            use std::arch::is_x86_feature_detected as has;
            let avx512 = || {
                has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw") && has!("popcnt")
            };
            match self {
                Level::Portable => true,
                Level::Avx2 => has!("avx2") && has!("fma") && has!("popcnt"),
                Level::Avx512 => avx512(),
                Level::Avx512Ifma => avx512() && has!("avx512ifma"),
            }
        }
        #[cfg(not(vectors))]
        {
            self == Level::Portable
        }
    }

    /// The best level of this processor. (The standard library remembers what it has.)
    pub fn best() -> Level {
        Level::ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Level::Portable)
    }
}

impl Kernel {
    /// The kernel for `k`, which the caller has checked, for `level` if the processor has it, and for a hash.
    pub fn select(k: u32, level: Level, hash: HashKind) -> Kernel {
        let kernel = match level {
            #[cfg(vectors)]
            Level::Avx2 if level.is_available() => avx2::kernel(k),
            #[cfg(vectors)]
            Level::Avx512 if level.is_available() => avx512::kernel(k),
            #[cfg(vectors)]
            Level::Avx512Ifma if level.is_available() => avx512::kernel_ifma(k),
            _ => portable::kernel(k),
        };
        match hash {
            HashKind::Xxh3 => kernel,
            HashKind::SipHash => Kernel { hash: siphash_group(level), ..kernel },
        }
    }

    /// The name of the instruction set.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// Are all bits of this probe set?
    #[inline]
    pub fn test(&self, block: &Block, probe: u32) -> bool {
        may_panic();
        // SAFETY: the invariant of `Kernel`; so below.
        unsafe { (self.test)(self.vectors, block, probe) }
    }

    /// Sets the bits of this probe; true if one of them was clear. For the only writer of the block:
    /// loads and stores, and no store if nothing changes.
    #[inline]
    pub fn set(&self, block: &Block, probe: u32) -> bool {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.set)(self.vectors, block, probe) }
    }

    /// The same among other writers: an atomic OR for each word that lacks a bit.
    #[inline]
    pub fn set_shared(&self, block: &Block, probe: u32) -> bool {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.set_shared)(self.vectors, block, probe) }
    }

    /// Tests many; `results` get 1 or 0. Returns the hits. Meanwhile fetches the blocks `ahead`.
    #[inline]
    pub fn test_many(
        &self,
        blocks: &[Block],
        indices: &[u64],
        probes: &[u32],
        ahead: &[u64],
        results: &mut [u8],
    ) -> usize {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.test_many)(self.vectors, blocks, indices, probes, ahead, results) }
    }

    /// Sets many, as the only writer of their blocks. Meanwhile fetches the blocks `ahead`.
    #[inline]
    pub fn set_many(&self, blocks: &[Block], indices: &[u64], probes: &[u32], ahead: &[u64]) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.set_many)(self.vectors, blocks, indices, probes, ahead) }
    }

    /// Sets many, among other writers.
    #[inline]
    pub fn set_many_shared(&self, blocks: &[Block], indices: &[u64], probes: &[u32], ahead: &[u64]) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.set_many_shared)(self.vectors, blocks, indices, probes, ahead) }
    }

    /// Merges `sources` into as many `targets`, as their only writer.
    pub fn or_all(&self, targets: &[Block], sources: &[Block]) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.or_all)(targets, sources) }
    }

    /// The same among other writers.
    pub fn or_all_shared(&self, targets: &[Block], sources: &[Block]) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.or_all_shared)(targets, sources) }
    }

    /// Intersects `targets` with as many `sources`, as their only writer.
    pub fn and_all(&self, targets: &[Block], sources: &[Block]) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.and_all)(targets, sources) }
    }

    /// The bits that are set.
    pub fn ones(&self, blocks: &[Block]) -> u64 {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.ones)(blocks) }
    }

    /// The bits that are set, and the sum over all blocks of the chance that a random probe hits.
    pub fn ones_and_hits(&self, blocks: &[Block]) -> (u64, f64) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.ones_and_hits)(self.vectors, blocks) }
    }

    /// Hashes up to [`GROUP`] keys from `first` on and finds their blocks.
    #[inline]
    pub fn hash(&self, keys: &Keys<'_>, first: usize, seed: u64, num_blocks: u64, located: &mut Located) {
        may_panic();
        // SAFETY: as above.
        unsafe { (self.hash)(keys, first, seed, num_blocks, located) }
    }
}

/// How SipHash hashes groups of keys.
fn siphash_group(level: Level) -> HashGroup {
    match level {
        // Processors with AVX-512 have AVX2, too.
        #[cfg(vectors)]
        Level::Avx2 | Level::Avx512 | Level::Avx512Ifma if Level::Avx2.is_available() => siphash8::by_avx2,
        _ => hash::siphash_one_by_one,
    }
}

/// What a prefetched line is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    Reading,
    Writing,
}

/// Fetches blocks into the cache while something else is done.
#[inline(always)]
pub(crate) fn prefetch(blocks: &[Block], indices: &[u64], purpose: For) {
    #[cfg(vectors)]
    {
        use std::arch::{asm, x86_64::_MM_HINT_T0, x86_64::_mm_prefetch};
        let line = |index: u64| blocks.as_ptr().wrapping_add(index as usize).cast::<i8>();
        for &index in indices {
            // SAFETY: prefetching is allowed for any address. Processors that do not know
            // `prefetchw` ignore it; the intrinsic for it would emit the one for reading unless the
            // whole program were compiled for a newer processor.
            unsafe {
                match purpose {
                    For::Reading => _mm_prefetch::<_MM_HINT_T0>(line(index)),
                    For::Writing => {
                        asm!("prefetchw [{}]", in(reg) line(index), options(nostack, preserves_flags))
                    }
                }
            }
        }
    }
    #[cfg(not(vectors))]
    let _ = (blocks, indices, purpose);
}

/// Sets the bits of `masks`; true if one of them was clear. For the only writer of the block.
///
/// One branch, not one for each word: which words change cannot be predicted.
#[inline]
pub(crate) fn or_block(block: &Block, masks: &[u64; BLOCK_WORDS]) -> bool {
    let old = read_block(block);
    let changes = old.iter().zip(masks).fold(0, |missing, (old, mask)| missing | mask & !old) != 0;
    if changes {
        for ((word, old), &mask) in block.words.iter().zip(old).zip(masks) {
            if !spared(mask) {
                word.store(old | mask, Relaxed);
            }
        }
    }
    changes
}

/// The same among other writers. A word that has its bits is not written, so that lines which many
/// threads read stay in their caches.
#[inline]
pub(crate) fn or_block_shared(block: &Block, masks: &[u64; BLOCK_WORDS]) -> bool {
    let mut lacking = 0u32;
    for (i, (word, &mask)) in block.words.iter().zip(masks).enumerate() {
        if !spared(mask) {
            lacking |= u32::from(mask & !word.load(Relaxed) != 0) << i;
        }
    }
    let mut changed = false;
    while lacking != 0 {
        let word = lacking.trailing_zeros() as usize % BLOCK_WORDS;
        let mask = masks[word];
        // Another thread may have set them meanwhile; what the OR replaced tells whether this call did.
        changed |= block.words[word].fetch_or(mask, Relaxed) & mask != mask;
        lacking &= lacking - 1;
    }
    changed
}

/// Is a word left alone that no bit is in? To read or write it costs less than a branch; but to loom, each load and store
/// is one more thing that threads may do in another order.
#[inline]
fn spared(mask: u64) -> bool {
    cfg!(loom) && mask == 0
}

/// A copy of a block, word by word: each word is one that the block held at some moment.
#[inline]
pub(crate) fn read_block(block: &Block) -> [u64; BLOCK_WORDS] {
    std::array::from_fn(|i| block.words[i].load(Relaxed))
}
