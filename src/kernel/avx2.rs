//! AVX2: a block is two registers; eight probes are eight 32-bit lanes.

use super::probe::{Combine, Probe, entry_points};
use super::tables::Vector;
use super::{Kernel, hash};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;
use std::arch::asm;
use std::arch::x86_64::*;

pub(super) fn kernel(k: u32) -> Kernel {
    match k {
        0..=8 => of::<1>(k),
        9..=16 => of::<2>(k),
        _ => of::<3>(k),
    }
}

entry_points! {
    #[target_feature(enable = "avx2,fma,popcnt")]
    fn of<const V: usize>() -> Avx2<'_, V>, TwoRegisters, c"avx2", hash::one_by_one;
}

/// Constants of `V` times eight probes, as pairs of registers of four floating-point numbers.
///
/// AVX2 has no multiplication that gives a quotient, but floating-point numbers have 53 bits and the
/// probe value 32, so that quotients and remainders by them are exact.
struct Avx2<'a, const V: usize> {
    vectors: &'a [Vector; V],
    size: [[__m256d; 2]; V],
    reciprocal: [[__m256d; 2]; V],
    offset: [[__m256d; 2]; V],
}

/// Added to a whole number below 2^52, leaves that number in the low bits.
const TWO_TO_52: f64 = 4503599627370496.0;

impl<const V: usize> Avx2<'_, V> {
    /// The bits of eight probes as 32-bit lanes, in the order of [`AVX2_ORDER`](super::tables::AVX2_ORDER).
    ///
    /// # Safety
    /// As for [`Probe`].
    #[inline(always)]
    unsafe fn bits(&self, vector: usize, probe: u32) -> __m256i {
        // SAFETY: as for this function.
        unsafe {
            let probe = _mm256_set1_pd(probe.into());
            let [first, second] = [self.bits_of_four(vector, 0, probe), self.bits_of_four(vector, 1, probe)];
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second))
        }
    }

    /// The bits of four probes in the low halves of their lanes.
    ///
    /// # Safety
    /// As for [`Probe`].
    #[inline(always)]
    unsafe fn bits_of_four(&self, vector: usize, half: usize, probe: __m256d) -> __m256 {
        // SAFETY: as for this function.
        unsafe {
            let quotient = _mm256_floor_pd(_mm256_mul_pd(probe, self.reciprocal[vector][half]));
            let remainder = _mm256_fnmadd_pd(quotient, self.size[vector][half], probe);
            _mm256_castpd_ps(_mm256_add_pd(remainder, self.offset[vector][half]))
        }
    }

    /// All bits of the probe as the two halves of a block.
    ///
    /// # Safety
    /// As for [`Probe`].
    #[inline(always)]
    unsafe fn mask(&self, probe: u32) -> [__m256i; 2] {
        // SAFETY: as for this function; a row of candidates is sixteen bytes.
        unsafe {
            let one = _mm256_set1_epi32(1);
            let low_words = _mm256_set_epi32(224, 192, 160, 128, 96, 64, 32, 0);
            let high_words = _mm256_add_epi32(low_words, _mm256_set1_epi32(256));
            let mut low = _mm256_setzero_si256();
            let mut high = _mm256_setzero_si256();
            for vector in 0..V {
                let bits = self.bits(vector, probe);
                let candidates = &self.vectors[vector].by_word32;
                for lanes in candidates.lanes.iter().take(candidates.rounds.into()) {
                    // Shifting by 32 or more, also by a negative number, gives 0: a bit that is
                    // elsewhere leaves its candidate's word alone.
                    let [low_lanes, high_lanes] = [0, 8]
                        .map(|first| _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().add(first).cast())));
                    let shift = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(bits, low_lanes), low_words);
                    low = _mm256_or_si256(low, _mm256_sllv_epi32(one, shift));
                    let shift = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(bits, high_lanes), high_words);
                    high = _mm256_or_si256(high, _mm256_sllv_epi32(one, shift));
                }
            }
            [low, high]
        }
    }
}

