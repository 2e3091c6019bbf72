//! XXH3-128 of eight keys at once in AVX-512, bit for bit, for keys of 4 to 64 bytes.
//!
//! XXH3 mixes a short key by a few 64-bit multiplications, which leaves most of a core idle; eight
//! keys fill it. Keys are first sorted by the class of their length, so that no key costs a
//! misprediction; each class is hashed in eights, the rest of a group (shorter and longer keys) one by
//! one. The algorithm is that of the XXH3 reference implementation, `xxhash.h` 0.8: the functions
//! are named as there.

use super::hash::{Located, hash_key, take_hashes};
use super::keys::{GROUP, Keys, Place};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;

/// The first 64 bytes of XXH3's default secret, as the little-endian words at multiples of 8.
const SECRET: [u64; 8] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
];

/// Prefetched ahead of the keys: the fetches of random blocks would starve the processor's own
/// prefetching of the key bytes.
const BYTES_AHEAD: usize = 2048;

/// Classes of length that are hashed in eights: 4 to 8, 9 to 16, 17 to 32, 33 to 64 bytes.
const CLASSES: [(u32, u32); 4] = [(4, 8), (9, 16), (17, 32), (33, 64)];

/// Hashes up to [`GROUP`] keys from `first` on.
///
/// # Safety
/// The processor has AVX-512 F, DQ, VL and BW.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
pub(super) unsafe fn eight_at_once(
    keys: &Keys<'_>,
    first: usize,
    seed: u64,
    num_blocks: u64,
    located: &mut Located,
) {
    located.clear();
    let hasher = Hasher { seed, num_blocks };
    let count = GROUP.min(keys.len() - first);
    match keys.place() {
        Place::Hashes(hashes) => take_hashes(keys, hashes, first, num_blocks, located),
        // SAFETY: the invariant of `Place`.
        Place::Fixed { data, size: 8 } => unsafe { hasher.words(data.add(first * 8), count, located) },
        _ => {
            let mut group = Group::new();
            keys.for_each(first, GROUP, |number, key, len| group.put(number, key, len));
            if keys.is_contiguous() {
                group.prefetch(count);
            } else {
                keys.for_each(first + count, GROUP, |_, key, _| prefetch_line(key));
            }
            // SAFETY: these are keys of `keys`, as `for_each` gave them.
            unsafe {
                hasher.classes(&group, located);
                if located.len() < count {
                    hasher.others(&group, count, located);
                }
            }
        }
    }
}

