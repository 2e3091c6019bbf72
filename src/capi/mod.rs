//! The C ABI. `include/gloom.h` is generated from this module; its sections are these files.
//!
//! Every function does its work inside [`boundary`], which turns a panic into a value.
#![allow(unsafe_code)]
#![allow(non_camel_case_types)]
// Raw pointers come from C: what they must point to is said in the header.
#![allow(clippy::missing_safety_doc)]
// Nothing in here panics: whatever C passes ends in a status.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod batch;
mod boundary;
mod bytes;
mod create;
mod facts;
#[cfg(not(loom))]
mod files;
mod keys;
mod library;
mod types;
mod whole;

pub use batch::*;
pub use bytes::*;
pub use create::*;
pub use facts::*;
#[cfg(not(loom))]
pub use files::*;
pub use keys::*;
pub use library::*;
pub use types::*;
pub use whole::*;
