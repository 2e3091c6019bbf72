//! What the fuzz targets do. Each module with a `run` is a target; `README.md` says what it checks.
//!
//! Nothing here shares code with the library: hash, bits, checksums and formats are written anew from
//! `docs/layout.md` and `docs/format.md`.

pub mod calls;
pub mod kernels;
pub mod load;
pub mod sizing;

mod definition;
mod fault;
mod format;
mod handle;
mod scratch;