#[inline(always)]
fn prefetch_line(address: *const u8) {
    // SAFETY: prefetching is allowed for any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

/// The keys of a group. Those that are not there have length 0.
struct Group {
    starts: [*const u8; GROUP],
    ends: [*const u8; GROUP],
    /// Cut off at [`LONG`].
    lens: [u32; GROUP],
}

/// A length that no class has and that leaves room for a number.
const LONG: usize = u32::MAX as usize >> 8;

impl Group {
    #[inline(always)]
    fn new() -> Group {
        Group { starts: [std::ptr::null(); GROUP], ends: [std::ptr::null(); GROUP], lens: [0; GROUP] }
    }

    #[inline(always)]
    fn put(&mut self, number: usize, key: *const u8, len: usize) {
        self.starts[number] = key;
        self.ends[number] = key.wrapping_add(len);
        self.lens[number] = len.min(LONG) as u32;
    }

    /// Fetches bytes as many as these `count` keys have, [`BYTES_AHEAD`] of them.
    #[inline(always)]
    fn prefetch(&self, count: usize) {
        let start = self.starts[0].wrapping_add(BYTES_AHEAD);
        let lines = (self.ends[count - 1].addr() - self.starts[0].addr()).div_ceil(64).min(GROUP);
        (0..lines).for_each(|line| prefetch_line(start.wrapping_add(line * 64)));
    }
}

/// Eight addresses.
type Keys8 = [*const u8; 8];

/// Keys of one class, as their lengths and numbers: `len << 8 | number`. Room for a group, and for a
/// vector behind it.
type Class = [u32; GROUP + 16];

/// The two halves of eight hashes.
type Hash8 = (__m512i, __m512i);

/// What is wanted of eight hashes: the high words, and the probe values in the low halves of others.
type HighAndProbe8 = (__m512i, __m512i);

/// What the hashes of a batch have in common.
struct Hasher {
    seed: u64,
    num_blocks: u64,
}

/// Functions of eight keys. All are compiled for AVX-512.
impl Hasher {
    /// Hashes `count` keys of 8 bytes that lie one after the other.
    ///
    /// # Safety
    /// `count * 8` bytes at `data` are readable.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn words(&self, data: *const u8, count: usize, located: &mut Located) {
        let mut numbers = iota();
        for start in (0..count).step_by(8) {
            let here = (count - start).min(8);
            let present = (0xff_u32 >> (8 - here)) as __mmask8;
            // SAFETY: only the lanes of keys that are there are read.
            let words = unsafe { _mm512_maskz_loadu_epi64(present, data.add(start * 8).cast()) };
            let hash = self.len_4_to_8_of(words, splat(8));
            self.store(hash, numbers, here, located);
            numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(8));
        }
    }

    /// Hashes the keys of a group that are 4 to 64 bytes long.
    ///
    /// # Safety
    /// The keys of the group are readable.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn classes(&self, group: &Group, located: &mut Located) {
        let mut classes = [MaybeUninit::<Class>::uninit(); 4];
        // SAFETY: `sort` fills as much of each class as it says.
        let counts = unsafe { sort(group, &mut classes) };
        for (number, (class, count)) in classes.iter().zip(counts).enumerate() {
            for start in (0..count).step_by(8) {
                // SAFETY: eight keys from here on are filled in, and their lengths are of this class.
                unsafe {
                    let eight = _mm256_loadu_si256(class.as_ptr().cast::<u32>().add(start).cast());
                    let lens = _mm512_cvtepu32_epi64(_mm256_srli_epi32::<8>(eight));
                    let numbers = _mm256_and_si256(eight, _mm256_set1_epi32(0xff));
                    let eight: [u32; 8] = *class.as_ptr().cast::<u32>().add(start).cast();
                    let keys = eight.map(|key| group.starts[key as u8 as usize % GROUP]);
                    let ends = eight.map(|key| group.ends[key as u8 as usize % GROUP]);
                    let hash = match number {
                        0 => self.len_4_to_8(&keys, &ends, lens),
                        1 => self.len_9_to_16(&keys, &ends, lens),
                        2 => self.len_17_to_32(&keys, &ends, lens),
                        _ => self.len_33_to_64(&keys, &ends, lens),
                    };
                    self.store(hash, numbers, (count - start).min(8), located);
                }
            }
        }
    }

    /// Hashes the keys that no class took, one by one.
    ///
    /// # Safety
    /// The first `count` keys of the group are readable.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn others(&self, group: &Group, count: usize, located: &mut Located) {
        for number in 0..count {
            if !(4..=64).contains(&group.lens[number]) {
                let (start, end) = (group.starts[number], group.ends[number]);
                // SAFETY: a key lies from its start to its end.
                let hash = unsafe { hash_key(start, end.addr() - start.addr(), self.seed) };
                located.push(number, hash, self.num_blocks);
            }
        }
    }

    /// Finds the blocks of eight hashes and hands on the first `count`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn store(&self, (hi, probes): HighAndProbe8, numbers: __m256i, count: usize, located: &mut Located) {
        let probes = _mm512_cvtepi64_epi32(probes);
        let indices = if self.num_blocks >> 32 == 0 {
            // floor(hi * n / 2^64) for n below 2^32 takes two multiplications.
            let n = splat(self.num_blocks);
            let low = mul_32x32_64(hi, n);
            let high = mul_32x32_64(_mm512_srli_epi64::<32>(hi), n);
            _mm512_srli_epi64::<32>(_mm512_add_epi64(high, _mm512_srli_epi64::<32>(low)))
        } else {
            mul_64x64_128(hi, splat(self.num_blocks)).0
        };
        let (to_indices, to_probes, to_order) = located.next_eight(count);
        // SAFETY: each destination is an array of the size of the register.
        unsafe {
            _mm512_storeu_si512(to_indices.as_mut_ptr().cast(), indices);
            _mm256_storeu_si256(to_probes.as_mut_ptr().cast(), probes);
            _mm256_storeu_si256(to_order.as_mut_ptr().cast(), numbers);
        }
    }

    /// # Safety
    /// Keys of 4 to 8 bytes are readable from `keys` to `ends`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn len_4_to_8(&self, keys: &Keys8, ends: &Keys8, lens: __m512i) -> HighAndProbe8 {
        let word = |i: usize| {
            // SAFETY: a key has at least 4 bytes.
            let (first, last) = unsafe {
                (keys[i].cast::<i32>().read_unaligned(), ends[i].sub(4).cast::<i32>().read_unaligned())
            };
            (i64::from(last) << 32) | i64::from(first as u32)
        };
        let words = _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
        self.len_4_to_8_of(words, lens)
    }

    /// Keys of 4 to 8 bytes, given their first and last four bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn len_4_to_8_of(&self, words: __m512i, lens: __m512i) -> HighAndProbe8 {
        let seed = self.seed ^ u64::from((self.seed as u32).swap_bytes()) << 32;
        let bitflip = splat((SECRET[2] ^ SECRET[3]).wrapping_add(seed));
        let multiplier = _mm512_add_epi64(splat(PRIME64_1), _mm512_slli_epi64::<2>(lens));
        let (hi, lo) = mul_64x64_128(_mm512_xor_si512(words, bitflip), multiplier);
        let hi = _mm512_add_epi64(hi, _mm512_slli_epi64::<1>(lo));
        let lo = _mm512_xor_si512(lo, _mm512_srli_epi64::<3>(hi));
        let lo = _mm512_xor_si512(lo, _mm512_srli_epi64::<35>(lo));
        let lo = _mm512_mullo_epi64(lo, splat(PRIME_MX2));
        let lo = _mm512_xor_si512(lo, _mm512_srli_epi64::<28>(lo));
        (avalanche(hi), _mm512_xor_si512(lo, _mm512_srli_epi64::<32>(lo)))
    }

    /// # Safety
    /// Keys of 9 to 16 bytes are readable from `keys` to `ends`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn len_9_to_16(&self, keys: &Keys8, ends: &Keys8, lens: __m512i) -> HighAndProbe8 {
        let bitflip_lo = splat((SECRET[4] ^ SECRET[5]).wrapping_sub(self.seed));
        let bitflip_hi = splat((SECRET[6] ^ SECRET[7]).wrapping_add(self.seed));
        // SAFETY: a key has at least 8 bytes.
        let (input_lo, input_hi) = unsafe { (load_8(keys, 0), load_8(ends, -8)) };
        let mixed = _mm512_xor_si512(_mm512_xor_si512(input_lo, input_hi), bitflip_lo);
        let (hi, lo) = mul_64x64_128(mixed, splat(PRIME64_1));
        let lo = _mm512_add_epi64(lo, _mm512_slli_epi64::<54>(_mm512_sub_epi64(lens, splat(1))));
        let input_hi = _mm512_xor_si512(input_hi, bitflip_hi);
        let hi = _mm512_add_epi64(
            hi,
            _mm512_add_epi64(input_hi, _mm512_mul_epu32(input_hi, splat(PRIME32_2 - 1))),
        );
        let lo = _mm512_xor_si512(lo, swap_64(hi));
        let (high, low) = mul_64x64_128(lo, splat(PRIME64_2));
        let high = _mm512_add_epi64(high, _mm512_mullo_epi64(hi, splat(PRIME64_2)));
        (avalanche(high), avalanched_probe(low))
    }

    /// # Safety
    /// Keys of 17 to 32 bytes are readable from `keys` to `ends`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn len_17_to_32(&self, keys: &Keys8, ends: &Keys8, lens: __m512i) -> HighAndProbe8 {
        let start = (_mm512_setzero_si512(), _mm512_mullo_epi64(lens, splat(PRIME64_1)));
        // SAFETY: a key has at least 16 bytes.
        let (first, last) = unsafe { (load_16(keys, 0), load_16(ends, -16)) };
        self.finish(self.mix_32(start, first, last, 0), lens)
    }

    /// # Safety
    /// Keys of 33 to 64 bytes are readable from `keys` to `ends`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    unsafe fn len_33_to_64(&self, keys: &Keys8, ends: &Keys8, lens: __m512i) -> HighAndProbe8 {
        let start = (_mm512_setzero_si512(), _mm512_mullo_epi64(lens, splat(PRIME64_1)));
        // SAFETY: a key has at least 32 bytes.
        let (first, last, inner, inner_last) =
            unsafe { (load_16(keys, 0), load_16(ends, -16), load_16(keys, 16), load_16(ends, -32)) };
        let outer = self.mix_32(start, inner, inner_last, 4);
        self.finish(self.mix_32(outer, first, last, 0), lens)
    }

    /// XXH128_mix32B, with the secret from word `secret` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn mix_32(&self, (hi, lo): Hash8, first: Hash8, last: Hash8, secret: usize) -> Hash8 {
        let lo = _mm512_add_epi64(lo, self.mix_16(first, secret));
        let lo = _mm512_xor_si512(lo, _mm512_add_epi64(last.0, last.1));
        let hi = _mm512_add_epi64(hi, self.mix_16(last, secret + 2));
        let hi = _mm512_xor_si512(hi, _mm512_add_epi64(first.0, first.1));
        (hi, lo)
    }

    /// XXH3_mix16B.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn mix_16(&self, (hi, lo): Hash8, secret: usize) -> __m512i {
        let flip_lo = splat(SECRET[secret].wrapping_add(self.seed));
        let flip_hi = splat(SECRET[secret + 1].wrapping_sub(self.seed));
        let (hi, lo) = mul_64x64_128(_mm512_xor_si512(lo, flip_lo), _mm512_xor_si512(hi, flip_hi));
        _mm512_xor_si512(hi, lo)
    }

    /// The end of XXH3_len_17to128_128b.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
    fn finish(&self, (hi, lo): Hash8, lens: __m512i) -> HighAndProbe8 {
        let sum = _mm512_add_epi64(lo, hi);
        let lens = _mm512_mullo_epi64(_mm512_sub_epi64(lens, splat(self.seed)), splat(PRIME64_2));
        let products = _mm512_add_epi64(
            _mm512_mullo_epi64(lo, splat(PRIME64_1)),
            _mm512_mullo_epi64(hi, splat(PRIME64_4)),
        );
        let high = avalanche(_mm512_add_epi64(products, lens));
        (_mm512_sub_epi64(_mm512_setzero_si512(), high), avalanched_probe(sum))
    }
}

