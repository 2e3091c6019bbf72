//! A new file that appears under its name when it is complete.
//!
//! Until then it has no name, where the file system has such files: a process that is killed leaves nothing. Elsewhere, and
//! for the moment between getting a name and taking that of an old file, it is hidden beside its place as
//! `.NAME.gloom-` and sixteen digits that nobody can guess.

use super::place::Place;
use super::special;
use crate::error::Error;
use crate::panics::may_panic;
use crate::sys::{Lock, Name, effective_user, random_number};
use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Result as IoResult};

/// A new file; gone unless it gets its name.
pub(super) struct NewFile<'a> {
    place: &'a Place,
    pub file: File,
    /// The name that it has in the meantime.
    hidden: Option<Name>,
}

/// Names that are taken, or files that somebody has locked, before that is an error.
const ATTEMPTS: u32 = 100;

impl NewFile<'_> {
    /// `mode` as for any new file, but for one without a name, which nobody else can open.
    pub fn create(place: &Place, mode: u32) -> Result<NewFile<'_>, Error> {
        let failed = Error::io("creating the file");
        if let Some(file) = place.folder.open_unnamed().map_err(&failed)? {
            return Ok(NewFile { place, file, hidden: None });
        }
        for _ in 0..ATTEMPTS {
            let name = hidden_name(place).map_err(&failed)?;
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
            let file = match place.folder.open(&name, flags, mode) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed(error)),
            };
            let new = NewFile { place, file, hidden: Some(name) };
            // Before this, somebody may have taken it for a file that was left behind.
            if hold(&new.file) && place.folder.look(&name).is_ok() {
                return Ok(new);
            }
        }
        Err(failed(IoError::from_raw_os_error(libc::EEXIST)))
    }

    /// Gives the file its name, which it takes from whatever has it.
    pub fn replace(mut self) -> Result<(), Error> {
        // Before, so that a failure leaves the old file.
        let failed = Error::io("renaming the new file");
        let folder = self.place.folder.to_read().map_err(Error::io("opening the folder"))?;
        may_panic();
        let hidden = self.hide().map_err(&failed)?;
        self.place.folder.rename(&hidden, &self.place.name).map_err(&failed)?;
        self.hidden = None;
        sync(&folder)
    }

    /// Gives the file its name if that is free; false if it is taken.
    pub fn name_if_free(&mut self) -> Result<bool, Error> {
        let folder = self.place.folder.to_read().map_err(Error::io("opening the folder"))?;
        may_panic();
        let named = match &self.hidden {
            Some(hidden) => self.place.folder.rename_to_free_name(hidden, &self.place.name),
            None => self.place.folder.name_file(&self.file, &self.place.name),
        };
        match named {
            Ok(()) => {
                self.hidden = None;
                sync(&folder).map(|()| true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("naming the new file")(error)),
        }
    }

    /// The hidden name, which it gets if it has none: only a file that has a name can be renamed.
    fn hide(&mut self) -> IoResult<Name> {
        if let Some(name) = self.hidden {
            return Ok(name);
        }
        hold(&self.file);
        for _ in 0..ATTEMPTS {
            let name = hidden_name(self.place)?;
            match self.place.folder.name_file(&self.file, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => {
                    self.hidden = other.is_ok().then_some(name);
                    return other.map(|()| name);
                }
            }
        }
        Err(IoError::from_raw_os_error(libc::EEXIST))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // Best effort: there is an error to tell of already.
            let _ = self.place.folder.remove(hidden);
        }
        // A child after a fork may have the file, too.
        Lock::Makers.release(&self.file);
    }
}

/// Shows that the maker of a file is alive; false if somebody else has it locked. Where there are no locks, nobody takes a
/// file for one that was left behind. (Where locks are seen on one machine only, somebody on another may: then the save
/// fails, and the old file stays.)
fn hold(file: &File) -> bool {
    Lock::Makers.try_take(file) || !Lock::Makers.is_used(file)
}

/// What the hidden names for a place begin with.
fn prefix(place: &Place) -> IoResult<Name> {
    // Names of files have at most 255 bytes.
    let name = Some(place.name.bytes()).filter(|name| name.len() <= 200).unwrap_or(b"filter");
    Name::of(&[b".", name, b".gloom-"])
}

const DIGITS: usize = 16;

fn hidden_name(place: &Place) -> IoResult<Name> {
    let mut digits = [0; DIGITS];
    let mut number = random_number();
    for digit in &mut digits {
        *digit = *b"0123456789abcdef".get(number as usize % 16).unwrap_or(&b'0');
        number /= 16;
    }
    Name::of(&[prefix(place)?.bytes(), &digits])
}

/// In a folder with more names, left files may stay: strangers who fill it must not make each save slow.
const MOST_NAMES: usize = 10_000;

/// Removes hidden files for this place whose makers have died. Best effort: nobody needs that to succeed.
pub(super) fn remove_leftovers(place: &Place) {
    let Ok(prefix) = prefix(place) else {
        return;
    };
    let _ = place.folder.for_each_name(MOST_NAMES, |name| {
        let digits = name.strip_prefix(prefix.bytes());
        let is_hidden = digits.is_some_and(|digits| {
            digits.len() == DIGITS && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        });
        if is_hidden && let Ok(name) = Name::of(&[name]) {
            let _ = remove_if_left(place, &name);
        }
    });
}

/// Somebody may have made anything of such a name: only a regular file of this user that has no other name (but that of the
/// place), and that nobody has locked, was left by a save.
fn remove_if_left(place: &Place, name: &Name) -> IoResult<()> {
    let status = place.folder.look(name)?;
    let is_own = special::is_regular(status.mode) && status.owner == effective_user();
    // Without renaming that does not replace, a file has both names for a moment.
    let has_the_name = || place.look().is_ok_and(|named| named.is_same(&status));
    if !is_own || (status.links != 1 && !(status.links == 2 && has_the_name())) {
        return Ok(());
    }
    let open = |access| place.folder.open(name, access | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0);
    let locked = match open(libc::O_RDWR).or_else(|_| open(libc::O_WRONLY)) {
        Ok(file) => Lock::Makers.try_take(&file).then_some(file),
        // Also a share keeps its maker from taking the lock.
        Err(_) => Some(open(libc::O_RDONLY)?).filter(|file| Lock::Makers.try_share(file)),
    };
    match locked {
        Some(file) if status.is_of(&file.metadata()?) => place.folder.remove(name),
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable, where folders can be written at all: file systems of the network and of
/// other systems refuse it.
fn sync(folder: &File) -> Result<(), Error> {
    match folder.sync_all() {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP)) => {
            Err(Error::io("writing the folder")(error))
        }
        _ => Ok(()),
    }
}
