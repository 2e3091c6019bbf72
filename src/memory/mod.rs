//! The blocks of a filter in memory: aligned to cache lines, zeroed, and in huge pages where they help; or
//! in a file that is mapped.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use crate::error::Error;
use crate::hash::KeyHash;
use crate::layout::{BLOCK_BYTES, BLOCK_WORDS};
use crate::panics::may_panic;
use crate::sync::AtomicU64;
#[cfg(not(loom))]
use crate::sys::Mapping;
use std::ops::{Deref, Range};

/// 512 bits: one cache line.
///
/// Its words are atomic because other threads may read and write them at any time; there is never a
/// reference to plain integers here.
#[repr(C, align(64))]
pub(crate) struct Block {
    pub words: [AtomicU64; BLOCK_WORDS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Block>() == BLOCK_BYTES);

impl Block {
    /// A clear block.
    pub fn new() -> Block {
        Block { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

/// The blocks of one filter, zeroed at first and freed on drop.
pub(crate) struct Blocks(imp::Blocks);

impl Blocks {
    /// Allocates `num_blocks` (at least 1) clear blocks.
    ///
    /// From 1 MiB on, memory comes straight from the system, which clears a page when it is first
    /// touched; from 4 MiB on in huge pages unless `small_pages`, since random access to a large filter
    /// otherwise misses the TLB at nearly every key.
    pub fn zeroed(num_blocks: u64, small_pages: bool) -> Result<Blocks, Error> {
        let bytes = num_blocks.saturating_mul(BLOCK_BYTES as u64);
        if num_blocks == 0 || bytes > isize::MAX as u64 {
            return Err(Error::Limit { needed: bytes, limit: isize::MAX as u64 });
        }
        let blocks = imp::Blocks::zeroed(num_blocks as usize, small_pages).map(Blocks);
        may_panic();
        blocks.ok_or(Error::OutOfMemory { bytes })
    }

    /// The `num_blocks` (at least 1) blocks in a mapped file that begin at `offset`, a multiple of 64.
    #[cfg(not(loom))]
    pub fn mapped(mapping: Mapping, offset: usize, num_blocks: u64) -> Blocks {
        Blocks(imp::Blocks::mapped(mapping, offset, num_blocks as usize))
    }

    /// The file they are in.
    #[cfg(not(loom))]
    pub fn mapping(&self) -> Option<&Mapping> {
        self.0.mapping()
    }

    /// Lets `write` overwrite some blocks as bytes: their words, little-endian. They are in memory, and nobody
    /// else has them.
    pub fn overwrite(
        &mut self,
        blocks: Range<usize>,
        write: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.overwrite(blocks, write)
    }

    /// The number of the block of a key, and the block.
    #[inline]
    pub fn of(&self, hash: KeyHash) -> (usize, &Block) {
        let index = hash.block(self.len() as u64) as usize;
        // SAFETY: floor(hi * len / 2^64) < len for every hi < 2^64, so the index is in bounds.
        #[allow(unsafe_code)]
        let block = unsafe { self.get_unchecked(index) };
        (index, block)
    }
}

impl Deref for Blocks {
    type Target = [Block];

    #[inline]
    fn deref(&self) -> &[Block] {
        self.0.as_slice()
    }
}

/// How many processors the system has online; at least 1.
pub(crate) fn processors() -> usize {
    // Not `available_parallelism`: it reads control-group files, and may allocate to do so.
    // SAFETY: sysconf has no preconditions.
    #[allow(unsafe_code)]
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(online).unwrap_or(1).max(1)
}

#[cfg(not(loom))]
#[allow(unsafe_code)]
mod imp {
    use super::{BLOCK_BYTES, Block};
    use crate::error::Error;
    use crate::sys::Mapping;
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ops::Range;
    use std::ptr::{NonNull, null_mut};

    const MAPPED_FROM: usize = 1 << 20;
    const HUGE_FROM: usize = 4 << 20;
    const HUGE_PAGE: usize = 2 << 20;

    /// Invariant: `first` points to `len` initialised blocks, which this value or its mapping owns and which
    /// nothing frees or moves before it is dropped; `len * 64 <= isize::MAX`.
    pub struct Blocks {
        first: NonNull<Block>,
        len: usize,
        /// Where they are if they are not this value's own.
        mapping: Option<Mapping>,
    }

    // SAFETY: blocks are atomics, which may be shared and sent, and the allocation belongs to no thread.
    unsafe impl Send for Blocks {}
    // SAFETY: as above; there is no way to get at the words but by atomic operations.
    unsafe impl Sync for Blocks {}

    impl Blocks {
        /// `None` if there is no memory. The caller has checked that `0 < len` and `len * 64 <= isize::MAX`.
        pub fn zeroed(len: usize, small_pages: bool) -> Option<Blocks> {
            let bytes = len.checked_mul(BLOCK_BYTES)?;
            let first = if bytes >= MAPPED_FROM { map(bytes, small_pages)? } else { allocate(bytes)? };
            // Zero bytes are clear blocks, so they are initialised.
            Some(Blocks { first: first.cast(), len, mapping: None })
        }

        pub fn mapped(mapping: Mapping, offset: usize, len: usize) -> Blocks {
            Blocks { first: mapping.blocks(offset, len), len, mapping: Some(mapping) }
        }

        pub fn mapping(&self) -> Option<&Mapping> {
            self.mapping.as_ref()
        }

        #[inline]
        pub fn as_slice(&self) -> &[Block] {
            // SAFETY: by the invariant; a shared reference is right although others write, because
            // blocks are made of atomics.
            unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
        }

        pub fn overwrite(
            &mut self,
            blocks: Range<usize>,
            write: impl FnOnce(&mut [u8]) -> Result<(), Error>,
        ) -> Result<(), Error> {
            assert!(self.mapping.is_none(), "others may have the blocks of a file");
            assert!(blocks.start <= blocks.end && blocks.end <= self.len, "blocks outside the filter");
            let len = blocks.len().saturating_mul(BLOCK_BYTES);
            // SAFETY: in bounds, as asserted; nobody else has the blocks, since this is borrowed for
            // itself alone and no other process can have them; and any bytes are blocks.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(self.first.add(blocks.start).cast::<u8>().as_ptr(), len)
            };
            write(bytes)?;
            if cfg!(target_endian = "big") {
                for word in bytes.as_chunks_mut::<8>().0 {
                    word.reverse();
                }
            }
            Ok(())
        }

        fn bytes(&self) -> usize {
            self.len.saturating_mul(BLOCK_BYTES)
        }
    }

    impl Drop for Blocks {
        fn drop(&mut self) {
            let bytes = self.bytes();
            if self.mapping.is_some() {
                // It unmaps itself.
            } else if bytes >= MAPPED_FROM {
                // SAFETY: by the invariant this is what is left of our own mapping.
                let unmapped = unsafe { libc::munmap(self.first.as_ptr().cast(), bytes) };
                debug_assert_eq!(unmapped, 0);
            } else if let Ok(layout) = layout(bytes) {
                // SAFETY: `allocate` took it with the same layout.
                unsafe { dealloc(self.first.as_ptr().cast(), layout) };
            }
        }
    }

    fn layout(bytes: usize) -> Result<Layout, std::alloc::LayoutError> {
        Layout::from_size_align(bytes, align_of::<Block>())
    }

    fn allocate(bytes: usize) -> Option<NonNull<u8>> {
        let layout = layout(bytes).ok()?;
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc_zeroed(layout) })
    }

