//! Where Rust ends and C begins: panics, pointers, statuses.

use super::types::*;
use crate::error::Error;
use crate::filter::{Filter, Kind};
use crate::panics::may_panic;
use std::alloc::Layout;
use std::any::Any;
use std::ffi::{CStr, OsStr, c_char};
use std::fmt::Write;
use std::mem::{MaybeUninit, offset_of};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Structs larger than this are taken for garbage.
const MAX_STRUCT_SIZE: usize = 4096;

/// Runs the body of an exported function. A panic must not unwind into C: it becomes `on_panic`.
#[inline]
pub(super) fn boundary<T>(on_panic: T, body: impl FnOnce() -> T) -> T {
    // What a body may leave half done is made of atomics and stays valid; see docs/c-api.md.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        may_panic();
        body()
    }));
    caught.unwrap_or_else(|payload| {
        discard(payload);
        on_panic
    })
}

#[cold]
fn discard(payload: Box<dyn Any + Send>) {
    // Dropping it could panic again. What that would throw is left alone.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
}

/// [`boundary`] for functions with a status. `error` may be NULL and is written only on failure.
///
/// # Safety
/// `error` is NULL or points to a writable `gloom_error`.
#[inline]
pub(super) unsafe fn checked(
    error: *mut gloom_error,
    body: impl FnOnce() -> Result<(), Error>,
) -> gloom_status {
    let status = boundary(GLOOM_ERR_PANIC, || match body() {
        Ok(()) => GLOOM_OK,
        Err(reason) => {
            // SAFETY: as for this function.
            unsafe {
                match reason {
                    Error::Io { action, os_error } if os_error != 0 => {
                        let text = format_args!("{action} failed: {}", OsError(os_error));
                        explain(error, GLOOM_ERR_IO, os_error, text);
                    }
                    Error::Special { os_error, .. } => {
                        explain(error, GLOOM_ERR_IO, os_error, format_args!("{reason}"));
                    }
                    _ => explain(error, status_of(&reason), 0, format_args!("{reason}")),
                }
            }
            status_of(&reason)
        }
    });
    if status == GLOOM_ERR_PANIC {
        // SAFETY: as for this function.
        unsafe { explain(error, status, 0, format_args!("a bug in gloom was caught; please report it")) };
    }
    status
}

/// [`boundary`] for functions that answer `misuse` when their arguments are.
#[inline]
pub(super) fn answered<T: Copy>(misuse: T, body: impl FnOnce() -> Result<T, Error>) -> T {
    boundary(misuse, || body().unwrap_or(misuse))
}

fn status_of(error: &Error) -> gloom_status {
    match error {
        Error::Null(_) => GLOOM_ERR_NULL,
        Error::Argument { .. } => GLOOM_ERR_INVALID_ARGUMENT,
        Error::OutOfMemory { .. } => GLOOM_ERR_OUT_OF_MEMORY,
        Error::Limit { .. } => GLOOM_ERR_LIMIT,
        Error::UnreachableRate { .. } => GLOOM_ERR_UNREACHABLE_RATE,
        Error::BufferTooSmall { .. } => GLOOM_ERR_BUFFER_TOO_SMALL,
        Error::Corrupt { .. } | Error::Truncated { .. } | Error::MissingChecksum { .. } | Error::Dirty => {
            GLOOM_ERR_CORRUPT
        }
        Error::ReadOnly => GLOOM_ERR_READ_ONLY,
        Error::Io { .. } | Error::Special { .. } => GLOOM_ERR_IO,
        Error::Cancelled => GLOOM_ERR_CANCELLED,
        Error::Busy => GLOOM_ERR_BUSY,
        Error::Unsupported { .. } => GLOOM_ERR_UNSUPPORTED,
        Error::Incompatible { .. } => GLOOM_ERR_INCOMPATIBLE,
    }
}

/// What the system calls an error number. The standard library would take memory for the text.
struct OsError(i32);

impl std::fmt::Display for OsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = [0u8; 128];
        let room = text.len().saturating_sub(1);
        // SAFETY: the buffer has room for its length less one and a terminating zero.
        let known = unsafe { libc::strerror_r(self.0, text.as_mut_ptr().cast(), room) } == 0;
        let text = CStr::from_bytes_until_nul(&text).ok().and_then(|text| text.to_str().ok());
        write!(f, "{} (error {})", text.filter(|_| known).unwrap_or("unknown error"), self.0)
    }
}

