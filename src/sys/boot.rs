//! Which boot of the system this is.

use crate::error::Error;
use std::fs::File;
use std::io::{ErrorKind, Read};

/// What a boot of the system is known by; zeros where it cannot be told.
pub(crate) type BootId = [u8; 16];

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// This boot. Zeros on systems that do not tell, and where it may not be read: without /proc, or in a sandbox.
///
/// # Errors
/// [`Error::Io`] where it could be told, but not now: too many open files, for example.
pub(crate) fn boot_id() -> Result<BootId, Error> {
    let mut text = [0; 36];
    if cfg!(target_os = "linux") {
        match File::open(BOOT_ID).and_then(|mut file| file.read_exact(&mut text)) {
            Err(error) if cannot_be_told(error.kind()) => text = [0; 36],
            other => other.map_err(Error::io("asking for the boot of the system"))?,
        }
    }
    let mut id = [0; 16];
    let mut digits = text.iter().filter_map(|&digit| char::from(digit).to_digit(16));
    for byte in &mut id {
        *byte = digits.by_ref().take(2).fold(0, |byte, digit| byte << 4 | digit as u8);
    }
    Ok(id)
}

/// No file of this name, a file that is no such file, or no permission: now and later.
fn cannot_be_told(error: ErrorKind) -> bool {
    matches!(
        error,
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::Unsupported
            | ErrorKind::UnexpectedEof
    )
}
