//! Calls of the C ABI, and what holds for all of them.

use crate::definition::Bits;
use gloom::capi::*;
use std::ffi::CStr;
use std::ptr::null_mut;

/// A filter of the C ABI, freed at the end.
pub struct Handle(*mut gloom_filter);

impl Handle {
    /// Of what a function gave out.
    pub fn new(filter: *mut gloom_filter) -> Handle {
        assert!(!filter.is_null(), "no filter in spite of success");
        Handle(filter)
    }

    pub fn get(&self) -> *mut gloom_filter {
        self.0
    }

    /// A copy of its blocks.
    pub fn blocks(&self) -> Vec<Bits> {
        // SAFETY: a live handle, whose blocks nobody writes meanwhile.
        unsafe {
            let first = gloom_blocks(self.0).cast::<Bits>();
            assert_eq!(first.addr() % 64, 0, "blocks are not aligned");
            std::slice::from_raw_parts(first, gloom_num_blocks(self.0) as usize).to_vec()
        }
    }

    /// Are these its blocks?
    pub fn has_blocks(&self, blocks: &[Bits]) -> bool {
        // SAFETY: as above.
        unsafe {
            let first = gloom_blocks(self.0).cast::<Bits>();
            gloom_num_blocks(self.0) == blocks.len() as u64
                && std::slice::from_raw_parts(first, blocks.len()) == blocks
        }
    }

    pub fn count(&self) -> u64 {
        // SAFETY: a live handle.
        unsafe { gloom_count(self.0) }
    }

    /// The filter as bytes; a buffer with no byte to spare.
    pub fn serialized(&self, format: i32) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: a live handle, and a buffer as long as it is said to be.
        unsafe {
            expect(GLOOM_OK, |error| gloom_serialized_size(self.0, format, &mut size, error));
            let mut bytes = vec![0xa5; size as usize];
            let mut written = 0;
            let (start, len) = (bytes.as_mut_ptr().cast(), bytes.len());
            expect(GLOOM_OK, |error| gloom_serialize(self.0, format, start, len, &mut written, error));
            assert_eq!(written, bytes.len());
            bytes
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if crate::fault::wanted("leak") {
            return;
        }
        // SAFETY: it was given out once, and nobody has it any more.
        unsafe { gloom_free(self.0) };
    }
}

/// Makes a call with a `gloom_error` and holds it to its promises: written if the call fails, else not.
pub fn call(function: impl FnOnce(*mut gloom_error) -> gloom_status) -> gloom_status {
    let mut error = gloom_error { status: 0x5a5a, os_error: 0x5a5a, message: [0x5a; 504] };
    let status = function(&mut error);
    let message = error.message.map(|byte| byte as u8);
    if status == GLOOM_OK {
        assert!(error.status == 0x5a5a && error.os_error == 0x5a5a && message == [0x5a; 504]);
        return status;
    }
    assert_eq!(error.status, status);
    assert_ne!(status, GLOOM_ERR_PANIC, "a bug in gloom was caught");
    assert!(status > 0 && status < GLOOM_ERR_PANIC, "{status}");
    assert!(status == GLOOM_ERR_IO || error.os_error == 0);
    let message = CStr::from_bytes_until_nul(&message).expect("a message ends");
    assert!(message.to_str().is_ok_and(|text| !text.is_empty()), "{message:?}");
    status
}

/// The same where one status is right.
#[track_caller]
pub fn expect(wanted: gloom_status, function: impl FnOnce(*mut gloom_error) -> gloom_status) {
    let status = call(function);
    assert_eq!(status, wanted, "(left: the library)");
}

/// The same where the call makes a filter. One that is not made leaves its place alone.
#[track_caller]
pub fn expect_filter(
    wanted: gloom_status,
    function: impl FnOnce(*mut *mut gloom_filter, *mut gloom_error) -> gloom_status,
) -> Option<Handle> {
    let (status, filter) = make(function);
    assert_eq!(status, wanted, "(left: the library)");
    filter
}

/// Makes a filter if it can be made.
pub fn make(
    function: impl FnOnce(*mut *mut gloom_filter, *mut gloom_error) -> gloom_status,
) -> (gloom_status, Option<Handle>) {
    let untouched = null_mut::<gloom_filter>().wrapping_byte_add(0x5a);
    let mut out = untouched;
    let status = call(|error| function(&mut out, error));
    assert!((status == GLOOM_OK) != (out == untouched), "status {status}, filter {out:?}");
    (status, (status == GLOOM_OK).then(|| Handle::new(out)))
}