/// Sorts the keys of a group into classes and returns how many each has. Behind the last key of a class
/// it is repeated, so that vectors are always full and never read a key of another class.
///
/// # Safety
/// None, but for the processor's instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
unsafe fn sort(group: &Group, classes: &mut [MaybeUninit<Class>; 4]) -> [usize; 4] {
    let mut counts = [0; 4];
    let mut numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for start in (0..GROUP).step_by(16) {
        // SAFETY: the length of the array is a multiple of sixteen.
        let lens = unsafe { _mm512_loadu_si512(group.lens.as_ptr().add(start).cast()) };
        let keys = _mm512_or_si512(_mm512_slli_epi32::<8>(lens), numbers);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
        for ((class, count), (shortest, longest)) in classes.iter_mut().zip(&mut counts).zip(CLASSES) {
            let above = _mm512_sub_epi32(lens, _mm512_set1_epi32(shortest as i32));
            let members = _mm512_cmple_epu32_mask(above, _mm512_set1_epi32((longest - shortest) as i32));
            // SAFETY: a class has at most `start` keys by now, so there is room for sixteen.
            unsafe {
                let to = class.as_mut_ptr().cast::<u32>().add(*count);
                _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(members, keys));
            }
            *count += members.count_ones() as usize;
        }
    }
    for (class, &count) in classes.iter_mut().zip(&counts) {
        if count > 0 {
            // SAFETY: the last key is there, and so is room for eight.
            unsafe {
                let end = class.as_mut_ptr().cast::<u32>().add(count);
                _mm256_storeu_si256(end.cast(), _mm256_set1_epi32(*end.sub(1) as i32));
            }
        }
    }
    counts
}

