//! SipHash-1-3 with 128 bits of eight keys at once, for keys of the same number of whole words.
//!
//! A round of SipHash waits for itself: one key leaves much of a core idle. Eight keys side by side fill vector
//! registers; the loops over lanes below are what the compiler makes vectors of. Eight neighbours that differ in their
//! number of whole words, or are long, are hashed one by one. The names are those of the paper.

use super::hash::{Located, key_bytes, take_hashes};
use super::keys::{GROUP, Keys, Place};
use crate::hash::{KeyHash, SIPHASH_SECOND_HALF};

const LANES: usize = 8;

/// From so many bytes on, one key after the other is as fast.
const LONG: usize = 128;

/// What eight keys have of one word.
type Words = [u64; LANES];

/// Hashes up to [`GROUP`] keys from `first` on.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn by_avx2(
    keys: &Keys<'_>,
    first: usize,
    seed: u64,
    num_blocks: u64,
    located: &mut Located,
) {
    hash_group(keys, first, seed, num_blocks, located);
}

#[inline(always)]
fn hash_group(keys: &Keys<'_>, first: usize, seed: u64, num_blocks: u64, located: &mut Located) {
    located.clear();
    if let Place::Hashes(hashes) = keys.place() {
        return take_hashes(keys, hashes, first, num_blocks, located);
    }
    let (mut starts, mut lens) = ([std::ptr::dangling(); GROUP], [0; GROUP]);
    keys.for_each(first, GROUP, |number, key, len| {
        (starts[number], lens[number]) = (if len == 0 { std::ptr::dangling() } else { key }, len);
    });
    let count = GROUP.min(keys.len() - first);
    for (number, (starts, lens)) in starts.as_chunks().0.iter().zip(lens.as_chunks().0).enumerate() {
        let number = number * LANES;
        if number + LANES <= count && lens[0] < LONG && lens.iter().all(|len| len / 8 == lens[0] / 8) {
            // SAFETY: the invariant of `Place`; all have as many whole words.
            let hashes = unsafe { eight(starts, lens, seed) };
            (0..LANES).for_each(|lane| located.push(number + lane, hashes[lane], num_blocks));
            continue;
        }
        for lane in 0..LANES.min(count.saturating_sub(number)) {
            // SAFETY: the invariant of `Place`.
            let key = unsafe { key_bytes(starts[lane], lens[lane]) };
            located.push(number + lane, KeyHash::siphash(key, seed), num_blocks);
        }
    }
}

/// Hashes eight keys of the same number of whole words.
///
/// # Safety
/// There are so many bytes at each start.
#[inline(always)]
unsafe fn eight(starts: &[*const u8; LANES], lens: &[usize; LANES], seed: u64) -> [KeyHash; LANES] {
    let mut v = [
        [seed ^ 0x736f_6d65_7073_6575; LANES],
        [SIPHASH_SECOND_HALF ^ 0x646f_7261_6e64_6f6d ^ 0xee; LANES],
        [seed ^ 0x6c79_6765_6e65_7261; LANES],
        [SIPHASH_SECOND_HALF ^ 0x7465_6462_7974_6573; LANES],
    ];
    let mut m = [0; LANES];
    for word in 0..lens[0] / 8 {
        for lane in 0..LANES {
            // SAFETY: as for this function.
            m[lane] = unsafe { starts[lane].cast::<u64>().add(word).read_unaligned() };
        }
        take(&mut v, m);
    }
    for lane in 0..LANES {
        // SAFETY: as for this function.
        m[lane] = last_word(unsafe { std::slice::from_raw_parts(starts[lane], lens[lane]) });
    }
    take(&mut v, m);
    let lo = finish(&mut v, 2, 0xee);
    let hi = finish(&mut v, 1, 0xdd);
    std::array::from_fn(|lane| KeyHash { lo: lo[lane], hi: hi[lane] })
}

/// The bytes behind the whole words, and the length.
#[inline(always)]
fn last_word(key: &[u8]) -> u64 {
    let rest = key.len() % 8;
    let bytes = match key.last_chunk() {
        _ if rest == 0 => 0,
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest),
        None => key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    bytes | (key.len() as u64) << 56
}

#[inline(always)]
fn take(v: &mut [Words; 4], m: Words) {
    for lane in 0..LANES {
        v[3][lane] ^= m[lane];
    }
    round(v);
    for lane in 0..LANES {
        v[0][lane] ^= m[lane];
    }
}

/// One word of the output.
#[inline(always)]
fn finish(v: &mut [Words; 4], word: usize, with: u64) -> Words {
    v[word].iter_mut().for_each(|lane| *lane ^= with);
    round(v);
    round(v);
    round(v);
    std::array::from_fn(|lane| v[0][lane] ^ v[1][lane] ^ v[2][lane] ^ v[3][lane])
}

#[inline(always)]
fn round(v: &mut [Words; 4]) {
    let [v0, v1, v2, v3] = v;
    for lane in 0..LANES {
        v0[lane] = v0[lane].wrapping_add(v1[lane]);
        v2[lane] = v2[lane].wrapping_add(v3[lane]);
        v1[lane] = v1[lane].rotate_left(13) ^ v0[lane];
        v3[lane] = v3[lane].rotate_left(16) ^ v2[lane];
        v0[lane] = v0[lane].rotate_left(32);
        v2[lane] = v2[lane].wrapping_add(v1[lane]);
        v0[lane] = v0[lane].wrapping_add(v3[lane]);
        v1[lane] = v1[lane].rotate_left(17) ^ v2[lane];
        v3[lane] = v3[lane].rotate_left(21) ^ v0[lane];
        v2[lane] = v2[lane].rotate_left(32);
    }
}
