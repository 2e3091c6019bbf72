//! Where the k bits of a key lie inside its 512-bit block.
//!
//! A block is cut into k partitions, one after the other; probe i sets one bit of partition i, at
//! `probe mod p_i`. Because the sizes `p_i` are pairwise coprime, the k remainders of one 32-bit value
//! behave like k independent hashes (Lu et al., "One-Hashing Bloom Filter", IWQoS 2015).
//!
//! The table is frozen: another number, or another order, gives another filter.

/// Bits in a block.
pub const BLOCK_BITS: u32 = 512;
/// Bytes in a block: one cache line.
pub const BLOCK_BYTES: usize = 64;
/// 64-bit words in a block.
pub const BLOCK_WORDS: usize = 8;
/// The fewest probes a key can have.
pub const MIN_K: u32 = 3;
/// The most probes a key can have.
pub const MAX_K: u32 = 17;

const ROWS: usize = (MAX_K - MIN_K + 1) as usize;

/// Partition sizes for each k; row `k - MIN_K`, padded with zeros.
const PARTITIONS: [[u32; MAX_K as usize]; ROWS] = [
    row(&[167, 173, 172]),
    row(&[109, 127, 137, 139]),
    row(&[97, 101, 103, 109, 102]),
    row(&[61, 79, 83, 89, 97, 103]),
    row(&[61, 67, 71, 79, 83, 89, 62]),
    row(&[37, 47, 53, 61, 67, 71, 79, 97]),
    row(&[41, 43, 47, 53, 59, 67, 71, 73, 58]),
    row(&[31, 37, 41, 43, 47, 53, 59, 61, 67, 73]),
    row(&[29, 31, 37, 41, 43, 44, 47, 53, 59, 61, 67]),
    row(&[17, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 71]),
    row(&[17, 19, 23, 29, 31, 37, 41, 43, 47, 52, 53, 59, 61]),
    row(&[11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 53, 59, 61, 71]),
    row(&[11, 13, 17, 19, 23, 28, 29, 31, 37, 41, 43, 47, 53, 59, 61]),
    row(&[5, 7, 11, 13, 17, 19, 23, 27, 29, 31, 37, 41, 43, 47, 53, 109]),
    row(&[3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 101]),
];

/// Partition sizes of `k`, which the caller has checked to be from [`MIN_K`] to [`MAX_K`].
pub(crate) const fn partitions(k: u32) -> &'static [u32] {
    let row: &'static [u32; MAX_K as usize] = &PARTITIONS[(k - MIN_K) as usize];
    row.split_at(k as usize).0
}

/// Sizes and offsets of `K` partitions as arrays, so that a loop over them unrolls and each
/// remainder becomes a multiplication by a constant.
pub(crate) const fn sizes_and_offsets<const K: usize>() -> ([u32; K], [u32; K]) {
    let partitions = partitions(K as u32);
    let mut sizes = [0; K];
    let mut offsets = [0; K];
    let mut i = 0;
    let mut offset = 0;
    while i < K {
        sizes[i] = partitions[i];
        offsets[i] = offset;
        offset += partitions[i];
        i += 1;
    }
    (sizes, offsets)
}

const fn row(sizes: &[u32]) -> [u32; MAX_K as usize] {
    let mut row = [0; MAX_K as usize];
    let mut i = 0;
    while i < sizes.len() {
        row[i] = sizes[i];
        i += 1;
    }
    row
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The build fails unless every row has k sizes that sum to a block and are pairwise coprime.
const _: () = {
    let mut k = MIN_K;
    while k <= MAX_K {
        let sizes = partitions(k);
        let mut sum = 0;
        let mut i = 0;
        while i < sizes.len() {
            assert!(sizes[i] > 1, "a partition is missing");
            sum += sizes[i];
            let mut j = 0;
            while j < i {
                assert!(gcd(sizes[i], sizes[j]) == 1, "partitions are not coprime");
                j += 1;
            }
            i += 1;
        }
        assert!(sum == BLOCK_BITS, "partitions do not fill the block");
        k += 1;
    }
};
