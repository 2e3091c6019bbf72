//! Writing a file so that there is always a whole one: the old or the new.

use super::map::is_named;
use crate::error::Error;
use crate::filter::Filter;
use crate::format::Format;
use crate::memory::{Lock, read_link, rename_to_free_name};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

impl Filter {
    /// Saves this filter to a file, which appears whole or not at all: a crash, a full disk or a failed
    /// call leaves the old file as it was. When this returns, the new one is on the disk. Others may add
    /// meanwhile: the file holds every key whose add had returned before the call.
    ///
    /// Writes a new file beside the old one (`.name.gloom-...`), which a killed process leaves behind.
    /// The new file has the old one's permissions.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a seed in format v1, [`Error::Busy`] if the file is mapped for writing,
    /// [`Error::Io`].
    pub fn save(&self, path: &Path, format: Format) -> Result<(), Error> {
        // Refused before anything is written.
        self.serialized_size(format)?;
        let target = target_of(path)?;
        let target = target.as_path();
        let old = Old::of(target)?;
        // Nobody who could not read the old file shall read the new one while it is written.
        let mode = old.as_ref().map_or(0o666, |old| old.permissions.mode() & 0o777);
        let new = Temporary::create(target, mode)?;
        let failed = Error::io("writing the file");
        let mut file = &new.file;
        self.serialize(format, &mut |piece| file.write_all(piece).map_err(&failed))?;
        if let Some(old) = &old {
            file.set_permissions(old.permissions.clone()).map_err(&failed)?;
        }
        file.sync_all().map_err(&failed)?;
        match old {
            Some(_) => new.rename(target),
            None => new.name(target),
        }
    }
}

/// The file that is wanted: where symbolic links lead to, so that they stay.
fn target_of(path: &Path) -> Result<PathBuffer, Error> {
    let mut target = PathBuffer::of(&[path.as_os_str().as_bytes()])?;
    // So many does Linux follow.
    for _ in 0..40 {
        let mut link = [0; PATH_MAX];
        let Ok(len) = read_link(target.as_path(), &mut link) else {
            return Ok(target);
        };
        let link = &link[..len];
        target = if link.starts_with(b"/") {
            PathBuffer::of(&[link])?
        } else {
            let (folder, slash) = folder_of(target.as_path());
            PathBuffer::of(&[folder, slash, link])?
        };
    }
    Err(Error::Io { action: "following symbolic links", os_error: libc::ELOOP })
}

/// The folder of a file, and what stands between them.
fn folder_of(path: &Path) -> (&[u8], &'static [u8]) {
    let folder = path.parent().map_or(&b""[..], |parent| parent.as_os_str().as_bytes());
    (folder, if folder.is_empty() || folder.ends_with(b"/") { b"" } else { b"/" })
}

/// The file that will be replaced. As long as this lives, whoever wants to map it for writing waits.
struct Old {
    permissions: fs::Permissions,
    _locked: File,
}

impl Old {
    /// None if there is none.
    fn of(path: &Path) -> Result<Option<Old>, Error> {
        loop {
            let Some((file, writable)) = open_old(path)? else {
                return Ok(None);
            };
            let metadata = file.metadata().map_err(Error::io("looking at the old file"))?;
            if metadata.is_dir() {
                return Err(Error::Io { action: "replacing a folder", os_error: libc::EISDIR });
            }
            if !metadata.is_file() {
                let action = "replacing something that is not a regular file";
                return Err(Error::Io { action, os_error: libc::ENODEV });
            }
            // One save at a time: the next one must look at the file that this one puts there. (A lock for
            // oneself needs a file that can be written.)
            if writable {
                Lock::Savers.take(&file)?
            } else {
                Lock::Savers.share(&file)?
            }
            if Lock::Writers.is_used(&file) {
                return Err(Error::Busy);
            }
            if is_named(&file, path) {
                return Ok(Some(Old { permissions: metadata.permissions(), _locked: file }));
            }
        }
    }
}

/// Opens the file that is there, for writing too if that is allowed.
fn open_old(path: &Path) -> Result<Option<(File, bool)>, Error> {
    for writable in [true, false] {
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for its other end.
        options.read(true).write(writable).custom_flags(libc::O_NONBLOCK);
        match options.open(path) {
            Ok(file) => return Ok(Some((file, writable))),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) => {}
        }
    }
    // It cannot be looked at, so it cannot be mapped by those who are like us.
    Ok(None)
}

/// A new file beside the one it will replace; removed unless it does.
struct Temporary {
    path: PathBuffer,
    file: File,
    renamed: bool,
}

impl Temporary {
    fn create(target: &Path, mode: u32) -> Result<Temporary, Error> {
        for attempt in 0..1000 {
            let path = PathBuffer::beside(target, attempt)?;
            let mut options = OpenOptions::new();
            match options.write(true).create_new(true).mode(mode).open(path.as_path()) {
                Ok(file) => return Ok(Temporary { path, file, renamed: false }),
                // Another thread's, or one that was left behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("creating the file")(error)),
            }
        }
        Err(Error::Io { action: "creating a temporary file", os_error: libc::EEXIST })
    }

    /// Gives the file a name that was free. If it is not any more, replaces what has it.
    fn name(mut self, target: &Path) -> Result<(), Error> {
        let folder = open_folder_of(target)?;
        match rename_to_free_name(self.path.as_path(), target) {
            Ok(()) => {
                self.renamed = true;
                folder.sync_all().map_err(Error::io("writing the folder"))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let _old = Old::of(target)?;
                self.rename(target)
            }
            Err(error) => Err(Error::io("renaming the new file")(error)),
        }
    }

    fn rename(mut self, target: &Path) -> Result<(), Error> {
        // Before, so that a failure leaves the old file.
        let folder = open_folder_of(target)?;
        fs::rename(self.path.as_path(), target).map_err(Error::io("renaming the new file"))?;
        self.renamed = true;
        folder.sync_all().map_err(Error::io("writing the folder"))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // Best effort: there is an error to tell of already.
            let _ = fs::remove_file(self.path.as_path());
        }
    }
}

const PATH_MAX: usize = libc::PATH_MAX as usize;

/// A path that takes no memory from the heap, where running out would end the process.
struct PathBuffer {
    bytes: [u8; PATH_MAX],
    len: usize,
}

impl PathBuffer {
    fn of(parts: &[&[u8]]) -> Result<PathBuffer, Error> {
        let mut path = PathBuffer { bytes: [0; PATH_MAX], len: 0 };
        for part in parts {
            let end = path.len + part.len();
            let too_long = Error::Io { action: "making a path", os_error: libc::ENAMETOOLONG };
            path.bytes.get_mut(path.len..end).ok_or(too_long)?.copy_from_slice(part);
            path.len = end;
        }
        Ok(path)
    }

    /// `.NAME.gloom-PROCESS-ATTEMPT` in the folder of `target`.
    fn beside(target: &Path, attempt: u32) -> Result<PathBuffer, Error> {
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
        let suffix = &suffix[..suffix.len() - unused];
        let (folder, slash) = folder_of(target);
        PathBuffer::of(&[folder, slash, b".", name, suffix])
    }

    fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.bytes[..self.len]))
    }
}

/// Makes the name of a file durable.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    open_folder_of(path)?.sync_all().map_err(Error::io("writing the folder"))
}

fn open_folder_of(path: &Path) -> Result<File, Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new("."))).map_err(Error::io("opening the folder"))
}
