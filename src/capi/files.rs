//! Files and maps.

use super::boundary::*;
use super::bytes::{format, load_options};
use super::create::wanted;
use super::types::*;
use crate::file::MapOptions;
use crate::filter::Filter;
use crate::format::Format;
use std::ffi::c_char;

/// Saves the filter to a file in a format (GLOOM_FORMAT_...). The file appears whole or not at all: a crash, a
/// full disk or a failed call leaves the old one as it was. (But if the very last step fails, writing the folder
/// to the disk, the new one is there already.) On return the new one is on the disk. Others may add meanwhile: the
/// file holds every key whose add had returned before the call.
///
/// The new file is written beside the old one under another name (.NAME.gloom-...), which a process that is
/// killed leaves behind, and has the old one's permissions. An old file that may be neither read nor written is
/// not replaced: it could be mapped.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed),
/// GLOOM_ERR_BUSY (the file is mapped for writing), GLOOM_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_save(
    filter: *const gloom_filter,
    path: *const c_char,
    format: i32,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let filter = self::filter(filter, "filter")?;
            filter.save(self::path(path)?, self::format(format)?)
        })
    }
}

/// Loads the filter in a file, whatever its format, and writes it to *out; free it with gloom_free. options may
/// be NULL: an atomic filter, no limit.
///
/// The length of the file and the limit are verified before memory is taken. A pipe has no length: it is read as
/// by gloom_read, and opening it waits for who writes to it.
///
/// Failures as gloom_deserialize, and GLOOM_ERR_IO. *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_load(
    path: *const c_char,
    options: *const gloom_load_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let path = self::path(path)?;
            not_null(out, "out")?;
            let options = load_options(options)?;
            give(|| Filter::load(path, &options), out)
        })
    }
}

/// Writes to *out what the header of a file tells, without reading the rest. out->struct_size must be set
/// (GLOOM_FILE_INFO_INIT). Opening a pipe waits for who writes to it.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT, GLOOM_ERR_IO, GLOOM_ERR_CORRUPT (not a filter, or of another
/// length), GLOOM_ERR_UNSUPPORTED (another version, layout or hash). *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_inspect(
    path: *const c_char,
    out: *mut gloom_file_info,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            not_null(out, "out")?;
            let info = Filter::inspect(self::path(path)?)?;
            let info = gloom_file_info {
                struct_size: size_of::<gloom_file_info>(),
                format: match info.format {
                    Format::Native => GLOOM_FORMAT_NATIVE,
                    Format::V1 => GLOOM_FORMAT_V1,
                },
                k: info.k,
                num_blocks: info.num_blocks,
                seed: info.seed,
                count: info.count,
                bytes: info.bytes,
                expected_items: info.expected_items,
                fp_rate: info.fp_rate,
                dirty: info.dirty.into(),
                hash: info.hash.number(),
            };
            write_sized(out, info, "out")
        })
    }
}

/// Makes a new native file for a filter as options describe it (kind 0 or GLOOM_KIND_ATOMIC: the only one that
/// processes can share), maps it for reading and writing and writes the filter to *out; close it with
/// gloom_free. The file must not exist. All its disk space is taken at once. It appears when it is complete; a
/// process that is killed meanwhile leaves at most a file of another name (.NAME.gloom-...). Otherwise as
/// gloom_map.
///
/// Failures as gloom_create, and GLOOM_ERR_IO. *out is untouched then, and there is no file (unless the folder could
/// not be written and somebody else has mapped it meanwhile).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_map_create(
    path: *const c_char,
    options: *const gloom_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let path = self::path(path)?;
            not_null(out, "out")?;
            let options = wanted(&read_sized(options, "options")?)?;
            give(|| Filter::map_create(path, &options), out)
        })
    }
}

/// Uses the filter in a native file where it is, and writes it to *out; close it with gloom_free. Takes
/// milliseconds, whatever the size; but a file to write in tmpfs takes time in proportion, since that looks at every
/// page when space is reserved. flags are GLOOM_MAP_...
///
/// Read-only (flags 0), any number of processes share one copy in memory, and writes give
/// GLOOM_ERR_READ_ONLY. With GLOOM_MAP_READ_WRITE, adds go to the file and are seen at once by all who map it; the
/// filter is atomic, and the disk space that a file with holes lacks is taken. gloom_sync makes adds durable; a
/// process that dies loses none; if the system fails, adds since the last gloom_sync may be lost, and the file is
/// refused from then on without GLOOM_MAP_ALLOW_DIRTY (with which a map for writing reads and writes all of it once).
/// The last writer who closes the file reads all of it to write its checksum: without GLOOM_MAP_VERIFY, also one that
/// agrees with damage that was there before.
///
/// The file must not be truncated while it is mapped: reading what is no longer there ends the process with
/// SIGBUS. Replacing it (gloom_save to the same path by another process that does not find it mapped for
/// writing, rename) is fine: the map goes on with the old file. After a fork the child may use the filter, but
/// its gloom_free leaves the file to the parent.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (flags), GLOOM_ERR_IO, GLOOM_ERR_CORRUPT (also a checksum that
/// GLOOM_MAP_VERIFY finds wrong, and a dirty file), GLOOM_ERR_UNSUPPORTED (format v1; another version),
/// GLOOM_ERR_OUT_OF_MEMORY (for the handle and its counters; no address space for the map is GLOOM_ERR_IO, or
/// GLOOM_ERR_LIMIT where no process could have as much). *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_map(
    path: *const c_char,
    flags: u32,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let path = self::path(path)?;
            not_null(out, "out")?;
            let known = GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY | GLOOM_MAP_ALLOW_DIRTY;
            known_flags(flags, known, "GLOOM_MAP_READ_WRITE (1), _VERIFY (2) and _ALLOW_DIRTY (4)")?;
            let options = MapOptions {
                read_write: flags & GLOOM_MAP_READ_WRITE != 0,
                verify: flags & GLOOM_MAP_VERIFY != 0,
                allow_dirty: flags & GLOOM_MAP_ALLOW_DIRTY != 0,
            };
            give(|| Filter::map(path, &options), out)
        })
    }
}

/// Waits until all adds to a mapped filter that have returned are on the disk.
///
/// If it fails with GLOOM_ERR_IO once, it does so from then on, since the system may have forgotten what it could not
/// write: adds since the last gloom_sync that returned GLOOM_OK may be missing in the file, which is refused from
/// then on without GLOOM_MAP_ALLOW_DIRTY. The filter in memory is as it was, and can be saved elsewhere.
///
/// Threads: any number at once; they wait for each other. Cost: writes the pages that have changed.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (the filter is not mapped), GLOOM_ERR_READ_ONLY, GLOOM_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_sync(filter: *mut gloom_filter, error: *mut gloom_error) -> gloom_status {
    // SAFETY: the caller's handle.
    unsafe { checked(error, || self::filter(filter, "filter")?.sync()) }
}
