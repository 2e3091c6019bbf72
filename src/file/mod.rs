//! Filters in files.

mod load;
mod map;
mod path;
mod save;
mod temporary;

pub use map::MapOptions;
pub(crate) use map::MappedFile;
