//! Who this process is.
#![allow(unsafe_code)]

use std::os::unix::fs::MetadataExt;

/// The user to whom new files belong (but for file systems that map users).
pub(crate) fn effective_user() -> u32 {
    // SAFETY: asks and changes nothing.
    unsafe { libc::geteuid() }
}

/// A process is known by its number, and by the namespace that gave it if that can be told: the first process of a
/// container and its child that is the first one of another have the same number.
pub(crate) struct Process {
    number: u32,
    namespace: Option<u64>,
}

impl Process {
    pub fn this() -> Process {
        let namespace = std::fs::metadata("/proc/self/ns/pid").ok().map(|namespace| namespace.ino());
        Process { number: std::process::id(), namespace }
    }

    pub fn is_this(&self) -> bool {
        let this = Process::this();
        let same_namespace =
            this.namespace.is_none() || self.namespace.is_none() || this.namespace == self.namespace;
        this.number == self.number && same_namespace
    }
}
