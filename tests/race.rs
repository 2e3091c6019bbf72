//! A race that ThreadSanitizer must see: a tool that sees nothing finds nothing. scripts/test-tsan runs it.
#![allow(unsafe_code)]

use gloom::{Filter, Kind, Options};
use std::cell::UnsafeCell;
use std::thread;

/// A key that one thread writes while another one adds it.
struct Key(UnsafeCell<[u8; 40]>);

// SAFETY: none; that is the point.
unsafe impl Sync for Key {}

impl Key {
    fn bytes(&self) -> *mut [u8; 40] {
        self.0.get()
    }
}

#[test]
#[ignore = "undefined behaviour, which ThreadSanitizer must find"]
fn a_key_that_changes_while_it_is_hashed() {
    let key = Key(UnsafeCell::new([0; 40]));
    let filter = Filter::create(&Options::for_blocks(1, 7).kind(Kind::Atomic)).unwrap();
    thread::scope(|scope| {
        // The name keeps the handle: of a detached thread that has ended, ThreadSanitizer forgets what it wrote.
        let writer = scope.spawn(|| {
            for i in 0..=u8::MAX {
                // SAFETY: the bytes are there, but another thread reads them.
                unsafe { key.bytes().cast::<u8>().write_volatile(i) };
            }
        });
        for _ in 0..=u8::MAX {
            // SAFETY: likewise.
            filter.add(unsafe { &*key.bytes() });
        }
        writer.join().unwrap();
    });
}
