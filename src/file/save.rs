//! Writing a file so that there is always a whole one: the old or the new.

use super::new_file::{NewFile, remove_leftovers};
use super::permissions::{self, NewPermissions};
use super::place::{Last, Place};
use super::special;
use crate::error::Error;
use crate::filter::Filter;
use crate::format::Format;
use crate::sys::{Lock, release_among_readers, try_take_among_readers};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Filter {
    /// Saves this filter to a file, which appears whole or not at all: a crash, a full disk or a failed
    /// call leaves the old file as it was. When this returns, the new one is on the disk. Others may add
    /// meanwhile: the file holds every key whose add had returned before the call.
    ///
    /// Symbolic links are followed, but none of another user in a sticky folder that all may write. A killed process
    /// leaves at most one file (`.name.gloom-...`), which the next save to the path removes.
    /// The new file has the old one's permissions if it has the same owner (and for the group's, the same group), and
    /// never set-user-id, set-group-id or sticky; else those of any new file. An old file that may be neither read
    /// nor written is not replaced: it could be mapped.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a seed in format v1, [`Error::Busy`] if the file is mapped for writing, or being
    /// replaced by somebody whom this may not wait for,
    /// [`Error::Special`] if it is no regular file, [`Error::Io`].
    pub fn save(&self, path: &Path, format: Format) -> Result<(), Error> {
        // Refused before anything is written.
        self.serialized_size(format)?;
        let place = Place::of(path, Last::Replace)?;
        remove_leftovers(&place);
        let mut old = Old::of(&place)?;
        let mode = permissions::while_written(old.as_ref().map(|old| &old.metadata));
        let mut new = NewFile::create(&place, mode)?;
        let mut permissions = NewPermissions::of(&new.file)?;
        let failed = Error::io("writing the file");
        let mut file = &new.file;
        self.serialize(format, &mut |piece| file.write_all(piece).map_err(&failed))?;
        // Bounded: somebody who replaces the file again and again must not keep this from ending.
        for _ in 0..100 {
            permissions.settle(&new.file, old.as_ref().map(|old| (&old.file, &old.metadata)))?;
            new.file.sync_all().map_err(&failed)?;
            match &old {
                None if new.name_if_free()? => return Ok(()),
                Some(old) if place.has(&old.file) => return new.replace(),
                // While the new one was written, somebody has put another file there, or has taken it away.
                _ => {}
            }
            // First gives back the lock of what is there no longer.
            drop(old.take());
            old = Old::of(&place)?;
        }
        Err(Error::Io { action: "renaming the new file", os_error: libc::EEXIST })
    }
}

/// The file that will be replaced. As long as this lives, whoever wants to map it for writing waits.
struct Old {
    metadata: Metadata,
    file: File,
}

impl Drop for Old {
    fn drop(&mut self) {
        // Closing the file would not end the locks while a child of this process has it, too.
        Lock::Savers.release(&self.file);
        release_among_readers(&self.file);
    }
}

impl Old {
    /// None if there is none.
    fn of(place: &Place) -> Result<Option<Old>, Error> {
        let looking = Error::io("looking at the old file");
        // Bounded, for file systems where a file never has the same number twice.
        for _ in 0..10_000 {
            // Opening a pipe would wait for its other end, and a device may do anything.
            match place.look() {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                status => special::refuse(status.map_err(&looking)?.mode)?,
            }
            let (file, writable) = match open(place) {
                Ok(opened) => opened,
                // Not to be looked for again: somebody may be making it, and has it mapped then.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                // Also one that we may replace but not open: whoever may open it could have it mapped.
                Err(error) => return Err(Error::io("opening the old file")(error)),
            };
            let metadata = file.metadata().map_err(&looking)?;
            special::refuse(metadata.mode())?;
            let old = Old { metadata, file };
            old.lock(writable, place.is_of_stranger(&old.metadata)?)?;
            if Lock::Writers.is_used(&old.file) {
                return Err(Error::Busy);
            }
            if place.has(&old.file) {
                return Ok(Some(old));
            }
        }
        Err(Error::Io {
            action: "finding the old file, which changes again and again",
            os_error: libc::EAGAIN,
        })
    }

    /// One save at a time: the next one must look at the file that this one puts there. (A lock for oneself needs a file that
    /// can be written.) A stranger may have locked his file for ever, so nobody waits for him.
    fn lock(&self, writable: bool, is_of_stranger: bool) -> Result<(), Error> {
        let (lock, file) = (Lock::Savers, &self.file);
        let is_locked = match (is_of_stranger, writable) {
            (false, true) => lock.take(file).map(|()| true)?,
            (false, false) => lock.share(file).map(|()| true)?,
            (true, true) => lock.try_take(file) || !lock.is_used(file),
            (true, false) => lock.try_share(file) || !lock.is_used(file),
        };
        if is_locked && (writable || try_take_among_readers(file)) { Ok(()) } else { Err(Error::Busy) }
    }
}

/// Opens the file that is there, in a way that is allowed, and tells whether it can be written: nothing is
/// read or written, only its locks are looked at.
fn open(place: &Place) -> std::io::Result<(File, bool)> {
    let open = |access| place.open(access | libc::O_NONBLOCK);
    let both = open(libc::O_RDWR).map(|file| (file, true));
    both.or_else(|_| open(libc::O_RDONLY).map(|file| (file, false)))
        .or_else(|_| open(libc::O_WRONLY).map(|file| (file, true)))
}
