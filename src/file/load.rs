//! Reading a file.

use crate::error::Error;
use crate::filter::Filter;
use crate::format::native::{STATE, STATE_LEN, TRAILER};
use crate::format::{self, Info, Input, LoadOptions};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

impl Filter {
    /// Loads the filter in a file, of either format.
    ///
    /// # Errors
    /// [`Error::Io`], and those of [`from_bytes`](Filter::from_bytes).
    pub fn load(path: &Path, options: &LoadOptions) -> Result<Filter, Error> {
        unless_changed(path, || Filter::load_once(path, options))
    }

    fn load_once(path: &Path, options: &LoadOptions) -> Result<Filter, Error> {
        let (mut file, length) = open(path)?;
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

    /// What the header of a file tells; reads nothing else.
    ///
    /// # Errors
    /// [`Error::Io`], and those of [`from_bytes`](Filter::from_bytes) that concern header and length.
    pub fn inspect(path: &Path) -> Result<Info, Error> {
        let (mut file, length) = open(path)?;
        let mut read = |buffer: &mut [u8]| read_some(&mut file, buffer);
        format::inspect(&mut Input::calling(&mut read, length))
    }
}

/// Reads a file again if what was read does not fit together because a writer has opened or closed it
/// meanwhile: then its state or its trailer is another.
pub(super) fn unless_changed<T>(path: &Path, read: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    // As long as there are changes; but not forever.
    for _ in 0..100 {
        let before = changing_parts(path);
        match read() {
            Err(Error::Corrupt { .. }) if before.is_some() && changing_parts(path) != before => {}
            other => return other,
        }
    }
    read()
}

/// What changes in a native file when writers open and close it.
fn changing_parts(path: &Path) -> Option<([u8; STATE_LEN], [u8; TRAILER])> {
    // Opening a pipe would take what is in it.
    std::fs::metadata(path).ok().filter(|metadata| metadata.is_file())?;
    let (mut state, mut trailer) = ([0; STATE_LEN], [0; TRAILER]);
    let (file, length) = open(path).ok()?;
    file.read_exact_at(&mut state, STATE as u64).ok()?;
    file.read_exact_at(&mut trailer, length?.checked_sub(TRAILER as u64)?).ok()?;
    Some((state, trailer))
}

/// Opens a file; its length is known if it is a regular one.
fn open(path: &Path) -> Result<(File, Option<u64>), Error> {
    let file = File::open(path).map_err(Error::io("opening the file"))?;
    let metadata = file.metadata().map_err(Error::io("asking for the length of the file"))?;
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

pub(super) fn read_some(file: &mut File, buffer: &mut [u8]) -> Result<usize, Error> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other.map_err(Error::io("reading the file")),
        }
    }
}
