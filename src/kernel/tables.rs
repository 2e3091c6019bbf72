//! For each k, what vector kernels multiply and add: one lane a probe, in up to three vectors of eight.

use crate::layout::{BLOCK_BITS, MAX_K, MIN_K, partitions};

/// Lanes of a vector of 64-bit numbers.
pub(super) const LANES: usize = 8;

/// Constants of eight probes of one k. The lanes behind the last probe repeat the first one: testing or
/// setting it again changes nothing, so no lane needs to be masked.
#[repr(C, align(64))]
pub(super) struct Vector {
    pub size: [u64; LANES],
    pub offset: [u64; LANES],
    /// `floor(2^52 / size) + 1`: the low 52 bits of a product with a 32-bit number are the fraction of the quotient,
    /// at most `2^32` too large. Times the size, the error is still below one, which is `2^52` there.
    pub reciprocal52: [u64; LANES],
    /// The sizes as floating-point numbers ...
    pub size_f64: [f64; LANES],
    /// ... and their reciprocals, rounded up, with which the quotient of any 32-bit number is exact once
    /// rounded down: the error is below `2^-20`, quotients differ from the next integer by at least 1/173.
    pub reciprocal_f64: [f64; LANES],
    /// Which of the probes may have their bit in a word; see [`Candidates`].
    pub by_word64: Candidates<8, 7>,
    /// The same for words of 32 bits, and for the lanes in the order of [`AVX2_ORDER`].
    pub by_word32: Candidates<16, 5>,
    /// The k that this is for.
    pub k: u32,
}

/// For each word of a block, the probes that may have their bit there: those whose partitions reach into
/// the word, usually two. To collect the bits of a block, each word need only look at these.
///
/// Unused places name a probe that is elsewhere, as do all places of lanes that have no probe.
pub(super) struct Candidates<const WORDS: usize, const MOST: usize> {
    /// `lanes[round][word]`: a lane of the vector. `MOST` is the most rounds that any k has; what reads them is unrolled
    /// so often.
    pub lanes: [[u8; WORDS]; MOST],
    /// The rounds that are used.
    pub rounds: u8,
}

/// The lanes of eight probes after two registers of four have been shuffled into one.
pub(super) const AVX2_ORDER: [usize; LANES] = [0, 1, 4, 5, 2, 3, 6, 7];

/// The vectors of `k`, which the caller has checked.
pub(super) fn vectors_of(k: u32) -> &'static [Vector] {
    static VECTORS: [Vector; first_vector(MAX_K + 1)] = {
        let mut vectors = [const { Vector::new(MIN_K, 0) }; first_vector(MAX_K + 1)];
        let mut k = MIN_K;
        while k <= MAX_K {
            let mut number = 0;
            while number < count(k) {
                vectors[first_vector(k) + number] = Vector::new(k, number);
                number += 1;
            }
            k += 1;
        }
        vectors
    };
    &VECTORS[first_vector(k)..][..count(k)]
}

/// Vectors that `k` probes fill.
const fn count(k: u32) -> usize {
    (k as usize).div_ceil(LANES)
}

/// Where the vectors of `k` begin: behind those of smaller ones.
const fn first_vector(k: u32) -> usize {
    let mut first = 0;
    let mut smaller = MIN_K;
    while smaller < k {
        first += count(smaller);
        smaller += 1;
    }
    first
}

impl Vector {
    /// Vector number `number` of `k`.
    const fn new(k: u32, number: usize) -> Vector {
        let sizes = partitions(k);
        let mut vector = Vector {
            size: [0; LANES],
            offset: [0; LANES],
            reciprocal52: [0; LANES],
            size_f64: [0.0; LANES],
            reciprocal_f64: [0.0; LANES],
            by_word64: Candidates::new(sizes, number, [0, 1, 2, 3, 4, 5, 6, 7]),
            by_word32: Candidates::new(sizes, number, AVX2_ORDER),
            k,
        };
        let mut lane = 0;
        while lane < LANES {
            let i = number * LANES + lane;
            let probe = if i < sizes.len() { i } else { 0 };
            let size = sizes[probe];
            vector.size[lane] = size as u64;
            vector.offset[lane] = start(sizes, probe) as u64;
            vector.reciprocal52[lane] = (1 << 52) / size as u64 + 1;
            vector.size_f64[lane] = size as f64;
            vector.reciprocal_f64[lane] = (1.0 / size as f64).next_up();
            lane += 1;
        }
        vector
    }
}

impl<const WORDS: usize, const MOST: usize> Candidates<WORDS, MOST> {
    /// The candidates of vector number `vector`, whose lane `i` holds probe `order[i]` of the vector.
    const fn new(sizes: &[u32], vector: usize, order: [usize; LANES]) -> Self {
        let bits = BLOCK_BITS as usize / WORDS;
        let mut candidates = Candidates { lanes: [[0; WORDS]; MOST], rounds: 0 };
        let mut found = [0; WORDS];
        let mut lane = 0;
        while lane < LANES {
            let probe = vector * LANES + order[lane];
            if probe < sizes.len() {
                let start = start(sizes, probe);
                let last = start + sizes[probe] as usize - 1;
                let mut word = start / bits;
                while word <= last / bits {
                    candidates.lanes[found[word]][word] = lane as u8;
                    found[word] += 1;
                    if found[word] > candidates.rounds as usize {
                        candidates.rounds = found[word] as u8;
                    }
                    word += 1;
                }
            }
            lane += 1;
        }
        candidates
    }
}

/// Where a partition begins.
const fn start(sizes: &[u32], partition: usize) -> usize {
    let mut start = 0;
    let mut i = 0;
    while i < partition {
        start += sizes[i] as usize;
        i += 1;
    }
    start
}
