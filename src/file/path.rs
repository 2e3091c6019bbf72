//! Paths that take no memory from the heap, where running out would end the process.

use crate::error::Error;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) const PATH_MAX: usize = libc::PATH_MAX as usize;

/// A path.
pub(super) struct PathBuffer {
    bytes: [u8; PATH_MAX],
    len: usize,
}

impl PathBuffer {
    pub fn of(parts: &[&[u8]]) -> Result<PathBuffer, Error> {
        let mut path = PathBuffer { bytes: [0; PATH_MAX], len: 0 };
        for part in parts {
            let end = path.len.saturating_add(part.len());
            let too_long = Error::Io { action: "making a path", os_error: libc::ENAMETOOLONG };
            path.bytes.get_mut(path.len..end).ok_or(too_long)?.copy_from_slice(part);
            path.len = end;
        }
        Ok(path)
    }

    /// `.NAME.gloom-PROCESS-ATTEMPT` in the folder of `target`.
    pub fn beside(target: &Path, attempt: u32) -> Result<PathBuffer, Error> {
        let os_error = if target.as_os_str().is_empty() { libc::ENOENT } else { libc::EISDIR };
        let name =
            target.file_name().ok_or(Error::Io { action: "finding the name of the file", os_error })?;
        // File systems allow 255 bytes.
        let name = if name.len() <= 200 { name.as_bytes() } else { b"filter" };
        let mut suffix = [0; 40];
        let mut rest = &mut suffix[..];
        // Two numbers of at most ten digits always fit.
        let _ = write!(rest, ".gloom-{}-{attempt}", std::process::id());
        let unused = rest.len();
        let suffix = suffix.get(..suffix.len().saturating_sub(unused)).unwrap_or_default();
        let (folder, slash) = folder_of(target);
        PathBuffer::of(&[folder, slash, b".", name, suffix])
    }

    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes.get(..self.len).unwrap_or_default()))
    }
}

/// The folder of a file, and what stands between them.
pub(super) fn folder_of(path: &Path) -> (&[u8], &'static [u8]) {
    let folder = path.parent().map_or(&b""[..], |parent| parent.as_os_str().as_bytes());
    (folder, if folder.is_empty() || folder.ends_with(b"/") { b"" } else { b"/" })
}
