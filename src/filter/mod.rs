//! The filter: its geometry, its blocks, and one of three ways to write them.

mod add_batch;
mod atomic;
mod options;
mod plain;
mod sharded;
mod statistics;
mod whole;

pub(crate) use options::Geometry;
pub use options::{Kind, Options, Size};

use crate::error::{Error, Value};
use crate::format::Info;
use crate::hash::{HashKind, KeyHash};
use crate::kernel::{Kernel, Level};
use crate::layout::{BLOCK_BITS, BLOCK_BYTES};
use crate::memory::Blocks;
use crate::panics::may_panic;
use crate::sync::{AtomicU64, Ordering::Relaxed};
use atomic::Atomic;
use plain::Plain;
use sharded::Sharded;

/// A Bloom filter.
///
/// All methods take `&self` and may be called from any number of threads at once, with two
/// exceptions: of a [plain](Kind::Plain) filter there must be only one writer at a time (or adds may
/// be lost), and [`clear`](Filter::clear) wants no other writer.
///
/// # What holds among threads
/// - A test that happens after an add returned sees the key, also when "after" comes from outside:
///   a lock, a channel, a message to another process.
/// - A copy, a merge or a serialization holds every key whose add had returned before it began.
/// - Of two racing [`test_and_add`](Filter::test_and_add) of one new key, both may be told that it was
///   absent; at least one is, unless adds of other keys set its last bits meanwhile.
pub struct Filter {
    blocks: Blocks,
    kernel: Kernel,
    writer: Writer,
    seed: u64,
    hash_kind: HashKind,
    k: u32,
    expected_items: u64,
    fp_rate: f64,
    small_pages: bool,
    /// The file that the blocks are in.
    #[cfg(not(loom))]
    file: Option<crate::file::MappedFile>,
    /// Counts that came with merged, cloned or loaded filters, or from a binding.
    carried: AtomicU64,
}

/// How a filter is written. What its bits are never depends on it.
enum Writer {
    Plain(Plain),
    Atomic(Atomic),
    Sharded(Sharded),
    /// Not at all: the blocks are in a file that is mapped read-only.
    ReadOnly,
}

impl Filter {
    /// A plain filter for `expected_items` distinct keys with false-positive rate `fp_rate`.
    ///
    /// # Errors
    /// As [`Filter::create`].
    pub fn new(expected_items: u64, fp_rate: f64) -> Result<Filter, Error> {
        Filter::create(&Options::for_items(expected_items, fp_rate).kind(Kind::Plain))
    }

    /// An atomic filter: lock-free adds from any thread.
    ///
    /// # Errors
    /// As [`Filter::create`].
    pub fn new_atomic(expected_items: u64, fp_rate: f64) -> Result<Filter, Error> {
        Filter::create(&Options::for_items(expected_items, fp_rate).kind(Kind::Atomic))
    }

    /// A sharded filter: the fastest adds from many threads. 0 shards: chosen from the number of
    /// processors and the size; otherwise rounded up to a power of two, then down to what the number of
    /// blocks allows.
    ///
    /// # Errors
    /// As [`Filter::create`].
    pub fn new_sharded(expected_items: u64, fp_rate: f64, num_shards: u32) -> Result<Filter, Error> {
        let sizing = crate::sizing::size_for(expected_items, fp_rate)?;
        let most = sizing.num_blocks.min(sharded::MAX_SHARDS.into()) as u32;
        let num_shards = match num_shards {
            0 => 0,
            1..=sharded::MAX_SHARDS => num_shards.next_power_of_two().min(floor_power_of_two(most)),
            more => more,
        };
        let options = Options::for_items(expected_items, fp_rate).kind(Kind::Sharded);
        Filter::create(&Options { num_shards, ..options })
    }

    /// A filter as `options` describe it.
    ///
    /// # Errors
    /// [`Error::Argument`] for an option outside its range, [`Error::UnreachableRate`] for a rate that
    /// this layout cannot deliver, [`Error::Limit`] for more bytes than allowed or addressable,
    /// [`Error::OutOfMemory`] if the system gives none.
    pub fn create(options: &Options) -> Result<Filter, Error> {
        Filter::create_at_level(options, Level::best())
    }

