//! Reading a file.

use super::place::{Last, Place};
use super::special;
use crate::error::Error;
use crate::filter::Filter;
use crate::format::native::{STATE, STATE_LEN, TRAILER};
use crate::format::{self, Info, Input, LoadOptions};
use crate::sys::{is_unnamed_pipe, wait_for_reads};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

impl Filter {
    /// Loads the filter in a file, of either format. A pipe without a name (`/dev/stdin`, a process substitution) is
    /// read as a stream; anything else that is no regular file is refused, without waiting for it, unless
    /// [`special_files`](LoadOptions::special_files) asks for it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Special`], and those of [`from_bytes`](Filter::from_bytes).
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Filter, Error> {
        let place = Place::of(path, Last::Use)?;
        unless_changed(&place, || Filter::load_once(&place, options))
    }

    fn load_once(place: &Place, options: &LoadOptions) -> Result<Filter, Error> {
        let (mut file, length) = open(place, options.special_files)?;
        let mut read = |buffer: &mut [u8]| read_some(&mut file, buffer);
        let mut input = Input::calling(&mut read, length);
        let filter = format::read(&mut input, options)?;
        // A pipe has no length that could have been checked.
        if length.is_none() && input.byte().is_ok() {
            return Err(Error::Corrupt {
                what: "the end",
                found: "followed by something else".into(),
                expected: "the end".into(),
            });
        }
        Ok(filter)
    }

    /// What the header of a file tells; reads nothing else, and never waits: only regular files are opened.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Special`], and those of [`from_bytes`](Filter::from_bytes) that concern header and
    /// length.
    pub fn inspect(path: &Path) -> Result<Info, Error> {
        let (mut file, length) = open_regular(&Place::of(path, Last::Use)?, libc::O_RDONLY)?;
        let mut read = |buffer: &mut [u8]| read_some(&mut file, buffer);
        format::inspect(&mut Input::calling(&mut read, Some(length)))
    }
}

/// Reads a file again if what was read does not fit together because a writer has opened or closed it
/// meanwhile: then its state or its trailer is another.
pub(super) fn unless_changed<T>(place: &Place, read: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    // As long as there are changes; but not forever.
    for _ in 0..100 {
        let before = changing_parts(place);
        match read() {
            Err(Error::Corrupt { .. }) if before.is_some() && changing_parts(place) != before => {}
            other => return other,
        }
    }
    read()
}

/// What changes in a native file when writers open and close it.
fn changing_parts(place: &Place) -> Option<([u8; STATE_LEN], [u8; TRAILER])> {
    let (mut state, mut trailer) = ([0; STATE_LEN], [0; TRAILER]);
    // Opening a pipe would take what is in it.
    let (file, length) = open_regular(place, libc::O_RDONLY).ok()?;
    file.read_exact_at(&mut state, STATE as u64).ok()?;
    file.read_exact_at(&mut trailer, length.checked_sub(TRAILER as u64)?).ok()?;
    Some((state, trailer))
}

/// Opens a regular file, and tells its length.
pub(super) fn open_regular(place: &Place, access: i32) -> Result<(File, u64), Error> {
    let failed = Error::io("opening the file");
    // Looks first: opening a device may do something. And again, should it have become another.
    special::refuse(place.look().map_err(&failed)?.mode)?;
    let file = place.open(access | libc::O_NONBLOCK).map_err(&failed)?;
    let metadata = file.metadata().map_err(Error::io("looking at the file"))?;
    special::refuse(metadata.mode())?;
    Ok((file, metadata.len()))
}

/// Opens what a filter may be loaded from; its length is known if it is a regular file.
fn open(place: &Place, special_files: bool) -> Result<(File, Option<u64>), Error> {
    let failed = Error::io("opening the file");
    let mode = place.look().map_err(&failed)?.mode;
    if special_files && !special::is_regular(mode) && !special::is_folder(mode) {
        return Ok((place.open(libc::O_RDONLY).map_err(&failed)?, None));
    }
    // Only what /proc leads to can be a pipe without a name; opening another one would wake its writer.
    if special::is_pipe(mode) && (place.by_link || cfg!(not(target_os = "linux"))) {
        let pipe = place.open(libc::O_RDONLY | libc::O_NONBLOCK).map_err(&failed)?;
        let metadata = pipe.metadata().map_err(Error::io("looking at the file"))?;
        if is_unnamed_pipe(&pipe, &metadata) {
            wait_for_reads(&pipe).map_err(&failed)?;
            return Ok((pipe, None));
        }
    }
    open_regular(place, libc::O_RDONLY).map(|(file, length)| (file, Some(length)))
}

pub(super) fn read_some(file: &mut File, buffer: &mut [u8]) -> Result<usize, Error> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other.map_err(Error::io("reading the file")),
        }
    }
}