/// Fills the caller's error.
///
/// # Safety
/// `error` is NULL or points to a writable `gloom_error`.
#[cold]
unsafe fn explain(
    error: *mut gloom_error,
    status: gloom_status,
    os_error: i32,
    reason: std::fmt::Arguments<'_>,
) {
    if error.is_null() {
        return;
    }
    let mut text = Message { bytes: [0; 504], len: 0 };
    // A message that is too long is cut; there is nobody to tell.
    let _ = text.write_fmt(reason);
    let explained = gloom_error { status, os_error, message: text.bytes };
    // SAFETY: by this function's contract; unaligned, because C casts what it likes.
    unsafe { error.write_unaligned(explained) };
}

/// Text in a fixed buffer, with room for the terminating zero.
struct Message {
    bytes: [c_char; 504],
    len: usize,
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            let mut utf8 = [0; 4];
            let encoded = character.encode_utf8(&mut utf8).as_bytes();
            let end = self.len.saturating_add(encoded.len());
            // The last byte stays zero.
            let [room @ .., _] = &mut self.bytes;
            let place = room.get_mut(self.len..end).ok_or(std::fmt::Error)?;
            for (to, &byte) in place.iter_mut().zip(encoded) {
                *to = byte as c_char;
            }
            self.len = end;
        }
        Ok(())
    }
}

/// The filter behind a handle.
///
/// # Safety
/// `handle` is NULL or was made by this library and not freed for as long as the result is used.
#[inline]
pub(super) unsafe fn filter<'a>(
    handle: *const gloom_filter,
    name: &'static str,
) -> Result<&'a Filter, Error> {
    // SAFETY: by this function's contract.
    unsafe { handle.as_ref() }.map(|handle| &handle.0).ok_or(Error::Null(name))
}

/// The filter behind a handle, if it can be written.
///
/// # Safety
/// As for [`filter`].
#[inline]
pub(super) unsafe fn writable<'a>(
    handle: *mut gloom_filter,
    name: &'static str,
) -> Result<&'a Filter, Error> {
    // SAFETY: as for this function.
    let filter = unsafe { filter(handle, name)? };
    filter.check_writable()?;
    Ok(filter)
}

/// A path of the caller: any bytes but zero.
///
/// # Safety
/// `path` is NULL or points to bytes that end with a zero, which nobody writes for as long as the result is
/// used.
pub(super) unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path, Error> {
    not_null(path, "path")?;
    // SAFETY: by this function's contract.
    let path = unsafe { CStr::from_ptr(path) };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// Bytes of the caller. NULL is fine if there are none.
///
/// # Safety
/// `data` points to `len` readable bytes that nobody writes for as long as the result is used, or is
/// NULL, or `len` is 0.
#[inline]
pub(super) unsafe fn bytes<'a>(
    data: *const u8,
    len: usize,
    names: [&'static str; 2],
) -> Result<&'a [u8], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Error::Null(names[0]));
    }
    if isize::try_from(len).is_err() {
        return Err(Error::Argument { name: names[1], value: len.into(), allowed: "at most PTRDIFF_MAX" });
    }
    // SAFETY: by this function's contract and the checks above.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// A handle for `filter`, written to `out`.
///
/// # Safety
/// `out` is writable.
pub(super) unsafe fn give(
    make: impl FnOnce() -> Result<Filter, Error>,
    out: *mut *mut gloom_filter,
) -> Result<(), Error> {
    may_panic();
    let layout = Layout::new::<gloom_filter>();
    // `Box::new` would abort the process if there is no memory.
    // SAFETY: the size of a filter is not zero.
    let memory = unsafe { std::alloc::alloc(layout) }.cast::<MaybeUninit<gloom_filter>>();
    if memory.is_null() {
        return Err(Error::OutOfMemory { bytes: layout.size() as u64 });
    }
    // SAFETY: freshly allocated as a Box would be, and may be uninitialised.
    let handle = unsafe { Box::from_raw(memory) };
    // Last, since a file that is made could not be unmade if others have it mapped already.
    let filter = Box::write(handle, gloom_filter(make()?));
    // SAFETY: by this function's contract. `gloom_free` makes it a Box again.
    unsafe { out.write(Box::into_raw(filter)) };
    Ok(())
}

/// NULL as an error.
pub(super) fn not_null<T>(pointer: *const T, name: &'static str) -> Result<(), Error> {
    if pointer.is_null() { Err(Error::Null(name)) } else { Ok(()) }
}

/// A struct that begins with its size as `struct_size` and is valid for any bytes.
///
/// # Safety
/// Implementors are `repr(C)`, have `struct_size: usize` first, no padding, and no invalid bit patterns.
pub(super) unsafe trait Sized: Copy {
    /// The size of the struct in the first release that had it.
    const FIRST_SIZE: usize;
}

