//! What has a path and is no regular file: FIFOs, sockets, devices, folders.
//!
//! Opening or reading such a thing may wait for ever, or do something. Whoever may write to a folder can put a FIFO where a
//! service looks for its filter.

// The types of these constants differ among systems.
#![allow(clippy::unnecessary_cast)]

use crate::error::Error;

const FORMAT: u32 = libc::S_IFMT as u32;

pub(super) fn is_regular(mode: u32) -> bool {
    mode & FORMAT == libc::S_IFREG as u32
}

pub(super) fn is_pipe(mode: u32) -> bool {
    mode & FORMAT == libc::S_IFIFO as u32
}

pub(super) fn is_folder(mode: u32) -> bool {
    mode & FORMAT == libc::S_IFDIR as u32
}

/// An error unless it is a regular file, given its mode.
pub(super) fn refuse(mode: u32) -> Result<(), Error> {
    if is_regular(mode) {
        return Ok(());
    }
    const FIFO: u32 = libc::S_IFIFO as u32;
    const SOCKET: u32 = libc::S_IFSOCK as u32;
    const FOLDER: u32 = libc::S_IFDIR as u32;
    const LINK: u32 = libc::S_IFLNK as u32;
    Err(match mode & FORMAT {
        FIFO => Error::Special { what: "a FIFO (named pipe)", os_error: libc::ENODEV },
        SOCKET => Error::Special { what: "a socket", os_error: libc::ENODEV },
        FOLDER => Error::Special { what: "a folder", os_error: libc::EISDIR },
        // It has come after the path was followed.
        LINK => Error::Special { what: "a symbolic link that was just put there", os_error: libc::ELOOP },
        _ => Error::Special { what: "a device", os_error: libc::ENODEV },
    })
}
