//! Any number of writers, lock-free.

use crate::error::Error;
use crate::kernel::Kernel;
use crate::memory::Block;
use crate::sync::{AtomicU64, Ordering::Relaxed, thread_number};

const MAX_STRIPES: u64 = 64;

/// The count is striped by thread: one counter would be a line that every writer fights for (with two
/// threads, 106 ns an add instead of 39).
pub(super) struct Atomic {
    stripes: Vec<Stripe>,
}

/// Alone on its line.
#[repr(align(64))]
struct Stripe(AtomicU64);

impl Atomic {
    pub fn new(num_blocks: u64) -> Result<Atomic, Error> {
        // A small filter gets few stripes: its writers fight for its blocks anyway.
        let stripes = (num_blocks / 16).clamp(1, MAX_STRIPES).next_power_of_two();
        super::filled(stripes as usize, || Stripe(AtomicU64::new(0))).map(|stripes| Atomic { stripes })
    }

    #[inline]
    pub fn add(&self, kernel: &Kernel, block: &Block, probe: u32) -> bool {
        self.count_many(1);
        kernel.set_shared(block, probe)
    }

    #[inline]
    pub fn count_many(&self, keys: u64) {
        // The number of stripes is a power of two.
        let stripe = thread_number() & (self.stripes.len() - 1);
        self.stripes[stripe].0.fetch_add(keys, Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.stripes.iter().fold(0, |sum: u64, stripe| sum.saturating_add(stripe.0.load(Relaxed)))
    }

    pub fn reset_count(&self) {
        for stripe in &self.stripes {
            stripe.0.store(0, Relaxed);
        }
    }

    pub fn bytes(&self) -> usize {
        self.stripes.len() * size_of::<Stripe>()
    }
}
