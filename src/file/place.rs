//! Where a path leads to: a name in a folder that is open.
//!
//! Symbolic links are followed one by one, by the rule that Linux has as fs.protected_symlinks, whatever that is set to, and
//! for all links of a path: in a sticky folder that all may write, only links of this user or of the folder's owner.
//! Anybody could have put others there, to make a service replace or change a file of its own.

use crate::error::Error;
use crate::sys::{Folder, Link, Name, Status, effective_user};
use std::fs::{File, Metadata};
use std::io;
use std::os::raw::c_int;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A name in a folder.
pub(crate) struct Place {
    pub folder: Folder,
    pub name: Name,
    /// The name is a link of /proc, such as /dev/stdin leads to, which only the system can follow.
    pub by_link: bool,
}

/// What a path means whose end is a symbolic link.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Last {
    /// The file that the link leads to, to use it.
    Use,
    /// The file that the link leads to, or could, to put another one in its place.
    Replace,
    /// The link.
    Link,
}

impl Place {
    pub(super) fn of(path: &Path, last: Last) -> Result<Place, Error> {
        walk(path.as_os_str().as_bytes(), last)
    }

    /// Looks at what is there, and opens nothing.
    pub fn look(&self) -> io::Result<Status> {
        if self.by_link { self.folder.look_by_link(&self.name) } else { self.folder.look(&self.name) }
    }

    /// Opens what is there. A link that has come there meanwhile is not followed.
    pub fn open(&self, flags: c_int) -> io::Result<File> {
        let flags = flags | if self.by_link { 0 } else { libc::O_NOFOLLOW };
        // A terminal does not become that of the process.
        self.folder.open(&self.name, flags | libc::O_NOCTTY, 0)
    }

    /// Is this the file that is there?
    pub fn has(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|file| self.look().is_ok_and(|named| named.is_of(&file)))
    }

    /// Did a stranger put this file there? In a sticky folder that all may write, anybody can.
    pub fn is_of_stranger(&self, file: &Metadata) -> Result<bool, Error> {
        let folder = self.folder.metadata().map_err(Error::io("looking at the folder of the file"))?;
        Ok(is_shared(&folder) && !is_trusted(&folder, file.uid()))
    }

    /// Is it certain that this file, which was there, is there no longer?
    pub fn has_lost(&self, file: &File) -> bool {
        let Ok(file) = file.metadata() else {
            return false;
        };
        match self.look() {
            // A link of /proc may be one of a descriptor that has been closed since.
            _ if self.by_link => file.nlink() == 0,
            Ok(named) => !named.is_of(&file),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// So many links does Linux follow.
const MAX_LINKS: u32 = 40;

fn walk(path: &[u8], last: Last) -> Result<Place, Error> {
    let failed = Error::io("opening the folder of the file");
    let error = |number| Err(failed(io::Error::from_raw_os_error(number)));
    if path.is_empty() {
        return error(libc::ENOENT);
    }
    if path.len() >= libc::PATH_MAX as usize {
        return error(libc::ENAMETOOLONG);
    }
    let mut rest = Rest::of(path, b"").map_err(&failed)?;
    let mut folder = Folder::start(path.starts_with(b"/")).map_err(&failed)?;
    let mut links = 0u32;
    loop {
        let (name, after) = rest.first();
        let is_last = after.iter().all(|&byte| byte == b'/');
        if is_last && matches!(name, b"" | b"." | b"..") {
            return error(libc::EISDIR);
        }
        let name = Name::of(&[name]).map_err(&failed)?;
        // With a slash behind it, only a folder is meant.
        let must_be_folder = !after.is_empty();
        if must_be_folder {
            match folder.enter(&name) {
                Ok(_) if is_last => return error(libc::EISDIR),
                Ok(inner) => {
                    folder = inner;
                    rest.skip_first();
                    continue;
                }
                // Or a link.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let Some(link) = folder.read_link(&name).map_err(&failed)? else {
            return if must_be_folder {
                error(libc::ENOTDIR)
            } else {
                Ok(Place { folder, name, by_link: false })
            };
        };
        if is_last && last == Last::Link {
            return Ok(Place { folder, name, by_link: false });
        }
        check_link(&folder, &name, &link)?;
        links = links.saturating_add(1);
        if links > MAX_LINKS {
            return error(libc::ELOOP);
        }
        if folder.is_of_proc() && !(is_last && last == Last::Replace) {
            if is_last {
                return Ok(Place { folder, name, by_link: true });
            }
            folder = folder.enter_by_link(&name).map_err(&failed)?;
            rest.skip_first();
            continue;
        }
        if link.target().starts_with(b"/") {
            folder = Folder::start(true).map_err(&failed)?;
        }
        rest = Rest::of(link.target(), after).map_err(&failed)?;
    }
}

/// The rule of the kernel, may_follow_link in fs/namei.c, which has no exception for the superuser; and what the kernel has
/// against the link besides: a mount whose links are not followed.
fn check_link(folder: &Folder, name: &Name, link: &Link) -> Result<(), Error> {
    let metadata = folder.metadata().map_err(Error::io("looking at the folder of the file"))?;
    // A second name for one's own link may have been made by anybody.
    if is_shared(&metadata) && (!is_trusted(&metadata, link.owner) || link.links > 1) {
        let action = "following a symbolic link of another user in a sticky folder that all may write";
        return Err(Error::Io { action, os_error: libc::EACCES });
    }
    match folder.look_by_link(name) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::ELOOP)) => {
            Err(Error::io("following a symbolic link")(error))
        }
        _ => Ok(()),
    }
}

/// Is it a sticky folder that all may write?
fn is_shared(folder: &Metadata) -> bool {
    const STICKY_FOR_ALL: u32 = 0o1002;
    folder.mode() & STICKY_FOR_ALL == STICKY_FOR_ALL
}

/// Is it this user, or the folder's owner?
fn is_trusted(folder: &Metadata, owner: u32) -> bool {
    // In a user namespace, everybody of outside: the folder's owner and a stranger look alike.
    const NOBODY: u32 = 65534;
    owner == effective_user() || (owner == folder.uid() && owner != NOBODY)
}

/// What is left of a path: at most where a link leads to, and what follows the link.
struct Rest {
    bytes: [u8; Rest::ROOM],
    start: usize,
    end: usize,
}

impl Rest {
    const ROOM: usize = 2 * libc::PATH_MAX as usize;

    fn of(path: &[u8], after: &[u8]) -> io::Result<Rest> {
        let too_long = || io::Error::from_raw_os_error(libc::ENAMETOOLONG);
        let mut rest = Rest { bytes: [0; Rest::ROOM], start: 0, end: 0 };
        for part in [path, after] {
            let end = rest.end.saturating_add(part.len());
            let room = rest.bytes.get_mut(rest.end..end);
            room.ok_or_else(too_long)?.copy_from_slice(part);
            rest.end = end;
        }
        Ok(rest)
    }

    /// The first name, and what follows it.
    fn first(&self) -> (&[u8], &[u8]) {
        let path = self.bytes.get(self.start..self.end).unwrap_or_default();
        let name = path.iter().position(|&byte| byte != b'/').unwrap_or(path.len());
        let path = path.get(name..).unwrap_or_default();
        path.split_at_checked(path.iter().position(|&byte| byte == b'/').unwrap_or(path.len()))
            .unwrap_or((path, b""))
    }

    fn skip_first(&mut self) {
        let after = self.first().1.len();
        self.start = self.end.saturating_sub(after);
    }
}
