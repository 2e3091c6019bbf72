//! Builds the library as its users get it, compiles C programs against its header, links them and runs them.
//!
//! The programs are in `c/`, one topic a file; the tests that run them in `tests/`.

mod compiler;
mod library;
mod program;
mod tool;
mod workspace;

pub use compiler::compiler;
pub use library::{Library, SONAME, compile_library};
pub use program::{Outcome, Program, WRAP_ALLOCATIONS, WRAP_FILES};
pub use tool::tool;
pub use workspace::{declared_functions, folder, header, ours, without_comments};
