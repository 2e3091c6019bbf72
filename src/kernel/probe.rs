//! What every instruction set has to offer, and the loops over many keys that are the same for all.

use super::tables::Vector;
use super::{For, prefetch};
use crate::memory::Block;

/// One way of testing and setting the bits of a probe in a block, with its constants at hand.
///
/// # Safety of all methods
/// The processor has the instructions that the implementation uses. They are compiled for that
/// instruction set once they are inlined into an entry point; hence `inline(always)`.
pub(super) trait Probe<'a> {
    /// Loads the constants of a k, in a loop once for all keys. They are those that [`Kernel::select`] gave the kernel,
    /// and so as many as the implementation is for.
    ///
    /// [`Kernel::select`]: super::Kernel::select
    unsafe fn new(vectors: &'a [Vector]) -> Self;

    /// Are all bits of the probe set?
    unsafe fn test(&self, block: &Block, probe: u32) -> bool;

    /// Sets the bits of the probe; true if one of them was clear. For the only writer of the block:
    /// no locked instruction, and no store if nothing changes.
    unsafe fn set(&self, block: &Block, probe: u32) -> bool;

    /// The same among other writers: an atomic OR for each word that lacks a bit.
    unsafe fn set_shared(&self, block: &Block, probe: u32) -> bool;
}

/// One way of combining a block with another, which has nothing to do with k.
///
/// # Safety of all methods
/// As for [`Probe`].
pub(super) trait Combine {
    /// Sets all bits of `source` in `target`, as its only writer.
    unsafe fn or(target: &Block, source: &Block);

    /// The same among other writers.
    unsafe fn or_shared(target: &Block, source: &Block);

    /// Clears all bits in `target` that `source` has not, as its only writer.
    unsafe fn and(target: &Block, source: &Block);
}

/// Merges `sources` into as many `targets`, as their only writer.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn or_all<C: Combine>(targets: &[Block], sources: &[Block]) {
    for (target, source) in targets.iter().zip(sources) {
        // SAFETY: as for this function.
        unsafe { C::or(target, source) };
    }
}

/// The same among other writers.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn or_all_shared<C: Combine>(targets: &[Block], sources: &[Block]) {
    for (target, source) in targets.iter().zip(sources) {
        // SAFETY: as for this function.
        unsafe { C::or_shared(target, source) };
    }
}

/// Intersects `targets` with as many `sources`, as their only writer.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn and_all<C: Combine>(targets: &[Block], sources: &[Block]) {
    for (target, source) in targets.iter().zip(sources) {
        // SAFETY: as for this function.
        unsafe { C::and(target, source) };
    }
}

/// Tests many; `results` get 1 for a hit and 0 for a miss. Returns the hits.
///
/// Fetches a block `ahead` for each one that is probed (its own again if there is none: that costs less than a
/// branch). Many fetches at a time wait for one another, and the probes for them, since a processor keeps track
/// of 10 to 24 lines that are on their way; docs/performance.md has the measurement.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn test_many<'a, P: Probe<'a>>(
    vectors: &'a [Vector],
    blocks: &[Block],
    indices: &[u64],
    probes: &[u32],
    ahead: &[u64],
    results: &mut [u8],
) -> usize {
    let mut ahead = ahead.iter();
    let mut hits = 0;
    // SAFETY: as for this function.
    unsafe {
        let kernel = P::new(vectors);
        for ((&index, &probe), result) in indices.iter().zip(probes).zip(results) {
            prefetch(blocks, &[*ahead.next().unwrap_or(&index)], For::Reading);
            let hit = kernel.test(&blocks[index as usize], probe);
            *result = u8::from(hit);
            hits += usize::from(hit);
        }
    }
    prefetch(blocks, ahead.as_slice(), For::Reading);
    hits
}

/// Sets many, as the only writer of their blocks. Fetches as [`test_many`] does.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn set_many<'a, P: Probe<'a>>(
    vectors: &'a [Vector],
    blocks: &[Block],
    indices: &[u64],
    probes: &[u32],
    ahead: &[u64],
) {
    let mut ahead = ahead.iter();
    // SAFETY: as for this function.
    unsafe {
        let kernel = P::new(vectors);
        for (&index, &probe) in indices.iter().zip(probes) {
            prefetch(blocks, &[*ahead.next().unwrap_or(&index)], For::Writing);
            kernel.set(&blocks[index as usize], probe);
        }
    }
    prefetch(blocks, ahead.as_slice(), For::Writing);
}

