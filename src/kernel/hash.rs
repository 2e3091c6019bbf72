//! Hashing a group of keys, and finding their blocks.

use super::keys::{GROUP, Keys, Place};
use crate::hash::KeyHash;

/// A group of keys, hashed: for each its block and its probe value.
pub(crate) struct Located {
    // Behind the last key there is room for a whole vector.
    indices: [u64; GROUP + 8],
    probes: [u32; GROUP + 8],
    order: [u32; GROUP + 8],
    len: usize,
}

impl Located {
    pub fn new() -> Located {
        Located { indices: [0; GROUP + 8], probes: [0; GROUP + 8], order: [0; GROUP + 8], len: 0 }
    }

    /// The blocks of the keys.
    pub fn indices(&self) -> &[u64] {
        &self.indices[..self.len]
    }

    /// Their probe values.
    pub fn probes(&self) -> &[u32] {
        &self.probes[..self.len]
    }

    /// Their numbers in the group: hashing may change the order.
    pub fn order(&self) -> &[u32] {
        &self.order[..self.len]
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[inline(always)]
    pub(super) fn push(&mut self, number: usize, hash: KeyHash, num_blocks: u64) {
        let at = self.len;
        self.indices[at] = hash.block(num_blocks);
        self.probes[at] = hash.probe();
        self.order[at] = number as u32;
        self.len = at + 1;
    }

    /// Where the next eight keys go; `count` of them are counted.
    #[cfg(vectors)]
    #[inline(always)]
    pub(super) fn next_eight(&mut self, count: usize) -> (&mut [u64; 8], &mut [u32; 8], &mut [u32; 8]) {
        let at = self.len.min(GROUP);
        self.len = at + count;
        let eight = at..at + 8;
        // A range of eight is an array of eight.
        match (
            (&mut self.indices[eight.clone()]).try_into(),
            (&mut self.probes[eight.clone()]).try_into(),
            (&mut self.order[eight]).try_into(),
        ) {
            (Ok(indices), Ok(probes), Ok(order)) => (indices, probes, order),
            _ => unreachable!(),
        }
    }
}

/// Hashes up to [`GROUP`] keys from `first` on, each by itself.
pub(super) unsafe fn one_by_one(
    keys: &Keys<'_>,
    first: usize,
    seed: u64,
    num_blocks: u64,
    located: &mut Located,
) {
    located.clear();
    if let Place::Hashes(hashes) = keys.place() {
        return take_hashes(keys, hashes, first, num_blocks, located);
    }
    keys.for_each(first, GROUP, |number, key, len| {
        // SAFETY: the invariant of `Place`.
        let hash = unsafe { hash_key(key, len, seed) };
        located.push(number, hash, num_blocks);
    });
}

/// The same by SipHash.
pub(super) unsafe fn siphash_one_by_one(
    keys: &Keys<'_>,
    first: usize,
    seed: u64,
    num_blocks: u64,
    located: &mut Located,
) {
    located.clear();
    if let Place::Hashes(hashes) = keys.place() {
        return take_hashes(keys, hashes, first, num_blocks, located);
    }
    keys.for_each(first, GROUP, |number, key, len| {
        // SAFETY: the invariant of `Place`.
        let key = unsafe { key_bytes(key, len) };
        located.push(number, KeyHash::siphash(key, seed), num_blocks);
    });
}

/// Takes hashes as they are.
#[inline(always)]
pub(super) fn take_hashes(
    keys: &Keys<'_>,
    hashes: *const KeyHash,
    first: usize,
    num_blocks: u64,
    located: &mut Located,
) {
    for i in first..first.saturating_add(GROUP).min(keys.len()) {
        // SAFETY: the invariant of `Place`.
        located.push(i - first, unsafe { *hashes.add(i) }, num_blocks);
    }
}

/// # Safety
/// `len` bytes at `key` are readable; `key` may be NULL if there are none.
#[inline(always)]
pub(super) unsafe fn hash_key(key: *const u8, len: usize, seed: u64) -> KeyHash {
    // SAFETY: as for this function.
    KeyHash::new(unsafe { key_bytes(key, len) }, seed)
}

/// # Safety
/// As for [`hash_key`], for as long as the result is used.
#[inline(always)]
pub(super) unsafe fn key_bytes<'a>(key: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: as for this function.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(key, len) } }
}
