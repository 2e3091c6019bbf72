//! Files and maps.

use super::boundary::*;
use super::bytes::{format, load_options};
use super::create::wanted;
use super::types::*;
use crate::error::Error;
use crate::file::MapOptions;
use crate::filter::Filter;
use crate::format::Format;
use std::ffi::c_char;

/// Saves the filter to a file in a format (GLOOM_FORMAT_...). The file appears whole or not at all: a crash, a
/// full disk or a failed call leaves the old one as it was. (But if the very last step fails, writing the folder
/// to the disk, the new one is there already.) On return the new one is on the disk. Others may add meanwhile: the
/// file holds every key whose add had returned before the call.
///
/// Symbolic links are followed, but none of another user in a sticky folder that all may write (GLOOM_ERR_IO with
/// EACCES). Only regular files are replaced. A process that is killed leaves at most one file, .NAME.gloom-... in the
/// same folder, which the next save to the path removes.
///
/// If the old file has the owner of the new one, the new one gets its permissions (those of the group only if that is
/// the same, too), but never set-user-id, set-group-id or sticky; else it gets those of any new file. An old file that
/// may be neither read nor written is not replaced: it could be mapped.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (format), GLOOM_ERR_UNSUPPORTED (v1 holds no seed),
/// GLOOM_ERR_BUSY (the file is mapped for writing; somebody else replaces it, whom this call may not wait for: neither may
/// write the file, or it is a stranger's in a sticky folder that all may write), GLOOM_ERR_IO.
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
/// The length of the file and the limit are verified before memory is taken. A pipe without a name (/dev/stdin, a process
/// substitution) has no length: it is read as by gloom_read. What else is no regular file (a FIFO, which somebody may
/// have put there, a socket, a device, a folder) is GLOOM_ERR_IO, without waiting, unless
/// GLOOM_FLAG_SPECIAL_FILES asks for it.
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
/// (GLOOM_FILE_INFO_INIT). Never waits: what is no regular file is GLOOM_ERR_IO.
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
/// process that is killed meanwhile leaves at most a file of another name (.NAME.gloom-...), which the next one to
/// the path removes. Otherwise as gloom_map.
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
/// filter is atomic, and the disk space that a file with holes lacks is taken; if there is not enough, it is given back
/// (GLOOM_ERR_IO with ENOSPC). gloom_map_with_options can limit it. gloom_sync makes adds durable; a
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
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (flags), GLOOM_ERR_IO, GLOOM_ERR_BUSY (to write: a stranger has locked his
/// file in a sticky folder that all may write), GLOOM_ERR_CORRUPT (also a checksum that
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
            let options = map_options(flags, 0)?;
            give(|| Filter::map(path, &options), out)
        })
    }
}

/// As gloom_map, by options: also with a limit. options may be NULL: read-only, no limit.
///
/// Failures as gloom_map, GLOOM_ERR_LIMIT (the blocks would take more than max_bytes), GLOOM_ERR_INVALID_ARGUMENT and
/// GLOOM_ERR_UNSUPPORTED (an option of a later release). *out is untouched then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_map_with_options(
    path: *const c_char,
    options: *const gloom_map_options,
    out: *mut *mut gloom_filter,
    error: *mut gloom_error,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(error, || {
            let path = self::path(path)?;
            not_null(out, "out")?;
            let mut wanted = MapOptions::default();
            if !options.is_null() {
                let options = read_sized(options, "options")?;
                if options.reserved != 0 {
                    let value = options.reserved.into();
                    return Err(Error::Argument { name: "reserved", value, allowed: "0" });
                }
                wanted = map_options(options.flags, options.max_bytes)?;
            }
            give(|| Filter::map(path, &wanted), out)
        })
    }
}

fn map_options(flags: u32, max_bytes: u64) -> Result<MapOptions, Error> {
    let known = GLOOM_MAP_READ_WRITE | GLOOM_MAP_VERIFY | GLOOM_MAP_ALLOW_DIRTY;
    known_flags(flags, known, "GLOOM_MAP_READ_WRITE (1), _VERIFY (2) and _ALLOW_DIRTY (4)")?;
    Ok(MapOptions {
        read_write: flags & GLOOM_MAP_READ_WRITE != 0,
        verify: flags & GLOOM_MAP_VERIFY != 0,
        allow_dirty: flags & GLOOM_MAP_ALLOW_DIRTY != 0,
        max_bytes,
    })
}

/// Returns true if a mapped filter should be mapped again, because its map is no longer what the path led to: the file
/// was replaced (gloom_save by another process, rename), renamed or removed; or, on overlayfs, a writer opened a file of
/// the image after this map, got a copy of it, and adds to the copy. Returns false for a filter in memory and for NULL.
///
/// Threads: any number at once. Costs two calls to the system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_is_stale(filter: *const gloom_filter) -> bool {
    // SAFETY: the caller's handle.
    answered(false, || unsafe { Ok(self::filter(filter, "filter")?.is_stale()) })
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
