//! Keys.

use super::boundary::*;
use super::types::*;
use crate::error::Error;
use crate::hash::KeyHash;
use std::ffi::c_void;

/// Adds a key of len bytes. NULL with length 0 is the empty key, a key like any other.
///
/// Threads: any number at once; of a plain filter one writer at a time. Costs one hash and one cache line.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (len above PTRDIFF_MAX), GLOOM_ERR_READ_ONLY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add(
    filter: *mut gloom_filter,
    key: *const c_void,
    len: usize,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(std::ptr::null_mut(), || {
            writable(filter, "filter")?.add(key_bytes(key, len)?);
            Ok(())
        })
    }
}

/// Is the key in the set? false: certainly not. true: probably.
///
/// Misuse (a NULL filter, a NULL key with a length) answers true, "maybe": the caller then asks the
/// database, where false would lose data. Any number of threads at once, also while others add; never waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test(filter: *const gloom_filter, key: *const c_void, len: usize) -> bool {
    // SAFETY: the caller's pointers, as the header asks for.
    answered(true, || unsafe { Ok(self::filter(filter, "filter")?.test(key_bytes(key, len)?)) })
}

/// Adds a key and writes to *was_present (which may be NULL) whether all its bits were set before:
/// false if this call set at least one. Of two threads that race to add one new key, both may be told
/// false (in a sharded filter one is); at least one is, unless adds of other keys set its last bits.
///
/// Threads, cost and failures as gloom_add.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_and_add(
    filter: *mut gloom_filter,
    key: *const c_void,
    len: usize,
    was_present: *mut bool,
) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(std::ptr::null_mut(), || {
            let present = writable(filter, "filter")?.test_and_add(key_bytes(key, len)?);
            if !was_present.is_null() {
                was_present.write(present);
            }
            Ok(())
        })
    }
}

/// Hashes a key by XXH3-128, to ask many filters of one seed (gloom_seed) about it. Zeros on misuse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_hash_key(key: *const c_void, len: usize, seed: u64) -> gloom_hash {
    answered(gloom_hash { lo: 0, hi: 0 }, || {
        // SAFETY: the caller's pointers, as the header asks for.
        let hash = KeyHash::new(unsafe { key_bytes(key, len)? }, seed);
        Ok(gloom_hash { lo: hash.lo, hi: hash.hi })
    })
}

/// Hashes a key by SipHash-1-3 with 128 bits, to ask many filters of GLOOM_HASH_SIPHASH and one seed about it. Zeros on
/// misuse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_siphash_key(key: *const c_void, len: usize, seed: u64) -> gloom_hash {
    answered(gloom_hash { lo: 0, hi: 0 }, || {
        // SAFETY: the caller's pointers, as the header asks for.
        let hash = KeyHash::siphash(unsafe { key_bytes(key, len)? }, seed);
        Ok(gloom_hash { lo: hash.lo, hi: hash.hi })
    })
}

/// Adds a key by its hash, which must have been made by the filter's hash (gloom_hash_kind) with its seed. Otherwise as
/// gloom_add.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_add_hash(filter: *mut gloom_filter, hash: gloom_hash) -> gloom_status {
    // SAFETY: the caller's pointers, as the header asks for.
    unsafe {
        checked(std::ptr::null_mut(), || {
            writable(filter, "filter")?.add_hash(key_hash(hash));
            Ok(())
        })
    }
}

/// Counts n adds that a binding made itself, as gloom_blocks allows: gloom_count rises by n, as by n calls of
/// gloom_add. Sets no bits.
///
/// Threads: any number at once, beside the one writer of a plain filter, too. Costs one atomic addition.
///
/// GLOOM_ERR_NULL, GLOOM_ERR_INVALID_ARGUMENT (the filter is sharded or mapped), GLOOM_ERR_READ_ONLY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_note_adds(filter: *mut gloom_filter, n: u64) -> gloom_status {
    // SAFETY: the caller's handle.
    unsafe { checked(std::ptr::null_mut(), || writable(filter, "filter")?.note_adds(n)) }
}

/// Tests a key by its hash, made as for gloom_add_hash. Otherwise as gloom_test.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gloom_test_hash(filter: *const gloom_filter, hash: gloom_hash) -> bool {
    // SAFETY: the caller's pointers, as the header asks for.
    answered(true, || unsafe { Ok(self::filter(filter, "filter")?.test_hash(key_hash(hash))) })
}

fn key_hash(hash: gloom_hash) -> KeyHash {
    KeyHash { lo: hash.lo, hi: hash.hi }
}

/// # Safety
/// As for [`bytes`].
#[inline]
unsafe fn key_bytes<'a>(key: *const c_void, len: usize) -> Result<&'a [u8], Error> {
    // SAFETY: as for this function.
    unsafe { bytes(key.cast(), len, ["key", "len"]) }
}
