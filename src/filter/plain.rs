//! One writer at a time: loads and stores, no locked instruction.

use crate::kernel::Kernel;
use crate::memory::Block;
use crate::sync::{AtomicU64, Ordering::Relaxed};

/// Alone on its line: the writer changes the count at each add, and readers must not lose the line with
/// the rest of the filter for that.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Plain {
    count: AtomicU64,
}

impl Plain {
    #[inline]
    pub fn add(&self, kernel: &Kernel, block: &Block, probe: u32) -> bool {
        self.count_many(1);
        kernel.set(block, probe)
    }

    #[inline]
    pub fn count_many(&self, keys: u64) {
        self.count.store(self.count.load(Relaxed).saturating_add(keys), Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    pub fn reset_count(&self) {
        self.count.store(0, Relaxed);
    }
}