    /// Maps `bytes` of zeroes. Pages appear when they are first written.
    fn map(bytes: usize, small_pages: bool) -> Option<NonNull<u8>> {
        if bytes < HUGE_FROM || small_pages {
            let start = map_pages(bytes)?;
            advise(start, bytes, false);
            return Some(start);
        }
        // Huge pages need a start at a multiple of their size: map more and give back the ends.
        let mapped = bytes.checked_add(HUGE_PAGE)?;
        let start = map_pages(mapped)?;
        let before = start.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `before < HUGE_PAGE`, so both ends are inside the mapping. What is unmapped is
        // ours and nobody has seen it. The kernel rounds the end of `bytes` up to a page, as it
        // does when this is unmapped on drop.
        let aligned = unsafe {
            let aligned = start.add(before);
            if before > 0 {
                libc::munmap(start.as_ptr().cast(), before);
            }
            let end = bytes.next_multiple_of(page_size());
            libc::munmap(
                aligned.as_ptr().add(end).cast(),
                mapped.next_multiple_of(page_size()).saturating_sub(before).saturating_sub(end),
            );
            aligned
        };
        advise(aligned, bytes, true);
        Some(aligned)
    }

    fn map_pages(bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: a new private anonymous mapping affects no other memory.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    fn page_size() -> usize {
        // SAFETY: sysconf has no preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    }

    /// Asks for huge pages, or for none. Advice: a system without them goes on with small ones.
    fn advise(start: NonNull<u8>, bytes: usize, huge: bool) {
        #[cfg(target_os = "linux")]
        {
            let advice = if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
            // SAFETY: the range is our own mapping, and neither advice changes its contents.
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, advice) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, bytes, huge);
    }
}

/// Blocks of loom's atomics, which cannot be made of zero bytes.
#[cfg(loom)]
mod imp {
    use super::{BLOCK_BYTES, Block};
    use crate::error::Error;
    use crate::sync::Ordering::Relaxed;
    use std::ops::Range;