/// Eight bytes of each of eight keys.
///
/// # Safety
/// They are readable at `offset` from each address.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
unsafe fn load_8(from: &Keys8, offset: isize) -> __m512i {
    let pair = |i: usize| {
        // SAFETY: by this function's contract.
        unsafe {
            let first = _mm_loadl_epi64(from[i].offset(offset).cast());
            let second = _mm_loadl_epi64(from[i + 1].offset(offset).cast());
            _mm_unpacklo_epi64(first, second)
        }
    };
    four_pairs(pair(0), pair(2), pair(4), pair(6))
}

/// Sixteen bytes of each of eight keys, as their high and low words.
///
/// # Safety
/// They are readable at `offset` from each address.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
unsafe fn load_16(from: &Keys8, offset: isize) -> Hash8 {
    // SAFETY: by this function's contract.
    let sixteen = |i: usize| unsafe { _mm_loadu_si128(from[i].offset(offset).cast()) };
    let even = four_pairs(sixteen(0), sixteen(2), sixteen(4), sixteen(6));
    let odd = four_pairs(sixteen(1), sixteen(3), sixteen(5), sixteen(7));
    (_mm512_unpackhi_epi64(even, odd), _mm512_unpacklo_epi64(even, odd))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn four_pairs(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> __m512i {
    let low = _mm512_inserti64x2::<1>(_mm512_castsi128_si512(a), b);
    _mm512_inserti64x2::<3>(_mm512_inserti64x2::<2>(low, c), d)
}

/// The products of eight pairs of words: their high and low words. (AVX-512 multiplies 32 bits.)
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn mul_64x64_128(a: __m512i, b: __m512i) -> Hash8 {
    let low_32 = splat(0xffff_ffff);
    let (a_high, b_high) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    let low = _mm512_mul_epu32(a, b);
    let cross = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64::<32>(low));
    let middle = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(cross, low_32));
    let high = _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64::<32>(cross));
    let hi = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(middle));
    let lo = _mm512_or_si512(_mm512_slli_epi64::<32>(middle), _mm512_and_si512(low, low_32));
    (hi, lo)
}

