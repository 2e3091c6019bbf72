//! Writing a file so that there is always a whole one: the old or the new.

use super::map::is_named;
use super::path::{PATH_MAX, PathBuffer, folder_of};
use super::permissions;
use super::temporary::Temporary;
use crate::error::Error;
use crate::filter::Filter;
use crate::format::Format;
use crate::memory::{Lock, read_link};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

impl Filter {
    /// Saves this filter to a file, which appears whole or not at all: a crash, a full disk or a failed
    /// call leaves the old file as it was. When this returns, the new one is on the disk. Others may add
    /// meanwhile: the file holds every key whose add had returned before the call.
    ///
    /// Writes a new file beside the old one (`.name.gloom-...`), which a killed process leaves behind.
    /// The new file has the old one's permissions if it has the same owner (and for the group's, the same group), and
    /// never set-user-id, set-group-id or sticky; else those of any new file. An old file that may be neither read
    /// nor written is not replaced: it could be mapped.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a seed in format v1, [`Error::Busy`] if the file is mapped for writing,
    /// [`Error::Io`].
    pub fn save(&self, path: &Path, format: Format) -> Result<(), Error> {
        // Refused before anything is written.
        self.serialized_size(format)?;
        let target = target_of(path)?;
        let target = target.as_path();
        let mut old = Old::of(target)?;
        let mode = permissions::while_written(old.as_ref().map(|old| &old.metadata));
        let mut new = Temporary::create(target, mode)?;
        let made = new.file.metadata().map_err(Error::io("looking at the new file"))?;
        let failed = Error::io("writing the file");
        let mut file = &new.file;
        self.serialize(format, &mut |piece| file.write_all(piece).map_err(&failed))?;
        // Who takes the file away and puts another one there, again and again, shall not keep this from ending; nor
        // shall a symbolic link to nothing, which is no file but has the name.
        for _ in 0..100 {
            permissions::settle(&new.file, &made, old.as_ref().map(|old| (&old.file, &old.metadata)))?;
            new.file.sync_all().map_err(&failed)?;
            match &old {
                None if new.name(target)? => return Ok(()),
                Some(old) if is_named(&old.file, target) => return new.replace(target),
                // While the new one was written, somebody has put another file there, or has taken it away.
                _ => {}
            }
            // First gives back the lock of what is there no longer.
            drop(old.take());
            old = Old::of(target)?;
        }
        Err(Error::Io { action: "renaming the new file", os_error: libc::EEXIST })
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
        let link = link.get(..len).unwrap_or_default();
        target = if link.starts_with(b"/") {
            PathBuffer::of(&[link])?
        } else {
            let (folder, slash) = folder_of(target.as_path());
            PathBuffer::of(&[folder, slash, link])?
        };
    }
    Err(Error::Io { action: "following symbolic links", os_error: libc::ELOOP })
}

/// The file that will be replaced. As long as this lives, whoever wants to map it for writing waits.
struct Old {
    metadata: Metadata,
    file: File,
}

impl Drop for Old {
    fn drop(&mut self) {
        // Closing the file would not end the lock while a child of this process has it, too.
        Lock::Savers.release(&self.file);
    }
}

impl Old {
    /// None if there is none.
    fn of(path: &Path) -> Result<Option<Old>, Error> {
        loop {
            let (file, writable) = match open_old(path) {
                Ok(opened) => opened,
                // Not to be looked for again: somebody may be making it, and has it mapped then.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                // Also one that we may replace but not open: whoever may open it could have it mapped.
                Err(error) => return Err(Error::io("opening the old file")(error)),
            };
            let metadata = file.metadata().map_err(Error::io("looking at the old file"))?;
            if metadata.is_dir() {
                return Err(Error::Io { action: "replacing a folder", os_error: libc::EISDIR });
            }
            if !metadata.is_file() {
                let action = "replacing something that is not a regular file";
                return Err(Error::Io { action, os_error: libc::ENODEV });
            }
            let old = Old { metadata, file };
            // One save at a time: the next one must look at the file that this one puts there. (A lock for
            // oneself needs a file that can be written.)
            if writable {
                Lock::Savers.take(&old.file)?
            } else {
                Lock::Savers.share(&old.file)?
            }
            if Lock::Writers.is_used(&old.file) {
                return Err(Error::Busy);
            }
            if is_named(&old.file, path) {
                return Ok(Some(old));
            }
        }
    }
}

/// Opens the file that is there, in a way that is allowed, and tells whether it can be written: nothing is
/// read or written, only its locks are looked at.
fn open_old(path: &Path) -> std::io::Result<(File, bool)> {
    let open = |readable: bool, writable: bool| {
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for its other end.
        options.read(readable).write(writable).custom_flags(libc::O_NONBLOCK).open(path)
    };
    let both = open(true, true).map(|file| (file, true));
    both.or_else(|_| open(true, false).map(|file| (file, false)))
        .or_else(|_| open(false, true).map(|file| (file, true)))
}
