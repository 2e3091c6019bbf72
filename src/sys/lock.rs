//! Locks of files that belong to an open file, not to a process, and that can be asked for without being taken
//! (open file description locks: fcntl(2)).
#![allow(unsafe_code)]

use crate::error::Error;
use std::fs::File;
use std::io::Error as IoError;
use std::os::fd::AsRawFd;

/// What is locked: a byte of the file, though nobody reads or writes it under the lock.
#[derive(Clone, Copy)]
pub(crate) enum Lock {
    /// Shared by those who have the file mapped for writing; taken to make it clean.
    Writers = 0,
    /// Taken by those who replace the file; shared by them if they may only read it.
    Savers = 1,
    /// Held by who makes a file that has another name until it is complete. Without, it was left by one who died.
    Makers = 2,
}

impl Lock {
    /// Waits until nobody has it for himself, and shares it.
    pub fn share(self, file: &File) -> Result<(), Error> {
        self.wait(file, libc::F_RDLCK)
    }

    /// Waits until nobody else has or shares it. The file is open for writing.
    pub fn take(self, file: &File) -> Result<(), Error> {
        self.wait(file, libc::F_WRLCK)
    }

    /// Takes it unless somebody else has or shares it; true if it did. Never where there are no locks:
    /// there, nobody can know.
    pub fn try_take(self, file: &File) -> bool {
        self.call(file, libc::F_OFD_SETLK, libc::F_WRLCK).is_ok()
    }

    /// Shares it unless somebody else has it; otherwise as [`try_take`](Lock::try_take).
    pub fn try_share(self, file: &File) -> bool {
        self.call(file, libc::F_OFD_SETLK, libc::F_RDLCK).is_ok()
    }

    /// Gives it back, also where a child of this process has the open file, too.
    pub fn release(self, file: &File) {
        // It could only fail where there are no locks.
        let _ = self.call(file, libc::F_OFD_SETLK, libc::F_UNLCK);
    }

    /// Does anybody else have or share it? Asking disturbs nobody.
    pub fn is_used(self, file: &File) -> bool {
        let found = self.call(file, libc::F_OFD_GETLK, libc::F_WRLCK);
        found.is_ok_and(|lock| lock.l_type != libc::F_UNLCK as libc::c_short)
    }

    fn wait(self, file: &File, kind: impl Into<i32> + Copy) -> Result<(), Error> {
        loop {
            match self.call(file, libc::F_OFD_SETLKW, kind) {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) if !has_no_locks(&error) => return Err(Error::io("locking the file")(error)),
                _ => return Ok(()),
            }
        }
    }

    fn call(self, file: &File, command: i32, kind: impl Into<i32>) -> Result<libc::flock, IoError> {
        // SAFETY: numbers only, for which zeros are valid.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind.into() as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = self as libc::off_t;
        lock.l_len = 1;
        // SAFETY: the descriptor is open for as long as `file` is, and these commands take such a structure.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } {
            -1 => Err(IoError::last_os_error()),
            _ => Ok(lock),
        }
    }
}

/// Takes a lock of those who may only read the file, unless somebody else has it; true if it did, and where there is no such
/// lock. The locks above cannot be taken without the permission to write. Not on file systems of the network, where this
/// one needs that, too, nor on systems where this lock and the others know of each other.
pub(crate) fn try_take_among_readers(file: &File) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: the descriptor is open for as long as `file` is.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        return IoError::last_os_error().kind() != std::io::ErrorKind::WouldBlock;
    }
    let _ = file;
    true
}

/// Gives it back, also where a child of this process has the open file, too.
pub(crate) fn release_among_readers(file: &File) {
    #[cfg(target_os = "linux")]
    // SAFETY: the descriptor is open for as long as `file` is. It could only fail where there are no locks.
    let _ = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
    let _ = file;
}

/// On a file system without locks nobody has one.
fn has_no_locks(error: &IoError) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOLCK | libc::EOPNOTSUPP | libc::ENOSYS))
}
