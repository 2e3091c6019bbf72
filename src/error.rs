//! What can go wrong, with the argument, its value and what would have been allowed.

use std::fmt;

/// Why a call was refused or failed. The `Display` text names the argument, its value and the range.
///
/// No variant owns memory: an error can be made and told even when memory is exhausted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A required pointer is NULL. Only the C ABI can meet this.
    Null(&'static str),
    /// An argument is outside its range.
    Argument {
        /// The argument's name.
        name: &'static str,
        /// The value it had.
        value: Value,
        /// What it may be.
        allowed: &'static str,
    },
    /// An argument asks for something that this release does not know.
    Unsupported {
        /// The argument's or field's name.
        name: &'static str,
        /// The value it had.
        value: Value,
        /// What would be supported, or why not.
        reason: &'static str,
    },
    /// No geometry of this layout has so small a false-positive rate.
    UnreachableRate {
        /// The rate asked for.
        fp_rate: f64,
        /// The smallest that can be asked for.
        smallest: f64,
    },
    /// More memory would be needed than the caller allows, or than an address space holds.
    Limit {
        /// Bytes of blocks needed; saturates at the largest number.
        needed: u64,
        /// The most there may be.
        limit: u64,
    },
    /// The system has no memory to give.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// The caller's buffer is too small.
    BufferTooSmall {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// Serialized data is damaged or is not a filter.
    Corrupt {
        /// The field or part that is wrong.
        what: &'static str,
        /// The value found.
        found: Value,
        /// What it should have been.
        expected: Value,
    },
    /// The data ends too early.
    Truncated {
        /// Bytes that there were.
        length: u64,
    },
    /// A native file that a writer still has open, or that one left behind by dying.
    Dirty,
    /// The operating system refused.
    Io {
        /// What was tried.
        action: &'static str,
        /// Its error number, or 0 if it gave none.
        os_error: i32,
    },
    /// A path leads to something that is no regular file: reading it may wait for ever, or do something.
    Special {
        /// What it is.
        what: &'static str,
        /// The error number of the operating system for it.
        os_error: i32,
    },
    /// A callback asked to stop.
    Cancelled,
    /// The filter is mapped read-only.
    ReadOnly,
    /// The file is mapped for writing.
    Busy,
    /// The data is four bytes short of a v1 filter.
    MissingChecksum {
        /// Bytes given.
        length: u64,
    },
    /// Two filters do not match.
    Incompatible {
        /// The property in which they differ.
        what: &'static str,
        /// The target's.
        target: u64,
        /// The source's.
        source: u64,
    },
}

/// A value in an error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// A description.
    Text(&'static str),
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Unsigned(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Unsigned(value.into())
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::Unsigned(value as u64)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Signed(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&'static str> for Value {
    fn from(value: &'static str) -> Value {
        Value::Text(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Signed(value) => write!(f, "{value}"),
            // `{:?}` keeps -0.0 and 5e-324 readable where `{}` prints 324 zeros.
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Text(value) => f.write_str(value),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Null(name) => write!(f, "{name} is NULL"),
            Error::Argument { name, value, allowed } => {
                write!(f, "{name} = {value}: must be {allowed}")
            }
            Error::Unsupported { name, value, reason } => {
                write!(f, "{name} = {value} is not supported: {reason}")
            }
            Error::UnreachableRate { fp_rate, smallest } => write!(
                f,
                "fp_rate = {fp_rate:?} cannot be reached: the smallest rate of this layout is {smallest:e}"
            ),
            Error::Limit { needed, limit } if *limit < isize::MAX as u64 => {
                write!(f, "max_bytes = {limit}: the blocks would take {needed} bytes")
            }
            Error::Limit { needed, limit } => {
                write!(f, "the blocks would take {needed} bytes, more than the {limit} that can be addressed")
            }
            Error::OutOfMemory { bytes } => write!(f, "{bytes} bytes could not be allocated"),
            Error::BufferTooSmall { needed, given } => {
                write!(f, "buffer_len = {given}: {needed} bytes are needed")
            }
            Error::Corrupt { what, found, expected } => {
                write!(f, "the data is not a filter or is damaged: {what} is {found}, expected {expected}")
            }
            Error::Truncated { length } => write!(f, "the data is cut short: it ends after {length} bytes"),
            Error::Dirty => f.write_str(
                "the file was not closed by its last writer, and the system has been started anew since, or \
                 the disk failed, so that adds may be missing: GLOOM_MAP_ALLOW_DIRTY maps it all the same",
            ),
            Error::Io { action, os_error: 0 } => write!(f, "{action} failed"),
            Error::Io { action, os_error } => {
                write!(f, "{action} failed: {}", std::io::Error::from_raw_os_error(*os_error))
            }
            Error::Special { what, .. } => {
                write!(
                    f,
                    "the path leads to {what}, not to a regular file (gloom_read and gloom_write take streams)"
                )
            }
            Error::Cancelled => f.write_str("a callback asked to stop"),
            Error::ReadOnly => f.write_str("the filter is mapped read-only"),
            Error::Busy => {
                f.write_str("the file is in use: mapped for writing, or being replaced; save to another path, or close the map first")
            }
            Error::MissingChecksum { length } => write!(
                f,
                "the data is {length} bytes long, four less than its header says: it was either cut short, or \
                 written by a release without a checksum, whose bits were set by another hash and would lose keys here"
            ),
            Error::Incompatible { what, target, source } => {
                write!(
                    f,
                    "the filters do not match: {what} is {target} in the target and {source} in the source"
                )
            }
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// What the operating system said when `action` failed.
    pub(crate) fn io(action: &'static str) -> impl Fn(std::io::Error) -> Error {
        move |error| Error::Io { action, os_error: error.raw_os_error().unwrap_or(0) }
    }
}
