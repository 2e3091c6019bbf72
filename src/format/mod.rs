//! Filters as bytes.

// Nothing in here panics: whatever a file holds ends in a status.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod input;
pub(crate) mod native;
mod v1;

pub(crate) use input::Input;

use crate::error::{Error, Value};
use crate::filter::{Filter, Kind, Options, Size};
use crate::hash::HashKind;
use crate::layout::{BLOCK_BYTES, MAX_K, MIN_K};
use crate::memory::Block;
use crate::panics::may_panic;
use crate::sizing::MAX_BLOCKS;
use crate::sync::Ordering::Relaxed;

/// How a filter is written as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The library's own format, which can also be mapped. Holds everything.
    Native,
    /// The interchange format, byte for byte that of the Go module `jcalabro/gloom`. Holds neither a seed nor
    /// another hash than XXH3.
    V1,
}

/// What a filter that is loaded shall be like.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// How it is written; any kind can be loaded as any other.
    pub kind: Kind,
    /// As in [`Options`](crate::Options).
    pub num_shards: u32,
    /// The most bytes its blocks may take; 0 for no limit. Checked before anything is allocated.
    pub max_bytes: u64,
    /// No huge pages.
    pub small_pages: bool,
    /// For [`Filter::load`]: also from what is no regular file, a FIFO for example. Opening and reading it waits for
    /// whoever writes to it.
    pub special_files: bool,
}

/// What the header of a serialized filter tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The format.
    pub format: Format,
    /// Probes a key.
    pub k: u32,
    /// Blocks of 64 bytes.
    pub num_blocks: u64,
    /// How keys are hashed.
    pub hash: HashKind,
    /// The seed of the hash.
    pub seed: u64,
    /// The count; of a file that is mapped for writing, what it was when it was last closed.
    pub count: u64,
    /// Bytes of everything.
    pub bytes: u64,
    /// The number of keys it was planned for, or 0.
    pub expected_items: u64,
    /// The rate that was asked for, or 0.
    pub fp_rate: f64,
    /// Has a writer not closed it, or not yet?
    pub dirty: bool,
    /// Dirty, and the system has been started anew since.
    pub(crate) may_have_lost_adds: bool,
    /// What writers have added to the count since the file became dirty, modulo 2^64.
    pub(crate) live_count: u64,
}

impl Info {
    /// The count that a copy gets.
    fn count_now(&self) -> u64 {
        self.count.wrapping_add(self.live_count)
    }
}

/// Takes the next bytes of a serialized filter, all of them.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

/// Blocks that are copied, summed and handed on at a time: 16 KiB. (Stacks of loom's threads are small, and
/// its atomics large.)
const BLOCKS_PER_PIECE: usize = if cfg!(loom) { 1 } else { 256 };
/// Blocks that are read into a new filter at a time: 64 KiB.
const BLOCKS_PER_READ: usize = 1024;

impl Filter {
    /// The bytes that this filter takes in `format`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it cannot be written so: format v1 holds neither a seed nor another hash
    /// than XXH3.
    pub fn serialized_size(&self, format: Format) -> Result<u64, Error> {
        match format {
            Format::V1 => v1::serialized_size(self),
            Format::Native => Ok(native::serialized_size(self.num_blocks())),
        }
    }

    /// Writes this filter to `sink`, in pieces of at most 64 KiB. Others may add meanwhile: what is written
    /// holds every key whose add had returned before the call.
    ///
    /// # Errors
    /// As [`serialized_size`](Filter::serialized_size), or what `sink` returns.
    pub fn serialize(
        &self,
        format: Format,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match format {
            Format::V1 => v1::write(self, sink),
            Format::Native => native::write(self, sink),
        }
    }

