//! gloom as C programs use it.
//!
//! The functions of the C ABI are called through pointers that the compiler cannot see through, so that nothing is
//! inlined across the boundary: a call costs what it costs a C program that is linked with libgloom.a, which is
//! built from the same sources with the same profile.

use super::{Filter, OneKey, SharedFilter, SharedOneKey};
use gloom::capi::*;
use gloom_benches::keys::{Batch, Bytes, KeySet};
use std::ffi::{CStr, c_void};
use std::hint::black_box;
use std::ptr::NonNull;

/// A filter, freed in the end.
pub struct Handle(NonNull<gloom_filter>);

// SAFETY: the library allows any thread to call any function; who writes a plain filter has it `&mut`.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub fn plain(n: usize, p: f64) -> Handle {
        Handle::of(gloom_new(n as u64, p))
    }

    pub fn atomic(n: usize, p: f64) -> Handle {
        Handle::of(gloom_new_atomic(n as u64, p))
    }

    pub fn sharded(n: usize, p: f64) -> Handle {
        Handle::of(gloom_new_sharded(n as u64, p, 0))
    }

    fn of(filter: *mut gloom_filter) -> Handle {
        Handle(NonNull::new(filter).expect("the filter can be made"))
    }

    fn clear(&mut self) {
        // SAFETY: the handle is valid until it is dropped; so below.
        assert_eq!(unsafe { gloom_clear(self.0.as_ptr()) }, GLOOM_OK);
    }

    fn bits(&self) -> u64 {
        // SAFETY: as above.
        unsafe { gloom_bit_capacity(self.0.as_ptr()) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: nobody has the handle any more.
        unsafe { gloom_free(self.0.as_ptr()) }
    }
}

/// The instruction set that the library chooses on this machine.
pub fn simd_level() -> String {
    let handle = Handle::plain(1, 0.01);
    // SAFETY: the handle is valid, and the string is static.
    unsafe { CStr::from_ptr(gloom_simd_level(handle.0.as_ptr())) }.to_string_lossy().into_owned()
}

type Add = unsafe extern "C" fn(*mut gloom_filter, *const c_void, usize) -> gloom_status;
type Test = unsafe extern "C" fn(*const gloom_filter, *const c_void, usize) -> bool;
type AddOffsets32 =
    unsafe extern "C" fn(*mut gloom_filter, *const c_void, usize, *const i32, usize) -> gloom_status;
type AddFixed = unsafe extern "C" fn(*mut gloom_filter, *const c_void, usize, usize) -> gloom_status;
type TestOffsets32 = unsafe extern "C" fn(
    *const gloom_filter,
    *const c_void,
    usize,
    *const i32,
    usize,
    *mut u8,
    *mut usize,
) -> gloom_status;
type TestFixed = unsafe extern "C" fn(
    *const gloom_filter,
    *const c_void,
    usize,
    usize,
    *mut u8,
    *mut usize,
) -> gloom_status;

/// A call for each key.
pub struct Single {
    handle: Handle,
    add: Add,
    test: Test,
}

impl Single {
    pub fn new(handle: Handle) -> Single {
        // A pointer, not the function itself, is what the compiler must not see through.
        Single { handle, add: black_box(gloom_add as Add), test: black_box(gloom_test as Test) }
    }
}

impl<Key: ?Sized + Bytes> OneKey<Key> for Single {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.add_shared(key);
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        let key = key.bytes();
        // SAFETY: the handle is valid, and the key is as long as that.
        unsafe { (self.test)(self.handle.0.as_ptr(), key.as_ptr().cast(), key.len()) }
    }

    fn clear(&mut self) {
        self.handle.clear();
    }

    fn bits(&self) -> u64 {
        self.handle.bits()
    }
}

impl<Key: ?Sized + Bytes> SharedOneKey<Key> for Single {
    #[inline]
    fn add_shared(&self, key: &Key) {
        let key = key.bytes();
        // SAFETY: as above.
        let status = unsafe { (self.add)(self.handle.0.as_ptr(), key.as_ptr().cast(), key.len()) };
        assert_eq!(status, GLOOM_OK);
    }
}

/// One call for all keys.
pub struct InBatches(pub Handle);

impl<'a, K: KeySet<'a>> Filter<K> for InBatches {
    fn add_all(&mut self, keys: K) {
        self.add_all_shared(keys);
    }

    fn test_all(&self, keys: K, results: &mut [u8]) -> usize {
        assert_eq!(results.len(), keys.len());
        let (filter, n) = (self.0.0.as_ptr(), keys.len());
        let mut hits = 0;
        // SAFETY: the handle is valid, the arrays are as long as their arguments say, and so are the results.
        let status = unsafe {
            match keys.batch() {
                Batch::Offsets32 { data, offsets } => {
                    let test = black_box(gloom_test_batch_offsets32 as TestOffsets32);
                    let (data, len) = (data.as_ptr().cast(), data.len());
                    test(filter, data, len, offsets.as_ptr(), n, results.as_mut_ptr(), &mut hits)
                }
                Batch::Fixed { data, size } => {
                    let test = black_box(gloom_test_batch_fixed as TestFixed);
                    test(filter, data.as_ptr().cast(), size, n, results.as_mut_ptr(), &mut hits)
                }
            }
        };
        assert_eq!(status, GLOOM_OK);
        hits
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.bits()
    }
}

impl<'a, K: KeySet<'a>> SharedFilter<K> for InBatches {
    fn add_all_shared(&self, keys: K) {
        let (filter, n) = (self.0.0.as_ptr(), keys.len());
        // SAFETY: as above.
        let status = unsafe {
            match keys.batch() {
                Batch::Offsets32 { data, offsets } => {
                    let add = black_box(gloom_add_batch_offsets32 as AddOffsets32);
                    add(filter, data.as_ptr().cast(), data.len(), offsets.as_ptr(), n)
                }
                Batch::Fixed { data, size } => {
                    let add = black_box(gloom_add_batch_fixed as AddFixed);
                    add(filter, data.as_ptr().cast(), size, n)
                }
            }
        };
        assert_eq!(status, GLOOM_OK);
    }
}