    /// The same with the kernel of one instruction set if the processor has it: for tests and benchmarks.
    #[doc(hidden)]
    pub fn create_at_level(options: &Options, level: Level) -> Result<Filter, Error> {
        let geometry = options.geometry()?;
        let writer = match options.kind {
            Kind::Plain => Writer::Plain(Plain::default()),
            Kind::Atomic => Writer::Atomic(Atomic::new(geometry.num_blocks)?),
            Kind::Sharded => Writer::Sharded(Sharded::new(geometry.num_blocks, options.num_shards)?),
        };
        Ok(Filter {
            blocks: Blocks::zeroed(geometry.num_blocks, options.small_pages)?,
            kernel: Kernel::select(geometry.k, level, options.hash),
            writer,
            seed: options.seed,
            hash_kind: options.hash,
            k: geometry.k,
            expected_items: geometry.expected_items,
            fp_rate: geometry.fp_rate,
            small_pages: options.small_pages,
            #[cfg(not(loom))]
            file: None,
            carried: AtomicU64::new(0),
        })
    }

    /// Adds a key. Counts also if it was there already.
    ///
    /// # Panics
    /// If the filter is mapped read-only, as all writing methods without a `Result`.
    #[inline]
    pub fn add(&self, key: &[u8]) {
        self.add_hash(self.hash(key));
    }

    /// Is the key in the set? `false` is certain, `true` is probable.
    #[inline]
    pub fn test(&self, key: &[u8]) -> bool {
        self.test_hash(self.hash(key))
    }

    /// Adds a key and tells whether it was (probably) there before: `false` if this call set a bit.
    #[inline]
    pub fn test_and_add(&self, key: &[u8]) -> bool {
        !self.add_hash(self.hash(key))
    }

    /// The hash of a key by this filter's hash and seed.
    #[inline(always)] // with a call of SipHash in it, the compiler would no longer put XXH3 in line
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        // SipHash always has a seed, so filters without one do not pay for the choice.
        if self.seed != 0 && self.hash_kind == HashKind::SipHash {
            return KeyHash::siphash(key, self.seed);
        }
        KeyHash::new(key, self.seed)
    }

    /// Adds a key by its hash; true if this call set a bit, so that the key was certainly new.
    #[inline]
    pub fn add_hash(&self, hash: KeyHash) -> bool {
        let (index, block) = self.blocks.of(hash);
        match &self.writer {
            Writer::Plain(plain) => plain.add(&self.kernel, block, hash.probe()),
            Writer::Atomic(atomic) => atomic.add(&self.kernel, block, hash.probe()),
            Writer::Sharded(sharded) => sharded.add(&self.kernel, index, block, hash.probe()),
            Writer::ReadOnly => refuse_to_write(),
        }
    }

    /// Tests a key by its hash.
    #[inline]
    pub fn test_hash(&self, hash: KeyHash) -> bool {
        let (_, block) = self.blocks.of(hash);
        self.kernel.test(block, hash.probe())
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        match self.writer {
            Writer::Plain(_) => Kind::Plain,
            Writer::Atomic(_) | Writer::ReadOnly => Kind::Atomic,
            Writer::Sharded(_) => Kind::Sharded,
        }
    }

    /// The number of blocks.
    pub fn num_blocks(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Probes a key.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The number of shards; 1 unless the filter is sharded.
    pub fn num_shards(&self) -> u32 {
        match &self.writer {
            Writer::Sharded(sharded) => sharded.num_shards(),
            _ => 1,
        }
    }

    /// How keys are hashed.
    pub fn hash_kind(&self) -> HashKind {
        self.hash_kind
    }

    /// The seed of the hash; 0 is the interoperable one.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of keys it was planned for; 0 if made from blocks and k, or loaded from v1.
    pub fn expected_items(&self) -> u64 {
        self.expected_items
    }

    /// The false-positive rate that was asked for; 0 if made from blocks and k, or loaded from v1.
    pub fn fp_rate(&self) -> f64 {
        self.fp_rate
    }

    /// All bits of the filter.
    pub fn bit_capacity(&self) -> u64 {
        self.num_blocks() * u64::from(BLOCK_BITS)
    }

    /// Bytes of memory: blocks and bookkeeping.
    pub fn memory_bytes(&self) -> u64 {
        let bookkeeping = match &self.writer {
            Writer::Plain(_) | Writer::ReadOnly => 0,
            Writer::Atomic(atomic) => atomic.bytes(),
            Writer::Sharded(sharded) => sharded.bytes(),
        };
        (size_of::<Filter>() + self.blocks.len() * BLOCK_BYTES + bookkeeping) as u64
    }

    /// Successful adds, of new keys or old; plus those of merged filters. Saturates.
    ///
    /// Exact once the adds have returned. Cost: a few dozen loads at most for plain and atomic
    /// filters, one for each shard of a sharded one.
    pub fn count(&self) -> u64 {
        self.count_in_file().saturating_add(self.count_here())
    }

    /// What is not in the file that is mapped.
    fn count_here(&self) -> u64 {
        let added = match &self.writer {
            Writer::Plain(plain) => plain.count(),
            Writer::Atomic(atomic) => atomic.count(),
            Writer::Sharded(sharded) => sharded.count(),
            Writer::ReadOnly => 0,
        };
        self.carried.load(Relaxed).saturating_add(added)
    }

    /// The instruction set of the kernel that was chosen.
    pub fn simd_level(&self) -> &'static std::ffi::CStr {
        self.kernel.name()
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Is the filter a mapped file?
    pub fn is_mapped(&self) -> bool {
        #[cfg(not(loom))]
        return self.file.is_some();
        #[cfg(loom)]
        return false;
    }

    /// Is it mapped read-only?
    pub fn is_read_only(&self) -> bool {
        matches!(self.writer, Writer::ReadOnly)
    }

    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        if self.is_read_only() { Err(Error::ReadOnly) } else { Ok(()) }
    }

    /// Remembers what the filter was planned for.
    pub(crate) fn plan(&mut self, expected_items: u64, fp_rate: f64) {
        self.expected_items = expected_items;
        self.fp_rate = fp_rate;
    }

    fn count_in_file(&self) -> u64 {
        #[cfg(not(loom))]
        if let (Some(file), Some(mapping)) = (&self.file, self.blocks.mapping()) {
            return file.count(mapping);
        }
        0
    }

    /// Counts adds that somebody else made in the memory of the blocks. Only the library itself writes sharded
    /// filters, whose owners store without atomic ORs, and maps, whose counts go to their files.
    pub(crate) fn note_adds(&self, n: u64) -> Result<(), Error> {
        if self.is_mapped() || self.kind() == Kind::Sharded {
            let value = Value::Text("sharded or mapped");
            return Err(Error::Argument { name: "filter", value, allowed: "plain or atomic, in memory" });
        }
        self.carry(n);
        Ok(())
    }

    /// Adds a count that came with a file, another filter or a binding.
    pub(crate) fn carry(&self, count: u64) {
        let mut carried = self.carried.load(Relaxed);
        while let Err(now) =
            self.carried.compare_exchange_weak(carried, carried.saturating_add(count), Relaxed, Relaxed)
        {
            carried = now;
        }
    }
}

