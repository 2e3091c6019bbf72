//! The native format, which can be mapped and used in place; docs/format.md specifies it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 128 | header: what never changes |
//! | 128 | 64 | state: what changes while a file is mapped for writing |
//! | 192 | | zeros |
//! | 65536 | 64 each | blocks: eight words each |
//! | end | 16 | trailer: the checksum of zeros and blocks |
//!
//! All numbers are little-endian; all checksums are CRC-32C.

use super::{Format, Info, Input, Sink, check_geometry, copy_blocks, corrupt, number};
use crate::error::Error;
use crate::filter::{Filter, Geometry};
use crate::hash::HashKind;
use crate::layout::BLOCK_BYTES;
use crate::sys::{BootId, boot_id};

/// Not 1, which begins format v1; not ASCII, so that nobody takes it for text; with line ends that a
/// transfer as text would change.
const MAGIC: [u8; 8] = *b"\x89GLM\r\n\x1a\n";
pub(super) const FIRST_BYTE: u8 = MAGIC[0];

const VERSION: u32 = 1;
/// The partitions and block choice of docs/layout.md.
const LAYOUT: u32 = 1;

const HEADER: usize = 128;
/// Where the state is, and how long.
pub(crate) const STATE: usize = 128;
pub(crate) const STATE_LEN: usize = 64;
/// The part of it that has a checksum, which is its end.
pub(crate) const SEALED_STATE: usize = 48;
/// Where the adds are counted that writers have made since the file became dirty. Outside the
/// checksum, since it changes at any time.
pub(crate) const LIVE_COUNT: usize = STATE + SEALED_STATE;
/// Where the boot is in which the file became dirty.
pub(crate) const BOOT: usize = STATE + 16;
const PADDING: usize = STATE + STATE_LEN;
/// The zeros between state and blocks.
const PADDING_LEN: usize = PAYLOAD - PADDING;
/// Where the blocks are: at a page, also where pages have 64 KiB.
pub(crate) const PAYLOAD: usize = 65536;
pub(crate) const TRAILER: usize = 16;
const END_MAGIC: [u8; 8] = *b"GLOOMEND";

const DIRTY: u32 = 1;

/// No boot, in place of one: that of a file whose writer could not write all of it to the disk.
pub(crate) const FAILED: BootId = [0xff; 16];

pub(crate) fn serialized_size(num_blocks: u64) -> u64 {
    payload_end(num_blocks).saturating_add(TRAILER as u64)
}

pub(crate) fn payload_end(num_blocks: u64) -> u64 {
    num_blocks.saturating_mul(BLOCK_BYTES as u64).saturating_add(PAYLOAD as u64)
}

pub(super) fn write(filter: &Filter, sink: Sink<'_>) -> Result<(), Error> {
    sink(&header(&Info {
        format: Format::Native,
        k: filter.k(),
        num_blocks: filter.num_blocks(),
        hash: filter.hash_kind(),
        seed: filter.seed(),
        count: 0,
        bytes: 0,
        expected_items: filter.expected_items(),
        fp_rate: filter.fp_rate(),
        dirty: false,
        may_have_lost_adds: false,
        live_count: 0,
    }))?;
    sink(&State { count: filter.count(), dirty: false, boot: [0; 16] }.encode())?;
    for_each_zeros(|zeros| sink(zeros))?;
    let mut checksum = padding_checksum();
    copy_blocks(filter.blocks(), |piece| {
        checksum = crc32c::crc32c_append(checksum, piece);
        sink(piece)
    })?;
    sink(&trailer(checksum))
}

/// What describes a new filter.
pub(crate) fn info(geometry: &Geometry, hash: HashKind, seed: u64) -> Info {
    Info {
        format: Format::Native,
        k: geometry.k,
        num_blocks: geometry.num_blocks,
        hash,
        seed,
        count: 0,
        bytes: serialized_size(geometry.num_blocks),
        expected_items: geometry.expected_items,
        fp_rate: geometry.fp_rate,
        dirty: true,
        may_have_lost_adds: false,
        live_count: 0,
    }
}

