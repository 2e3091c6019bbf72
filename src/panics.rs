//! Panics on demand, for `ctests/c/panics.c`: what is a bug in gloom to its callers, and what does it leave behind?
//!
//! Only where `--cfg gloom_panic_tests` is given. No build but that test's gives it; without, a point is nothing at all.

/// A point at which that test lets the library panic.
#[inline(always)]
pub(crate) fn may_panic() {
    #[cfg(gloom_panic_tests)]
    armed::pass();
}

#[cfg(gloom_panic_tests)]
#[allow(unsafe_code)]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Points to pass until the panic, including its own; 0: none comes.
    static LEFT: AtomicU64 = AtomicU64::new(0);

    #[cold]
    pub fn pass() {
        if LEFT.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) == Ok(1) {
            panic!("the panic that a test asked for");
        }
    }

    /// Panics at point number `at` from now on; 0 for no more. Returns how many points were left until then.
    #[unsafe(no_mangle)]
    pub extern "C" fn gloom_panic_tests_arm(at: u64) -> u64 {
        LEFT.swap(at, Relaxed)
    }
}
