//! Both formats, read and written from `docs/format.md` alone.

use crate::definition::Bits;
use gloom::capi::*;
use std::sync::LazyLock;

/// What bytes hold, if a reader must take them.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub format: i32,
    pub k: u32,
    pub num_blocks: u64,
    /// 1 for XXH3, 2 for SipHash.
    pub hash: u32,
    pub seed: u64,
    pub expected_items: u64,
    pub fp_rate: f64,
    pub count: u64,
    pub live: u64,
    pub dirty: bool,
    pub bytes: u64,
    /// Empty where only the header was read.
    pub blocks: Vec<Bits>,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reader {
    /// Loads bytes or a file: the length is known.
    Whole,
    /// Loads a stream: it is not.
    Stream,
    /// Tells what the header says.
    Inspect,
    Map {
        verify: bool,
        allow_dirty: bool,
    },
}

/// Why bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    pub status: gloom_status,
    /// Because there are too few, as far as the reader came.
    pub ran_out: bool,
}

const MAGIC: &[u8] = b"\x89GLM\r\n\x1a\n";
pub const PAYLOAD: usize = 65536;
const PADDING: std::ops::Range<usize> = 192..PAYLOAD;

/// Reads front to back what there must be.
struct Bytes<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Refusal> {
        let taken = self.data.get(self.at..self.at + len);
        self.at += len;
        taken.ok_or(Refusal { status: GLOOM_ERR_CORRUPT, ran_out: true })
    }
}

fn refuse<T>(status: gloom_status) -> Result<T, Refusal> {
    Err(Refusal { status, ran_out: false })
}

