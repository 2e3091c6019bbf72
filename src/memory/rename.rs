//! Renaming without replacing, which the standard library does not have, and reading a link without taking
//! memory, which it does not do.
#![allow(unsafe_code)]

use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Renames a file, unless the new name is taken. Where the file system can neither do that nor give a file a
/// second name, replaces what has the name.
pub(crate) fn rename_to_free_name(from: &Path, to: &Path) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        let (old, new) = (c_path(from)?, c_path(to)?);
        let (here, no_replace) = (libc::AT_FDCWD, libc::RENAME_NOREPLACE);
        // SAFETY: both arrays end with a zero.
        if unsafe { libc::renameat2(here, old.as_ptr().cast(), here, new.as_ptr().cast(), no_replace) } == 0 {
            return Ok(());
        }
        let error = Error::last_os_error();
        if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP)) {
            return Err(error);
        }
    }
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        Err(_) => std::fs::rename(from, to),
    }
}

/// Reads where a symbolic link leads to, and tells how many bytes that is.
pub(crate) fn read_link(path: &Path, to: &mut [u8; libc::PATH_MAX as usize]) -> Result<usize> {
    let path = c_path(path)?;
    // SAFETY: the path ends with a zero, and `to` has as many bytes as are said.
    let len = unsafe { libc::readlink(path.as_ptr().cast(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(len).map_err(|_| Error::last_os_error())
}

/// A path that ends with a zero, without memory from the heap.
fn c_path(path: &Path) -> Result<[u8; libc::PATH_MAX as usize]> {
    let bytes = path.as_os_str().as_bytes();
    let mut ended = [0; libc::PATH_MAX as usize];
    if bytes.contains(&0) {
        return Err(ErrorKind::InvalidInput.into());
    }
    match ended.get_mut(..bytes.len()) {
        Some(start) if bytes.len() < libc::PATH_MAX as usize => start.copy_from_slice(bytes),
        _ => return Err(Error::from_raw_os_error(libc::ENAMETOOLONG)),
    }
    Ok(ended)
}
