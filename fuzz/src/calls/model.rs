//! What filters and files should be.

use crate::definition::{self, Bits};
use crate::format::Image;
use gloom::KeyHash;
use gloom::capi::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Bytes(Vec<u8>),
    Hash(u64, u64),
}

impl Key {
    pub fn hash(&self, plan: &Plan) -> KeyHash {
        match self {
            Key::Bytes(key) => definition::hash(key, plan.hash, plan.seed),
            &Key::Hash(lo, hi) => KeyHash { lo, hi },
        }
    }
}

/// Bits and the keys that set them; those that map one file share them.
#[derive(Clone, Default)]
pub struct Content {
    pub bits: RefCell<Vec<Bits>>,
    pub keys: RefCell<HashSet<Key>>,
}

/// What a filter was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub num_blocks: u64,
    pub k: u32,
    pub hash: u32,
    pub seed: u64,
    pub expected_items: u64,
    pub fp_rate: f64,
}

impl Plan {
    pub fn matches(&self, other: &Plan) -> bool {
        (self.num_blocks, self.k, self.hash, self.seed) == (other.num_blocks, other.k, other.hash, other.seed)
    }
}

pub struct Model {
    pub kind: i32,
    pub num_shards: u32,
    pub plan: Plan,
    pub content: Rc<Content>,
    /// The count, as far as it is not in a file.
    pub own: u64,
    /// The file that is mapped, and whether for writing.
    pub file: Option<(Rc<State>, bool)>,
}

/// What changes in a native file.
#[derive(Default)]
pub struct State {
    pub clean: Cell<u64>,
    pub live: Cell<u64>,
    pub writers: Cell<u32>,
}

pub struct File {
    pub format: i32,
    pub plan: Plan,
    pub content: Rc<Content>,
    pub state: Rc<State>,
}

impl State {
    pub fn count(&self) -> u64 {
        self.clean.get().wrapping_add(self.live.get())
    }
}

impl File {
    pub fn writers(&self) -> u32 {
        self.state.writers.get()
    }

    /// What is in the file; its count is that from when the file was last clean.
    pub fn image(&self) -> Image {
        image(self.format, &self.plan, self.state.clean.get(), &self.content)
    }
}

fn image(format: i32, plan: &Plan, count: u64, content: &Content) -> Image {
    let is_native = format == GLOOM_FORMAT_NATIVE;
    Image {
        format,
        k: plan.k,
        num_blocks: plan.num_blocks,
        hash: plan.hash,
        seed: plan.seed,
        // Format v1 has no place for them.
        expected_items: if is_native { plan.expected_items } else { 0 },
        fp_rate: if is_native { plan.fp_rate } else { 0.0 },
        count,
        live: 0,
        dirty: false,
        bytes: plan.num_blocks * 64 + if is_native { 65552 } else { 25 },
        blocks: content.bits.borrow().clone(),
    }
}

impl Model {
    pub fn new(kind: i32, num_shards: u32, plan: Plan) -> Model {
        let content = Content::default();
        content.bits.borrow_mut().resize(plan.num_blocks as usize, [0; 8]);
        Model { kind, num_shards, plan, content: Rc::new(content), own: 0, file: None }
    }

    pub fn is_read_only(&self) -> bool {
        matches!(self.file, Some((_, false)))
    }

    pub fn count(&self) -> u64 {
        self.file.as_ref().map_or(0, |(state, _)| state.count()).saturating_add(self.own)
    }

    pub fn image(&self, format: i32) -> Image {
        image(format, &self.plan, self.count(), &self.content)
    }

    pub fn test(&self, key: &Key) -> bool {
        definition::test(&self.content.bits.borrow(), self.plan.k, key.hash(&self.plan))
    }

    /// True if it was new.
    pub fn add(&mut self, key: Key) -> bool {
        let hash = key.hash(&self.plan);
        self.content.keys.borrow_mut().insert(key);
        self.own = self.own.saturating_add(1);
        definition::add(&mut self.content.bits.borrow_mut(), self.plan.k, hash)
    }

    pub fn set_count(&mut self, count: u64) {
        if let Some((state, _)) = &self.file {
            state.live.set(state.clean.get().wrapping_neg());
        }
        self.own = count;
    }

    /// What is left of the file once the filter is freed.
    pub fn close(self) {
        if let Some((state, true)) = &self.file {
            let count = state.count().saturating_add(self.own);
            state.live.set(count.wrapping_sub(state.clean.get()));
            state.writers.set(state.writers.get() - 1);
            if state.writers.get() == 0 {
                state.clean.set(count);
                state.live.set(0);
            }
        }
    }
}
