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
mod new_file;
mod permissions;
mod place;
mod save;
mod special;

pub use map::MapOptions;
pub(crate) use map::MappedFile;
pub(crate) use place::Place;
