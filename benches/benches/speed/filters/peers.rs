//! Filters of others, and gloom behind a lock. All are called once for each key: none has batches.

use super::{OneKey, SharedOneKey, c_abi};
use gloom_benches::keys::Bytes;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// What a program does that has no filter made for threads.
pub struct Locked(Mutex<c_abi::Single>);

impl Locked {
    pub fn new(n: usize, p: f64) -> Locked {
        Locked(Mutex::new(c_abi::Single::new(c_abi::Handle::plain(n, p))))
    }

    fn with<T>(&self, work: impl FnOnce(&mut c_abi::Single) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<Key: ?Sized + Bytes> OneKey<Key> for Locked {
    fn add(&mut self, key: &Key) {
        self.add_shared(key);
    }

    fn test(&self, key: &Key) -> bool {
        self.with(|filter| filter.test(key))
    }

    fn clear(&mut self) {
        self.with(OneKey::<Key>::clear);
    }

    fn bits(&self) -> u64 {
        self.with(|filter| OneKey::<Key>::bits(filter))
    }
}

impl<Key: ?Sized + Bytes> SharedOneKey<Key> for Locked {
    fn add_shared(&self, key: &Key) {
        self.with(|filter| filter.add(key));
    }
}

/// fastbloom as it comes: with SipHash-1-3.
pub struct FastBloom(fastbloom::BloomFilter);

/// fastbloom, given the XXH3-64 hash of each key.
pub struct FastBloomXxh3(fastbloom::BloomFilter);

/// Its kind for many threads.
pub struct FastBloomAtomic(fastbloom::AtomicBloomFilter);

/// Always the same seed, so that each run finds the same false positives.
const SEED: u128 = 0;

impl FastBloom {
    pub fn new(n: usize, p: f64) -> FastBloom {
        FastBloom(fastbloom::BloomFilter::with_false_pos(p).seed(&SEED).expected_items(n))
    }
}

impl FastBloomXxh3 {
    pub fn new(n: usize, p: f64) -> FastBloomXxh3 {
        FastBloomXxh3(FastBloom::new(n, p).0)
    }
}

impl FastBloomAtomic {
    pub fn new(n: usize, p: f64) -> FastBloomAtomic {
        FastBloomAtomic(fastbloom::AtomicBloomFilter::with_false_pos(p).seed(&SEED).expected_items(n))
    }
}

impl<Key: ?Sized + Hash> OneKey<Key> for FastBloom {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.0.insert(key);
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.contains(key)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

impl<Key: ?Sized + Bytes> OneKey<Key> for FastBloomXxh3 {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.0.insert_hash(xxh3_64(key.bytes()));
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.contains_hash(xxh3_64(key.bytes()))
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

impl<Key: ?Sized + Hash> OneKey<Key> for FastBloomAtomic {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.add_shared(key);
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.contains(key)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

impl<Key: ?Sized + Hash> SharedOneKey<Key> for FastBloomAtomic {
    #[inline]
    fn add_shared(&self, key: &Key) {
        self.0.insert(key);
    }
}

/// The split block filter of Parquet. It wants hashes and gets XXH3-64, as Parquet does.
pub struct Sbbf(sbbf_rs_safe::Filter);

impl Sbbf {
    pub fn new(n: usize, p: f64) -> Sbbf {
        // Parquet's formula. The crate takes whole bits.
        let bits_per_key = -8.0 / (1.0 - p.powf(1.0 / 8.0)).ln();
        Sbbf(sbbf_rs_safe::Filter::new(bits_per_key.ceil() as usize, n))
    }
}

impl<Key: ?Sized + Bytes> OneKey<Key> for Sbbf {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.0.insert_hash(xxh3_64(key.bytes()));
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.contains_hash(xxh3_64(key.bytes()))
    }

    fn clear(&mut self) {
        self.0.reset();
    }

    fn bits(&self) -> u64 {
        self.0.as_bytes().len() as u64 * 8
    }
}

/// The crate of that name: a classic filter, with SipHash-1-3.
pub struct BloomFilter<Key: ?Sized>(bloomfilter::Bloom<Key>);

impl<Key: ?Sized> BloomFilter<Key> {
    pub fn new(n: usize, p: f64) -> BloomFilter<Key> {
        // The two halves key two hashes, which must differ.
        let seed = std::array::from_fn(|i| i as u8);
        let filter = bloomfilter::Bloom::new_for_fp_rate_with_seed(n, p, &seed);
        BloomFilter(filter.expect("the filter can be made"))
    }
}

impl<Key: ?Sized + Hash> OneKey<Key> for BloomFilter<Key> {
    #[inline]
    fn add(&mut self, key: &Key) {
        self.0.set(key);
    }

    #[inline]
    fn test(&self, key: &Key) -> bool {
        self.0.check(key)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn bits(&self) -> u64 {
        self.0.len()
    }
}
