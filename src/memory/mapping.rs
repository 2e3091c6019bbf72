//! A file that is mapped whole and shared with whoever else maps it.
#![allow(unsafe_code)]

use super::Block;
use crate::error::Error;
use crate::layout::BLOCK_BYTES;
use crate::sync::{AtomicU64, Ordering};
use std::fs::File;
use std::os::fd::AsRawFd;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::ptr::{NonNull, null_mut};

/// Invariant: `base` is a mapping of `len` bytes, which this value unmaps when it is dropped. Other
/// processes may write it at any time, so it is only used as atomics.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: it is used as atomics only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `file`, which has as many.
    pub fn new(file: &File, len: u64, writable: bool) -> Result<Mapping, Error> {
        let length = usize::try_from(len).ok().filter(|&len| len <= isize::MAX as usize && len > 0);
        let len = length.ok_or(Error::Limit { needed: len, limit: isize::MAX as u64 })?;
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping, placed by the kernel, affects no other memory.
        let base = unsafe { libc::mmap(null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(base.cast::<u8>()) {
            Some(start) if base != libc::MAP_FAILED => Ok(Mapping { base: start, len }),
            _ => Err(Error::io("mapping the file")(std::io::Error::last_os_error())),
        }
    }

    /// The first of `len` blocks from `offset` on.
    pub(super) fn blocks(&self, offset: usize, len: usize) -> NonNull<Block> {
        let end = len.checked_mul(BLOCK_BYTES).and_then(|bytes| bytes.checked_add(offset));
        assert!(
            offset.is_multiple_of(BLOCK_BYTES) && end.is_some_and(|end| end <= self.len),
            "blocks outside the file"
        );
        // SAFETY: inside the mapping, and aligned since pages are. Any bytes are blocks.
        unsafe { self.base.add(offset).cast() }
    }

    /// The number at `offset`.
    pub fn number(&self, offset: usize) -> &AtomicU64 {
        assert!(
            offset.is_multiple_of(8) && offset.saturating_add(8) <= self.len,
            "a number outside the file"
        );
        // SAFETY: inside the mapping and aligned; others change it as an atomic, too.
        unsafe { self.base.add(offset).cast().as_ref() }
    }

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> Result<(), Error> {
        loop {
            // SAFETY: the mapping's own range.
            if unsafe { libc::msync(self.base.as_ptr().cast(), self.len, libc::MS_SYNC) } == 0 {
                return Ok(());
            }
            let error = std::io::Error::last_os_error();
            // File systems of the network and in user space may be interrupted.
            if error.raw_os_error() != Some(libc::EINTR) {
                return Err(Error::io("writing the mapped file")(error));
            }
        }
    }

    /// Writes to each page and changes nothing, so that the next sync writes all of them.
    pub fn touch(&self) {
        // No page is smaller.
        for offset in (0..self.len).step_by(4096) {
            // The compiler makes a load of an OR with a zero that it knows.
            self.number(offset).fetch_or(std::hint::black_box(0), Ordering::Relaxed);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: by the invariant; nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Makes `file` `len` bytes long and takes the disk space for all of it: without, a disk that fills up
/// later would end a program that writes to the mapping, by SIGBUS.
pub(crate) fn reserve(file: &File, len: u64) -> Result<(), Error> {
    let failed = Error::io("allocating space on the disk");
    let length =
        libc::off_t::try_from(len).map_err(|_| Error::Limit { needed: len, limit: i64::MAX as u64 })?;
    #[cfg(target_os = "linux")]
    {
        // After a signal in pieces, since tmpfs may undo all of a call that is interrupted: under a profiler that
        // sends signals, a large one might never end.
        const PIECE: libc::off_t = 16 << 20;
        let mut most = length;
        let mut done = 0;
        while done < length {
            let piece = most.min(length.saturating_sub(done));
            // Not posix_fallocate: where the file system cannot do this, it writes bytes that it has just
            // read, over what others write meanwhile.
            // SAFETY: the descriptor is open for as long as `file` is.
            if unsafe { libc::fallocate(file.as_raw_fd(), 0, done, piece) } == 0 {
                done = done.saturating_add(piece);
                continue;
            }
            let error = std::io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => most = PIECE,
                Some(libc::EOPNOTSUPP | libc::ENOSYS) => return fill(file, len),
                _ => return Err(failed(error)),
            }
        }
        Ok(())
    }
    #[cfg(target_os = "macos")]
    {
        let have = file.metadata().map_err(&failed)?.blocks().saturating_mul(512);
        let mut space = libc::fstore_t {
            fst_flags: libc::F_ALLOCATEALL,
            fst_posmode: libc::F_PEOFPOSMODE,
            fst_offset: 0,
            fst_length: length.saturating_sub(have as libc::off_t),
            fst_bytesalloc: 0,
        };
        // SAFETY: the descriptor is open, and the structure is the one that this command takes.
        if space.fst_length > 0
            && unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut space) } != 0
        {
            return Err(failed(std::io::Error::last_os_error()));
        }
        if file.metadata().map_err(&failed)?.len() < len {
            file.set_len(len).map_err(&failed)?;
        }
        Ok(())
    }
}

/// The same by writing zeros to a new file. One that is as long as it should be is left alone, but must have
/// all its blocks.
#[cfg(target_os = "linux")]
fn fill(file: &File, len: u64) -> Result<(), Error> {
    let failed = Error::io("allocating space on the disk");
    let metadata = file.metadata().map_err(&failed)?;
    if metadata.len() >= len {
        let has_holes = metadata.blocks().saturating_mul(512) < len;
        return if has_holes {
            Err(failed(std::io::Error::from_raw_os_error(libc::EOPNOTSUPP)))
        } else {
            Ok(())
        };
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

#[cfg(all(test, not(loom), target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    /// Bytes of the mapping that have been written since the last sync (proc(5)).
    fn dirty_bytes(mapping: &Mapping) -> usize {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let start = format!("{:x}-", mapping.base.addr());
        // Up to the next mapping.
        let lines = maps.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
        let lines = lines.take_while(|line| !line.starts_with("VmFlags"));
        let of = |line: &str, name: &str| {
            line.strip_prefix(name)?.split_whitespace().next()?.parse::<usize>().ok()
        };
        lines
            .filter_map(|line| of(line, "Shared_Dirty:").or_else(|| of(line, "Private_Dirty:")))
            .sum::<usize>()
            .saturating_mul(1024)
    }

    #[test]
    fn touched_pages_are_written_and_the_same() {
        let path = std::env::temp_dir().join(format!("gloom-touch-{}", std::process::id()));
        let content: Vec<u8> = (0..40 * 65536 + 16).map(|i| (i * 7 % 251) as u8).collect();
        fs::write(&path, &content).unwrap();
        let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mapping = Mapping::new(&file, content.len() as u64, true).unwrap();
        let first = mapping.number(0);
        mapping.sync().unwrap();
        first.store(first.load(Ordering::Relaxed), Ordering::Relaxed);
        let page = dirty_bytes(&mapping);
        mapping.sync().unwrap();
        // In tmpfs all pages are always dirty, and not every emulator tells.
        if page <= 65536 && page > 0 && dirty_bytes(&mapping) == 0 {
            mapping.touch();
            assert_eq!(dirty_bytes(&mapping), content.len().next_multiple_of(page));
        } else {
            println!("it cannot be told which pages are dirty");
            mapping.touch();
        }
        mapping.sync().unwrap();
        drop(mapping);
        assert_eq!(fs::read(&path).unwrap(), content);
        fs::remove_file(&path).unwrap();
    }
}
