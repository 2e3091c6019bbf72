//! Types and constants of the header.

use crate::filter::Filter;
use std::ffi::{c_char, c_void};

/// A Bloom filter. Made by gloom_new and its kin, freed by gloom_free; never copied by value.
pub struct gloom_filter(pub(super) Filter);

/// The outcome of a call: GLOOM_OK or what went wrong. Numbers are never reused or changed; later
/// releases may add some, so treat an unknown number as a failure.
pub type gloom_status = i32;

/// Success.
pub const GLOOM_OK: gloom_status = 0;
/// A required pointer is NULL.
pub const GLOOM_ERR_NULL: gloom_status = 1;
/// An argument is outside its range.
pub const GLOOM_ERR_INVALID_ARGUMENT: gloom_status = 2;
/// The system has no memory to give.
pub const GLOOM_ERR_OUT_OF_MEMORY: gloom_status = 3;
/// More memory would be needed than the caller allows or an address space holds.
pub const GLOOM_ERR_LIMIT: gloom_status = 4;
/// No filter of this layout has so small a false-positive rate.
pub const GLOOM_ERR_UNREACHABLE_RATE: gloom_status = 5;
/// The caller's buffer is too small.
pub const GLOOM_ERR_BUFFER_TOO_SMALL: gloom_status = 6;
/// The data is damaged or is not a filter.
pub const GLOOM_ERR_CORRUPT: gloom_status = 7;
/// A version, format or option that this release does not know.
pub const GLOOM_ERR_UNSUPPORTED: gloom_status = 8;
/// Two filters differ in k, number of blocks, hash or seed.
pub const GLOOM_ERR_INCOMPATIBLE: gloom_status = 9;
/// The filter is mapped read-only.
pub const GLOOM_ERR_READ_ONLY: gloom_status = 10;
/// The operating system reported an error; gloom_error.os_error holds errno.
pub const GLOOM_ERR_IO: gloom_status = 11;
/// A callback asked to stop.
pub const GLOOM_ERR_CANCELLED: gloom_status = 12;
/// The file is in use.
pub const GLOOM_ERR_BUSY: gloom_status = 13;
/// A bug in this library was caught at its boundary. Please report it.
pub const GLOOM_ERR_PANIC: gloom_status = 14;

/// One writer at a time, any number of readers meanwhile.
pub const GLOOM_KIND_PLAIN: i32 = 1;
/// Any number of writers, lock-free. The default where kind is 0.
pub const GLOOM_KIND_ATOMIC: i32 = 2;
/// Any number of writers, each owning the range of blocks that it writes; the fastest adds by many threads.
pub const GLOOM_KIND_SHARDED: i32 = 3;

/// The library's own format.
pub const GLOOM_FORMAT_NATIVE: i32 = 0;
/// The interchange format v1 of the Go module jcalabro/gloom.
pub const GLOOM_FORMAT_V1: i32 = 1;

/// No huge pages; otherwise filters of 4 MiB and more ask for them.
pub const GLOOM_FLAG_SMALL_PAGES: u32 = 1;

/// Hash keys by SipHash-1-3 with 128 bits instead of XXH3; seed is its key and must not be 0. For keys from enemies: see
/// docs/files.md, "Seeds and chosen keys". Only for new filters: files say how their keys are hashed.
pub const GLOOM_FLAG_SIPHASH: u32 = 2;

/// For gloom_load: load also from what is no regular file, such as a FIFO or a device. Opening and reading it waits for
/// whoever writes to it, for ever if nobody does.
pub const GLOOM_FLAG_SPECIAL_FILES: u32 = 4;

/// XXH3-128: gloom_hash_key.
pub const GLOOM_HASH_XXH3: u32 = 1;
/// SipHash-1-3 with 128 bits: gloom_siphash_key.
pub const GLOOM_HASH_SIPHASH: u32 = 2;

/// Map for reading and writing; otherwise only for reading.
pub const GLOOM_MAP_READ_WRITE: u32 = 1;
/// Read the whole file and check its checksum.
pub const GLOOM_MAP_VERIFY: u32 = 2;
/// Map also a file that may have lost adds, because the system or the disk failed while it was mapped for writing.
pub const GLOOM_MAP_ALLOW_DIRTY: u32 = 4;

/// Why a call failed, in words. Owned by the caller, who may pass NULL instead. Written only when a
/// call fails; message is always terminated and names the argument, its value and the allowed range.
#[repr(C)]
pub struct gloom_error {
    /// What the call returned.
    pub status: gloom_status,
    /// errno of the operating system, or 0.
    pub os_error: i32,
    /// UTF-8 text in English.
    pub message: [c_char; 504],
}

