//! What the operating system is asked for, where the standard library does not do: names relative to an open folder, locks,
//! maps, space on the disk.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod acl;
mod boot;
mod folder;
mod lock;
#[cfg(not(loom))]
mod mapping;
mod process;
mod random;
mod space;

pub(crate) use acl::{owning_group_bits, remove_acl};
pub(crate) use boot::{BootId, boot_id};
pub(crate) use folder::{Folder, Link, Name, Status, is_unnamed_pipe, wait_for_reads};
pub(crate) use lock::{Lock, release_among_readers, try_take_among_readers};
#[cfg(not(loom))]
pub(crate) use mapping::Mapping;
pub(crate) use process::{Process, effective_user};
pub(crate) use random::random_number;
pub(crate) use space::reserve;
