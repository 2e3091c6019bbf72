//! Which core a thread runs on. `taskset -c 2,3 make bench` chooses them.

pub use core_affinity::CoreId;

pub struct Cores(Vec<CoreId>);

impl Cores {
    /// Asked once, before a thread is pinned.
    pub fn of_this_process() -> Cores {
        Cores(core_affinity::get_core_ids().unwrap_or_default())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn first(&self) -> Option<CoreId> {
        self.0.first().copied()
    }

    /// Two of them, if there are two.
    pub fn two(&self) -> Option<[CoreId; 2]> {
        self.0.first_chunk().copied()
    }
}

/// Keeps the current thread on a core, where the system allows that: without, there is more noise.
pub fn pin(core: CoreId) {
    core_affinity::set_for_current(core);
}
