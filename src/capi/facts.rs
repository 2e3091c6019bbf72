//! Facts and figures.

use super::boundary::*;
use super::types::*;
use crate::filter::{Filter, Kind};
use crate::sizing;
use std::ffi::{c_char, c_void};

/// GLOOM_KIND_...; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_kind_of(filter: *const gloom_filter) -> i32 {
    // SAFETY: the caller's handle.
    unsafe {
        fact(filter, 0, |filter| match filter.kind() {
            Kind::Plain => GLOOM_KIND_PLAIN,
            Kind::Atomic => GLOOM_KIND_ATOMIC,
            Kind::Sharded => GLOOM_KIND_SHARDED,
        })
    }
}

/// The number of blocks of 64 bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_num_blocks(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::num_blocks) }
}

/// Probes a key; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_k(filter: *const gloom_filter) -> u32 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::k) }
}

/// The number of shards; 1 for filters that are not sharded, 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_num_shards(filter: *const gloom_filter) -> u32 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::num_shards) }
}

/// How keys are hashed: GLOOM_HASH_...; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_hash_kind(filter: *const gloom_filter) -> i32 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, |filter| filter.hash_kind().number() as i32) }
}

/// The seed of the hash; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_seed(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::seed) }
}

/// The number of keys that was planned for; 0 if made from num_blocks and k, folded or loaded from v1, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_expected_items(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::expected_items) }
}

/// The false-positive rate that was asked for; 0 if made from num_blocks and k, folded or loaded from v1; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_fp_rate(filter: *const gloom_filter) -> f64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 1.0, Filter::fp_rate) }
}

/// Is the filter a mapped file? false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_is_mapped(filter: *const gloom_filter) -> bool {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, false, Filter::is_mapped) }
}

/// Do writes to the filter end in GLOOM_ERR_READ_ONLY? false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_is_read_only(filter: *const gloom_filter) -> bool {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, false, Filter::is_read_only) }
}

/// All bits of the filter: num_blocks * 512; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_bit_capacity(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::bit_capacity) }
}

/// Bytes of memory: the blocks and the bookkeeping; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_memory_bytes(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::memory_bytes) }
}

/// Successful adds, of new keys or old, and those of merged filters; saturates at UINT64_MAX; 0 for NULL.
/// Exact once the adds have returned; of a file that others have mapped for writing, too, their adds are
/// counted when they close it. Sums at most 64 counters, or one for each shard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_count(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 0, Filter::count) }
}

/// Distinct keys, estimated from the bits, so that duplicates do not inflate it. UINT64_MAX if all bits
/// are set, and for NULL. Reads the whole filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_estimate_items(filter: *const gloom_filter) -> u64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, u64::MAX, Filter::estimate_items) }
}

/// The part of the bits that is set, 0 to 1; 1 for NULL. Reads the whole filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_fill_ratio(filter: *const gloom_filter) -> f64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 1.0, Filter::fill_ratio) }
}

/// The false-positive rate that the bits give now, 0 to 1: the chance that a key which was never added
/// tests true. 1 if all bits are set, and for NULL. Reads the whole filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_current_fp_rate(filter: *const gloom_filter) -> f64 {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, 1.0, Filter::current_fp_rate) }
}

/// The false-positive rate to expect of num_blocks blocks with k probes that hold items distinct keys:
/// E[prod_i(1 - (1 - 1/p_i)^J)] + items/num_blocks * 2^-32, where J, the keys of a block, is Poisson with
/// mean items/num_blocks and p_i are the partition sizes of k. 1 if there is no such geometry.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_predict_fp_rate(num_blocks: u64, k: u32, items: u64) -> f64 {
    boundary(1.0, || sizing::predict_fp_rate(num_blocks, k, items))
}

/// The blocks themselves: num_blocks * 64 bytes, 64-byte aligned, valid until gloom_free; NULL for NULL.
/// Bit b of a block is bit b % 64 of its little-endian 64-bit word b / 64. Read them with relaxed atomic
/// 64-bit loads while others add.
///
/// Nobody else writes them, with one exception, for languages from which a call of C costs more than an add. In
/// a plain or atomic filter that is not mapped, a binding may add keys itself: it sets the k bits of a key as
/// docs/layout.md says, each by a relaxed atomic 64-bit OR (of a plain filter, the one writer may load and
/// store), never clears one, and tells the number of its adds to gloom_note_adds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_blocks(filter: *const gloom_filter) -> *const c_void {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, std::ptr::null(), |filter| filter.blocks().as_ptr().cast()) }
}

/// The instruction set that tests and adds of this filter use: "portable", "avx2", "avx512", ... A
/// static string; "portable" for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_simd_level(filter: *const gloom_filter) -> *const c_char {
    // SAFETY: the caller's handle.
    unsafe { fact(filter, c"portable".as_ptr(), |filter| filter.simd_level().as_ptr()) }
}

/// # Safety
/// `handle` is NULL or a live handle.
unsafe fn fact<T: Copy>(handle: *const gloom_filter, of_null: T, fact: impl FnOnce(&Filter) -> T) -> T {
    // SAFETY: as for this function.
    answered(of_null, || unsafe { Ok(fact(filter(handle, "filter")?)) })
}
