//! Which permissions a file gets that replaces another one.
//!
//! Whoever may write to a folder can put a file of any mode there, and the next save must not hand on what that file says:
//! a set-user-id bit would turn the service's new file into a program that runs as the service.
//!
//! | old file | new file |
//! |---|---|
//! | none | 0666 less the umask, as any new file |
//! | of another owner | the same |
//! | of the same owner and group | the old one's, without set-user-id, set-group-id and sticky |
//! | of the same owner, another group | the same for owner and others; the group's as far as a new file has them, too |

use crate::error::Error;
use crate::sys::{effective_user, owning_group_bits, remove_acl};
use std::fs::{File, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// The mode to make the new file with: who may not read the old one shall not read the new one while it is written.
pub(super) fn while_written(old: Option<&Metadata>) -> u32 {
    match old {
        Some(old) if old.uid() == effective_user() => old.mode() & 0o777,
        _ => 0o666,
    }
}

/// The permissions of a new file, until it has its name.
pub(super) struct NewPermissions {
    /// As it was made.
    made: Metadata,
    /// What its group may do, which its mode does not say if it got an access control list from its folder.
    made_group: u32,
    has_lost_acl: bool,
}

impl NewPermissions {
    /// Of a file that has just been made.
    pub fn of(new: &File) -> Result<NewPermissions, Error> {
        let made = new.metadata().map_err(Error::io("looking at the new file"))?;
        let made_group = owning_group_bits(new, made.mode());
        Ok(NewPermissions { made, made_group, has_lost_acl: false })
    }

    /// Sets them as the table says; `old` is what will be replaced. Again, if that becomes another.
    pub fn settle(&mut self, new: &File, old: Option<(&File, &Metadata)>) -> Result<(), Error> {
        let failed = Error::io("setting the permissions of the file");
        let made = &self.made;
        let mode = match old {
            Some((file, old)) if old.uid() == made.uid() => {
                // The folder's list for new files may name users that the old file does not.
                remove_acl(new).map_err(&failed)?;
                self.has_lost_acl = true;
                let group = owning_group_bits(file, old.mode());
                old.mode() & 0o707
                    | if old.gid() == made.gid() { group } else { group & self.made_group & 0o060 }
            }
            _ if self.has_lost_acl => made.mode() & 0o707 | self.made_group,
            _ => made.mode() & 0o777,
        };
        // File systems that have no permissions refuse also to set those that are there.
        if new.metadata().map_err(&failed)?.mode() & 0o7777 == mode {
            return Ok(());
        }
        new.set_permissions(Permissions::from_mode(mode)).map_err(&failed)
    }
}
