//! What is done to whole filters: merge, intersect, fold, clear, clone, compare.

use super::{Filter, Kind, Options, Size, Writer};
use crate::error::Error;
use crate::hash::HashKind;
use crate::kernel::read_block;
use crate::memory::Block;
use crate::panics::may_panic;
use crate::sync::Ordering::Relaxed;
use std::ops::Range;

impl Filter {
    /// Adds all keys of `source` to this filter, whose count rises by the source's. Others may write
    /// either meanwhile (of a plain target: nobody). Merging a filter with itself changes nothing.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the number of blocks, k, the hash or the seed differ, [`Error::ReadOnly`]; nothing
    /// is changed then.
    pub fn merge(&self, source: &Filter) -> Result<(), Error> {
        self.check_writable()?;
        self.check_compatible(source)?;
        if std::ptr::eq(self, source) {
            return Ok(());
        }
        let count = source.count();
        self.merge_blocks(0, &source.blocks);
        self.carry(count);
        Ok(())
    }

    /// Adds the bits of `sources` to as many blocks from number `first` on.
    pub(crate) fn merge_blocks(&self, first: usize, sources: &[Block]) {
        let is_shared = matches!(self.writer, Writer::Atomic(_));
        self.for_each_owned_range(first..first + sources.len(), |range| {
            let sources = &sources[range.start - first..range.end - first];
            let targets = &self.blocks[range];
            if is_shared {
                self.kernel.or_all_shared(targets, sources);
            } else {
                self.kernel.or_all(targets, sources);
            }
        });
    }

    /// Keeps only what `source` has, too: about the keys that were added to both. (A few more: its
    /// false-positive rate is that of the smaller of the two at best.) The count becomes the smaller one.
    /// The caller sees to it that nobody else writes this filter meanwhile; `source` may be live.
    ///
    /// # Errors
    /// As [`merge`](Filter::merge).
    pub fn intersect(&self, source: &Filter) -> Result<(), Error> {
        self.check_writable()?;
        self.check_compatible(source)?;
        if std::ptr::eq(self, source) {
            return Ok(());
        }
        let count = source.count().min(self.count());
        self.for_each_owned_range(0..self.blocks.len(), |range| {
            self.kernel.and_all(&self.blocks[range.clone()], &source.blocks[range]);
        });
        self.reset_count();
        self.carry(count);
        Ok(())
    }

    /// A filter of the same kind with `factor` times fewer blocks that holds the same keys, at a higher
    /// false-positive rate: each of its blocks is the union of `factor` neighbours. That is right because
    /// the block of a key is `floor(hash * num_blocks / 2^64)`, so that block b becomes `floor(b / factor)`.
    /// The count is kept. Others may write this filter meanwhile.
    ///
    /// # Errors
    /// [`Error::Argument`] unless `factor` divides the number of blocks; [`Error::OutOfMemory`].
    pub fn fold(&self, factor: u64) -> Result<Filter, Error> {
        if factor == 0 || !self.num_blocks().is_multiple_of(factor) {
            let allowed = "a divisor of the number of blocks (see block_multiple)";
            return Err(Error::Argument { name: "factor", value: factor.into(), allowed });
        }
        let count = self.count();
        let folded = self.empty_like(self.num_blocks() / factor)?;
        let factor = factor as usize;
        for (target, sources) in folded.blocks.chunks(1).zip(self.blocks.chunks(factor)) {
            for source in sources.chunks(1) {
                self.kernel.or_all(target, source);
            }
        }
        folded.carry(count);
        Ok(folded)
    }

    /// Removes all keys. The caller sees to it that nobody else writes meanwhile.
    pub fn clear(&self) {
        self.for_each_owned_range(0..self.blocks.len(), |range| {
            for word in self.blocks[range].iter().flat_map(|block| &block.words) {
                // Pages that were never written stay untouched.
                if word.load(Relaxed) != 0 {
                    word.store(0, Relaxed);
                }
            }
        });
        self.reset_count();
    }

