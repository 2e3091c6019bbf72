//! What is done to whole filters: merge, clear, clone, compare.

use super::{Filter, Kind, Options, Size, Writer};
use crate::error::Error;
use crate::kernel::{or_block, or_block_shared, read_block};
use crate::sync::Ordering::Relaxed;
use std::ops::Range;

impl Filter {
    /// Adds all keys of `source` to this filter, whose count rises by the source's. Others may write
    /// either meanwhile (of a plain target: nobody). Merging a filter with itself changes nothing.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the number of blocks, k or the seed differ; nothing is changed then.
    pub fn merge(&self, source: &Filter) -> Result<(), Error> {
        self.check_compatible(source)?;
        if std::ptr::eq(self, source) {
            return Ok(());
        }
        let count = source.count();
        self.for_each_owned_range(|range| {
            for (target, source) in self.blocks[range.clone()].iter().zip(&source.blocks[range]) {
                match self.writer {
                    Writer::Atomic(_) => or_block_shared(target, &read_block(source)),
                    Writer::Plain(_) | Writer::Sharded(_) => or_block(target, &read_block(source)),
                };
            }
        });
        self.carry(count);
        Ok(())
    }

    /// Removes all keys. The caller sees to it that nobody else writes meanwhile.
    pub fn clear(&self) {
        self.for_each_owned_range(|range| {
            for word in self.blocks[range].iter().flat_map(|block| &block.words) {
                // Pages that were never written stay untouched.
                if word.load(Relaxed) != 0 {
                    word.store(0, Relaxed);
                }
            }
        });
        match &self.writer {
            Writer::Plain(plain) => plain.reset_count(),
            Writer::Atomic(atomic) => atomic.reset_count(),
            Writer::Sharded(sharded) => {
                (0..sharded.num_shards() as usize).for_each(|shard| sharded.own(shard).reset_count());
            }
        }
        self.carried.store(0, Relaxed);
    }

    /// A copy of the same kind. Others may write this filter meanwhile.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Filter, Error> {
        let size = Size::Blocks { num_blocks: self.num_blocks(), k: self.k };
        let num_shards = if self.kind() == Kind::Sharded { self.num_shards() } else { 0 };
        let options = Options {
            kind: self.kind(),
            size,
            num_shards,
            seed: self.seed,
            max_bytes: 0,
            block_multiple: 0,
            small_pages: self.small_pages,
        };
        let mut copy = Filter::create(&options)?;
        copy.expected_items = self.expected_items;
        copy.fp_rate = self.fp_rate;
        copy.merge(self)?;
        Ok(copy)
    }

    pub(crate) fn check_compatible(&self, source: &Filter) -> Result<(), Error> {
        let properties = [
            ("num_blocks", self.num_blocks(), source.num_blocks()),
            ("k", self.k.into(), source.k.into()),
            ("seed", self.seed, source.seed),
        ];
        match properties.into_iter().find(|(_, target, source)| target != source) {
            Some((what, target, source)) => Err(Error::Incompatible { what, target, source }),
            None => Ok(()),
        }
    }

    /// Calls `write` with ranges of blocks, which together are all, and which this thread owns if the
    /// filter is sharded. One shard at a time, so that no two merges can wait for each other.
    fn for_each_owned_range(&self, write: impl Fn(Range<usize>)) {
        match &self.writer {
            Writer::Plain(_) | Writer::Atomic(_) => write(0..self.blocks.len()),
            Writer::Sharded(sharded) => {
                for shard in 0..sharded.num_shards() as usize {
                    let _owner = sharded.own(shard);
                    write(sharded.blocks_of(shard));
                }
            }
        }
    }
}

/// The same blocks, k, seed and bits; the kinds and counts may differ.
impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        self.check_compatible(other).is_ok()
            && self.blocks.iter().zip(other.blocks.iter()).all(|(a, b)| read_block(a) == read_block(b))
    }
}