#[cfg(not(loom))]
impl Filter {
    /// A filter whose blocks are in a mapped file. When `file` is called, nothing else can fail.
    pub(crate) fn of_mapped(
        blocks: Blocks,
        info: &Info,
        writable: bool,
        file: impl FnOnce() -> Result<crate::file::MappedFile, Error>,
    ) -> Result<Filter, Error> {
        let writer = if writable { Writer::Atomic(Atomic::new(info.num_blocks)?) } else { Writer::ReadOnly };
        Ok(Filter {
            blocks,
            kernel: Kernel::select(info.k, Level::best(), info.hash),
            writer,
            seed: info.seed,
            hash_kind: info.hash,
            k: info.k,
            expected_items: info.expected_items,
            fp_rate: info.fp_rate,
            small_pages: false,
            file: Some(file()?),
            carried: AtomicU64::new(0),
        })
    }

    /// Remembers where the file of a map was found.
    pub(crate) fn found_at(mut self, place: crate::file::Place) -> Filter {
        if let Some(file) = &mut self.file {
            file.found_at(place);
        }
        self
    }

    pub(crate) fn mapped_file(&self) -> Option<&crate::file::MappedFile> {
        self.file.as_ref()
    }
}

#[cfg(not(loom))]
impl Drop for Filter {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.close(&self.blocks, self.count_here());
        }
    }
}

#[cold]
#[inline(never)]
fn refuse_to_write() -> ! {
    panic!("a filter that is mapped read-only was written to")
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("kind", &self.kind())
            .field("num_blocks", &self.num_blocks())
            .field("k", &self.k)
            .field("hash_kind", &self.hash_kind)
            .field("seed", &self.seed)
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

/// The largest power of two that is at most `n`, which is at least 1.
fn floor_power_of_two(n: u32) -> u32 {
    1 << n.ilog2()
}

/// `len` values, or an error where `vec!` would abort.
fn filled<T>(len: usize, value: impl Fn() -> T) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    let bytes = (len * size_of::<T>()) as u64;
    values.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes })?;
    may_panic();
    values.extend((0..len).map(|_| value()));
    Ok(values)
}