/// Sets many, among other writers. Fetches as [`test_many`] does.
///
/// # Safety
/// As for [`Probe`].
#[inline(always)]
pub(super) unsafe fn set_many_shared<'a, P: Probe<'a>>(
    vectors: &'a [Vector],
    blocks: &[Block],
    indices: &[u64],
    probes: &[u32],
    ahead: &[u64],
) {
    let mut ahead = ahead.iter();
    // SAFETY: as for this function.
    unsafe {
        let kernel = P::new(vectors);
        for (&index, &probe) in indices.iter().zip(probes) {
            prefetch(blocks, &[*ahead.next().unwrap_or(&index)], For::Writing);
            kernel.set_shared(&blocks[index as usize], probe);
        }
    }
    prefetch(blocks, ahead.as_slice(), For::Writing);
}

/// Makes `fn name(k) -> Kernel` for a [`Probe`] and a [`Combine`]: functions that are compiled for their instruction
/// set and into which their methods and the loops above are inlined.
macro_rules! entry_points {
    ($(#[$features:meta])* fn $name:ident$(<const $n:ident: usize>)?() -> $probe:ty, $combine:ty, $level:expr, $hash:path;) => {
        // They are if there is no $n.
        #[allow(clippy::redundant_field_names)]
        pub(super) fn $name$(<const $n: usize>)?(k: u32) -> $crate::kernel::Kernel {
            use $crate::kernel::{count, probe, probe::Probe, tables::Vector, tables::vectors_of};
            use $crate::layout::partitions;
            use $crate::memory::Block;

            $(#[$features])*
            unsafe fn test$(<const $n: usize>)?(vectors: &[Vector], block: &Block, probe: u32) -> bool {
                // SAFETY: whoever selected this kernel has checked the processor and gave it these vectors.
                unsafe { <$probe>::new(vectors).test(block, probe) }
            }
            $(#[$features])*
            unsafe fn set$(<const $n: usize>)?(vectors: &[Vector], block: &Block, probe: u32) -> bool {
                // SAFETY: as above.
                unsafe { <$probe>::new(vectors).set(block, probe) }
            }
            $(#[$features])*
            unsafe fn set_shared$(<const $n: usize>)?(vectors: &[Vector], block: &Block, probe: u32) -> bool {
                // SAFETY: as above.
                unsafe { <$probe>::new(vectors).set_shared(block, probe) }
            }
            $(#[$features])*
            unsafe fn test_many$(<const $n: usize>)?(
                vectors: &[Vector], blocks: &[Block], indices: &[u64], probes: &[u32], ahead: &[u64], results: &mut [u8],
            ) -> usize {
                // SAFETY: as above.
                unsafe { probe::test_many::<$probe>(vectors, blocks, indices, probes, ahead, results) }
            }
            $(#[$features])*
            unsafe fn set_many$(<const $n: usize>)?(
                vectors: &[Vector], blocks: &[Block], indices: &[u64], probes: &[u32], ahead: &[u64],
            ) {
                // SAFETY: as above.
                unsafe { probe::set_many::<$probe>(vectors, blocks, indices, probes, ahead) }
            }
            $(#[$features])*
            unsafe fn set_many_shared$(<const $n: usize>)?(
                vectors: &[Vector], blocks: &[Block], indices: &[u64], probes: &[u32], ahead: &[u64],
            ) {
                // SAFETY: as above.
                unsafe { probe::set_many_shared::<$probe>(vectors, blocks, indices, probes, ahead) }
            }
            $(#[$features])*
            unsafe fn or_all(targets: &[Block], sources: &[Block]) {
                // SAFETY: as above.
                unsafe { probe::or_all::<$combine>(targets, sources) }
            }
            $(#[$features])*
            unsafe fn or_all_shared(targets: &[Block], sources: &[Block]) {
                // SAFETY: as above.
                unsafe { probe::or_all_shared::<$combine>(targets, sources) }
            }
            $(#[$features])*
            unsafe fn and_all(targets: &[Block], sources: &[Block]) {
                // SAFETY: as above.
                unsafe { probe::and_all::<$combine>(targets, sources) }
            }
            $(#[$features])*
            unsafe fn ones(blocks: &[Block]) -> u64 {
                count::ones(blocks)
            }
            $(#[$features])*
            unsafe fn ones_and_hits(vectors: &[Vector], blocks: &[Block]) -> (u64, f64) {
                count::ones_and_hits(blocks, partitions(vectors[0].k))
            }
            $crate::kernel::Kernel {
                name: $level,
                vectors: vectors_of(k),
                test: test$(::<$n>)?,
                set: set$(::<$n>)?,
                set_shared: set_shared$(::<$n>)?,
                test_many: test_many$(::<$n>)?,
                set_many: set_many$(::<$n>)?,
                set_many_shared: set_many_shared$(::<$n>)?,
                or_all,
                or_all_shared,
                and_all,
                ones,
                ones_and_hits,
                hash: $hash,
            }
        }
    };
}
pub(super) use entry_points;