/// The header of a filter.
pub(crate) fn header(filter: &Info) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&LAYOUT.to_le_bytes());
    header[16..20].copy_from_slice(&filter.hash.number().to_le_bytes());
    header[20..24].copy_from_slice(&filter.k.to_le_bytes());
    header[24..32].copy_from_slice(&filter.num_blocks.to_le_bytes());
    header[32..40].copy_from_slice(&filter.seed.to_le_bytes());
    header[40..48].copy_from_slice(&filter.expected_items.to_le_bytes());
    header[48..56].copy_from_slice(&filter.fp_rate.to_le_bytes());
    header[56..64].copy_from_slice(&(PAYLOAD as u64).to_le_bytes());
    seal(&mut header);
    header
}

/// What changes while a file is mapped for writing.
#[derive(Clone, Copy)]
pub(crate) struct State {
    pub count: u64,
    pub dirty: bool,
    pub boot: BootId,
}

impl State {
    pub fn encode(&self) -> [u8; STATE_LEN] {
        let mut state = [0; STATE_LEN];
        state[..8].copy_from_slice(&self.count.to_le_bytes());
        state[8..12].copy_from_slice(&(if self.dirty { DIRTY } else { 0 }).to_le_bytes());
        state[16..32].copy_from_slice(&self.boot);
        seal(&mut state[..SEALED_STATE]);
        state
    }

    /// Dirty, and left so before the system was started anew? What was dirty in this boot has all its bits:
    /// another process writes it, or has died, but the system keeps what it wrote.
    pub fn may_have_lost_adds(&self) -> Result<bool, Error> {
        Ok(self.dirty && (self.boot == [0; 16] || self.boot != boot_id()?))
    }

    pub fn decode(state: &[u8; STATE_LEN]) -> Result<State, Error> {
        check_seal("the checksum of the state", &state[..SEALED_STATE])?;
        let flags = number(&state[8..12]) as u32;
        if flags & !DIRTY != 0 {
            return Err(Error::Unsupported {
                name: "the flags of the state",
                value: flags.into(),
                reason: "known is 1 (dirty)",
            });
        }
        let dirty = flags & DIRTY != 0;
        check_zeros("the reserved bytes of the state", &[&state[12..16], &state[32..44], &state[56..]])?;
        if !dirty {
            check_zeros(
                "the live count of a clean file",
                &[&state[LIVE_COUNT - STATE..LIVE_COUNT - STATE + 8]],
            )?;
        }
        let mut boot = [0; 16];
        boot.copy_from_slice(&state[16..32]);
        Ok(State { count: number(&state[..8]), dirty, boot })
    }
}

/// Reads header and state behind the first byte.
pub(crate) fn read_header(input: &mut Input<'_>) -> Result<Info, Error> {
    let mut header = [0; HEADER];
    header[0] = FIRST_BYTE;
    input.fill(&mut header[1..])?;
    if header[..8] != MAGIC {
        return Err(corrupt(
            "the beginning",
            "not that of a native file, or changed by a transfer as text",
            "the magic number",
        ));
    }
    for (name, bytes, known, reason) in [
        ("the version of the native format", &header[8..12], VERSION, "this release knows version 1"),
        ("the layout", &header[12..16], LAYOUT, "this release knows layout 1"),
    ] {
        let found = number(bytes) as u32;
        if found != known {
            return Err(Error::Unsupported { name, value: found.into(), reason });
        }
    }
    let hash = match number(&header[16..20]) as u32 {
        1 => HashKind::Xxh3,
        2 => HashKind::SipHash,
        other => {
            let reason = "this release knows hashes 1 (XXH3-128) and 2 (SipHash-1-3 with 128 bits)";
            return Err(Error::Unsupported { name: "the hash", value: other.into(), reason });
        }
    };
    check_seal("the checksum of the header", &header)?;
    let (k, num_blocks) = (number(&header[20..24]) as u32, number(&header[24..32]));
    check_geometry(num_blocks, k)?;
    if number(&header[56..64]) != PAYLOAD as u64 {
        return Err(corrupt("the offset of the blocks", number(&header[56..64]), PAYLOAD as u64));
    }
    check_zeros("the reserved bytes of the header", &[&header[64..124]])?;
    let seed = number(&header[32..40]);
    if hash == HashKind::SipHash && seed == 0 {
        return Err(corrupt("the seed", seed, "another one with SipHash, whose key it is"));
    }
    let fp_rate = f64::from_bits(number(&header[48..56]));
    if !(0.0..1.0).contains(&fp_rate) {
        return Err(corrupt("the rate asked for", fp_rate, "0 to 1"));
    }
    let bytes = serialized_size(num_blocks);
    input.check_length(bytes)?;
    let mut bytes_of_state = [0; STATE_LEN];
    input.fill(&mut bytes_of_state)?;
    let state = State::decode(&bytes_of_state)?;
    Ok(Info {
        format: Format::Native,
        k,
        num_blocks,
        hash,
        seed,
        count: state.count,
        bytes,
        expected_items: number(&header[40..48]),
        fp_rate,
        dirty: state.dirty,
        may_have_lost_adds: state.may_have_lost_adds()?,
        live_count: number(&bytes_of_state[LIVE_COUNT - STATE..LIVE_COUNT - STATE + 8]),
    })
}

