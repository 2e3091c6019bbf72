//! The library itself.

use super::boundary::*;
use super::types::*;
use std::ffi::c_char;

/// The version of this header; gloom_version tells the library's.
pub const GLOOM_VERSION_MAJOR: u32 = 0;
/// See GLOOM_VERSION_MAJOR.
pub const GLOOM_VERSION_MINOR: u32 = 1;
/// See GLOOM_VERSION_MAJOR.
pub const GLOOM_VERSION_PATCH: u32 = 0;
/// major * 10000 + minor * 100 + patch.
pub const GLOOM_VERSION: u32 = 100;
/// Changes when a program that was built with an older header no longer works.
pub const GLOOM_ABI_VERSION: u32 = 0;

/// The constants above are literals, so that cbindgen can read them; here they are held to Cargo.toml.
const _: () = {
    const fn number(text: &str) -> u32 {
        let mut number = 0;
        let mut digits = text.as_bytes();
        while let [digit, rest @ ..] = digits {
            number = number * 10 + (*digit - b'0') as u32;
            digits = rest;
        }
        number
    }
    assert!(GLOOM_VERSION_MAJOR == number(env!("CARGO_PKG_VERSION_MAJOR")));
    assert!(GLOOM_VERSION_MINOR == number(env!("CARGO_PKG_VERSION_MINOR")));
    assert!(GLOOM_VERSION_PATCH == number(env!("CARGO_PKG_VERSION_PATCH")));
    assert!(GLOOM_VERSION == GLOOM_VERSION_MAJOR * 10000 + GLOOM_VERSION_MINOR * 100 + GLOOM_VERSION_PATCH);
};

/// What a status means, in English: a static string. Accepts any number and never returns NULL.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_status_string(status: gloom_status) -> *const c_char {
    let text = boundary(c"unknown status", || match status {
        GLOOM_OK => c"success",
        GLOOM_ERR_NULL => c"a required pointer is NULL",
        GLOOM_ERR_INVALID_ARGUMENT => c"an argument is out of range",
        GLOOM_ERR_OUT_OF_MEMORY => c"out of memory",
        GLOOM_ERR_LIMIT => c"more memory needed than allowed",
        GLOOM_ERR_UNREACHABLE_RATE => c"the false-positive rate cannot be reached",
        GLOOM_ERR_BUFFER_TOO_SMALL => c"the buffer is too small",
        GLOOM_ERR_CORRUPT => c"the data is damaged or not a filter",
        GLOOM_ERR_UNSUPPORTED => c"not supported by this release",
        GLOOM_ERR_INCOMPATIBLE => c"the filters do not match",
        GLOOM_ERR_READ_ONLY => c"the filter is read-only",
        GLOOM_ERR_IO => c"input/output error",
        GLOOM_ERR_CANCELLED => c"cancelled by a callback",
        GLOOM_ERR_BUSY => c"the file is in use",
        GLOOM_ERR_PANIC => c"a bug in gloom was caught",
        _ => c"unknown status",
    });
    text.as_ptr()
}

/// The version of the library: major * 10000 + minor * 100 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_version() -> u32 {
    boundary(0, || GLOOM_VERSION)
}

/// The version of the library as a static string, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn gloom_version_string() -> *const c_char {
    boundary(c"".as_ptr(), || concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast())
}

/// The ABI version of the library; compare with GLOOM_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn gloom_abi_version() -> u32 {
    boundary(0, || GLOOM_ABI_VERSION)
}
