//! Another static library written in Rust, which catches its own panics.

use std::panic::catch_unwind;

/// a / b, or -1 if that panics.
#[unsafe(no_mangle)]
pub extern "C" fn toy_divide(a: i32, b: i32) -> i32 {
    catch_unwind(|| a / b).unwrap_or(-1)
}
