//! Numbers that nobody can guess.
#![allow(unsafe_code)]

use crate::hash::KeyHash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

/// A random number. Where the system gives none (before Linux 3.17, in some sandboxes), one that differs from all others
/// of this process, and that is hard to guess; whoever uses it must not rely on more.
pub(crate) fn random_number() -> u64 {
    let mut bytes = [0; 8];
    #[cfg(target_os = "linux")]
    // SAFETY: there is room for so many bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) } == 8;
    #[cfg(not(target_os = "linux"))]
    // SAFETY: there is room for so many bytes.
    let got = unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) } == 0;
    if got { u64::from_ne_bytes(bytes) } else { number_of_clock() }
}

fn number_of_clock() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let place = (&raw const CALLS).addr() as u64;
    let parts = [time as u64, u64::from(std::process::id()), CALLS.fetch_add(1, Relaxed)];
    KeyHash::new(parts.map(u64::to_le_bytes).as_flattened(), place).hi
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_comes_twice() {
        let mut numbers: Vec<_> = (0..1000).map(|_| random_number()).collect();
        numbers.extend((0..1000).map(|_| number_of_clock()));
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 2000);
    }
}
