//! A file that is mapped whole and shared with whoever else maps it.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::layout::BLOCK_BYTES;
use crate::memory::Block;
use crate::sync::{AtomicU64, Ordering};
use std::fs::File;
use std::os::fd::AsRawFd;
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
    pub(crate) fn blocks(&self, offset: usize, len: usize) -> NonNull<Block> {
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