    pub struct Blocks(Box<[Block]>);

    impl Blocks {
        pub fn zeroed(len: usize, _small_pages: bool) -> Option<Blocks> {
            Some(Blocks((0..len).map(|_| Block::new()).collect()))
        }

        pub fn as_slice(&self) -> &[Block] {
            &self.0
        }

        pub fn overwrite(
            &mut self,
            blocks: Range<usize>,
            write: impl FnOnce(&mut [u8]) -> Result<(), Error>,
        ) -> Result<(), Error> {
            let blocks = &self.0[blocks];
            let mut bytes = vec![0; blocks.len() * BLOCK_BYTES];
            write(&mut bytes)?;
            let words = blocks.iter().flat_map(|block| &block.words);
            for (word, bytes) in words.zip(bytes.as_chunks().0) {
                word.store(u64::from_le_bytes(*bytes), Relaxed);
            }
            Ok(())
        }
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::sync::Ordering::Relaxed;

    #[test]
    fn blocks_are_aligned_clear_and_writable_to_the_last() {
        // Both sides of the sizes at which memory comes from elsewhere.
        for bytes in [64, 4096, (1 << 20) - 64, 1 << 20, (4 << 20) - 64, 4 << 20, (4 << 20) + 64, 9 << 20] {
            for small_pages in [false, true] {
                let blocks = Blocks::zeroed(bytes / 64, small_pages).unwrap();
                assert_eq!(blocks.len() as u64, bytes / 64);
                assert_eq!(blocks.as_ptr().addr() % 64, 0);
                for block in blocks.iter() {
                    assert!(block.words.iter().all(|word| word.load(Relaxed) == 0));
                    block.words[7].store(u64::MAX, Relaxed);
                }
            }
        }
    }

    #[test]
    fn large_filters_start_at_a_huge_page() {
        let blocks = Blocks::zeroed((8 << 20) / 64, false).unwrap();
        assert_eq!(blocks.as_ptr().addr() % (2 << 20), 0);
    }

    #[test]
    fn sizes_that_no_address_space_holds_are_a_limit() {
        for num_blocks in [0, 1 << 57, (1 << 58) + 1, u64::MAX] {
            assert!(matches!(Blocks::zeroed(num_blocks, false), Err(Error::Limit { .. })));
        }
    }

    #[test]
    fn an_allocation_that_fails_is_an_error() {
        let error = Blocks::zeroed(1 << 50, false).err();
        assert_eq!(error, Some(Error::OutOfMemory { bytes: 1 << 56 }));
    }
}
