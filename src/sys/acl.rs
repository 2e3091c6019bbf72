//! Access control lists of files (acl(5)), as far as they change what the mode of a file means.
//!
//! A file that has a list shows the list's mask in place of its group's permissions: `rw-` in the middle of a mode may
//! mean that one named user may write, and the group may not.
#![allow(unsafe_code)]

use std::fs::File;
#[cfg(target_os = "linux")]
use std::io::Error;
use std::io::Result;

#[cfg(target_os = "linux")]
const NAME: &std::ffi::CStr = c"system.posix_acl_access";

/// What the owning group may do, as bits of a mode (0o070), given the mode.
pub(crate) fn owning_group_bits(file: &File, mode: u32) -> u32 {
    mode & 0o070 & list(file).map_or(0o070, |list| list.owning_group().unwrap_or(0) << 3)
}

/// Removes the list that a new file got from its folder, so that its mode means what it says.
pub(crate) fn remove_acl(file: &File) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open for as long as `file` is, and the name ends with a zero.
        if unsafe { libc::fremovexattr(file.as_raw_fd(), NAME.as_ptr()) } != 0 {
            let error = Error::last_os_error();
            // There is none, or there cannot be one.
            if !matches!(error.raw_os_error(), Some(libc::ENODATA | libc::EOPNOTSUPP | libc::ENOSYS)) {
                return Err(error);
            }
        }
    }
    let _ = file;
    Ok(())
}

/// The value of the attribute: a version of 4 bytes, then entries of 8: tag, permissions, id
/// (include/uapi/linux/posix_acl_xattr.h).
struct List {
    bytes: [u8; 4096],
    len: usize,
}

/// The file's list, if it has one. One that cannot be read allows its group nothing.
#[cfg(target_os = "linux")]
fn list(file: &File) -> Option<List> {
    use std::os::fd::AsRawFd;
    let mut list = List { bytes: [0; 4096], len: 0 };
    let (to, room) = (list.bytes.as_mut_ptr().cast(), list.bytes.len());
    // SAFETY: the descriptor is open for as long as `file` is, the name ends with a zero, and there is so much room.
    let len = unsafe { libc::fgetxattr(file.as_raw_fd(), NAME.as_ptr(), to, room) };
    let error = Error::last_os_error().raw_os_error();
    if len < 0 && matches!(error, Some(libc::ENODATA | libc::EOPNOTSUPP | libc::ENOSYS)) {
        return None;
    }
    list.len = usize::try_from(len).unwrap_or(0);
    Some(list)
}

/// Elsewhere, lists come on top of what the mode says.
#[cfg(not(target_os = "linux"))]
fn list(_: &File) -> Option<List> {
    None
}

impl List {
    fn owning_group(&self) -> Option<u32> {
        const GROUP_OBJ: u16 = 4;
        let entries = self.bytes.get(4..self.len)?.as_chunks::<8>().0;
        let group = entries.iter().find(|entry| u16::from_le_bytes([entry[0], entry[1]]) == GROUP_OBJ)?;
        Some(u32::from(u16::from_le_bytes([group[2], group[3]])) & 7)
    }
}
