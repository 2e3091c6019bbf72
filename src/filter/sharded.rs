//! Any number of writers; each owns the shard it writes for the few stores it makes.
//!
//! A locked OR costs about 8 ns even where nobody else writes, and a new key needs four to five of them.
//! One exchange to take a shard and one store to give it back replace them all. Readers do not look at
//! owners, so they never wait.
//!
//! No deadlock: a writer owns one shard at a time and waits for nothing while it does.

use crate::error::Error;
use crate::kernel::Kernel;
use crate::memory::{Block, processors};
use crate::sync::{AtomicBool, AtomicU64, Backoff, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::ops::Range;

/// The most shards a filter can have.
pub(super) const MAX_SHARDS: u32 = 65536;

pub(super) struct Sharded {
    shards: Vec<Shard>,
    num_blocks: u64,
    /// Shards per block, as a fraction of 2^63.
    shards_per_block: u64,
}

/// One contiguous range of blocks: who writes it, and how many keys were added to it. Alone on its line.
#[repr(align(64))]
struct Shard {
    owned: AtomicBool,
    count: AtomicU64,
}

impl Shard {
    /// Takes it, unless it is owned. Not by `swap`, which would also write where it fails: loom does not know
    /// that the owner's release comes after such a write, and so finds waits without end.
    #[inline]
    fn take(&self) -> bool {
        self.owned.compare_exchange(false, true, Acquire, Relaxed).is_ok()
    }
}

/// The right to write the blocks of one shard.
pub(super) struct Owner<'a>(&'a Shard);

impl Sharded {
    /// `num_shards` has been checked; 0 lets this choose.
    pub fn new(num_blocks: u64, num_shards: u32) -> Result<Sharded, Error> {
        let num_shards = if num_shards == 0 { suitable_shards(num_blocks) } else { num_shards };
        let shard = || Shard { owned: AtomicBool::new(false), count: AtomicU64::new(0) };
        Ok(Sharded {
            shards: super::filled(num_shards as usize, shard)?,
            num_blocks,
            // At most num_shards * 2^63 / num_shards, so it fits.
            shards_per_block: ((u128::from(num_shards) << 63) / u128::from(num_blocks)) as u64,
        })
    }

    /// The shard of a block: `floor(block * num_shards / num_blocks)` (or one less where the
    /// fraction was rounded down), by multiplication. Rises with the block, so that shards are contiguous.
    #[inline]
    pub fn shard_of(&self, block: usize) -> usize {
        // Doubled, so that the fraction of 2^63 becomes the high half of a product.
        ((block as u128 * 2 * u128::from(self.shards_per_block)) >> 64) as usize
    }

    /// The blocks of a shard.
    pub fn blocks_of(&self, shard: usize) -> Range<usize> {
        // The first block of shard s is the smallest b with floor(b * shards_per_block / 2^63) >= s.
        let first = |shard: usize| {
            let first = ((shard as u128) << 63).div_ceil(u128::from(self.shards_per_block));
            first.min(self.num_blocks.into()) as usize
        };
        let end = if shard + 1 == self.shards.len() { self.num_blocks as usize } else { first(shard + 1) };
        first(shard)..end
    }

    /// Waits until nobody else owns the shard.
    #[inline]
    pub fn own(&self, shard: usize) -> Owner<'_> {
        let shard = &self.shards[shard];
        if !shard.take() {
            wait_for(shard);
        }
        Owner(shard)
    }

    /// The shard, unless somebody owns it.
    #[inline]
    pub fn try_own(&self, shard: usize) -> Option<Owner<'_>> {
        let shard = &self.shards[shard];
        shard.take().then(|| Owner(shard))
    }

    #[inline]
    pub fn add(&self, kernel: &Kernel, index: usize, block: &Block, probe: u32) -> bool {
        let owner = self.own(self.shard_of(index));
        owner.count(1);
        kernel.set(block, probe)
    }

    pub fn count(&self) -> u64 {
        self.shards.iter().fold(0, |sum: u64, shard| sum.saturating_add(shard.count.load(Relaxed)))
    }

    pub fn num_shards(&self) -> u32 {
        self.shards.len() as u32
    }

    pub fn bytes(&self) -> usize {
        self.shards.len() * size_of::<Shard>()
    }
}

impl Owner<'_> {
    /// Counts keys.
    #[inline]
    pub fn count(&self, keys: u64) {
        self.0.count.store(self.0.count.load(Relaxed).saturating_add(keys), Relaxed);
    }

    pub fn reset_count(&self) {
        self.0.count.store(0, Relaxed);
    }
}

impl Drop for Owner<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.owned.store(false, Release);
    }
}

/// Looks before it tries again, so that waiting threads do not take the line from the owner.
#[cold]
fn wait_for(shard: &Shard) {
    let mut backoff = Backoff::default();
    loop {
        backoff.wait();
        if !shard.owned.load(Relaxed) && shard.take() {
            return;
        }
    }
}

/// So many shards that writers on all processors rarely meet, but none of less than 16 blocks.
fn suitable_shards(num_blocks: u64) -> u32 {
    let wanted = (processors().saturating_mul(16).next_power_of_two() as u64).clamp(64, 1024);
    let most = super::floor_power_of_two((num_blocks / 16).clamp(1, MAX_SHARDS.into()) as u32);
    wanted.min(most.into()) as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn shards_are_contiguous_and_cover_all_blocks() {
        for num_blocks in [1, 2, 3, 5, 16, 100, 1000, 65536, 65537, 100_003] {
            for num_shards in (0..=16).map(|e| 1 << e).filter(|&s| u64::from(s) <= num_blocks) {
                let sharded = Sharded::new(num_blocks, num_shards).unwrap();
                let mut next = 0;
                for shard in 0..num_shards as usize {
                    let range = sharded.blocks_of(shard);
                    assert_eq!(range.start, next);
                    assert!(range.clone().all(|block| sharded.shard_of(block) == shard));
                    // None is more than a block larger than its share.
                    assert!(range.len() as u64 <= num_blocks / u64::from(num_shards) + 1);
                    next = range.end;
                }
                assert_eq!(next as u64, num_blocks);
            }
        }
    }

    /// No filter of these sizes is made; only the index is computed.
    #[test]
    fn shards_stay_in_range_for_any_number_of_blocks() {
        for num_blocks in [(1u64 << 32) + 1, (1 << 50) - 1, 1 << 57] {
            for num_shards in [1, 64, 65536] {
                let sharded = Sharded::new(num_blocks, num_shards).unwrap();
                assert_eq!(sharded.shard_of(0), 0);
                assert_eq!(sharded.shard_of(num_blocks as usize - 1), num_shards as usize - 1);
                let mut next = 0;
                for shard in 0..num_shards as usize {
                    let range = sharded.blocks_of(shard);
                    assert_eq!(range.start, next);
                    assert_eq!(sharded.shard_of(range.start), shard);
                    assert_eq!(sharded.shard_of(range.end - 1), shard);
                    next = range.end;
                }
                assert_eq!(next as u64, num_blocks);
            }
        }
    }

    #[test]
    fn the_number_of_shards_suits_the_size() {
        for (num_blocks, most) in [(1, 1), (16, 1), (31, 1), (32, 2), (1000, 32)] {
            assert_eq!(suitable_shards(num_blocks), most);
        }
        assert!((64..=1024).contains(&suitable_shards(1 << 40)));
    }
}
