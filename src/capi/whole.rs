//! Whole filters.

use super::boundary::*;
use super::types::*;

/// Adds all keys of source to target, whose count rises by source's. The kinds may differ. Merging a
/// filter with itself changes nothing.
///
/// Threads: others may write both meanwhile (of a plain target: nobody); the target then holds every
/// key whose add to source had returned before the call. Reads and writes the whole filters.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INCOMPATIBLE (num_blocks, k or seed differ: the message says which),
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
            self::filter(filter, "filter")?.clear();
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
            give(filter(source, "source")?.try_clone()?, out)
        })
    }
}

/// Have both the same num_blocks, k, seed and bits, whatever their kinds and counts? false if either is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_equal(a: *const gloom_filter, b: *const gloom_filter) -> bool {
    // SAFETY: the caller's handles.
    answered(false, || unsafe { Ok(filter(a, "a")? == filter(b, "b")?) })
}
