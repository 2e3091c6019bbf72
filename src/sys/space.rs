//! Space on the disk for all of a file, before it is mapped for writing: without, a disk that fills up later would end a
//! program that writes to the map, by SIGBUS.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
use super::Lock;
use crate::error::Error;
use std::fs::File;
use std::io::Error as IoError;
use std::os::fd::AsRawFd;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;

/// Makes `file` `len` bytes long and takes the disk space for all of it. A file that has holes gets them back if that
/// fails: what is refused costs nobody his disk.
pub(crate) fn reserve(file: &File, len: u64) -> Result<(), Error> {
    let failed = Error::io("allocating space on the disk");
    let length =
        libc::off_t::try_from(len).map_err(|_| Error::Limit { needed: len, limit: i64::MAX as u64 })?;
    let metadata = file.metadata().map_err(&failed)?;
    let missing = len.saturating_sub(metadata.blocks().saturating_mul(512));
    if missing > free_space(file).unwrap_or(u64::MAX) {
        return Err(failed(IoError::from_raw_os_error(libc::ENOSPC)));
    }
    #[cfg(target_os = "linux")]
    {
        let mut filled = Vec::new();
        if missing > 0 && metadata.len() == len {
            fill_holes(file, length, &mut filled).inspect_err(|_| give_back(file, &filled))?;
        }
        // Also what no hole showed, as on file systems that copy before they write.
        match allocate(file, 0, length) {
            Err(error) if cannot_allocate(&error) => fill(file, len),
            other => other.map_err(failed).inspect_err(|_| give_back(file, &filled)),
        }
    }
    #[cfg(target_os = "macos")]
    {
        let mut space = libc::fstore_t {
            fst_flags: libc::F_ALLOCATEALL,
            fst_posmode: libc::F_PEOFPOSMODE,
            fst_offset: 0,
            fst_length: length.min(missing as libc::off_t),
            fst_bytesalloc: 0,
        };
        // SAFETY: the descriptor is open, and the structure is the one that this command takes.
        if space.fst_length > 0
            && unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut space) } != 0
        {
            return Err(failed(IoError::last_os_error()));
        }
        if metadata.len() < len {
            file.set_len(len).map_err(&failed)?;
        }
        Ok(())
    }
}

/// The bytes that the file system of `file` has left, also those that it keeps for the superuser.
fn free_space(file: &File) -> Option<u64> {
    // SAFETY: numbers only, for which zeros are valid.
    let mut status: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open for as long as `file` is.
    let result = unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut status) };
    // Some file systems cannot tell, and say zero blocks of nothing.
    #[allow(clippy::unnecessary_cast)]
    let (blocks, free, size) = (status.f_blocks as u64, status.f_bfree as u64, status.f_frsize as u64);
    (result == 0 && blocks > 0).then(|| free.saturating_mul(size))
}

/// Takes space for a part of a file.
#[cfg(target_os = "linux")]
fn allocate(file: &File, start: libc::off_t, end: libc::off_t) -> std::io::Result<()> {
    // After a signal in pieces, since tmpfs may undo all of a call that is interrupted: under a profiler that
    // sends signals, a large one might never end.
    const PIECE: libc::off_t = 16 << 20;
    let mut most = end;
    let mut done = start;
    while done < end {
        let piece = most.min(end.saturating_sub(done));
        // Not posix_fallocate: where the file system cannot do this, it writes bytes that it has just
        // read, over what others write meanwhile.
        // SAFETY: the descriptor is open for as long as `file` is.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, done, piece) } == 0 {
            done = done.saturating_add(piece);
            continue;
        }
        match IoError::last_os_error() {
            error if error.raw_os_error() == Some(libc::EINTR) => most = PIECE,
            error => return Err(error),
        }
    }
    Ok(())
}

/// A part of a file, from one offset up to another.
#[cfg(target_os = "linux")]
type Part = (libc::off_t, libc::off_t);

/// Takes space for the holes of a file one by one. `filled` tells afterwards which were filled, also if it fails.
#[cfg(target_os = "linux")]
fn fill_holes(file: &File, len: libc::off_t, filled: &mut Vec<Part>) -> Result<(), Error> {
    let failed = Error::io("allocating space on the disk");
    let mut from = 0;
    while let Some((start, end)) = next_hole(file, from, len) {
        from = end;
        if filled.try_reserve(1).is_err() {
            return Err(Error::OutOfMemory { bytes: size_of_val(filled.as_slice()) as u64 });
        }
        let before = file.metadata().map_err(&failed)?.blocks();
        let result = allocate(file, start, end);
        // What counts as a hole may have its space already: then it is not ours to give back.
        if file.metadata().map_or(true, |after| after.blocks() > before) {
            filled.push((start, end));
        }
        match result {
            Err(error) if cannot_allocate(&error) => return Ok(()),
            other => other.map_err(&failed)?,
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn cannot_allocate(error: &IoError) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

/// The next part of the file, from an offset on, that has no data.
#[cfg(target_os = "linux")]
fn next_hole(file: &File, from: libc::off_t, len: libc::off_t) -> Option<Part> {
    // SAFETY: the descriptor is open for as long as `file` is. (Afterwards, it stands somewhere else.)
    let seek = |offset, whence| unsafe { libc::lseek(file.as_raw_fd(), offset, whence) };
    let start = seek(from, libc::SEEK_HOLE);
    if start < 0 || start >= len {
        return None;
    }
    match seek(start, libc::SEEK_DATA) {
        // There is none behind it.
        -1 if IoError::last_os_error().raw_os_error() == Some(libc::ENXIO) => Some((start, len)),
        -1 => None,
        end => Some((start, end.min(len))),
    }
}

/// Makes holes of parts that were holes. Only where nobody else has the file mapped for writing: he may rely on having the
/// space.
#[cfg(target_os = "linux")]
fn give_back(file: &File, filled: &[Part]) {
    if filled.is_empty() {
        return;
    }
    Lock::Writers.release(file);
    if !Lock::Writers.try_take(file) {
        return;
    }
    for &(mut from, end) in filled {
        // Somebody may have mapped the file, set bits there and closed it meanwhile. What has space and no data still counts
        // as a hole.
        while let Some((start, end)) = next_hole(file, from, end) {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // Best effort: there is an error to tell of already.
            // SAFETY: the descriptor is open for as long as `file` is.
            let _ = unsafe { libc::fallocate(file.as_raw_fd(), mode, start, end.saturating_sub(start)) };
            from = end;
        }
    }
    Lock::Writers.release(file);
}

/// The same by writing zeros to a new file. One that is as long as it should be is left alone, but must have
/// all its blocks.
#[cfg(target_os = "linux")]
fn fill(file: &File, len: u64) -> Result<(), Error> {
    let failed = Error::io("allocating space on the disk");
    let metadata = file.metadata().map_err(&failed)?;
    if metadata.len() >= len {
        let has_holes = metadata.blocks().saturating_mul(512) < len;
        return if has_holes { Err(failed(IoError::from_raw_os_error(libc::EOPNOTSUPP))) } else { Ok(()) };
    }
    let zeros = [0; 16384];
    let mut written = metadata.len();
    while written < len {
        let left = usize::try_from(len.saturating_sub(written)).unwrap_or(usize::MAX);
        let piece = zeros.get(..left).unwrap_or(&zeros);
        file.write_all_at(piece, written).map_err(&failed)?;
        written = written.saturating_add(piece.len() as u64);
    }
    Ok(())
}
