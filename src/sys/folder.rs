//! Folders that are open, and the names in them.
//!
//! A path that is resolved twice may lead to two places, if somebody renames a folder or puts a link in its way meanwhile.
//! A name in a folder that is open leads to one. Nothing in here takes memory from the heap, where running out would end
//! the process.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::raw::{c_char, c_int};
use std::os::unix::fs::MetadataExt;

/// Opens a folder to look up names in it, for which it need not be readable.
#[cfg(target_os = "linux")]
const TO_SEARCH: c_int = libc::O_PATH;
#[cfg(not(target_os = "linux"))]
const TO_SEARCH: c_int = libc::O_SEARCH;

/// The name of a file in a folder, and a zero.
#[derive(Clone, Copy)]
pub(crate) struct Name([u8; Name::ROOM]);

impl Name {
    /// Most file systems allow 255 bytes, some 255 characters.
    const ROOM: usize = 1024;

    /// The parts, one behind the other.
    pub fn of(parts: &[&[u8]]) -> Result<Name> {
        let mut bytes = [0; Name::ROOM];
        let mut rest = &mut bytes[..Name::ROOM - 1];
        for part in parts {
            if part.contains(&0) {
                return Err(Error::from_raw_os_error(libc::EINVAL));
            }
            rest.write_all(part).map_err(|_| Error::from_raw_os_error(libc::ENAMETOOLONG))?;
        }
        Ok(Name(bytes))
    }

    pub fn bytes(&self) -> &[u8] {
        CStr::from_bytes_until_nul(&self.0).map_or(&[], CStr::to_bytes)
    }

    fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// What a name leads to.
pub(crate) struct Status {
    pub mode: u32,
    pub owner: u32,
    pub links: u64,
    id: (u64, u64),
}

impl Status {
    pub fn is_of(&self, file: &Metadata) -> bool {
        self.id == (file.dev(), file.ino())
    }

    pub fn is_same(&self, other: &Status) -> bool {
        self.id == other.id
    }
}

/// Where a symbolic link leads to, and who made it.
pub(crate) struct Link {
    pub owner: u32,
    /// How many names it has.
    pub links: u64,
    target: [u8; libc::PATH_MAX as usize],
    len: usize,
}

impl Link {
    /// `name` ends with a zero.
    fn read(&mut self, folder: RawFd, name: *const c_char) -> Result<()> {
        let (to, room) = (self.target.as_mut_ptr().cast(), self.target.len());
        // SAFETY: all callers pass a name that ends with a zero, and there is so much room.
        let len = unsafe { libc::readlinkat(folder, name, to, room) };
        self.len = usize::try_from(len).map_err(|_| Error::last_os_error())?;
        Ok(())
    }

    pub fn target(&self) -> &[u8] {
        self.target.get(..self.len).unwrap_or_default()
    }
}

/// A folder that is open.
pub(crate) struct Folder(File);

impl Folder {
    /// The root, or the one that the process is in.
    pub fn start(at_root: bool) -> Result<Folder> {
        let path = if at_root { c"/" } else { c"." };
        open_at(libc::AT_FDCWD, path.as_ptr(), TO_SEARCH | libc::O_DIRECTORY, 0).map(Folder)
    }

    /// A folder in this one. A symbolic link is none.
    pub fn enter(&self, name: &Name) -> Result<Folder> {
        let flags = TO_SEARCH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        open_at(self.raw(), name.as_ptr(), flags, 0).map(Folder)
    }

    /// A folder to which a link leads that only the system can follow.
    pub fn enter_by_link(&self, name: &Name) -> Result<Folder> {
        open_at(self.raw(), name.as_ptr(), TO_SEARCH | libc::O_DIRECTORY, 0).map(Folder)
    }

    /// Opens a file.
    pub fn open(&self, name: &Name, flags: c_int, mode: u32) -> Result<File> {
        open_at(self.raw(), name.as_ptr(), flags, mode)
    }

