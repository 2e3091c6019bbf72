//! From a key to its hash, and from the hash to a block and a probe value.

use siphasher::sip128::SipHasher13;
use xxhash_rust::xxh3;

/// How keys are hashed. Filters of different hashes have different bits: they neither merge nor compare equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashKind {
    /// XXH3-128. Fast, and what other implementations of the layout use. A seed does not keep it from keys that
    /// were made to collide.
    #[default]
    Xxh3,
    /// SipHash-1-3 with 128 bits, keyed by the seed, which must not be 0 and should be secret: without it
    /// nobody can make keys that collide. A key takes some times as long.
    SipHash,
}

impl HashKind {
    /// Its number in files and in the C ABI.
    pub(crate) fn number(self) -> u32 {
        match self {
            HashKind::Xxh3 => 1,
            HashKind::SipHash => 2,
        }
    }
}

/// The second half of SipHash's key; the first is the seed.
pub(crate) const SIPHASH_SECOND_HALF: u64 = u64::from_le_bytes(*b"gloomsip");

/// The 128-bit hash of a key: all that a filter needs to know of it.
///
/// Hash once and ask many filters. A filter with another seed or [`HashKind`] needs another hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct KeyHash {
    /// The low half; its two 32-bit halves, XORed, are the probe value.
    pub lo: u64,
    /// The high half; it chooses the block.
    pub hi: u64,
}

impl KeyHash {
    /// Hashes `key`: canonical XXH3-128, with the seed if it is not 0.
    #[inline]
    pub fn new(key: &[u8], seed: u64) -> KeyHash {
        // The unseeded function is the seeded one of seed 0, but skips deriving a secret.
        let hash = if seed == 0 { xxh3::xxh3_128(key) } else { xxh3::xxh3_128_with_seed(key, seed) };
        KeyHash { lo: hash as u64, hi: (hash >> 64) as u64 }
    }

    /// Hashes `key` by SipHash-1-3 with 128 bits, for filters of [`HashKind::SipHash`] with this seed.
    ///
    /// The key of SipHash is the seed, as eight little-endian bytes, and the ASCII bytes "gloomsip".
    #[inline(never)]
    pub fn siphash(key: &[u8], seed: u64) -> KeyHash {
        let hash = SipHasher13::new_with_keys(seed, SIPHASH_SECOND_HALF).hash(key);
        KeyHash { lo: hash.h1, hi: hash.h2 }
    }

    /// The block of this key in a filter of `num_blocks`: `floor(hi * num_blocks / 2^64)`.
    ///
    /// Multiplication instead of modulo (Lemire, "Fast Random Integer Generation in an Interval",
    /// 2019); all 64 bits take part, so that no number of blocks leaves blocks unused.
    #[inline]
    pub fn block(self, num_blocks: u64) -> u64 {
        ((u128::from(self.hi) * u128::from(num_blocks)) >> 64) as u64
    }

    /// The value whose remainders are the bit positions.
    #[inline]
    pub fn probe(self) -> u32 {
        self.lo as u32 ^ (self.lo >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::KeyHash;

    fn block(hi: u64, num_blocks: u64) -> u64 {
        KeyHash { lo: 0, hi }.block(num_blocks)
    }

    /// Faults seen elsewhere: too few hash bits for the index left most blocks unused above 2^16 or
    /// 2^31 blocks (apache/spark PR 50933, FastFilter/fastfilter_cpp 8, google/guava 1119).
    #[test]
    fn every_block_can_be_reached_whatever_their_number() {
        for num_blocks in [1, 3, (1 << 16) + 1, (1 << 32) + 1, 1u64 << 50] {
            assert_eq!(block(0, num_blocks), 0);
            assert_eq!(block(u64::MAX, num_blocks), num_blocks - 1);
            assert_eq!(block(1 << 63, num_blocks), num_blocks / 2);
            // The smallest hash of each block: ceil(b * 2^64 / num_blocks).
            for b in [0, 1, num_blocks / 3, num_blocks / 2, num_blocks - 1].map(|b| b % num_blocks) {
                let first = (u128::from(b) << 64).div_ceil(u128::from(num_blocks)) as u64;
                assert_eq!(block(first, num_blocks), b);
                if b > 0 {
                    assert_eq!(block(first - 1, num_blocks), b - 1);
                }
            }
        }
    }

    #[test]
    fn blocks_are_chosen_uniformly() {
        for num_blocks in [3, (1 << 16) + 1, (1 << 32) + 1, 1u64 << 50] {
            // Sixteen equal ranges of blocks, hit by hashes of consecutive numbers.
            let mut hits = [0u32; 16];
            for i in 0..160_000u64 {
                let at = KeyHash::new(&i.to_le_bytes(), 0).block(num_blocks);
                hits[(u128::from(at) * 16 / u128::from(num_blocks)) as usize] += 1;
            }
            if num_blocks == 3 {
                assert!([0, 5, 10].iter().all(|&range| hits[range].abs_diff(53_333) < 1_000));
            } else {
                // Mean 10,000 and standard deviation 97.
                assert!(hits.iter().all(|hits| hits.abs_diff(10_000) < 500), "{hits:?}");
            }
        }
    }
}