/// Reads the zeros before the blocks; the payload's checksum begins with them.
pub(crate) fn read_padding(input: &mut Input<'_>) -> Result<(), Error> {
    input.begin_checksum();
    for_each_zeros(|zeros| {
        let mut piece = [1; 4096];
        let piece = piece.get_mut(..zeros.len()).unwrap_or_default();
        input.fill(piece)?;
        check_zeros("the padding", &[piece])
    })
}

/// Reads what is behind the blocks. The checksum in a dirty file is an old one.
pub(super) fn read_trailer(input: &mut Input<'_>, dirty: bool) -> Result<(), Error> {
    let actual = input.checksum();
    let mut stored = [0; TRAILER];
    input.fill(&mut stored)?;
    check_trailer(&stored, (!dirty).then_some(actual))
}

/// What is behind the blocks, given the checksum of padding and blocks.
pub(crate) fn trailer(checksum: u32) -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    trailer[..8].copy_from_slice(&END_MAGIC);
    trailer[8..12].copy_from_slice(&checksum.to_le_bytes());
    seal(&mut trailer);
    trailer
}

/// Refuses a trailer that is not one, or that has another checksum.
pub(crate) fn check_trailer(stored: &[u8; TRAILER], checksum: Option<u32>) -> Result<(), Error> {
    let in_trailer = number(&stored[8..12]) as u32;
    if stored[..8] != END_MAGIC {
        return Err(corrupt("the end", "not that of a native file", "the trailer"));
    }
    check_seal("the checksum of the trailer", stored)?;
    match checksum {
        Some(actual) if actual != in_trailer => {
            Err(corrupt("the checksum of the blocks (CRC-32C)", actual, in_trailer))
        }
        _ => Ok(()),
    }
}

/// Calls `each` with the padding piece by piece, as it should be.
fn for_each_zeros(mut each: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    let zeros = [0; 4096];
    let mut left = PADDING_LEN;
    while left > 0 {
        let piece = zeros.get(..left).unwrap_or(&zeros);
        each(piece)?;
        left = left.saturating_sub(piece.len());
    }
    Ok(())
}

fn padding_checksum() -> u32 {
    let mut checksum = 0;
    // Nothing in here fails.
    let _ = for_each_zeros(|zeros| {
        checksum = crc32c::crc32c_append(checksum, zeros);
        Ok(())
    });
    checksum
}

/// The checksum of padding and blocks.
pub(crate) fn payload_checksum(blocks: &[crate::memory::Block]) -> u32 {
    let mut checksum = padding_checksum();
    // Nothing in here fails.
    let _ = copy_blocks(blocks, |piece| {
        checksum = crc32c::crc32c_append(checksum, piece);
        Ok(())
    });
    checksum
}

/// Puts the checksum of a line into its last four bytes.
fn seal(line: &mut [u8]) {
    if let Some((content, checksum)) = line.split_last_chunk_mut() {
        *checksum = crc32c::crc32c(content).to_le_bytes();
    }
}

fn check_seal(what: &'static str, line: &[u8]) -> Result<(), Error> {
    let (content, stored) = line.split_last_chunk().unwrap_or((line, &[0; 4]));
    let (actual, stored) = (crc32c::crc32c(content), u32::from_le_bytes(*stored));
    if actual == stored { Ok(()) } else { Err(corrupt(what, actual, stored)) }
}

fn check_zeros(what: &'static str, parts: &[&[u8]]) -> Result<(), Error> {
    // Without a way out in between, the compiler takes many bytes at a time: a map looks at 64 KiB of padding.
    match parts.iter().copied().flatten().fold(0, |all, byte| all | byte) {
        0 => Ok(()),
        bits => Err(corrupt(what, u32::from(bits), 0u32)),
    }
}
