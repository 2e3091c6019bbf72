//! Atomics of the standard library, or loom's when the models of `tests/loom.rs` are built.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How long to wait for another thread: a while on the core, then by giving the core away.
#[derive(Default)]
pub(crate) struct Backoff {
    rounds: u32,
}

impl Backoff {
    /// Waits once, longer each time.
    ///
    /// An owner holds a shard for some stores (tens of nanoseconds), so spinning nearly always
    /// suffices. If the owner lost its core, yielding lets it run; if this thread outranks it (real-time
    /// scheduling), yielding gives way to nobody and only a real sleep does.
    #[cfg(not(loom))]
    pub fn wait(&mut self) {
        match self.rounds {
            0..64 => std::hint::spin_loop(),
            64..128 => std::thread::yield_now(),
            _ => nap(),
        }
        self.rounds += u32::from(self.rounds < 128);
    }

    #[cfg(loom)]
    pub fn wait(&mut self) {
        self.rounds += 1;
        loom::thread::yield_now();
    }
}

/// Sleeps for 50 microseconds, on a condition that nobody signals: `thread::sleep` is a cancellation point,
/// and a thread that `pthread_cancel` ends inside this library takes the process with it.
#[cfg(not(loom))]
fn nap() {
    use std::sync::{Condvar, Mutex};
    let never = Mutex::new(());
    if let Ok(guard) = never.lock() {
        let _ = Condvar::new().wait_timeout(guard, std::time::Duration::from_micros(50));
    }
}

/// A number that tells threads apart, mostly: two threads may share one.
///
/// It is the address of a thread-local byte, scrambled, because that needs no global counter, no
/// system call and no destructor.
#[cfg(not(loom))]
#[inline]
pub(crate) fn thread_number() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    let address = HERE.with(|here| std::ptr::from_ref(here).addr());
    // Fibonacci hashing; the high bits are the good ones.
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32
}

/// In a model, all threads share one stripe: that is the case in which counts could be lost.
#[cfg(loom)]
pub(crate) fn thread_number() -> usize {
    0
}
