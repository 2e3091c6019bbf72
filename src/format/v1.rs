//! Format v1, the interchange format; docs/format.md specifies it.
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

use super::{Format, Info, Input, Sink, check_geometry, copy_blocks, corrupt, number};
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::HashKind;
use crate::layout::BLOCK_BYTES;

pub(super) const VERSION: u8 = 1;
const HEADER: usize = 21;
const CHECKSUM: usize = 4;

pub(super) fn serialized_size(filter: &Filter) -> Result<u64, Error> {
    if filter.hash_kind() != HashKind::Xxh3 {
        return Err(Error::Unsupported {
            name: "the hash",
            value: "SipHash".into(),
            reason: "format v1 has no field for it, so only filters that hash by XXH3 can be written as v1",
        });
    }
    if filter.seed() != 0 {
        return Err(Error::Unsupported {
            name: "seed",
            value: filter.seed().into(),
            reason: "format v1 holds no seed, so only filters of seed 0 can be written as v1",
        });
    }
    Ok(size(filter.num_blocks()))
}

fn size(num_blocks: u64) -> u64 {
    num_blocks.saturating_mul(BLOCK_BYTES as u64).saturating_add((HEADER + CHECKSUM) as u64)
}

pub(super) fn write(filter: &Filter, sink: Sink<'_>) -> Result<(), Error> {
    serialized_size(filter)?;
    let mut header = [0; HEADER];
    header[0] = VERSION;
    header[1..5].copy_from_slice(&filter.k().to_le_bytes());
    header[5..13].copy_from_slice(&filter.num_blocks().to_le_bytes());
    header[13..21].copy_from_slice(&filter.count().to_le_bytes());
    let mut checksum = crc32c::crc32c(&header);
    sink(&header)?;
    copy_blocks(filter.blocks(), |piece| {
        checksum = crc32c::crc32c_append(checksum, piece);
        sink(piece)
    })?;
    sink(&checksum.to_le_bytes())
}

/// Reads the header behind the version byte.
pub(super) fn read_header(input: &mut Input<'_>) -> Result<Info, Error> {
    let mut header = [0; HEADER - 1];
    input.fill(&mut header)?;
    let (k, num_blocks, count) = (number(&header[..4]) as u32, number(&header[4..12]), number(&header[12..]));
    check_geometry(num_blocks, k)?;
    let bytes = size(num_blocks);
    // Releases of the Go module without a checksum wrote the same header.
    match input.length() {
        Some(length) if length == bytes.saturating_sub(CHECKSUM as u64) => {
            return Err(Error::MissingChecksum { length });
        }
        _ => input.check_length(bytes)?,
    }
    Ok(Info {
        format: Format::V1,
        k,
        num_blocks,
        hash: HashKind::Xxh3,
        seed: 0,
        count,
        bytes,
        expected_items: 0,
        fp_rate: 0.0,
        dirty: false,
        may_have_lost_adds: false,
        live_count: 0,
    })
}

pub(super) fn read_checksum(input: &mut Input<'_>) -> Result<(), Error> {
    let (actual, end) = (input.checksum(), input.taken());
    let mut stored = [0; CHECKSUM];
    input.fill(&mut stored).map_err(|error| match error {
        Error::Truncated { length } if length == end => Error::MissingChecksum { length },
        other => other,
    })?;
    let stored = u32::from_le_bytes(stored);
    if stored == actual { Ok(()) } else { Err(corrupt("the checksum (CRC-32C)", actual, stored)) }
}
