//! Keys in bulk.

use super::boundary::*;
use super::types::*;
use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::Keys;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Adds n keys of key_size bytes each that lie one after the other; for an array of uint64_t, key_size is 8.
///
/// Batches: the arguments are checked whole before the filter is touched. n = 0 is fine, with NULLs
/// too. Several times faster than single calls: hashes are computed in groups, and the cache misses of a
/// group overlap. Threads as gloom_add; the keys become visible in any order.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (a size that overflows, a misaligned array, offsets out of
/// order or out of range), GLOOM_ERR_READ_ONLY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_batch_fixed(
    filter: *mut gloom_filter,
    keys: *const c_void,
    key_size: usize,
    n: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { add(filter, || fixed(keys, key_size, n)) }
}

/// Adds n keys in the layout of Arrow's binary arrays: key i is the bytes from offsets[i] up to
/// offsets[i + 1] of the data_len bytes at data. There are n + 1 offsets; they must not decrease, the first
/// may be greater than 0, the last at most data_len. Otherwise as gloom_add_batch_fixed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_batch_offsets32(
    filter: *mut gloom_filter,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    n: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { add(filter, || offsets32(data, data_len, offsets, n)) }
}

/// The same with 64-bit offsets, as in Arrow's large binary arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_batch_offsets64(
    filter: *mut gloom_filter,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    n: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { add(filter, || offsets64(data, data_len, offsets, n)) }
}

/// Adds n keys: key i is the lens[i] bytes at keys[i], which may be NULL if lens[i] is 0. Otherwise as
/// gloom_add_batch_fixed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_batch_pointers(
    filter: *mut gloom_filter,
    keys: *const *const c_void,
    lens: *const usize,
    n: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { add(filter, || pointers(keys, lens, n)) }
}

/// Adds n keys by their hashes, which must have been made by the filter's hash with its seed. Otherwise as
/// gloom_add_batch_fixed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_batch_hashes(
    filter: *mut gloom_filter,
    hashes: *const gloom_hash,
    n: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { add(filter, || self::hashes(hashes, n)) }
}

/// Tests n keys of key_size bytes each that lie one after the other. Writes to results (NULL, or n bytes) a
/// 1 for each key that is probably in the set and a 0 for each that is certainly not, and to *hits (which
/// may be NULL) the number of ones.
///
/// A call that fails fills results with 1 and *hits with n, "maybe", so that a caller who overlooks the
/// status asks the database too often instead of losing data. (If n is above PTRDIFF_MAX, results cannot
/// have n bytes and is left alone.) Otherwise as gloom_add_batch_fixed; threads as gloom_test.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_batch_fixed(
    filter: *const gloom_filter,
    keys: *const c_void,
    key_size: usize,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { test(filter, n, results, hits, || fixed(keys, key_size, n)) }
}

/// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_offsets32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_batch_offsets32(
    filter: *const gloom_filter,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { test(filter, n, results, hits, || offsets32(data, data_len, offsets, n)) }
}

/// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_offsets64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_batch_offsets64(
    filter: *const gloom_filter,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { test(filter, n, results, hits, || offsets64(data, data_len, offsets, n)) }
}

/// Tests keys as gloom_test_batch_fixed that lie as for gloom_add_batch_pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_batch_pointers(
    filter: *const gloom_filter,
    keys: *const *const c_void,
    lens: *const usize,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { test(filter, n, results, hits, || pointers(keys, lens, n)) }
}

/// Tests keys as gloom_test_batch_fixed, by their hashes as for gloom_add_batch_hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_batch_hashes(
    filter: *const gloom_filter,
    hashes: *const gloom_hash,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { test(filter, n, results, hits, || self::hashes(hashes, n)) }
}

/// # Safety
/// As for [`filter`].
unsafe fn add<'a>(filter: *mut gloom_filter, keys: impl FnOnce() -> Result<Keys<'a>, Error>) -> gloom_status {
    // SAFETY: as for this function.
    unsafe {
        checked(null_mut(), || {
            writable(filter, "filter")?.add_batch(keys()?);
            Ok(())
        })
    }
}

/// # Safety
/// As for [`filter`]; `results` is NULL or has `n` writable bytes, `hits` is NULL or writable.
unsafe fn test<'a>(
    filter: *const gloom_filter,
    n: usize,
    results: *mut u8,
    hits: *mut usize,
    keys: impl FnOnce() -> Result<Keys<'a>, Error>,
) -> gloom_status {
    // SAFETY: as for this function. Numbers of keys are below n. The caller's bytes may be
    // uninitialised, so they are never a slice.
    unsafe {
        let mut found = n;
        let status = checked(null_mut(), || {
            let filter = self::filter(filter, "filter")?;
            let keys = keys()?;
            found = if results.is_null() {
                filter.count_hits(keys)
            } else {
                filter.test_each(keys, |number, hit| results.add(number).write(hit))
            };
            Ok(())
        });
        if status != GLOOM_OK {
            found = n;
            if !results.is_null() && isize::try_from(n).is_ok() {
                results.write_bytes(1, n);
            }
        }
        if !hits.is_null() {
            hits.write(found);
        }
        status
    }
}

/// # Safety
/// The keys are readable for `'a`; so below.
unsafe fn fixed<'a>(keys: *const c_void, key_size: usize, n: usize) -> Result<Keys<'a>, Error> {
    let Some(len) = n.checked_mul(key_size.max(1)).filter(|&len| isize::try_from(len).is_ok()) else {
        return Err(Error::Argument {
            name: "n",
            value: n.into(),
            allowed: "at most PTRDIFF_MAX / key_size",
        });
    };
    if key_size == 0 {
        return Ok(Keys::empty_keys(n));
    }
    // SAFETY: as for this function.
    Keys::fixed(unsafe { bytes(keys.cast(), len, ["keys", "n"])? }, key_size)
}

/// # Safety
/// As for [`fixed`].
unsafe fn offsets32<'a>(
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    n: usize,
) -> Result<Keys<'a>, Error> {
    if n == 0 {
        return Ok(Keys::empty_keys(0));
    }
    // SAFETY: as for this function.
    unsafe {
        let data = bytes(data.cast(), data_len, ["data", "data_len"])?;
        Keys::offsets32(data, array(offsets, n.saturating_add(1), "offsets")?)
    }
}

/// # Safety
/// As for [`fixed`].
unsafe fn offsets64<'a>(
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    n: usize,
) -> Result<Keys<'a>, Error> {
    if n == 0 {
        return Ok(Keys::empty_keys(0));
    }
    // SAFETY: as for this function.
    unsafe {
        let data = bytes(data.cast(), data_len, ["data", "data_len"])?;
        Keys::offsets64(data, array(offsets, n.saturating_add(1), "offsets")?)
    }
}

/// # Safety
/// As for [`fixed`].
unsafe fn pointers<'a>(keys: *const *const c_void, lens: *const usize, n: usize) -> Result<Keys<'a>, Error> {
    // SAFETY: as for this function.
    unsafe { Keys::pointers(array(keys.cast(), n, "keys")?, array(lens, n, "lens")?) }
}

/// # Safety
/// As for [`fixed`].
unsafe fn hashes<'a>(hashes: *const gloom_hash, n: usize) -> Result<Keys<'a>, Error> {
    // SAFETY: as for this function; a `KeyHash` is laid out as a `gloom_hash`.
    Ok(Keys::hashes(unsafe { array(hashes.cast::<KeyHash>(), n, "hashes")? }))
}
