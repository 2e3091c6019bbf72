//! AVX-512: a block is one register, and eight probes are the lanes of another.

use super::probe::{Combine, Probe, entry_points};
use super::tables::Vector;
use super::{Kernel, hash8};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;
use std::arch::asm;
use std::arch::x86_64::*;

/// The kernel with IFMA, whose two 52-bit multiplications give remainders.
pub(super) fn kernel_ifma(k: u32) -> Kernel {
    match k {
        0..=8 => ifma::<1>(k),
        9..=16 => ifma::<2>(k),
        _ => ifma::<3>(k),
    }
}

/// The kernel for processors without IFMA (Skylake-X to Cooper Lake).
pub(super) fn kernel(k: u32) -> Kernel {
    match k {
        0..=8 => without_ifma::<1>(k),
        9..=16 => without_ifma::<2>(k),
        _ => without_ifma::<3>(k),
    }
}

entry_points! {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma,popcnt")]
    fn ifma<const V: usize>() -> Avx512<'_, V, true>, OneRegister, c"avx512ifma", hash8::eight_at_once;
}
entry_points! {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn without_ifma<const V: usize>() -> Avx512<'_, V, false>, OneRegister, c"avx512", hash8::eight_at_once;
}

/// Constants of `V` vectors of probes. `size` and `reciprocal` are numbers for IFMA, else
/// floating-point.
struct Avx512<'a, const V: usize, const IFMA: bool> {
    vectors: &'a [Vector; V],
    size: [__m512i; V],
    reciprocal: [__m512i; V],
    offset: [__m512i; V],
}

impl<const V: usize, const IFMA: bool> Avx512<'_, V, IFMA> {
    /// The bit of each probe of a vector.
    ///
    /// # Safety
    /// As for [`Probe`].
    #[inline(always)]
    unsafe fn bits(&self, vector: usize, probe: u32) -> __m512i {
        let (size, reciprocal, offset) = (self.size[vector], self.reciprocal[vector], self.offset[vector]);
        // SAFETY: as for this function.
        unsafe {
            let probe = _mm512_set1_epi64(probe.into());
            if IFMA {
                // A remainder is the fraction of the quotient, times the divisor (Lemire, Kaser and Kurz, "Faster
                // Remainder by Direct Computation", 2019).
                let fraction = _mm512_madd52lo_epu64(_mm512_setzero_si512(), probe, reciprocal);
                _mm512_madd52hi_epu64(offset, fraction, size)
            } else {
                let exact = _mm512_mul_pd(_mm512_cvtepu64_pd(probe), _mm512_castsi512_pd(reciprocal));
                // Quotient and size are below 2^32.
                let product = _mm512_mul_epu32(_mm512_cvttpd_epu64(exact), size);
                _mm512_sub_epi64(_mm512_add_epi64(probe, offset), product)
            }
        }
    }

    /// All bits of the probe as a block.
    ///
    /// # Safety
    /// As for [`Probe`].
    #[inline(always)]
    unsafe fn mask(&self, probe: u32) -> __m512i {
        // SAFETY: as for this function; a row of candidates is eight bytes.
        unsafe {
            let first_bits = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
            let mut mask = _mm512_setzero_si512();
            for vector in 0..V {
                let bits = self.bits(vector, probe);
                let candidates = &self.vectors[vector].by_word64;
                for lanes in candidates.lanes.iter().take(candidates.rounds.into()) {
                    let lanes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(lanes.as_ptr().cast()));
                    // Shifting by 64 or more, also by a negative number, gives 0: a bit that is
                    // elsewhere leaves its candidate's word alone.
                    let shift = _mm512_sub_epi64(_mm512_permutexvar_epi64(lanes, bits), first_bits);
                    mask = _mm512_or_si512(mask, _mm512_sllv_epi64(_mm512_set1_epi64(1), shift));
                }
            }
            mask
        }
    }
}