    /// This filter as bytes.
    ///
    /// # Errors
    /// As [`serialized_size`](Filter::serialized_size); [`Error::OutOfMemory`].
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        let size = self.serialized_size(format)?;
        let mut bytes = Vec::new();
        let reserved = usize::try_from(size).ok().and_then(|size| bytes.try_reserve_exact(size).ok());
        reserved.ok_or(Error::OutOfMemory { bytes: size })?;
        self.serialize(format, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The filter that `data` holds, all of it, in either format.
    ///
    /// Trusts nothing: the length and the caller's limit are verified before memory is taken, the
    /// checksum before the filter is given out.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Truncated`], [`Error::MissingChecksum`], [`Error::Dirty`] or
    /// [`Error::Unsupported`] for data that is not a whole filter; otherwise as [`Filter::create`].
    pub fn from_bytes(data: &[u8], options: &LoadOptions) -> Result<Filter, Error> {
        read(&mut Input::of(data), options)
    }

    /// Reads a filter from `source`, which fills a buffer from its start and tells how many bytes it has
    /// read; 0 means that there are no more. Takes exactly the bytes of the filter, so that something
    /// else may follow.
    ///
    /// # Errors
    /// As [`from_bytes`](Filter::from_bytes), or what `source` returns.
    pub fn deserialize(
        source: &mut dyn FnMut(&mut [u8]) -> Result<usize, Error>,
        options: &LoadOptions,
    ) -> Result<Filter, Error> {
        read(&mut Input::calling(source, None), options)
    }

    /// Adds all keys of the serialized filter `data` to this one, without loading it. Otherwise as
    /// [`merge`](Filter::merge).
    ///
    /// # Errors
    /// As [`from_bytes`](Filter::from_bytes) and [`merge`](Filter::merge); nothing is changed then.
    pub fn merge_bytes(&self, data: &[u8]) -> Result<(), Error> {
        self.check_writable()?;
        // Once to see that all of it is good, and again to merge it.
        let matches = |info: &Info| self.check_matches(info.num_blocks, info.k, info.hash, info.seed);
        let (info, ()) = read_around(&mut Input::of(data), matches, |input, info, ()| {
            copy_in_pieces(input, info.num_blocks, |_, _| {})
        })?;
        read_around(&mut Input::of(data), matches, |input, info, ()| {
            copy_in_pieces(input, info.num_blocks, |first, blocks| self.merge_blocks(first, blocks))
        })?;
        self.carry(info.count_now());
        Ok(())
    }
}

/// Reads the header of a serialized filter.
pub(crate) fn inspect(input: &mut Input<'_>) -> Result<Info, Error> {
    match input.byte()? {
        v1::VERSION => v1::read_header(input),
        native::FIRST_BYTE => native::read_header(input),
        other => Err(Error::Unsupported {
            name: "the format (the first byte)",
            value: u32::from(other).into(),
            reason: "known are 1 (format v1) and 137 (native)",
        }),
    }
}

/// Reads a filter: the only way in from outside.
pub(crate) fn read(input: &mut Input<'_>, load: &LoadOptions) -> Result<Filter, Error> {
    let create = |info: &Info| {
        let mut filter = Filter::create(&Options {
            kind: load.kind,
            size: Size::Blocks { num_blocks: info.num_blocks, k: info.k },
            num_shards: load.num_shards,
            seed: info.seed,
            hash: info.hash,
            max_bytes: load.max_bytes,
            block_multiple: 0,
            small_pages: load.small_pages,
        })?;
        filter.plan(info.expected_items, info.fp_rate);
        Ok(filter)
    };
    let (info, filter) = read_around(input, create, |input, _, filter| {
        // In pieces that stay in a cache until they are summed up.
        filter.overwrite_blocks(BLOCKS_PER_READ, |bytes| input.fill(bytes))
    })?;
    filter.carry(info.count_now());
    Ok(filter)
}

/// Reads a header, hands it to `start`, and what that makes to `blocks`, which reads all of them; then checks
/// what follows.
fn read_around<T>(
    input: &mut Input<'_>,
    start: impl FnOnce(&Info) -> Result<T, Error>,
    blocks: impl FnOnce(&mut Input<'_>, &Info, &mut T) -> Result<(), Error>,
) -> Result<(Info, T), Error> {
    let info = inspect(input)?;
    if info.may_have_lost_adds {
        return Err(Error::Dirty);
    }
    let mut target = start(&info)?;
    if info.format == Format::Native {
        native::read_padding(input)?;
    }
    blocks(input, &info, &mut target)?;
    match info.format {
        Format::V1 => v1::read_checksum(input)?,
        Format::Native => native::read_trailer(input, info.dirty)?,
    }
    Ok((info, target))
}

/// Reads blocks piece by piece into a copy, which it hands to `take` with the number of the first.
fn copy_in_pieces(
    input: &mut Input<'_>,
    num_blocks: u64,
    mut take: impl FnMut(usize, &[Block]),
) -> Result<(), Error> {
    let mut bytes = [0; BLOCKS_PER_PIECE * BLOCK_BYTES];
    let blocks: [Block; BLOCKS_PER_PIECE] = std::array::from_fn(|_| Block::new());
    for first in (0..num_blocks).step_by(BLOCKS_PER_PIECE) {
        let count = num_blocks.saturating_sub(first).min(BLOCKS_PER_PIECE as u64) as usize;
        let bytes = bytes.get_mut(..count.saturating_mul(BLOCK_BYTES)).unwrap_or_default();
        input.fill(bytes)?;
        let words = blocks.iter().flat_map(|block| &block.words);
        for (word, bytes) in words.zip(bytes.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        take(first as usize, blocks.get(..count).unwrap_or_default());
    }
    Ok(())
}

/// Copies blocks piece by piece and hands on the copies: a checksum of them is right even while others
/// add.
fn copy_blocks(blocks: &[Block], mut each: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    let mut copy = [0; BLOCKS_PER_PIECE * BLOCK_BYTES];
    for blocks in blocks.chunks(BLOCKS_PER_PIECE) {
        let piece = copy.get_mut(..blocks.len().saturating_mul(BLOCK_BYTES)).unwrap_or_default();
        for (bytes, word) in
            piece.as_chunks_mut().0.iter_mut().zip(blocks.iter().flat_map(|block| &block.words))
        {
            *bytes = word.load(Relaxed).to_le_bytes();
        }
        may_panic();
        each(piece)?;
    }
    Ok(())
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn corrupt(what: &'static str, found: impl Into<Value>, expected: impl Into<Value>) -> Error {
    Error::Corrupt { what, found: found.into(), expected: expected.into() }
}

/// Refuses a geometry that no filter has.
fn check_geometry(num_blocks: u64, k: u32) -> Result<(), Error> {
    if !(MIN_K..=MAX_K).contains(&k) {
        return Err(corrupt("k", k, "3 to 17"));
    }
    if num_blocks == 0 || num_blocks > MAX_BLOCKS - 2048 {
        return Err(corrupt("the number of blocks", num_blocks, "at least 1, and what memory can hold"));
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn geometries_are_refused_exactly_beyond_the_limits() {
        for (num_blocks, k, good) in [
            (1, 3, true),
            (1, 17, true),
            (1, 2, false),
            (1, 18, false),
            (0, 7, false),
            (MAX_BLOCKS - 2048, 7, true),
            (MAX_BLOCKS - 2047, 7, false),
            (MAX_BLOCKS, 7, false),
            (u64::MAX, 7, false),
        ] {
            assert_eq!(check_geometry(num_blocks, k).is_ok(), good, "{num_blocks} blocks, k {k}");
        }
    }
}
