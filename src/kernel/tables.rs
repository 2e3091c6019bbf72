//! For each k, what vector kernels multiply and add: one lane a probe, in up to three vectors of eight.

use crate::layout::{BLOCK_BITS, MAX_K, MIN_K, partitions};

/// Lanes of a vector of 64-bit numbers.
pub(super) const LANES: usize = 8;

/// Vectors that `k` probes fill.
pub(super) const MAX_VECTORS: usize = 3;

/// Constants of the probes of one k. The lanes behind the last probe repeat the first one: testing or
/// setting it again changes nothing, so no lane needs to be masked.
#[repr(C, align(64))]
pub(super) struct Tables {
    pub size: [[u64; LANES]; MAX_VECTORS],
    pub offset: [[u64; LANES]; MAX_VECTORS],
    /// `floor(2^52 / size) + 1`: the high part of a 52-bit product with it is the quotient of any
    /// 32-bit number, since the error, at most `2^32 * size / 2^52`, is below one.
    pub reciprocal52: [[u64; LANES]; MAX_VECTORS],
    /// The sizes as floating-point numbers ...
    pub size_f64: [[f64; LANES]; MAX_VECTORS],
    /// ... and their reciprocals, rounded up, with which the quotient of any 32-bit number is exact once
    /// rounded down: the error is below `2^-20`, quotients differ from the next integer by at least 1/173.
    pub reciprocal_f64: [[f64; LANES]; MAX_VECTORS],
    /// Which probes of a vector may have their bit in a word; see [`Candidates`].
    pub by_word64: [Candidates<8>; MAX_VECTORS],
    /// The same for words of 32 bits, and for the lanes in the order of [`AVX2_ORDER`].
    pub by_word32: [Candidates<16>; MAX_VECTORS],
}

/// For each word of a block, the probes that may have their bit there: those whose partitions reach into
/// the word, usually two. To collect the bits of a block, each word need only look at these.
///
/// Unused places name a probe that is elsewhere, as do all places of lanes that have no probe.
#[repr(C, align(64))]
pub(super) struct Candidates<const WORDS: usize> {
    /// `lanes[round][word]`: a lane of the vector.
    pub lanes: [[u32; WORDS]; LANES],
    /// The rounds that are used.
    pub rounds: usize,
}

/// The lanes of eight probes after two registers of four have been shuffled into one.
pub(super) const AVX2_ORDER: [usize; LANES] = [0, 1, 4, 5, 2, 3, 6, 7];

impl Tables {
    /// The tables of `k`, which the caller has checked.
    pub fn of(k: u32) -> &'static Tables {
        static TABLES: [Tables; (MAX_K - MIN_K + 1) as usize] = {
            let mut tables = [const { Tables::new(MIN_K) }; (MAX_K - MIN_K + 1) as usize];
            let mut k = MIN_K;
            while k <= MAX_K {
                tables[(k - MIN_K) as usize] = Tables::new(k);
                k += 1;
            }
            tables
        };
        &TABLES[(k - MIN_K) as usize]
    }

    const fn new(k: u32) -> Tables {
        let sizes = partitions(k);
        let mut tables = Tables {
            size: [[0; LANES]; MAX_VECTORS],
            offset: [[0; LANES]; MAX_VECTORS],
            reciprocal52: [[0; LANES]; MAX_VECTORS],
            size_f64: [[0.0; LANES]; MAX_VECTORS],
            reciprocal_f64: [[0.0; LANES]; MAX_VECTORS],
            by_word64: [
                Candidates::new(sizes, 0, [0, 1, 2, 3, 4, 5, 6, 7]),
                Candidates::new(sizes, 1, [0, 1, 2, 3, 4, 5, 6, 7]),
                Candidates::new(sizes, 2, [0, 1, 2, 3, 4, 5, 6, 7]),
            ],
            by_word32: [
                Candidates::new(sizes, 0, AVX2_ORDER),
                Candidates::new(sizes, 1, AVX2_ORDER),
                Candidates::new(sizes, 2, AVX2_ORDER),
            ],
        };
        let mut offset = 0;
        let mut i = 0;
        while i < LANES * MAX_VECTORS {
            let (vector, lane) = (i / LANES, i % LANES);
            let size = if i < sizes.len() { sizes[i] } else { sizes[0] };
            tables.size[vector][lane] = size as u64;
            tables.offset[vector][lane] = if i < sizes.len() { offset } else { 0 };
            tables.reciprocal52[vector][lane] = (1 << 52) / size as u64 + 1;
            tables.size_f64[vector][lane] = size as f64;
            tables.reciprocal_f64[vector][lane] = (1.0 / size as f64).next_up();
            offset += size as u64;
            i += 1;
        }
        tables
    }
}

impl<const WORDS: usize> Candidates<WORDS> {
    /// The candidates of vector number `vector`, whose lane `i` holds probe `order[i]` of the vector.
    const fn new(sizes: &[u32], vector: usize, order: [usize; LANES]) -> Candidates<WORDS> {
        let bits = BLOCK_BITS as usize / WORDS;
        let mut candidates = Candidates { lanes: [[0; WORDS]; LANES], rounds: 0 };
        let mut found = [0; WORDS];
        let mut lane = 0;
        while lane < LANES {
            let probe = vector * LANES + order[lane];
            if probe < sizes.len() {
                let mut start = 0;
                let mut i = 0;
                while i < probe {
                    start += sizes[i] as usize;
                    i += 1;
                }
                let last = start + sizes[probe] as usize - 1;
                let mut word = start / bits;
                while word <= last / bits {
                    candidates.lanes[found[word]][word] = lane as u32;
                    found[word] += 1;
                    if found[word] > candidates.rounds {
                        candidates.rounds = found[word];
                    }
                    word += 1;
                }
            }
            lane += 1;
        }
        candidates
    }
}
