//! Format v1, the interchange format:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | version, 1 |
//! | 1 | 4 | k |
//! | 5 | 8 | number of blocks |
//! | 13 | 8 | count |
//! | 21 | 64 each | blocks: eight words each |
//! | end | 4 | CRC-32C of everything before |
//!
//! All numbers are little-endian.

use super::{LoadOptions, Sink};
use crate::error::{Error, Value};
use crate::filter::{Filter, Options, Size};
use crate::kernel::read_block;
use crate::layout::{BLOCK_BYTES, BLOCK_WORDS, MAX_K, MIN_K};
use crate::memory::Block;
use crate::sync::Ordering::Relaxed;

const VERSION: u8 = 1;
const HEADER: usize = 21;
const CHECKSUM: usize = 4;

/// Blocks that are copied, summed and written at a time.
const BLOCKS_PER_PIECE: usize = 64;

pub(super) fn serialized_size(filter: &Filter) -> Result<u64, Error> {
    if filter.seed() != 0 {
        return Err(Error::Unsupported {
            name: "seed",
            value: filter.seed().into(),
            reason: "format v1 holds no seed, so only filters of seed 0 can be written as v1",
        });
    }
    // The blocks are in memory, so this does not overflow.
    Ok((HEADER + CHECKSUM) as u64 + filter.num_blocks() * BLOCK_BYTES as u64)
}

/// Copies a piece, sums the copy and writes the copy: the checksum is right even while others add.
pub(super) fn write(filter: &Filter, sink: Sink) -> Result<(), Error> {
    serialized_size(filter)?;
    let mut header = [0; HEADER];
    header[0] = VERSION;
    header[1..5].copy_from_slice(&filter.k().to_le_bytes());
    header[5..13].copy_from_slice(&filter.num_blocks().to_le_bytes());
    header[13..21].copy_from_slice(&filter.count().to_le_bytes());
    let mut checksum = crc32c::crc32c(&header);
    sink(&header)?;
    let mut copy = [0; BLOCKS_PER_PIECE * BLOCK_BYTES];
    for blocks in filter.blocks().chunks(BLOCKS_PER_PIECE) {
        let piece = &mut copy[..blocks.len() * BLOCK_BYTES];
        for (bytes, block) in piece.chunks_exact_mut(BLOCK_BYTES).zip(blocks) {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(read_block(block)) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        checksum = crc32c::crc32c_append(checksum, piece);
        sink(piece)?;
    }
    sink(&checksum.to_le_bytes())
}

/// The only reader and the only validator.
pub(super) fn read(data: &[u8], load: &LoadOptions) -> Result<Filter, Error> {
    let header = Header::parse(data)?;
    let options = Options {
        kind: load.kind,
        size: Size::Blocks { num_blocks: header.num_blocks, k: header.k },
        num_shards: load.num_shards,
        seed: 0,
        max_bytes: load.max_bytes,
        block_multiple: 0,
        small_pages: load.small_pages,
    };
    // The caller's limit comes before the work of summing the data.
    options.check()?;
    let (content, stored) = data.split_at(data.len() - CHECKSUM);
    let stored = number(stored) as u32;
    let actual = crc32c::crc32c(content);
    if stored != actual {
        return Err(corrupt("the checksum (CRC-32C)", actual, stored));
    }
    let filter = Filter::create(&options)?;
    for (block, bytes) in filter.blocks().iter().zip(content[HEADER..].chunks_exact(BLOCK_BYTES)) {
        fill(block, bytes);
    }
    filter.carry(header.count);
    Ok(filter)
}

/// A header that fits the length of its data.
struct Header {
    k: u32,
    num_blocks: u64,
    count: u64,
}

impl Header {
    fn parse(data: &[u8]) -> Result<Header, Error> {
        if let Some(&version) = data.first()
            && version != VERSION
        {
            return Err(Error::Unsupported {
                name: "version (the first byte)",
                value: u32::from(version).into(),
                reason: "this release reads format v1",
            });
        }
        let length = data.len() as u64;
        if data.len() < HEADER {
            return Err(corrupt("the length in bytes", length, "21 for the header and 64 for each block"));
        }
        let k = number(&data[1..5]) as u32;
        let num_blocks = number(&data[5..13]);
        let count = number(&data[13..21]);
        if !(MIN_K..=MAX_K).contains(&k) {
            return Err(corrupt("k", k, "3 to 17"));
        }
        if num_blocks == 0 {
            return Err(corrupt("the number of blocks", num_blocks, "at least 1"));
        }
        let expected = num_blocks.checked_mul(BLOCK_BYTES as u64).and_then(|bytes| bytes.checked_add(25));
        match expected {
            Some(expected) if expected == length => Ok(Header { k, num_blocks, count }),
            // Releases of the Go module without a checksum wrote the same header.
            Some(expected) if expected - CHECKSUM as u64 == length => Err(Error::MissingChecksum { length }),
            Some(expected) => Err(corrupt("the length in bytes", length, expected)),
            None => Err(corrupt("the number of blocks", num_blocks, "what fits the length")),
        }
    }
}

/// Stores only what is set, so that clear pages are not touched.
fn fill(block: &Block, bytes: &[u8]) {
    let words: [u64; BLOCK_WORDS] = std::array::from_fn(|i| number(&bytes[i * 8..i * 8 + 8]));
    for (word, value) in block.words.iter().zip(words) {
        if value != 0 {
            word.store(value, Relaxed);
        }
    }
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn corrupt(what: &'static str, found: impl Into<Value>, expected: impl Into<Value>) -> Error {
    Error::Corrupt { what, found: found.into(), expected: expected.into() }
}
