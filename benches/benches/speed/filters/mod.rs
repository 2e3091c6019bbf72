//! The filters that are compared. An adapter for each, and a list of what is measured of it.

mod c_abi;
mod peers;
mod rust_core;

pub use c_abi::simd_level;

use c_abi::Handle;
use gloom_benches::keys::{Bytes, KeySet};
use gloom_benches::{Work, name};
use peers::{BloomFilter, FastBloom, FastBloomAtomic, FastBloomXxh3, Locked, Sbbf};
use xxhash_rust::xxh3::xxh3_128;

/// A filter that is handed all keys.
pub trait Filter<K> {
    fn add_all(&mut self, keys: K);
    /// Returns the number of hits. `results` has a byte for each key, for filters that answer in batches.
    fn test_all(&self, keys: K, results: &mut [u8]) -> usize;
    fn clear(&mut self);
    fn bits(&self) -> u64;
}

/// A filter that many threads may write.
pub trait SharedFilter<K>: Filter<K> + Sync {
    fn add_all_shared(&self, keys: K);
}

/// A filter that takes one key at a time.
pub trait OneKey<Key: ?Sized> {
    fn add(&mut self, key: &Key);
    fn test(&self, key: &Key) -> bool;
    fn clear(&mut self);
    fn bits(&self) -> u64;
}

/// The same for many threads.
pub trait SharedOneKey<Key: ?Sized>: OneKey<Key> + Sync {
    fn add_shared(&self, key: &Key);
}

/// Hands over all keys one by one.
struct Each<F>(F);

impl<'a, K: KeySet<'a>, F: OneKey<K::Key>> Filter<K> for Each<F> {
    fn add_all(&mut self, keys: K) {
        for key in keys.iter() {
            self.0.add(key);
        }
    }

    fn test_all(&self, keys: K, _: &mut [u8]) -> usize {
        keys.iter().map(|key| usize::from(self.0.test(key))).sum()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.bits()
    }
}

impl<'a, K: KeySet<'a>, F: SharedOneKey<K::Key>> SharedFilter<K> for Each<F> {
    fn add_all_shared(&self, keys: K) {
        for key in keys.iter() {
            self.0.add_shared(key);
        }
    }
}

/// The hash that gloom begins with, alone.
pub fn hash_all<'a, K: KeySet<'a>>(keys: K) -> u128 {
    keys.iter().fold(0, |all, key| all ^ xxh3_128(key.bytes()))
}

/// A filter and what is measured of it.
pub struct Entry<F: ?Sized> {
    pub name: &'static str,
    pub batch: bool,
    pub works: &'static [Work],
    /// Makes it for so many keys and a rate.
    pub make: fn(usize, f64) -> Box<F>,
}

impl<F: ?Sized> Entry<F> {
    fn single(name: &'static str, works: &'static [Work], make: fn(usize, f64) -> Box<F>) -> Entry<F> {
        Entry { name, batch: false, works, make }
    }

    fn batch(name: &'static str, works: &'static [Work], make: fn(usize, f64) -> Box<F>) -> Entry<F> {
        Entry { name, batch: true, works, make }
    }
}

const ALL: &[Work] = &[Work::TestHit, Work::TestMiss, Work::Add];
const HIT_AND_ADD: &[Work] = &[Work::TestHit, Work::Add];
const ADD: &[Work] = &[Work::Add];

/// What one thread does. Tests by gloom are measured with one kind: to readers the kinds are the same.
pub fn for_one_thread<'a, K: KeySet<'a>>() -> Vec<Entry<dyn Filter<K>>> {
    use {c_abi::InBatches, c_abi::Single, name::*};
    vec![
        Entry::single(PLAIN, ADD, |n, p| Box::new(Each(Single::new(Handle::plain(n, p))))),
        Entry::single(ATOMIC, ALL, |n, p| Box::new(Each(Single::new(Handle::atomic(n, p))))),
        Entry::single(SHARDED, ADD, |n, p| Box::new(Each(Single::new(Handle::sharded(n, p))))),
        Entry::single(FROM_RUST, ALL, |n, p| Box::new(Each(rust_core::Single::new(n, p)))),
        Entry::single(MUTEX, ALL, |n, p| Box::new(Each(Locked::new(n, p)))),
        Entry::single(FASTBLOOM, ALL, |n, p| Box::new(Each(FastBloom::new(n, p)))),
        Entry::single(FASTBLOOM_XXH3, ALL, |n, p| Box::new(Each(FastBloomXxh3::new(n, p)))),
        Entry::single(FASTBLOOM_ATOMIC, ALL, |n, p| Box::new(Each(FastBloomAtomic::new(n, p)))),
        Entry::single(SBBF, ALL, |n, p| Box::new(Each(Sbbf::new(n, p)))),
        Entry::single(BLOOMFILTER, ALL, |n, p| Box::new(Each(BloomFilter::<K::Key>::new(n, p)))),
        Entry::batch(PLAIN, ADD, |n, p| Box::new(InBatches(Handle::plain(n, p)))),
        Entry::batch(ATOMIC, ALL, |n, p| Box::new(InBatches(Handle::atomic(n, p)))),
        Entry::batch(SHARDED, ADD, |n, p| Box::new(InBatches(Handle::sharded(n, p)))),
        Entry::batch(FROM_RUST, ALL, |n, p| Box::new(rust_core::InBatches::new(n, p))),
    ]
}

/// What two threads do.
pub fn for_two_threads<'a, K: KeySet<'a>>() -> Vec<Entry<dyn SharedFilter<K>>> {
    use {c_abi::InBatches, c_abi::Single, name::*};
    vec![
        Entry::single(ATOMIC, HIT_AND_ADD, |n, p| Box::new(Each(Single::new(Handle::atomic(n, p))))),
        Entry::single(SHARDED, ADD, |n, p| Box::new(Each(Single::new(Handle::sharded(n, p))))),
        Entry::single(MUTEX, HIT_AND_ADD, |n, p| Box::new(Each(Locked::new(n, p)))),
        Entry::single(FASTBLOOM_ATOMIC, HIT_AND_ADD, |n, p| Box::new(Each(FastBloomAtomic::new(n, p)))),
        Entry::batch(ATOMIC, HIT_AND_ADD, |n, p| Box::new(InBatches(Handle::atomic(n, p)))),
        Entry::batch(SHARDED, ADD, |n, p| Box::new(InBatches(Handle::sharded(n, p)))),
    ]
}
