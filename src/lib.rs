//! gloom: a Bloom filter whose probes of one key lie in one cache line, and whose bits and files are
//! the same in every language.
//!
//! A filter answers "is this key in the set?" with *definitely not* or *probably yes*. Put in front of
//! a database, it keeps away the lookups that would find nothing.
//!
//! ```
//! # fn main() -> Result<(), gloom::Error> {
//! use gloom::Filter;
//!
//! let blocks = Filter::new_atomic(1_000_000, 0.01)?; // one million keys, 1 % false positives
//! std::thread::scope(|threads| {
//!     threads.spawn(|| blocks.add(b"user:17:block:99")); // any thread may add,
//!     threads.spawn(|| blocks.test(b"user:17:block:3")); // any thread may ask meanwhile
//! });
//! assert!(blocks.test(b"user:17:block:99")); // never a false "no"
//! assert!(blocks.current_fp_rate() < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! The same filter from C: `include/gloom.h`. The kinds of filter, and which to take: [`Kind`].

// The models of tests/loom.rs leave out files.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

#[cfg(not(all(
    target_pointer_width = "64",
    target_endian = "little",
    any(target_os = "linux", target_os = "macos")
)))]
compile_error!("gloom supports 64-bit little-endian Linux and macOS");

// The C ABI promises that a bug in here ends a call, not the process; without unwinding nothing could keep that.
#[cfg(all(panic = "abort", not(gloom_panic_abort)))]
compile_error!(
    "gloom is compiled with panic = \"abort\": a bug in it would end the whole process. Compile with panic = \"unwind\", \
     or say that this is wanted: RUSTFLAGS=\"--cfg gloom_panic_abort\""
);

mod batch;
pub mod capi;
mod error;
#[cfg(not(loom))]
mod file;
mod filter;
mod format;
mod hash;
mod kernel;
mod layout;
mod memory;
mod panics;
mod sizing;
mod sync;
mod sys;

pub use error::{Error, Value};
#[cfg(not(loom))]
pub use file::MapOptions;
pub use filter::{Filter, Kind, Options, Size};
pub use format::{Format, Info, LoadOptions};
pub use hash::{HashKind, KeyHash};
pub use kernel::Keys;
#[doc(hidden)]
pub use kernel::Level;
pub use layout::{BLOCK_BITS, BLOCK_BYTES, BLOCK_WORDS, MAX_K, MIN_K};
pub use sizing::{Sizing, predict_fp_rate, size_for};

/// The examples of these pages are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
