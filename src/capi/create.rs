//! Making and freeing.

use super::boundary::*;
use super::types::*;
use crate::error::Error;
use crate::filter::{Filter, Options, Size};
use crate::hash::HashKind;
use crate::sizing::size_for;
use std::ptr::null_mut;

/// Makes a plain filter for expected_items distinct keys (0 to 2^63) with false-positive rate fp_rate
/// (greater than 0, less than 1).
///
/// Returns a filter to be freed by gloom_free, or NULL on failure: then gloom_size_for with the same
/// arguments tells a bad argument from a failed allocation, and gloom_create says it in words.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_new(expected_items: u64, fp_rate: f64) -> *mut gloom_filter {
    made(|| Filter::new(expected_items, fp_rate))
}

/// Makes an atomic filter; otherwise as gloom_new.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_new_atomic(expected_items: u64, fp_rate: f64) -> *mut gloom_filter {
    made(|| Filter::new_atomic(expected_items, fp_rate))
}

/// Makes a sharded filter; otherwise as gloom_new. num_shards 0 lets the library choose, from the number
/// of processors and the size; another number, at most 65536 (NULL above), is rounded up to a power of two
/// and then down to what the number of blocks allows.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_new_sharded(expected_items: u64, fp_rate: f64, num_shards: u32) -> *mut gloom_filter {
    made(|| Filter::new_sharded(expected_items, fp_rate, num_shards))
}

/// Sets *options to GLOOM_OPTIONS_INIT, for languages without macros. NULL is ignored. It always sets the
/// struct of the first release, and struct_size to its size, so that it never writes beyond the struct of a
/// program that was built with an older header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_options_init(options: *mut gloom_options) {
    boundary((), || {
        if !options.is_null() {
            // SAFETY: the caller's struct has at least the size of the first release's, which this is.
            unsafe { options.write_unaligned(INITIAL_OPTIONS) };
        }
    });
}

const INITIAL_OPTIONS: gloom_options = gloom_options {
    struct_size: size_of::<gloom_options>(),
    kind: 0,
    flags: 0,
    expected_items: 0,
    fp_rate: 0.0,
    num_blocks: 0,
    k: 0,
    num_shards: 0,
    seed: 0,
    max_bytes: 0,
    block_multiple: 0,
};

/// Makes a filter as options describe it and writes it to *out; free it with gloom_free.
///
/// Everything is checked before memory is taken. Memory of large filters is cleared by the system page by
/// page when it is first used, so creation takes well under a millisecond whatever the size, and milliseconds only
/// with tens of thousands of shards. A failed call leaves *out as it was.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_UNSUPPORTED (an option of a later release),
/// GLOOM_ERR_UNREACHABLE_RATE (the message says the smallest), GLOOM_ERR_LIMIT, GLOOM_ERR_OUT_OF_MEMORY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_create(
    options: *const gloom_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let options = read_sized(options, "options")?;
            let options = wanted(&options)?;
            give(|| Filter::create(&options), out)
        })
    }
}

pub(super) fn wanted(options: &gloom_options) -> Result<Options, Error> {
    let known = GLOOM_FLAG_SMALL_PAGES | GLOOM_FLAG_SIPHASH;
    known_flags(options.flags, known, "GLOOM_FLAG_SMALL_PAGES (1) and _SIPHASH (2)")?;
    Ok(Options {
        kind: kind(options.kind)?,
        size: size(options)?,
        num_shards: options.num_shards,
        seed: options.seed,
        hash: if options.flags & GLOOM_FLAG_SIPHASH != 0 { HashKind::SipHash } else { HashKind::Xxh3 },
        max_bytes: options.max_bytes,
        block_multiple: options.block_multiple,
        small_pages: options.flags & GLOOM_FLAG_SMALL_PAGES != 0,
    })
}

/// Either keys and a rate, or blocks and k.
fn size(options: &gloom_options) -> Result<Size, Error> {
    let &gloom_options { expected_items, fp_rate, num_blocks, k, .. } = options;
    if num_blocks == 0 && k == 0 {
        return Ok(Size::Items { expected_items, fp_rate });
    }
    let allowed = "0 if num_blocks or k is given";
    if expected_items != 0 {
        return Err(Error::Argument { name: "expected_items", value: expected_items.into(), allowed });
    }
    // Not `!= 0.0`: a NaN is refused, too.
    if fp_rate.to_bits() != 0 {
        return Err(Error::Argument { name: "fp_rate", value: fp_rate.into(), allowed });
    }
    Ok(Size::Blocks { num_blocks, k })
}

/// Tells what a filter for expected_items distinct keys with rate fp_rate will be like: blocks, k, bytes
/// and predicted rate. Allocates nothing; takes a fraction of a millisecond. out->struct_size must be set
/// (GLOOM_SIZING_INIT).
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_UNREACHABLE_RATE, GLOOM_ERR_LIMIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_size_for(
    expected_items: u64,
    fp_rate: f64,
    out: *mut gloom_sizing,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let sizing = size_for(expected_items, fp_rate)?;
            let sizing = gloom_sizing {
                struct_size: size_of::<gloom_sizing>(),
                num_blocks: sizing.num_blocks,
                bytes: sizing.bytes,
                fp_rate: sizing.fp_rate,
                bits_per_item: sizing.bits_per_item,
                k: sizing.k,
                reserved: 0,
            };
            write_sized(out, sizing, "out")
        })
    }
}

/// Frees a filter. NULL is fine. Nobody may use the filter during or after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_free(filter: *mut gloom_filter) {
    boundary((), || {
        if !filter.is_null() {
            // SAFETY: `give` allocated it with this layout, and the caller gives it back.
            drop(unsafe { Box::from_raw(filter) });
        }
    });
}

fn made(make: impl FnOnce() -> Result<Filter, Error>) -> *mut gloom_filter {
    answered(null_mut(), || {
        let mut handle = null_mut();
        // SAFETY: `handle` is ours.
        unsafe { give(make, &mut handle)? };
        Ok(handle)
    })
}