impl<'a, const V: usize, const IFMA: bool> Probe<'a> for Avx512<'a, V, IFMA> {
    #[inline(always)]
    unsafe fn new(vectors: &'a [Vector]) -> Self {
        let reciprocal = |vector: &Vector| -> *const __m512i {
            if IFMA { vector.reciprocal52.as_ptr().cast() } else { vector.reciprocal_f64.as_ptr().cast() }
        };
        // SAFETY: as for this function; there are V vectors, and each row has eight numbers and is aligned.
        unsafe {
            let vectors: &[Vector; V] = &*vectors.as_ptr().cast();
            Avx512 {
                vectors,
                size: std::array::from_fn(|i| _mm512_load_si512(vectors[i].size.as_ptr().cast())),
                reciprocal: std::array::from_fn(|i| _mm512_load_si512(reciprocal(&vectors[i]))),
                offset: std::array::from_fn(|i| _mm512_load_si512(vectors[i].offset.as_ptr().cast())),
            }
        }
    }

    #[inline(always)]
    unsafe fn test(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe {
            let block = load(block);
            let mut clear = 0;
            for vector in 0..V {
                let bits = self.bits(vector, probe);
                let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<6>(bits), block);
                // A rotation takes its distance modulo 64, a shift would not.
                let first_bits = _mm512_rorv_epi64(words, bits);
                clear |= _mm512_testn_epi64_mask(first_bits, _mm512_set1_epi64(1));
            }
            clear == 0
        }
    }

    #[inline(always)]
    unsafe fn set(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe {
            let mask = self.mask(probe);
            let old = load(block);
            let changes = _mm512_test_epi64_mask(_mm512_andnot_si512(old, mask), mask) != 0;
            if changes {
                store(block, _mm512_or_si512(old, mask));
            }
            changes
        }
    }

    #[inline(always)]
    unsafe fn set_shared(&self, block: &Block, probe: u32) -> bool {
        // SAFETY: as for this function.
        unsafe { or_shared(block, self.mask(probe)) }
    }
}

struct OneRegister;

impl Combine for OneRegister {
    #[inline(always)]
    unsafe fn or(target: &Block, source: &Block) {
        // SAFETY: as for this function.
        unsafe {
            let (old, mask) = (load(target), load(source));
            if _mm512_test_epi64_mask(_mm512_andnot_si512(old, mask), mask) != 0 {
                store(target, _mm512_or_si512(old, mask));
            }
        }
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
            let (old, mask) = (load(target), load(source));
            let surplus = _mm512_andnot_si512(mask, old);
            if _mm512_test_epi64_mask(surplus, surplus) != 0 {
                store(target, _mm512_and_si512(old, mask));
            }
        }
    }
}

/// Sets the bits of `mask` in a block by an atomic OR for each word that lacks some; true if one was clear.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn or_shared(block: &Block, mask: __m512i) -> bool {
    // SAFETY: as for this function; the array has the size of the register.
    unsafe {
        let missing = _mm512_andnot_si512(load(block), mask);
        let mut lacking = _mm512_test_epi64_mask(missing, missing);
        let mut masks = [0u64; 8];
        _mm512_storeu_si512(masks.as_mut_ptr().cast(), mask);
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

/// Reads a block that others may write. Not by an intrinsic, which would promise the compiler that nobody
/// does; the processor reads each aligned word whole.
///
/// # Safety
/// The processor has AVX-512F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(block: &Block) -> __m512i {
    let value;
    // SAFETY: a block is readable and aligned to 64 bytes.
    unsafe {
        asm!("vmovdqa64 {}, [{}]", out(zmm_reg) value, in(reg) block, options(nostack, preserves_flags, readonly));
    }
    value
}

/// Writes a block that others may read.
///
/// # Safety
/// The processor has AVX-512F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(block: &Block, value: __m512i) {
    // SAFETY: a block is made of atomics, so it may be written through a shared reference.
    unsafe {
        asm!("vmovdqa64 [{}], {}", in(reg) block, in(zmm_reg) value, options(nostack, preserves_flags));
    }
}
