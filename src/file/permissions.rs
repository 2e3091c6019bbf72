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

/// Gives `new`, which was made as `made` tells, its permissions. `old` is what it replaces.
pub(super) fn settle(new: &File, made: &Metadata, old: Option<(&File, &Metadata)>) -> Result<(), Error> {
    let failed = Error::io("setting the permissions of the file");
    let mode = match old {
        Some((file, old)) if old.uid() == made.uid() => {
            // The folder's list for new files may name users that the old file does not.
            remove_acl(new).map_err(&failed)?;
            let group = owning_group_bits(file, old.mode());
            old.mode() & 0o707 | if old.gid() == made.gid() { group } else { group & made.mode() & 0o060 }
        }
        _ => made.mode() & 0o777,
    };
    new.set_permissions(Permissions::from_mode(mode)).map_err(&failed)
}
