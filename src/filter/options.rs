//! What a new filter shall be like.

use super::sharded::MAX_SHARDS;
use crate::error::Error;
use crate::hash::HashKind;
use crate::layout::{BLOCK_BYTES, MAX_K, MIN_K};
use crate::sizing::size_for;

/// How a filter is written. Filters of the same blocks, k and seed that hold the same keys have the same
/// bits, whatever their kinds: they compare equal, merge, and load as one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One writer at a time, any number of readers meanwhile; the cheapest adds. Two writers at once may
    /// lose adds, but never do worse.
    Plain,
    /// Any number of writers, lock-free: each word that changes is changed by an atomic OR.
    #[default]
    Atomic,
    /// Any number of writers; a writer owns one range of blocks while it writes there, so it needs no
    /// atomic OR. The fastest adds where there are many. Readers never wait.
    Sharded,
}

/// How large a filter is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// As large as these many distinct keys need for this false-positive rate.
    Items {
        /// From 0 to 2^63.
        expected_items: u64,
        /// Greater than 0, less than 1.
        fp_rate: f64,
    },
    /// Exactly so large.
    Blocks {
        /// Blocks of 64 bytes, at least 1.
        num_blocks: u64,
        /// Probes a key, 3 to 17.
        k: u32,
    },
}

/// What a new filter shall be like.
///
/// ```
/// use gloom::{Filter, Kind, Options};
/// let options = Options::for_items(10_000, 0.001).kind(Kind::Sharded).max_bytes(1 << 20);
/// let filter = Filter::create(&options)?;
/// # Ok::<(), gloom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How it is written.
    pub kind: Kind,
    /// How large it is.
    pub size: Size,
    /// For [`Kind::Sharded`] only: a power of two, at most the number of blocks and 65536; 0 lets the
    /// library choose.
    pub num_shards: u32,
    /// 0 for filters that every implementation of the layout can read; else the seed of XXH3.
    pub seed: u64,
    /// How keys are hashed. [`HashKind::SipHash`] wants a seed other than 0.
    pub hash: HashKind,
    /// The most bytes that blocks may take; 0 for no limit. Checked before anything is allocated.
    /// Bookkeeping comes on top: less than 5 KiB, or 64 bytes a shard and less than 1 KiB.
    pub max_bytes: u64,
    /// Rounds the number of blocks up to a multiple of this, so that the filter can be folded; 0 for no.
    pub block_multiple: u64,
    /// No huge pages. Otherwise filters of 4 MiB and more ask for them.
    pub small_pages: bool,
}

impl Options {
    /// A filter for `expected_items` distinct keys with false-positive rate `fp_rate`.
    pub fn for_items(expected_items: u64, fp_rate: f64) -> Options {
        Options::of(Size::Items { expected_items, fp_rate })
    }

    /// A filter of `num_blocks` blocks and `k` probes a key.
    pub fn for_blocks(num_blocks: u64, k: u32) -> Options {
        Options::of(Size::Blocks { num_blocks, k })
    }

    fn of(size: Size) -> Options {
        Options {
            kind: Kind::default(),
            size,
            num_shards: 0,
            seed: 0,
            hash: HashKind::default(),
            max_bytes: 0,
            block_multiple: 0,
            small_pages: false,
        }
    }

    /// Sets the kind.
    pub fn kind(self, kind: Kind) -> Options {
        Options { kind, ..self }
    }

    /// Sets the seed.
    pub fn seed(self, seed: u64) -> Options {
        Options { seed, ..self }
    }

    /// Sets the hash.
    pub fn hash(self, hash: HashKind) -> Options {
        Options { hash, ..self }
    }

    /// Sets the limit.
    pub fn max_bytes(self, max_bytes: u64) -> Options {
        Options { max_bytes, ..self }
    }

    /// Checks everything but whether there is the memory.
    pub(crate) fn geometry(&self) -> Result<Geometry, Error> {
        if self.hash == HashKind::SipHash && self.seed == 0 {
            let allowed = "other than 0 with SipHash, whose key it is";
            return Err(Error::Argument { name: "seed", value: self.seed.into(), allowed });
        }
        let mut geometry = match self.size {
            Size::Items { expected_items, fp_rate } => {
                let sizing = size_for(expected_items, fp_rate)?;
                Geometry { num_blocks: sizing.num_blocks, k: sizing.k, expected_items, fp_rate }
            }
            Size::Blocks { num_blocks, k } => {
                check_blocks(num_blocks, k)?;
                Geometry { num_blocks, k, expected_items: 0, fp_rate: 0.0 }
            }
        };
        let limit =
            if self.max_bytes == 0 { isize::MAX as u64 } else { self.max_bytes.min(isize::MAX as u64) };
        let num_blocks = geometry.num_blocks.checked_next_multiple_of(self.block_multiple.max(1));
        let bytes = num_blocks.and_then(|blocks| blocks.checked_mul(BLOCK_BYTES as u64));
        match (num_blocks, bytes) {
            (Some(num_blocks), Some(bytes)) if bytes <= limit => geometry.num_blocks = num_blocks,
            _ => return Err(Error::Limit { needed: bytes.unwrap_or(u64::MAX), limit }),
        }
        check_shards(self.kind, self.num_shards, geometry.num_blocks)?;
        Ok(geometry)
    }
}

/// What [`Options`] come to.
pub(crate) struct Geometry {
    pub num_blocks: u64,
    pub k: u32,
    pub expected_items: u64,
    pub fp_rate: f64,
}

fn check_blocks(num_blocks: u64, k: u32) -> Result<(), Error> {
    if num_blocks == 0 {
        return Err(Error::Argument { name: "num_blocks", value: num_blocks.into(), allowed: "at least 1" });
    }
    if !(MIN_K..=MAX_K).contains(&k) {
        return Err(Error::Argument { name: "k", value: k.into(), allowed: "from 3 to 17" });
    }
    Ok(())
}

fn check_shards(kind: Kind, num_shards: u32, num_blocks: u64) -> Result<(), Error> {
    let refuse = |allowed| Err(Error::Argument { name: "num_shards", value: num_shards.into(), allowed });
    if num_shards == 0 {
        return Ok(());
    }
    if kind != Kind::Sharded {
        return refuse("0 for a filter that is not sharded");
    }
    if !num_shards.is_power_of_two() || num_shards > MAX_SHARDS {
        return refuse("a power of two from 1 to 65536, or 0");
    }
    if u64::from(num_shards) > num_blocks {
        return refuse("at most the number of blocks");
    }
    Ok(())
}