fn unless(condition: bool, status: gloom_status) -> Result<(), Refusal> {
    if condition { Ok(()) } else { refuse(status) }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// What a reader has to make of `data`, by the tables "What a reader must check". `accept` is asked once the header is
/// known to be good; what it answers ends the reading.
pub fn read(
    data: &[u8],
    reader: Reader,
    boot: [u8; 16],
    accept: impl FnOnce(&Image) -> gloom_status,
) -> Result<Image, Refusal> {
    let mut bytes = Bytes { data, at: 0 };
    match bytes.take(1)?[0] {
        1 => read_v1(bytes, reader, accept),
        0x89 => read_native(bytes, reader, boot, accept),
        _ => refuse(GLOOM_ERR_UNSUPPORTED),
    }
}

fn read_v1(
    mut bytes: Bytes<'_>,
    reader: Reader,
    accept: impl FnOnce(&Image) -> gloom_status,
) -> Result<Image, Refusal> {
    bytes.take(20)?;
    let header = &bytes.data[..21];
    let (k, num_blocks, count) = (u32_at(header, 1), u64_at(header, 5), u64_at(header, 13));
    unless((3..=17).contains(&k), GLOOM_ERR_CORRUPT)?;
    let Some(len) = geometry(num_blocks, 25) else { return refuse(GLOOM_ERR_CORRUPT) };
    unless(reader == Reader::Stream || bytes.data.len() as u64 == len, GLOOM_ERR_CORRUPT)?;
    let mut image = Image {
        format: GLOOM_FORMAT_V1,
        k,
        num_blocks,
        hash: 1,
        seed: 0,
        expected_items: 0,
        fp_rate: 0.0,
        count,
        live: 0,
        dirty: false,
        bytes: len,
        blocks: Vec::new(),
    };
    match reader {
        Reader::Inspect => return Ok(image),
        Reader::Map { .. } => return refuse(GLOOM_ERR_UNSUPPORTED),
        _ => {}
    }
    accepted(accept(&image))?;
    image.blocks = blocks(bytes.take(num_blocks as usize * 64)?);
    let end = bytes.at;
    let stored = u32_at(bytes.take(4)?, 0);
    unless(stored == crc(0, &bytes.data[..end]), GLOOM_ERR_CORRUPT)?;
    Ok(image)
}

fn read_native(
    mut bytes: Bytes<'_>,
    reader: Reader,
    boot: [u8; 16],
    accept: impl FnOnce(&Image) -> gloom_status,
) -> Result<Image, Refusal> {
    bytes.take(127)?;
    let header = &bytes.data[..128];
    unless(&header[..8] == MAGIC, GLOOM_ERR_CORRUPT)?;
    unless([8, 12].iter().all(|&at| u32_at(header, at) == 1), GLOOM_ERR_UNSUPPORTED)?;
    let hash = u32_at(header, 16);
    unless([1, 2].contains(&hash), GLOOM_ERR_UNSUPPORTED)?;
    unless(u32_at(header, 124) == crc(0, &header[..124]), GLOOM_ERR_CORRUPT)?;
    let (k, num_blocks, fp_rate) =
        (u32_at(header, 20), u64_at(header, 24), f64::from_bits(u64_at(header, 48)));
    unless((3..=17).contains(&k), GLOOM_ERR_CORRUPT)?;
    let Some(len) = geometry(num_blocks, 65552) else { return refuse(GLOOM_ERR_CORRUPT) };
    unless(u64_at(header, 56) == PAYLOAD as u64, GLOOM_ERR_CORRUPT)?;
    unless(header[64..124].iter().all(|&byte| byte == 0), GLOOM_ERR_CORRUPT)?;
    unless(hash == 1 || u64_at(header, 32) != 0, GLOOM_ERR_CORRUPT)?;
    unless((0.0..1.0).contains(&fp_rate), GLOOM_ERR_CORRUPT)?;
    unless(reader == Reader::Stream || bytes.data.len() as u64 == len, GLOOM_ERR_CORRUPT)?;

    let state = bytes.take(64)?;
    unless(u32_at(state, 44) == crc(0, &state[..44]), GLOOM_ERR_CORRUPT)?;
    unless(u32_at(state, 8) <= 1, GLOOM_ERR_UNSUPPORTED)?;
    let dirty = u32_at(state, 8) == 1;
    let reserved = [12..16, 32..44, 56..64];
    unless(
        reserved.iter().all(|range| state[range.clone()].iter().all(|&byte| byte == 0)),
        GLOOM_ERR_CORRUPT,
    )?;
    let image = Image {
        format: GLOOM_FORMAT_NATIVE,
        k,
        num_blocks,
        hash,
        seed: u64_at(header, 32),
        expected_items: u64_at(header, 40),
        fp_rate,
        count: u64_at(state, 0),
        live: u64_at(state, 48),
        dirty,
        bytes: len,
        blocks: Vec::new(),
    };
    unless(dirty || image.live == 0, GLOOM_ERR_CORRUPT)?;
    if reader == Reader::Inspect {
        return Ok(image);
    }
    let allow_dirty = matches!(reader, Reader::Map { allow_dirty: true, .. });
    let of_this_boot = state[16..32] == boot && boot != [0; 16];
    unless(!dirty || of_this_boot || allow_dirty, GLOOM_ERR_CORRUPT)?;
    accepted(accept(&image))?;
    // In pieces of 4096 bytes, as a stream is read: a zero that is none shows before the end does.
    while bytes.at < PADDING.end {
        let piece = bytes.take(4096.min(PADDING.end - bytes.at))?;
        unless(piece.iter().all(|&byte| byte == 0), GLOOM_ERR_CORRUPT)?;
    }
    let payload = bytes.take(num_blocks as usize * 64)?;
    let trailer = bytes.take(16)?;
    unless(&trailer[..8] == b"GLOOMEND", GLOOM_ERR_CORRUPT)?;
    unless(u32_at(trailer, 12) == crc(0, &trailer[..12]), GLOOM_ERR_CORRUPT)?;
    let looks = !dirty && !matches!(reader, Reader::Map { verify: false, .. });
    unless(!looks || u32_at(trailer, 8) == crc(*CRC_OF_PADDING, payload), GLOOM_ERR_CORRUPT)?;
    // Whoever loads has both; a map goes on counting in the file.
    let (count, live) = match reader {
        Reader::Whole | Reader::Stream => (image.count.wrapping_add(image.live), 0),
        _ => (image.count, image.live),
    };
    Ok(Image { blocks: blocks(payload), count, live, ..image })
}

/// The length of everything, if there is such a filter.
fn geometry(num_blocks: u64, rest: u64) -> Option<u64> {
    let blocks = num_blocks.checked_mul(64).filter(|&bytes| bytes > 0)?;
    // A few of the largest numbers are refused although the sum would not overflow; no memory holds them anyway.
    blocks.checked_add(131_072).map(|_| blocks + rest)
}

fn accepted(status: gloom_status) -> Result<(), Refusal> {
    unless(status == GLOOM_OK, status)
}

fn blocks(bytes: &[u8]) -> Vec<Bits> {
    bytes.chunks_exact(64).map(|block| std::array::from_fn(|i| u64_at(block, i * 8))).collect()
}

/// The bytes of blocks.
pub fn bytes_of(blocks: &[Bits]) -> Vec<u8> {
    blocks.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

/// What a clean file of this filter is, byte for byte.
pub fn write(image: &Image) -> Vec<u8> {
    if image.format == GLOOM_FORMAT_V1 {
        let mut bytes = vec![1];
        bytes.extend(image.k.to_le_bytes());
        bytes.extend(image.num_blocks.to_le_bytes());
        bytes.extend(image.count.to_le_bytes());
        bytes.extend(bytes_of(&image.blocks));
        bytes.extend(crc(0, &bytes).to_le_bytes());
        return bytes;
    }
    let mut bytes = vec![0; 192];
    bytes[..8].copy_from_slice(MAGIC);
    [8, 12].iter().for_each(|&at| bytes[at] = 1);
    bytes[16] = image.hash as u8;
    bytes[20..24].copy_from_slice(&image.k.to_le_bytes());
    bytes[24..32].copy_from_slice(&image.num_blocks.to_le_bytes());
    bytes[32..40].copy_from_slice(&image.seed.to_le_bytes());
    bytes[40..48].copy_from_slice(&image.expected_items.to_le_bytes());
    bytes[48..56].copy_from_slice(&image.fp_rate.to_le_bytes());
    bytes[56..64].copy_from_slice(&(PAYLOAD as u64).to_le_bytes());
    bytes[128..136].copy_from_slice(&image.count.to_le_bytes());
    bytes.resize(PAYLOAD, 0);
    bytes.extend(bytes_of(&image.blocks));
    bytes.extend([0; 16]);
    seal(&mut bytes);
    bytes
}

/// Makes the checksums of whatever is long enough right, and the magic number of the trailer.
pub fn seal(bytes: &mut [u8]) {
    let len = bytes.len();
    if bytes.first() == Some(&1) && len >= 25 {
        let checksum = crc(0, &bytes[..len - 4]);
        bytes[len - 4..].copy_from_slice(&checksum.to_le_bytes());
    } else if bytes.first() == Some(&0x89) && len >= 192 {
        let checksum = crc(0, &bytes[..124]);
        bytes[124..128].copy_from_slice(&checksum.to_le_bytes());
        let checksum = crc(0, &bytes[128..172]);
        bytes[172..176].copy_from_slice(&checksum.to_le_bytes());
        if len >= PAYLOAD + 16 {
            let checksum = crc(*CRC_OF_PADDING, &bytes[PAYLOAD..len - 16]);
            let trailer = &mut bytes[len - 16..];
            trailer[..8].copy_from_slice(b"GLOOMEND");
            trailer[8..12].copy_from_slice(&checksum.to_le_bytes());
            let checksum = crc(0, &trailer[..12]);
            trailer[12..].copy_from_slice(&checksum.to_le_bytes());
        }
    }
}

/// The padding is always the same where its checksum matters.
static CRC_OF_PADDING: LazyLock<u32> = LazyLock::new(|| crc(0, &[0; PADDING.end - PADDING.start]));

/// CRC-32C of `bytes`, going on from that of what came before.
pub fn crc(before: u32, bytes: &[u8]) -> u32 {
    static TABLE: LazyLock<[u32; 256]> = LazyLock::new(|| {
        std::array::from_fn(|byte| {
            (0..8).fold(byte as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
        })
    });
    let table = &*TABLE;
    !bytes.iter().fold(!before, |crc, &byte| crc >> 8 ^ table[(crc as u8 ^ byte) as usize])
}

/// This boot of the system.
pub fn boot_id() -> [u8; 16] {
    static ID: LazyLock<[u8; 16]> = LazyLock::new(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
    });
    *ID
}
