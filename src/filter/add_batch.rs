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
        if keys.are_all_empty() {
            self.add_empty_keys(keys.len() as u64);
            return;
        }
        let (kernel, blocks) = (&self.kernel, &self.blocks);
        match &self.writer {
            Writer::Plain(plain) => {
                self.for_each_group(keys, |_, group, ahead| {
                    kernel.set_many(blocks, group.indices(), group.probes(), ahead.indices());
                });
                plain.count_many(keys.len() as u64);
            }
            Writer::Atomic(atomic) => {
                self.for_each_group(keys, |_, group, ahead| {
                    kernel.set_many_shared(blocks, group.indices(), group.probes(), ahead.indices());
                });
                atomic.count_many(keys.len() as u64);
            }
            Writer::Sharded(sharded) => self.add_by_shard(sharded, keys),
            Writer::ReadOnly => super::refuse_to_write(),
        }
    }

    fn add_empty_keys(&self, times: u64) {
        if let Some(more) = times.checked_sub(1) {
            self.add(b"");
            self.carry(more);
        }
    }

    /// Adds the keys of one bucket: false if its shard is taken.
    #[inline]
    fn add_to_bucket(&self, sharded: &Sharded, indices: &[u64], probes: &[u32], ahead: &[u64]) -> bool {
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
        self.kernel.set_many(&self.blocks, indices, probes, ahead);
        true
    }

    // Not inlined, so that batches into other filters do without its arrays: 50 KiB of the stack.
    #[inline(never)]
    fn add_by_shard(&self, sharded: &Sharded, keys: Keys<'_>) {
        let buckets = Buckets::of(sharded);
        let mut round = Round::new();
        let mut sorted = Sorted { indices: [0; ROUND], probes: [0; ROUND] };
        let mut group = Located::new();
        for first in (0..keys.len()).step_by(GROUP) {
            self.hash_group(keys, first, &mut group);
            round.push(&group, |index| buckets.bucket_of(index));
            if round.is_full() || first + GROUP >= keys.len() {
                let ends = round.sort_into(&mut sorted);
                self.add_sorted(sharded, buckets.count, &sorted, &ends);
                round.clear();
            }
        }
    }

    /// Adds keys that are sorted by bucket, of which each ends at its end. Takes each shard once; shards that
    /// others own are left for later.
    fn add_sorted(&self, sharded: &Sharded, buckets: usize, sorted: &Sorted, ends: &[u16; BUCKETS]) {
        let len = usize::from(ends[buckets - 1]);
        let indices = |start: usize, end: usize| &sorted.indices[start.min(len)..end.min(len)];
        prefetch(&self.blocks, indices(0, KEYS_AHEAD), For::Writing);
        let mut waiting: [usize; BUCKETS] = std::array::from_fn(|bucket| bucket);
        let mut left = buckets;
        let mut backoff = Backoff::default();
        while left > 0 {
            let before = left;
            left = 0;
            for i in 0..before {
                let bucket = waiting[i];
                let start = if bucket == 0 { 0 } else { usize::from(ends[bucket - 1]) };
                let end = usize::from(ends[bucket]);
                let probes = &sorted.probes[start..end];
                let ahead = indices(start + KEYS_AHEAD, end + KEYS_AHEAD);
                if !self.add_to_bucket(sharded, indices(start, end), probes, ahead) {
                    waiting[left] = bucket;
                    left += 1;
                }
            }
            if left == before {
                backoff.wait();
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

/// Which bucket a key goes to. The first one is that of a shard of this thread's own, so that threads do not
/// follow one another.
struct Buckets<'a> {
    sharded: &'a Sharded,
    count: usize,
    shift: u32,
    first: usize,
}

impl Buckets<'_> {
    fn of(sharded: &Sharded) -> Buckets<'_> {
        let shards = sharded.num_shards() as usize;
        let count = shards.min(BUCKETS);
        // Both are powers of two.
        Buckets { sharded, count, shift: (shards / count).ilog2(), first: thread_number() }
    }

    #[inline(always)]
    fn bucket_of(&self, index: u64) -> usize {
        let shard = self.sharded.shard_of(index as usize);
        (shard >> self.shift).wrapping_sub(self.first) & (self.count - 1)
    }
}

/// Keys as they come, with the bucket of each, and how many each bucket has.
struct Round {
    indices: [u64; ROUND],
    probes: [u32; ROUND],
    buckets: [u8; ROUND],
    counts: [u16; BUCKETS],
    len: usize,
}

/// Keys by bucket.
struct Sorted {
    indices: [u64; ROUND],
    probes: [u32; ROUND],
}

impl Round {
    fn new() -> Round {
        Round { indices: [0; ROUND], probes: [0; ROUND], buckets: [0; ROUND], counts: [0; BUCKETS], len: 0 }
    }

    fn clear(&mut self) {
        self.counts = [0; BUCKETS];
        self.len = 0;
    }

    fn push(&mut self, group: &Located, bucket_of: impl Fn(u64) -> usize) {
        let keys = self.len..self.len + group.len();
        self.len = keys.end;
        let places = self.indices[keys.clone()].iter_mut().zip(&mut self.probes[keys.clone()]);
        let places = places.zip(&mut self.buckets[keys]);
        for ((&index, &probe), place) in group.indices().iter().zip(group.probes()).zip(places) {
            let bucket = bucket_of(index) as u8;
            let ((to_index, to_probe), to_bucket) = place;
            (*to_index, *to_probe, *to_bucket) = (index, probe, bucket);
            self.counts[usize::from(bucket)] += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.len + GROUP > ROUND
    }

    /// Counting sort. Returns the end of each bucket.
    fn sort_into(&self, sorted: &mut Sorted) -> [u16; BUCKETS] {
        // Where the next key of each bucket goes, and so in the end their ends.
        let mut ends = self.counts;
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let keys = self.indices[..self.len].iter().zip(&self.probes).zip(&self.buckets);
        for ((&index, &probe), &bucket) in keys {
            let end = &mut ends[usize::from(bucket)];
            sorted.indices[usize::from(*end)] = index;
            sorted.probes[usize::from(*end)] = probe;
            *end += 1;
        }
        ends
    }
}