    /// Makes a file that has no name; None where the file system has no such files, or could not name it later.
    pub fn open_unnamed(&self) -> Result<Option<File>> {
        #[cfg(target_os = "linux")]
        {
            let flags = libc::O_TMPFILE | libc::O_RDWR;
            let file = match open_at(self.raw(), c".".as_ptr(), flags, 0o666) {
                Ok(file) => file,
                Err(error) if has_no_unnamed_files(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            let by_link = status_at(libc::AT_FDCWD, LinkOfFile::to(&file).as_ptr(), 0);
            let can_be_named =
                by_link.is_ok_and(|status| file.metadata().is_ok_and(|file| status.is_of(&file)));
            Ok(can_be_named.then_some(file))
        }
        #[cfg(not(target_os = "linux"))]
        Ok(None)
    }

    /// Gives a name to a file that has none; an error if the name is taken.
    pub fn name_file(&self, file: &File, name: &Name) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            let link = LinkOfFile::to(file);
            let flags = libc::AT_SYMLINK_FOLLOW;
            // SAFETY: both names end with a zero.
            let result =
                unsafe { libc::linkat(libc::AT_FDCWD, link.as_ptr(), self.raw(), name.as_ptr(), flags) };
            done(result)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (file, name);
            Err(ErrorKind::Unsupported.into())
        }
    }

    /// Looks at a file, or at the symbolic link that has the name.
    pub fn look(&self, name: &Name) -> Result<Status> {
        status_at(self.raw(), name.as_ptr(), libc::AT_SYMLINK_NOFOLLOW)
    }

    /// Looks at what a link leads to that only the system can follow.
    pub fn look_by_link(&self, name: &Name) -> Result<Status> {
        status_at(self.raw(), name.as_ptr(), 0)
    }

    /// Reads a symbolic link; None if it is something else, or nothing.
    pub fn read_link(&self, name: &Name) -> Result<Option<Link>> {
        let mut link = Link { owner: 0, links: 0, target: [0; libc::PATH_MAX as usize], len: 0 };
        match link.read(self.raw(), name.as_ptr()) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOENT)) => {
                return Ok(None);
            }
            other => other?,
        }
        // What is looked at is what is read, also if somebody has put another link there meanwhile.
        #[cfg(target_os = "linux")]
        {
            let itself = self.open(name, libc::O_PATH | libc::O_NOFOLLOW, 0)?;
            let metadata = itself.metadata()?;
            (link.owner, link.links) = (metadata.uid(), metadata.nlink());
            // An empty name stands for the descriptor itself.
            link.read(itself.as_raw_fd(), c"".as_ptr())?;
        }
        #[cfg(not(target_os = "linux"))]
        {
            let status = self.look(name)?;
            (link.owner, link.links) = (status.owner, status.links);
        }
        Ok(Some(link))
    }

    /// Renames a file, which takes the name from whatever has it.
    pub fn rename(&self, from: &Name, to: &Name) -> Result<()> {
        // SAFETY: both names end with a zero.
        done(unsafe { libc::renameat(self.raw(), from.as_ptr(), self.raw(), to.as_ptr()) })
    }

    /// Renames a file, unless the new name is taken. Where the file system can neither do that nor give a file a
    /// second name, replaces what has the name.
    pub fn rename_to_free_name(&self, from: &Name, to: &Name) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            let (here, no_replace) = (self.raw(), libc::RENAME_NOREPLACE);
            // SAFETY: both names end with a zero.
            let result = unsafe { libc::renameat2(here, from.as_ptr(), here, to.as_ptr(), no_replace) };
            match done(result) {
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP)
                    ) => {}
                other => return other,
            }
        }
        // SAFETY: both names end with a zero.
        match done(unsafe { libc::linkat(self.raw(), from.as_ptr(), self.raw(), to.as_ptr(), 0) }) {
            Ok(()) => self.remove(from),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            Err(_) => self.rename(from, to),
        }
    }

    /// Removes a file.
    pub fn remove(&self, name: &Name) -> Result<()> {
        // SAFETY: the name ends with a zero.
        done(unsafe { libc::unlinkat(self.raw(), name.as_ptr(), 0) })
    }

    /// The same folder, so that it can be read and written to the disk.
    pub fn to_read(&self) -> Result<File> {
        open_at(self.raw(), c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY, 0)
    }

    /// Calls `each` with names in this folder, in no order, with `most` of them at most. Who adds or removes names meanwhile
    /// may be seen or not.
    pub fn for_each_name(&self, most: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        use std::os::fd::IntoRawFd;
        let raw = self.to_read()?.into_raw_fd();
        // SAFETY: the descriptor is ours, and the stream owns it from here on.
        let stream = unsafe { libc::fdopendir(raw) };
        if stream.is_null() {
            let error = Error::last_os_error();
            // SAFETY: it is still ours.
            drop(unsafe { File::from_raw_fd(raw) });
            return Err(error);
        }
        for _ in 0..most {
            // SAFETY: the stream is open, and nobody else has it.
            let entry = unsafe { libc::readdir(stream) };
            if entry.is_null() {
                break;
            }
            // SAFETY: an entry has a name that ends with a zero, and stays until the next call.
            each(unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) }.to_bytes());
        }
        // SAFETY: the stream is open, and not used any more.
        unsafe { libc::closedir(stream) };
        Ok(())
    }

    pub fn metadata(&self) -> Result<Metadata> {
        self.0.metadata()
    }

    /// Is it a folder of /proc, whose links may lead to what has no path (proc(5), "magic" links)?
    pub fn is_of_proc(&self) -> bool {
        #[cfg(target_os = "linux")]
        return file_system(&self.0) == Some(PROC_SUPER_MAGIC);
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Is it a pipe without a name, which only somebody who has it can have passed on?
pub(crate) fn is_unnamed_pipe(file: &File, metadata: &Metadata) -> bool {
    #[cfg(target_os = "linux")]
    {
        let _ = metadata;
        file_system(file) == Some(PIPEFS_MAGIC)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        metadata.nlink() == 0
    }
}

/// Lets reads of a file that was opened without waiting wait for what comes.
pub(crate) fn wait_for_reads(file: &File) -> Result<()> {
    // SAFETY: the descriptor is open for as long as `file` is.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    done(flags)?;
    // SAFETY: as above.
    done(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) })
}

