//! Filters in files.

mod load;
mod map;
mod save;

pub use map::MapOptions;
pub(crate) use map::MappedFile;