/// The products of the low halves of eight pairs of words, as `_mm512_mul_epu32`. From that one the compiler makes a
/// multiplication of whole words, which takes three times as long, where it knows more of the halves than we say.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_32x32_64(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: computes a register from two.
    unsafe {
        std::arch::asm!("vpmuludq {}, {}, {}", out(zmm_reg) product, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// XXH3_avalanche.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn avalanche(hash: __m512i) -> __m512i {
    let hash = _mm512_xor_si512(hash, _mm512_srli_epi64::<37>(hash));
    let hash = _mm512_mullo_epi64(hash, splat(PRIME_MX1));
    _mm512_xor_si512(hash, _mm512_srli_epi64::<32>(hash))
}

/// The probe values of hashes whose low words are `avalanche(lo)`, in the low halves.
///
/// A probe value is the XOR of both halves of that word, and the last step of the avalanche XORs the high half to
/// the low one, so that it cancels out: what stays is the low half of the product.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn avalanched_probe(lo: __m512i) -> __m512i {
    let lo = _mm512_xor_si512(lo, _mm512_srli_epi64::<37>(lo));
    mul_32x32_64(lo, splat(PRIME_MX1))
}

/// XXH_swap64.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn swap_64(words: __m512i) -> __m512i {
    let reversed = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
    _mm512_shuffle_epi8(words, _mm512_broadcast_i64x2(reversed))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

/// 0 to 7.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
fn iota() -> __m256i {
    _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0)
}