impl<'a, const V: usize> Probe<'a> for Avx2<'a, V> {
    #[inline(always)]
    unsafe fn new(vectors: &'a [Vector]) -> Self {
        // SAFETY: as for this function; there are V vectors, and each row has eight numbers and is aligned.
        unsafe {
            let vectors: &[Vector; V] = &*vectors.as_ptr().cast();
            let zero = _mm256_setzero_pd();
            let mut kernel =
                Avx2 { vectors, size: [[zero; 2]; V], reciprocal: [[zero; 2]; V], offset: [[zero; 2]; V] };
            for (vector, from) in vectors.iter().enumerate() {
                for half in 0..2 {
                    let at = half * 4;
                    kernel.size[vector][half] = _mm256_load_pd(from.size_f64.as_ptr().add(at));
                    kernel.reciprocal[vector][half] = _mm256_load_pd(from.reciprocal_f64.as_ptr().add(at));
                    // A whole number becomes the floating-point number 2^52 more than it by setting
                    // the exponent.
                    let offset = _mm256_load_si256(from.offset.as_ptr().add(at).cast());
                    let exponent = _mm256_set1_pd(TWO_TO_52);
                    kernel.offset[vector][half] = _mm256_or_pd(_mm256_castsi256_pd(offset), exponent);
                }
            }
            kernel
        }
    }

    #[inline(always)]
    unsafe fn test(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe {
            let [low, high] = load(block);
            let mut missing = _mm256_setzero_si256();
            for vector in 0..V {
                let bits = self.bits(vector, probe);
                // The 32-bit word of each bit: the permutations look at three bits of its number, the
                // fourth chooses between the halves.
                let word = _mm256_srli_epi32::<5>(bits);
                let from_low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word));
                let from_high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word));
                let is_high = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(word));
                let words = _mm256_castps_si256(_mm256_blendv_ps(from_low, from_high, is_high));
                let masks =
                    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(bits, _mm256_set1_epi32(31)));
                missing = _mm256_or_si256(missing, _mm256_andnot_si256(words, masks));
            }
            _mm256_testz_si256(missing, missing) == 1
        }
    }

    #[inline(always)]
    unsafe fn set(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe { or(block, self.mask(probe)) }
    }

    #[inline(always)]
    unsafe fn set_shared(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe { or_shared(block, self.mask(probe)) }
    }
}

struct TwoRegisters;

impl Combine for TwoRegisters {
    #[inline(always)]
    unsafe fn or(target: &Block, source: &Block) {
        // SAFETY: as for this function.
        unsafe { or(target, load(source)) };
    }

    #[inline(always)]
    unsafe fn or_shared(target: &Block, source: &Block) {
        // SAFETY: as for this function.
        unsafe { or_shared(target, load(source)) };
    }

    #[inline(always)]
    unsafe fn and(target: &Block, source: &Block) {
        // SAFETY: as for this function.
        unsafe {
            let ([low, high], [mask_low, mask_high]) = (load(target), load(source));
            if _mm256_testc_si256(mask_low, low) & _mm256_testc_si256(mask_high, high) == 0 {
                store(target, [_mm256_and_si256(low, mask_low), _mm256_and_si256(high, mask_high)]);
            }
        }
    }
}

/// Sets the bits of a mask in a block, as its only writer; true if one was clear.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn or(block: &Block, [mask_low, mask_high]: [__m256i; 2]) -> bool {
    // SAFETY: as for this function.
    unsafe {
        let [low, high] = load(block);
        // testc: are there no bits in the mask that the block lacks?
        let changes = _mm256_testc_si256(low, mask_low) & _mm256_testc_si256(high, mask_high) == 0;
        if changes {
            store(block, [_mm256_or_si256(low, mask_low), _mm256_or_si256(high, mask_high)]);
        }
        changes
    }
}

/// The same by an atomic OR for each word that lacks bits.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn or_shared(block: &Block, mask: [__m256i; 2]) -> bool {
    // SAFETY: as for this function; two registers fill the array.
    unsafe {
        let mut masks = [0u64; 8];
        _mm256_storeu_si256(masks.as_mut_ptr().cast(), mask[0]);
        _mm256_storeu_si256(masks.as_mut_ptr().add(4).cast(), mask[1]);
        let words = load(block);
        let mut lacking = words_lacking(words[0], mask[0]) | words_lacking(words[1], mask[1]) << 4;
        let mut changed = false;
        while lacking != 0 {
            let word = lacking.trailing_zeros() as usize % 8;
            let mask = masks[word];
            changed |= block.words[word].fetch_or(mask, Relaxed) & mask != mask;
            lacking &= lacking - 1;
        }
        changed
    }
}

/// A bit for each of four words, set if the word lacks bits of its mask.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn words_lacking(words: __m256i, mask: __m256i) -> i32 {
    // SAFETY: as for this function.
    unsafe {
        let missing = _mm256_andnot_si256(words, mask);
        let complete = _mm256_cmpeq_epi64(missing, _mm256_setzero_si256());
        !_mm256_movemask_pd(_mm256_castsi256_pd(complete)) & 0b1111
    }
}

/// Reads a block that others may write. Not by an intrinsic, which would promise the compiler that nobody
/// does; the processor reads each aligned word whole.
///
/// # Safety
/// The processor has AVX.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(block: &Block) -> [__m256i; 2] {
    let (low, high);
    // SAFETY: a block is readable and aligned to 64 bytes.
    unsafe {
        asm!("vmovdqa {}, [{}]", out(ymm_reg) low, in(reg) block, options(nostack, preserves_flags, readonly));
        asm!("vmovdqa {}, [{} + 32]", out(ymm_reg) high, in(reg) block, options(nostack, preserves_flags, readonly));
    }
    [low, high]
}

/// Writes a block that others may read.
///
/// # Safety
/// The processor has AVX.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(block: &Block, [low, high]: [__m256i; 2]) {
    // SAFETY: a block is made of atomics, so it may be written through a shared reference.
    unsafe {
        asm!("vmovdqa [{}], {}", in(reg) block, in(ymm_reg) low, options(nostack, preserves_flags));
        asm!("vmovdqa [{} + 32], {}", in(reg) block, in(ymm_reg) high, options(nostack, preserves_flags));
    }
}
