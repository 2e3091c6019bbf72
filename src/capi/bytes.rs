//! Bytes.

use super::boundary::*;
use super::types::*;
use crate::error::Error;
use crate::filter::Filter;
use crate::format::{Format, LoadOptions};
use std::ffi::c_void;

/// Writes to *size the bytes that the filter takes in a format (GLOOM_FORMAT_...).
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_serialized_size(
    filter: *const gloom_filter,
    format: i32,
    size: *mut u64,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let filter = self::filter(filter, "filter")?;
            not_null(size, "size")?;
            size.write(filter.serialized_size(self::format(format)?)?);
            Ok(())
        })
    }
}

/// Writes the filter to a buffer of buffer_len bytes, of any alignment, and the bytes used to *written
/// (which may be NULL). Others may add meanwhile: what is written holds every key whose add had returned
/// before the call. Nothing is written unless everything fits.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed),
/// GLOOM_ERR_BUFFER_TOO_SMALL (gloom_serialized_size tells how many bytes are needed).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_serialize(
    filter: *const gloom_filter,
    format: i32,
    buffer: *mut c_void,
    buffer_len: usize,
    written: *mut usize,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let filter = self::filter(filter, "filter")?;
            let format = self::format(format)?;
            not_null(buffer, "buffer")?;
            let needed = filter.serialized_size(format)?;
            if needed > buffer_len as u64 {
                return Err(Error::BufferTooSmall { needed, given: buffer_len as u64 });
            }
            let mut used = 0;
            filter.serialize(format, &mut |piece| {
                // The pieces add up to `needed`. The buffer may be uninitialised, so it is never a slice.
                std::ptr::copy_nonoverlapping(piece.as_ptr(), buffer.cast::<u8>().add(used), piece.len());
                used = piece.len().saturating_add(used);
                Ok(())
            })?;
            if !written.is_null() {
                written.write(used);
            }
            Ok(())
        })
    }
}

/// Makes a filter of the len bytes at data, of any alignment, and writes it to *out; free it with
/// gloom_free. The bytes must be one serialized filter and nothing else. options may be NULL: an
/// atomic filter, no limit.
///
/// Length and limit are verified before memory is taken, the checksum before the filter is given out; a
/// failed call leaves *out as it was.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_CORRUPT, GLOOM_ERR_UNSUPPORTED (another version), GLOOM_ERR_LIMIT,
/// GLOOM_ERR_INVALID_ARGUMENT (options), GLOOM_ERR_OUT_OF_MEMORY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_deserialize(
    data: *const c_void,
    len: usize,
    options: *const gloom_load_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let options = load_options(options)?;
            let data = bytes(data.cast(), len, ["data", "len"])?;
            give(|| Filter::from_bytes(data, &options), out)
        })
    }
}

/// Writes the filter piece by piece with a callback, which is handed context. Others may add meanwhile, as for
/// gloom_serialize.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format, or a callback that took 0 or more than it was given),
/// GLOOM_ERR_UNSUPPORTED (v1 holds no seed), GLOOM_ERR_CANCELLED, GLOOM_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_write(
    filter: *const gloom_filter,
    format: i32,
    write: gloom_write_fn,
    context: *mut c_void,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let filter = self::filter(filter, "filter")?;
            let write = write.ok_or(Error::Null("write"))?;
            filter.serialize(self::format(format)?, &mut |mut piece| {
                while !piece.is_empty() {
                    let taken =
                        done(write(context, piece.as_ptr().cast(), piece.len()), "writing by the callback")?;
                    piece = piece.get(taken..).filter(|_| taken > 0).ok_or(Error::Argument {
                        name: "the result of the write callback",
                        value: taken.into(),
                        allowed: "from 1 to the bytes given",
                    })?;
                }
                Ok(())
            })
        })
    }
}

/// Reads a filter, of either format, piece by piece with a callback, which is handed context, and writes it to
/// *out; free it with gloom_free. Takes exactly the bytes of the filter, so that something else may follow
/// in the stream. options as in gloom_deserialize; set max_bytes for a stream from strangers, since how much
/// follows cannot be known before.
///
/// Failures as gloom_deserialize, GLOOM_ERR_CANCELLED, GLOOM_ERR_IO, GLOOM_ERR_INVALID_ARGUMENT (also a
/// callback that put more than it was asked for). *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_read(
    read: gloom_read_fn,
    context: *mut c_void,
    options: *const gloom_load_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let read = read.ok_or(Error::Null("read"))?;
            not_null(out, "out")?;
            let options = load_options(options)?;
            let mut source = |buffer: &mut [u8]| {
                done(read(context, buffer.as_mut_ptr().cast(), buffer.len()), "reading by the callback")
            };
            give(|| Filter::deserialize(&mut source, &options), out)
        })
    }
}

/// What a callback returned: how much it has done, or why it stopped.
fn done(result: i64, action: &'static str) -> Result<usize, Error> {
    match result {
        0.. => Ok(usize::try_from(result).unwrap_or(usize::MAX)),
        -1 => Err(Error::Cancelled),
        _ => Err(Error::Io { action, os_error: i32::try_from(result.unsigned_abs()).unwrap_or(0) }),
    }
}

/// # Safety
/// As for [`read_sized`].
pub(super) unsafe fn load_options(options: *const gloom_load_options) -> Result<LoadOptions, Error> {
    if options.is_null() {
        return Ok(LoadOptions::default());
    }
    // SAFETY: as for this function.
    let options = unsafe { read_sized(options, "options")? };
    let known = GLOOM_FLAG_SMALL_PAGES | GLOOM_FLAG_SPECIAL_FILES;
    known_flags(options.flags, known, "GLOOM_FLAG_SMALL_PAGES (1) and GLOOM_FLAG_SPECIAL_FILES (4)")?;
    if options.reserved != 0 {
        return Err(Error::Argument { name: "reserved", value: options.reserved.into(), allowed: "0" });
    }
    Ok(LoadOptions {
        kind: kind(options.kind)?,
        num_shards: options.num_shards,
        max_bytes: options.max_bytes,
        small_pages: options.flags & GLOOM_FLAG_SMALL_PAGES != 0,
        special_files: options.flags & GLOOM_FLAG_SPECIAL_FILES != 0,
    })
}

pub(super) fn format(number: i32) -> Result<Format, Error> {
    match number {
        GLOOM_FORMAT_NATIVE => Ok(Format::Native),
        GLOOM_FORMAT_V1 => Ok(Format::V1),
        _ => Err(Error::Argument {
            name: "format",
            value: number.into(),
            allowed: "GLOOM_FORMAT_NATIVE (0) or GLOOM_FORMAT_V1 (1)",
        }),
    }
}
