//! Whole filters.

use super::boundary::*;
use super::types::*;
use std::ffi::c_void;

/// Adds all keys of source to target, whose count rises by source's. The kinds may differ. Merging a
/// filter with itself changes nothing.
///
/// Threads: others may write both meanwhile (of a plain target: nobody); the target then holds every
/// key whose add to source had returned before the call. Reads and writes the whole filters.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INCOMPATIBLE (num_blocks, k, hash or seed differ: the message says which),
/// GLOOM_ERR_READ_ONLY. The target is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_merge(
    target: *mut gloom_filter,
    source: *const gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { checked(error, || filter(target, "target")?.merge(filter(source, "source")?)) }
}

/// Merges the len bytes of a serialized filter at data, of either format and any alignment, into target,
/// without loading it. Otherwise as gloom_merge, with the failures of gloom_deserialize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_merge_serialized(
    target: *mut gloom_filter,
    data: *const c_void,
    len: usize,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let target = filter(target, "target")?;
            target.merge_bytes(bytes(data.cast(), len, ["data", "len"])?)
        })
    }
}

/// Keeps in target only what source has, too. A key that was added to both stays; others go, as far as the
/// bits tell: the false-positive rate is at best that of the smaller filter. The count becomes the smaller
/// one. Intersecting a filter with itself changes nothing.
///
/// Threads: no other writer of target meanwhile, whatever its kind; source may be live.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INCOMPATIBLE, GLOOM_ERR_READ_ONLY. The target is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_intersect(
    target: *mut gloom_filter,
    source: *const gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe { checked(error, || filter(target, "target")?.intersect(filter(source, "source")?)) }
}

/// Writes to *out a filter with factor times fewer blocks that holds the same keys and has source's count, at a
/// higher false-positive rate; free it with gloom_free. factor must divide the number of blocks: see
/// block_multiple of gloom_options. 1 gives a copy. Others may write source meanwhile, as for gloom_clone.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (factor), GLOOM_ERR_OUT_OF_MEMORY. *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_fold(
    source: *const gloom_filter,
    factor: u64,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let source = filter(source, "source")?;
            give(|| source.fold(factor), out)
        })
    }
}

/// Removes all keys and sets the count to 0.
///
/// Threads: no other writer meanwhile, whatever the kind (an add that overlaps may be lost in part).
///
/// GLOOM_ERR_NULL, GLOOM_ERR_READ_ONLY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_clear(filter: *mut gloom_filter) -> gloom_status {
    // SAFETY: the caller's handle.
    unsafe {
        checked(std::ptr::null_mut(), || {
            writable(filter, "filter")?.clear();
            Ok(())
        })
    }
}

/// Writes to *out a copy of source of the same kind; free it with gloom_free. Others may write source
/// meanwhile: the copy holds every key whose add had returned before the call.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_OUT_OF_MEMORY. *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_clone(
    source: *const gloom_filter,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let source = filter(source, "source")?;
            give(|| source.try_clone(), out)
        })
    }
}

/// Have both the same num_blocks, k, hash, seed and bits, whatever their kinds and counts? false if either is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_equal(a: *const gloom_filter, b: *const gloom_filter) -> bool {
    // SAFETY: the caller's handles.
    answered(false, || unsafe { Ok(filter(a, "a")? == filter(b, "b")?) })
}
