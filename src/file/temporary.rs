//! A new file that appears under its name when it is complete.

use super::path::PathBuffer;
use crate::error::Error;
use crate::memory::rename_to_free_name;
use crate::panics::may_panic;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A new file beside the one that it will be; removed unless it becomes that.
pub(super) struct Temporary {
    path: PathBuffer,
    pub file: File,
    complete: bool,
}

impl Temporary {
    pub fn create(target: &Path, mode: u32) -> Result<Temporary, Error> {
        for attempt in 0..1000 {
            let path = PathBuffer::beside(target, attempt)?;
            let mut options = OpenOptions::new();
            match options.read(true).write(true).create_new(true).mode(mode).open(path.as_path()) {
                Ok(file) => return Ok(Temporary { path, file, complete: false }),
                // Another thread's, or one that was left behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("creating the file")(error)),
            }
        }
        Err(Error::Io { action: "creating a temporary file", os_error: libc::EEXIST })
    }

    /// Gives the file its name, which it takes from whatever has it.
    pub fn replace(&mut self, target: &Path) -> Result<(), Error> {
        // Before, so that a failure leaves the old file.
        let folder = open_folder_of(target)?;
        may_panic();
        fs::rename(self.path.as_path(), target).map_err(Error::io("renaming the new file"))?;
        self.complete = true;
        sync(&folder)
    }

    /// Gives the file its name if that is free; false if it is taken.
    pub fn name(&mut self, target: &Path) -> Result<bool, Error> {
        let folder = open_folder_of(target)?;
        may_panic();
        match rename_to_free_name(self.path.as_path(), target) {
            Ok(()) => {
                self.complete = true;
                sync(&folder).map(|()| true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("renaming the new file")(error)),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.complete {
            // Best effort: there is an error to tell of already.
            let _ = fs::remove_file(self.path.as_path());
        }
    }
}

fn open_folder_of(path: &Path) -> Result<File, Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new("."))).map_err(Error::io("opening the folder"))
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