/// What a new filter shall be like. Start from GLOOM_OPTIONS_INIT or gloom_options_init. Give either
/// expected_items and fp_rate, or num_blocks and k, and leave the other two 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_options {
    /// sizeof(gloom_options). Bytes that this release does not know must be 0.
    pub struct_size: usize,
    /// GLOOM_KIND_..., or 0 for atomic.
    pub kind: i32,
    /// GLOOM_FLAG_...; unknown bits are an error.
    pub flags: u32,
    /// Distinct keys, from 0 to 2^63.
    pub expected_items: u64,
    /// False-positive rate once they are in: greater than 0, less than 1, and at least about 2.3e-10.
    pub fp_rate: f64,
    /// Blocks of 64 bytes.
    pub num_blocks: u64,
    /// Probes a key, 3 to 17.
    pub k: u32,
    /// For the sharded kind: 0 to let the library choose, or a power of two, at most num_blocks and 65536.
    pub num_shards: u32,
    /// 0 for filters that every implementation can read; else the seed of XXH3, or the key of SipHash.
    pub seed: u64,
    /// The most bytes the blocks may take, 0 for no limit. More is refused before anything is
    /// allocated. Bookkeeping comes on top: less than 5 KiB, or 64 bytes a shard and less than 1 KiB.
    pub max_bytes: u64,
    /// Round num_blocks up to a multiple of this, so that the filter can be folded; 0 for no.
    pub block_multiple: u64,
}

/// What a loaded filter shall be like. Start from GLOOM_LOAD_OPTIONS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_load_options {
    /// sizeof(gloom_load_options). Bytes that this release does not know must be 0.
    pub struct_size: usize,
    /// GLOOM_KIND_..., or 0 for atomic. Any kind can be loaded as any other.
    pub kind: i32,
    /// GLOOM_FLAG_...; unknown bits are an error.
    pub flags: u32,
    /// As in gloom_options.
    pub num_shards: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The most bytes the blocks may take, 0 for no limit. Checked before anything is allocated.
    pub max_bytes: u64,
}

/// How a file is mapped. Start from GLOOM_MAP_OPTIONS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_map_options {
    /// sizeof(gloom_map_options). Bytes that this release does not know must be 0.
    pub struct_size: usize,
    /// GLOOM_MAP_...; unknown bits are an error.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The most bytes the blocks may take, 0 for no limit. Checked before space on the disk is taken (by
    /// GLOOM_MAP_READ_WRITE), of which a file with holes may have taken little before.
    pub max_bytes: u64,
}

/// What a filter for some keys and some rate will be like. Start from GLOOM_SIZING_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_sizing {
    /// sizeof(gloom_sizing), set by the caller.
    pub struct_size: usize,
    /// Blocks of 64 bytes.
    pub num_blocks: u64,
    /// Bytes of all blocks.
    pub bytes: u64,
    /// The predicted false-positive rate once all expected keys are in; at most the one asked for.
    pub fp_rate: f64,
    /// Bits a key; 0 if no keys are expected.
    pub bits_per_item: f64,
    /// Probes a key.
    pub k: u32,
    /// 0.
    pub reserved: u32,
}

/// What the header of a file tells. Start from GLOOM_FILE_INFO_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_file_info {
    /// sizeof(gloom_file_info), set by the caller.
    pub struct_size: usize,
    /// GLOOM_FORMAT_...
    pub format: i32,
    /// Probes a key.
    pub k: u32,
    /// Blocks of 64 bytes.
    pub num_blocks: u64,
    /// The seed of the hash; 0 in format v1.
    pub seed: u64,
    /// The count; if dirty, what it was when the file was last clean.
    pub count: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// The number of keys that was planned for; 0 in format v1 and if made from num_blocks and k.
    pub expected_items: u64,
    /// The false-positive rate that was asked for; 0 in the same cases.
    pub fp_rate: f64,
    /// 1 if it is mapped for writing, or a writer died; else 0.
    pub dirty: u32,
    /// GLOOM_HASH_...
    pub hash: u32,
}

/// Takes len bytes at data and returns how many of them it has taken (1 to len). A negative number ends the
/// call: -1 with GLOOM_ERR_CANCELLED, another with GLOOM_ERR_IO and its negation as os_error. It is called
/// again and again, with at most 64 KiB each time, so it may also show progress. Nothing may unwind or
/// longjmp out of it.
pub type gloom_write_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *const c_void, len: usize) -> i64>;

/// Puts up to len bytes at data and returns how many (1 to len), or 0 at the end of the input. Negative
/// numbers and the rest as for gloom_write_fn.
pub type gloom_read_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *mut c_void, len: usize) -> i64>;

/// The hash of a key: XXH3-128, in the order of XXH128_hash_t { low64, high64 }, or the two words of SipHash-1-3.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gloom_hash {
    /// The low 64 bits.
    pub lo: u64,
    /// The high 64 bits.
    pub hi: u64,
}