macro_rules! sized {
    ($($name:ident)*) => {$(
        // SAFETY: made of numbers; the sum of the fields' sizes is asserted to be the whole.
        unsafe impl Sized for $name {
            const FIRST_SIZE: usize = size_of::<$name>();
        }
        const _: () = assert!(offset_of!($name, struct_size) == 0);
    )*};
}
sized!(gloom_options gloom_load_options gloom_map_options gloom_sizing gloom_file_info);

/// The caller's struct, which may be of another release: what it lacks is 0, and what this release does
/// not know must be 0.
///
/// # Safety
/// `from` is NULL or points to as many readable bytes as its `struct_size` says.
pub(super) unsafe fn read_sized<T: Sized>(from: *const T, name: &'static str) -> Result<T, Error> {
    // SAFETY: as for this function.
    let size = unsafe { struct_size(from, name)? };
    let from = from.cast::<u8>();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller's struct has `size` bytes.
    let unknown = unsafe { std::slice::from_raw_parts(from.add(known), size.saturating_sub(known)) };
    if unknown.iter().any(|&byte| byte != 0) {
        return Err(Error::Unsupported {
            name: "struct_size",
            value: size.into(),
            reason: "the bytes behind the fields that this release knows must be 0",
        });
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are readable there and fit here; any bytes are a valid `T`.
    unsafe {
        std::ptr::copy_nonoverlapping(from, value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// Fills the caller's struct as far as it goes; its `struct_size` stays.
///
/// # Safety
/// `to` is NULL or points to as many writable bytes as its `struct_size` says.
pub(super) unsafe fn write_sized<T: Sized>(to: *mut T, value: T, name: &'static str) -> Result<(), Error> {
    // SAFETY: as for this function.
    let size = unsafe { struct_size(to, name)? };
    let start = size_of::<usize>();
    let known = size.min(size_of::<T>());
    // SAFETY: `known` bytes are readable here and writable there; the caller's size is left alone.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>().add(start),
            to.cast::<u8>().add(start),
            known.saturating_sub(start),
        );
        to.cast::<u8>().add(known).write_bytes(0, size.saturating_sub(known));
    }
    Ok(())
}

/// # Safety
/// `of` is NULL or its first field can be read.
unsafe fn struct_size<T: Sized>(of: *const T, name: &'static str) -> Result<usize, Error> {
    not_null(of, name)?;
    // SAFETY: by this function's contract; unaligned, because C casts what it likes.
    let size = unsafe { of.cast::<usize>().read_unaligned() };
    if (T::FIRST_SIZE..=MAX_STRUCT_SIZE).contains(&size) {
        return Ok(size);
    }
    let allowed = "sizeof the struct, set by its ..._INIT macro";
    Err(Error::Argument { name: "struct_size", value: size.into(), allowed })
}

/// The kind of a number; 0 is the default.
pub(super) fn kind(number: i32) -> Result<Kind, Error> {
    match number {
        GLOOM_KIND_PLAIN => Ok(Kind::Plain),
        0 | GLOOM_KIND_ATOMIC => Ok(Kind::Atomic),
        GLOOM_KIND_SHARDED => Ok(Kind::Sharded),
        _ => Err(Error::Argument {
            name: "kind",
            value: number.into(),
            allowed: "0, GLOOM_KIND_PLAIN (1), GLOOM_KIND_ATOMIC (2) or GLOOM_KIND_SHARDED (3)",
        }),
    }
}

/// Refuses bits of `flags` that are not among `known`.
pub(super) fn known_flags(flags: u32, known: u32, allowed: &'static str) -> Result<(), Error> {
    if flags & !known == 0 {
        Ok(())
    } else {
        Err(Error::Argument { name: "flags", value: flags.into(), allowed })
    }
}

/// An array of the caller. NULL is fine if it is empty.
///
/// # Safety
/// `first` is NULL, or misaligned, or points to `len` readable values that nobody writes for as long as the
/// result is used.
pub(super) unsafe fn array<'a, T>(first: *const T, len: usize, name: &'static str) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    not_null(first, name)?;
    if !first.is_aligned() {
        let allowed = "aligned to the size of its elements";
        return Err(Error::Argument { name, value: first.addr().into(), allowed });
    }
    if len.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Error::Argument { name: "n", value: len.into(), allowed: "what memory can hold" });
    }
    // SAFETY: by this function's contract and the checks above.
    Ok(unsafe { std::slice::from_raw_parts(first, len) })
}