// include/uapi/linux/magic.h
#[cfg(target_os = "linux")]
const PIPEFS_MAGIC: u32 = 0x5049_5045;
#[cfg(target_os = "linux")]
const PROC_SUPER_MAGIC: u32 = 0x9fa0;

/// What statfs(2) calls the type of a file system. (Its type differs among C libraries.)
#[cfg(target_os = "linux")]
fn file_system(file: &File) -> Option<u32> {
    // SAFETY: numbers only, for which zeros are valid.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open for as long as `file` is.
    let result = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut status) };
    (result == 0).then_some(status.f_type as u32)
}

/// `/proc/self/fd/N`, the one way to name a file that every process may go.
#[cfg(target_os = "linux")]
struct LinkOfFile([u8; 32]);

#[cfg(target_os = "linux")]
impl LinkOfFile {
    fn to(file: &File) -> LinkOfFile {
        let mut path = [0; 32];
        // Fourteen characters, and a number of at most ten.
        let _ = write!(&mut path[..31], "/proc/self/fd/{}", file.as_raw_fd());
        LinkOfFile(path)
    }

    fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// As the kernel says of such file systems (open(2)), or one that does not know them.
#[cfg(target_os = "linux")]
fn has_no_unnamed_files(error: &Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT | libc::EINVAL | libc::ENOSYS)
    )
}

fn open_at(folder: RawFd, path: *const c_char, flags: c_int, mode: u32) -> Result<File> {
    loop {
        // SAFETY: all callers pass a path that ends with a zero.
        let file = unsafe { libc::openat(folder, path, flags | libc::O_CLOEXEC, mode) };
        if file >= 0 {
            // SAFETY: new, and nobody else's.
            return Ok(unsafe { File::from_raw_fd(file) });
        }
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn status_at(folder: RawFd, path: *const c_char, flags: c_int) -> Result<Status> {
    // SAFETY: numbers only, for which zeros are valid.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: all callers pass a path that ends with a zero.
    done(unsafe { libc::fstatat(folder, path, &raw mut status, flags) })?;
    // Their types differ among systems.
    #[allow(clippy::unnecessary_cast)]
    Ok(Status {
        mode: status.st_mode as u32,
        owner: status.st_uid,
        links: status.st_nlink as u64,
        id: (status.st_dev as u64, status.st_ino as u64),
    })
}

fn done(result: c_int) -> Result<()> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}