    fn reset_count(&self) {
        match &self.writer {
            Writer::Plain(plain) => plain.reset_count(),
            Writer::Atomic(atomic) => atomic.reset_count(),
            Writer::Sharded(sharded) => {
                (0..sharded.num_shards() as usize).for_each(|shard| sharded.own(shard).reset_count());
            }
            Writer::ReadOnly => {}
        }
        self.carried.store(0, Relaxed);
        #[cfg(not(loom))]
        if let (Some(file), Some(mapping)) = (&self.file, self.blocks.mapping()) {
            file.reset_count(mapping);
        }
    }

    /// A copy of the same kind, in memory. Others may write this filter meanwhile.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Filter, Error> {
        let mut copy = self.empty_like(self.num_blocks())?;
        copy.plan(self.expected_items, self.fp_rate);
        let count = self.count();
        // Nobody else has the copy, so it needs neither atomic ORs nor owners. Clear words are not written, so
        // that clear pages stay untouched.
        copy.kernel.or_all(&copy.blocks, &self.blocks);
        copy.carry(count);
        Ok(copy)
    }

    /// An empty filter of the same kind and k, and with the same hash and seed.
    fn empty_like(&self, num_blocks: u64) -> Result<Filter, Error> {
        let is_sharded = self.kind() == Kind::Sharded;
        Filter::create(&Options {
            kind: self.kind(),
            size: Size::Blocks { num_blocks, k: self.k },
            // A folded filter has room for fewer shards.
            num_shards: if is_sharded && u64::from(self.num_shards()) <= num_blocks {
                self.num_shards()
            } else {
                0
            },
            seed: self.seed,
            hash: self.hash_kind,
            max_bytes: 0,
            block_multiple: 0,
            small_pages: self.small_pages,
        })
    }

    /// Lets `write` overwrite all blocks, as bytes and up to `count` at a time, of a filter that is in memory.
    pub(crate) fn overwrite_blocks(
        &mut self,
        count: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let len = self.blocks.len();
        (0..len)
            .step_by(count)
            .try_for_each(|first| self.blocks.overwrite(first..len.min(first + count), &mut write))
    }

    pub(crate) fn check_compatible(&self, source: &Filter) -> Result<(), Error> {
        self.check_matches(source.num_blocks(), source.k, source.hash_kind, source.seed)
    }

    /// Refuses a source of another geometry, hash or seed.
    pub(crate) fn check_matches(
        &self,
        num_blocks: u64,
        k: u32,
        hash: HashKind,
        seed: u64,
    ) -> Result<(), Error> {
        let properties = [
            ("num_blocks", self.num_blocks(), num_blocks),
            ("k", self.k.into(), k.into()),
            ("the hash (1: XXH3, 2: SipHash)", self.hash_kind.number().into(), hash.number().into()),
            ("seed", self.seed, seed),
        ];
        match properties.into_iter().find(|(_, target, source)| target != source) {
            Some((what, target, source)) => Err(Error::Incompatible { what, target, source }),
            None => Ok(()),
        }
    }

    /// Calls `write` with ranges of blocks, which together are `blocks`, and which this thread owns if the
    /// filter is sharded. One shard at a time, so that no two merges can wait for each other.
    fn for_each_owned_range(&self, blocks: Range<usize>, write: impl Fn(Range<usize>)) {
        match &self.writer {
            Writer::Plain(_) | Writer::Atomic(_) => write(blocks),
            Writer::Sharded(sharded) => {
                let mut start = blocks.start;
                while start < blocks.end {
                    let shard = sharded.shard_of(start);
                    let end = sharded.blocks_of(shard).end.min(blocks.end);
                    let _owner = sharded.own(shard);
                    may_panic();
                    write(start..end);
                    start = end;
                }
            }
            Writer::ReadOnly => super::refuse_to_write(),
        }
    }
}

/// The same blocks, k, hash, seed and bits; the kinds and counts may differ.
impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        self.check_compatible(other).is_ok()
            && self.blocks.iter().zip(other.blocks.iter()).all(|(a, b)| read_block(a) == read_block(b))
    }
}
