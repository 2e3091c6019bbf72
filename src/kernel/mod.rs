//! Testing and setting the k bits of a key in one block.

mod portable;

use crate::layout::BLOCK_WORDS;
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;

/// The three things that are done to one block, for one k.
///
/// Chosen once, when a filter is made.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// The name of the instruction set.
    pub name: &'static std::ffi::CStr,
    /// Are all bits of this probe set?
    pub test: fn(&Block, u32) -> bool,
    /// Sets the bits of this probe; true if one of them was clear. For the only writer of the block:
    /// loads and stores, and no store if nothing changes.
    pub set: fn(&Block, u32) -> bool,
    /// The same among other writers: an atomic OR for each word that lacks a bit.
    pub set_shared: fn(&Block, u32) -> bool,
}

impl Kernel {
    /// The kernel for `k`, which the caller has checked.
    pub fn select(k: u32) -> Kernel {
        portable::kernel(k)
    }
}

/// Sets the bits of `masks`; true if one of them was clear. For the only writer of the block.
#[inline]
pub(crate) fn or_block(block: &Block, masks: &[u64; BLOCK_WORDS]) -> bool {
    let mut changed = false;
    for (word, &mask) in block.words.iter().zip(masks) {
        let old = word.load(Relaxed);
        if old & mask != mask {
            word.store(old | mask, Relaxed);
            changed = true;
        }
    }
    changed
}

/// The same among other writers. A word that has its bits is not written, so that lines which many
/// threads read stay in their caches.
#[inline]
pub(crate) fn or_block_shared(block: &Block, masks: &[u64; BLOCK_WORDS]) -> bool {
    let mut changed = false;
    for (word, &mask) in block.words.iter().zip(masks) {
        if mask != 0 && word.load(Relaxed) & mask != mask {
            // Another thread may have set them meanwhile; what the OR replaced tells whether this call did.
            changed |= word.fetch_or(mask, Relaxed) & mask != mask;
        }
    }
    changed
}

/// A copy of a block, word by word: each word is one that the block held at some moment.
#[inline]
pub(crate) fn read_block(block: &Block) -> [u64; BLOCK_WORDS] {
    std::array::from_fn(|i| block.words[i].load(Relaxed))
}
