//! Adding many keys, by each of the three ways of writing.

use super::sharded::Sharded;
use super::{Filter, Writer};
use crate::kernel::{For, GROUP, Keys, Located, prefetch};
use crate::sync::{Backoff, thread_number};

impl Filter {
    /// Adds many keys; much faster than one by one.
    ///
    /// Threads: as [`add`](Filter::add). The keys become visible in any order.
    pub fn add_batch(&self, keys: Keys<'_>) {
        let (kernel, blocks) = (&self.kernel, &self.blocks);
        match &self.writer {
            Writer::Plain(plain) => {
                self.for_each_group(keys, For::Writing, |_, group| {
                    kernel.set_many(blocks, group.indices(), group.probes());
                });
                plain.count_many(keys.len() as u64);
            }
            Writer::Atomic(atomic) => {
                self.for_each_group(keys, For::Writing, |_, group| {
                    kernel.set_many_shared(blocks, group.indices(), group.probes());
                });
                atomic.count_many(keys.len() as u64);
            }
            Writer::Sharded(sharded) => self.add_by_shard(sharded, keys),
            Writer::ReadOnly => super::refuse_to_write(),
        }
    }

    /// Adds the keys of one bucket: false if its shard is taken.
    #[inline]
    fn add_to_bucket(&self, sharded: &Sharded, (indices, probes): (&[u64], &[u32])) -> bool {
        if sharded.num_shards() as usize > BUCKETS {
            for (&index, &probe) in indices.iter().zip(probes) {
                sharded.add(&self.kernel, index as usize, &self.blocks[index as usize], probe);
            }
            return true;
        }
        let Some(&index) = indices.first() else {
            return true;
        };
        let Some(owner) = sharded.try_own(sharded.shard_of(index as usize)) else {
            return false;
        };
        owner.count(indices.len() as u64);
        self.kernel.set_many(&self.blocks, indices, probes);
        true
    }

    fn add_by_shard(&self, sharded: &Sharded, keys: Keys<'_>) {
        let mut round = Round::new();
        let mut group = Located::new();
        for first in (0..keys.len()).step_by(GROUP) {
            self.hash_group(keys, first, &mut group);
            round.push(&group);
            if round.is_full() || first + GROUP >= keys.len() {
                round.add_to(self, sharded);
                round.len = 0;
            }
        }
    }
}

/// Keys that are sorted by shard before they are added. More would mean fewer changes of owner, but
/// the arrays, 50 KiB in all, lie on the stack and should stay in the second-level cache.
const ROUND: usize = 2048;

/// Buckets of the sort. A filter with more shards has several in a bucket.
const BUCKETS: usize = 256;

/// How far ahead of the key that is added blocks are fetched.
const KEYS_AHEAD: usize = 32;

struct Round {
    indices: [u64; ROUND],
    probes: [u32; ROUND],
    len: usize,
}

impl Round {
    fn new() -> Round {
        Round { indices: [0; ROUND], probes: [0; ROUND], len: 0 }
    }

    fn push(&mut self, group: &Located) {
        let end = self.len + group.len();
        self.indices[self.len..end].copy_from_slice(group.indices());
        self.probes[self.len..end].copy_from_slice(group.probes());
        self.len = end;
    }

    fn is_full(&self) -> bool {
        self.len + GROUP > ROUND
    }

    /// Takes each shard once; shards that others own are left for later. Begins with a shard of this
    /// thread's own, so that threads do not follow one another.
    fn add_to(&self, filter: &Filter, sharded: &Sharded) {
        let buckets = (sharded.num_shards() as usize).min(BUCKETS);
        // Both are powers of two.
        let shift = (sharded.num_shards() as usize / buckets).ilog2();
        let first_bucket = thread_number();
        let bucket_of = |index: u64| {
            (sharded.shard_of(index as usize) >> shift).wrapping_sub(first_bucket) & (buckets - 1)
        };
        let (sorted, ends) = self.sort(bucket_of);

        let mut waiting = [0; BUCKETS];
        let mut left = buckets;
        for (bucket, waiting) in waiting.iter_mut().enumerate() {
            *waiting = bucket;
        }
        let mut fetched = 0;
        let mut backoff = Backoff::default();
        while left > 0 {
            let before = left;
            left = 0;
            for i in 0..before {
                let bucket = waiting[i];
                let start = if bucket == 0 { 0 } else { ends[bucket - 1] as usize };
                let end = ends[bucket] as usize;
                let ahead = (end + KEYS_AHEAD).min(sorted.len);
                if ahead > fetched {
                    prefetch(&filter.blocks, &sorted.indices[fetched..ahead], For::Writing);
                    fetched = ahead;
                }
                let keys = (&sorted.indices[start..end], &sorted.probes[start..end]);
                if !filter.add_to_bucket(sharded, keys) {
                    waiting[left] = bucket;
                    left += 1;
                }
            }
            if left == before {
                backoff.wait();
            }
        }
    }

    /// Counting sort. Also returns the end of each bucket.
    fn sort(&self, bucket_of: impl Fn(u64) -> usize) -> (Round, [u16; BUCKETS]) {
        let mut buckets = [0u8; ROUND];
        // Counts at first, then where the next key of each bucket goes, and so in the end their ends.
        let mut ends = [0u16; BUCKETS];
        for (&index, bucket) in self.indices[..self.len].iter().zip(&mut buckets) {
            *bucket = bucket_of(index) as u8;
            ends[*bucket as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut sorted = Round::new();
        sorted.len = self.len;
        for ((&index, &probe), &bucket) in self.indices[..self.len].iter().zip(&self.probes).zip(&buckets) {
            let end = &mut ends[bucket as usize];
            sorted.indices[*end as usize] = index;
            sorted.probes[*end as usize] = probe;
            *end += 1;
        }
        (sorted, ends)
    }
}
