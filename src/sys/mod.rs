//! Calls to the operating system that the standard library does not have.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod acl;
mod process;

pub(crate) use acl::{owning_group_bits, remove_acl};
pub(crate) use process::effective_user;
