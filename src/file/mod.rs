//! Filters in files.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod load;
mod map;
mod path;
mod permissions;
mod save;
mod temporary;

pub use map::MapOptions;
pub(crate) use map::MappedFile;
