//! gloom from Rust, where a call may be inlined.

use super::{Filter, OneKey};
use gloom::Keys;
use gloom_benches::keys::{Batch, Bytes, KeySet};

fn atomic(n: usize, p: f64) -> gloom::Filter {
    gloom::Filter::new_atomic(n as u64, p).expect("the filter can be made")
}

/// A call for each key.
pub struct Single(gloom::Filter);

impl Single {
    pub fn new(n: usize, p: f64) -> Single {
        Single(atomic(n, p))
    }
}

impl<Key: ?Sized + Bytes> OneKey<Key> for Single {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.0.add(key.bytes());
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.test(key.bytes())
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.bit_capacity()
    }
}

/// One call for all keys.
pub struct InBatches(gloom::Filter);

impl InBatches {
    pub fn new(n: usize, p: f64) -> InBatches {
        InBatches(atomic(n, p))
    }
}

impl<'a, K: KeySet<'a>> Filter<K> for InBatches {
    fn add_all(&mut self, keys: K) {
        self.0.add_batch(keys_of(keys.batch()));
    }

    fn test_all(&self, keys: K, results: &mut [u8]) -> usize {
        self.0.test_batch(keys_of(keys.batch()), Some(results)).expect("there is a result for each key")
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.bit_capacity()
    }
}

fn keys_of(batch: Batch<'_>) -> Keys<'_> {
    match batch {
        Batch::Offsets32 { data, offsets } => {
            Keys::offsets32(data, offsets).expect("the offsets are in order")
        }
        Batch::Fixed { data, size } => Keys::fixed(data, size).expect("whole keys"),
    }
}
