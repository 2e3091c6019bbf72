//! Setting bits that are already set does not write: lines that many threads read stay in their caches.
//! Fault seen elsewhere: metadata or bits on lines that every test reads (libcds 76, guava PR 2761).
//!
//! The proof: the pages of the blocks are made read-only, and a write kills the process. That is done in
//! child processes, so that it is seen; one of them writes on purpose.
#![allow(unsafe_code)]

mod common;

use common::key;
use gloom::capi::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

const KEYS: u64 = 20_000;

/// Frees the filter in the end.
struct Handle(*mut gloom_filter);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `filters` below and freed nowhere else.
        unsafe { gloom_free(self.0) };
    }
}

/// One of each kind, in memory of its own: from 1 MiB on, blocks are whole pages from the system.
fn filters() -> Vec<(&'static str, Handle)> {
    let filters = [
        ("plain", gloom_new(1_000_000, 0.01)),
        ("atomic", gloom_new_atomic(1_000_000, 0.01)),
        ("sharded", gloom_new_sharded(1_000_000, 0.01, 0)),
    ];
    filters.map(|(name, filter)| (name, Handle(filter))).into()
}

fn add(filter: &Handle, key: &[u8]) {
    // SAFETY: a live filter, and the bytes of a slice.
    assert_eq!(unsafe { gloom_add(filter.0, key.as_ptr().cast(), key.len()) }, GLOOM_OK);
}

fn is_known(filter: &Handle, key: &[u8]) {
    let mut was_present = false;
    // SAFETY: a live filter, the bytes of a slice, and a bool of our own.
    unsafe {
        assert!(gloom_test(filter.0, key.as_ptr().cast(), key.len()));
        assert_eq!(gloom_test_and_add(filter.0, key.as_ptr().cast(), key.len(), &mut was_present), GLOOM_OK);
        let hash = gloom_hash_key(key.as_ptr().cast(), key.len(), 0);
        assert_eq!(gloom_add_hash(filter.0, hash), GLOOM_OK);
    }
    assert!(was_present);
}

fn merge(target: &Handle, source: &Handle) {
    // SAFETY: live filters, and no error struct.
    assert_eq!(unsafe { gloom_merge(target.0, source.0, std::ptr::null_mut()) }, GLOOM_OK);
}

fn make_read_only(filter: &Handle) {
    // SAFETY: a live filter; its blocks fill pages of their own, which stay readable.
    unsafe {
        let blocks = gloom_blocks(filter.0).cast_mut();
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
        assert_eq!(blocks.addr() % page, 0, "the blocks share a page with something else");
        let bytes = gloom_num_blocks(filter.0) as usize * 64;
        assert!(bytes >= 1 << 20);
        assert_eq!(libc::mprotect(blocks, bytes, libc::PROT_READ), 0);
    }
}

#[derive(Debug, PartialEq)]
enum End {
    Normal,
    Panic,
    Signal(i32),
}

/// Does something in a copy of this process, and tells how that ended.
fn in_a_child(body: impl FnOnce()) -> End {
    // SAFETY: the child does nothing but `body`, which takes no lock that another thread may hold, and
    // leaves without running anything of the parent's.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            // A core file of a crash on purpose would only be litter.
            libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
            let result = catch_unwind(AssertUnwindSafe(body));
            libc::_exit(i32::from(result.is_err()));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        if libc::WIFSIGNALED(status) {
            End::Signal(libc::WTERMSIG(status))
        } else if libc::WEXITSTATUS(status) == 0 {
            End::Normal
        } else {
            End::Panic
        }
    }
}

#[test]
fn setting_bits_that_are_set_does_not_write() {
    for (name, filter) in filters() {
        (0..KEYS).for_each(|i| add(&filter, &key(i)));
        // Filters of every kind that hold a part of the keys.
        let parts = filters();
        parts.iter().for_each(|(_, part)| (0..KEYS / 2).for_each(|i| add(part, &key(i))));

        let end = in_a_child(|| {
            make_read_only(&filter);
            (0..KEYS).for_each(|i| add(&filter, &key(i)));
            (0..KEYS).for_each(|i| is_known(&filter, &key(i)));
            parts.iter().for_each(|(_, part)| merge(&filter, part));
            merge(&filter, &filter);
        });
        assert_eq!(end, End::Normal, "{name}");
    }
}

/// The proof that the test above can fail: one bit that is not set, and the process is dead.
#[test]
fn setting_a_clear_bit_writes() {
    for (name, filter) in filters() {
        (0..KEYS).for_each(|i| add(&filter, &key(i)));
        let end = in_a_child(|| {
            make_read_only(&filter);
            add(&filter, &key(KEYS));
        });
        // Linux sends the first of these, macOS the second.
        assert!(end == End::Signal(libc::SIGSEGV) || end == End::Signal(libc::SIGBUS), "{name}: {end:?}");
    }
}
