//! Saving, loading and mapping through the Rust API, and bytes of any kind; ctests/ has the rest.

use gloom::{Error, Filter, Format, Keys, Kind, LoadOptions, MapOptions, Options};
use proptest::prelude::*;
use std::path::PathBuf;

/// A folder of this test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("gloom-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn filled(kind: Kind) -> Filter {
    let filter = Filter::create(&Options::for_items(10_000, 0.001).kind(kind)).unwrap();
    let keys: Vec<u8> = (0..10_000u64).flat_map(u64::to_le_bytes).collect();
    filter.add_batch(Keys::fixed(&keys, 8).unwrap());
    filter
}

#[test]
fn saved_filters_load_as_every_kind_from_both_formats() {
    let folder = Folder::new("save");
    for format in [Format::Native, Format::V1] {
        let saved = filled(Kind::Plain);
        let path = folder.file("filter");
        saved.save(&path, format).unwrap();
        saved.save(&path, format).unwrap(); // over the old one
        let info = Filter::inspect(&path).unwrap();
        assert_eq!((info.format, info.num_blocks, info.count), (format, saved.num_blocks(), 10_000));
        assert_eq!(info.bytes, std::fs::metadata(&path).unwrap().len());
        for kind in [Kind::Plain, Kind::Atomic, Kind::Sharded] {
            let loaded = Filter::load(&path, &LoadOptions { kind, ..LoadOptions::default() }).unwrap();
            assert!(loaded == saved);
            assert_eq!((loaded.kind(), loaded.count()), (kind, 10_000));
            assert_eq!(loaded.expected_items(), if format == Format::Native { 10_000 } else { 0 });
        }
        assert_eq!(std::fs::read(&path).unwrap(), saved.to_bytes(format).unwrap());
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "a temporary file is left");
    }
}

#[test]
fn maps_share_a_file_and_leave_it_clean() {
    let folder = Folder::new("map");
    let path = folder.file("filter");
    let created = Filter::map_create(&path, &Options::for_items(10_000, 0.001)).unwrap();
    let write = MapOptions { read_write: true, ..MapOptions::default() };
    let other = Filter::map(&path, &write).unwrap();
    let reader = Filter::map(&path, &MapOptions::default()).unwrap();
    created.add(b"a");
    other.add(b"b");
    assert!(reader.test(b"a") && reader.test(b"b") && reader.is_read_only());
    assert!(Filter::inspect(&path).unwrap().dirty);
    assert_eq!(filled(Kind::Plain).save(&path, Format::Native), Err(gloom::Error::Busy));
    created.sync().unwrap();
    assert_eq!(reader.sync(), Err(gloom::Error::ReadOnly));
    drop(created);
    assert!(Filter::inspect(&path).unwrap().dirty, "the other writer is still there");
    drop(other);
    let info = Filter::inspect(&path).unwrap();
    assert_eq!((info.dirty, info.count), (false, 2));
    assert_eq!(reader.count(), 2);
    let verified = Filter::map(&path, &MapOptions { verify: true, ..MapOptions::default() }).unwrap();
    assert!(verified.test(b"a") && verified.test(b"b"));
    let loaded = Filter::load(&path, &LoadOptions::default()).unwrap();
    assert!(loaded == verified);
}

#[test]
fn folding_and_intersecting() {
    let options = Options { block_multiple: 6, ..Options::for_items(1000, 0.01) };
    let filter = Filter::create(&options).unwrap();
    (0..1000u64).for_each(|i| filter.add(&i.to_le_bytes()));
    for factor in [1, 2, 3, 6] {
        let folded = filter.fold(factor).unwrap();
        assert_eq!(folded.num_blocks(), filter.num_blocks() / factor);
        let direct = Filter::create(&Options::for_blocks(folded.num_blocks(), folded.k())).unwrap();
        (0..1000u64).for_each(|i| direct.add(&i.to_le_bytes()));
        assert!(folded == direct, "folding by {factor} is not adding to the smaller filter");
        assert_eq!(folded.count(), 1000);
    }
    assert!(filter.fold(0).is_err() && filter.fold(filter.num_blocks() + 1).is_err());
}

const KINDS: [Kind; 3] = [Kind::Plain, Kind::Atomic, Kind::Sharded];
const FORMATS: [Format; 2] = [Format::Native, Format::V1];

/// No more memory than this for what the bytes claim.
const LIMIT: u64 = 1 << 20;

fn with_limit(kind: Kind) -> LoadOptions {
    LoadOptions { kind, max_bytes: LIMIT, ..LoadOptions::default() }
}

/// Reads from `bytes` in pieces of these sizes, over and over; also how much was taken.
fn deserialize(bytes: &[u8], sizes: &[usize], options: &LoadOptions) -> (Result<Filter, Error>, usize) {
    let mut taken = 0;
    let mut sizes = sizes.iter().cycle();
    let filter = Filter::deserialize(
        &mut |buffer: &mut [u8]| {
            let count = buffer.len().min(*sizes.next().unwrap()).min(bytes.len() - taken);
            buffer[..count].copy_from_slice(&bytes[taken..taken + count]);
            taken += count;
            Ok(count)
        },
        options,
    );
    (filter, taken)
}

/// Both ways in agree; what is refused is refused for what it is, and what is taken is a filter that works.
fn check_any_bytes(bytes: &[u8], sizes: &[usize], kind: Kind) {
    let filter = Filter::from_bytes(bytes, &with_limit(kind));
    let (read, taken) = deserialize(bytes, sizes, &with_limit(kind));
    match (filter, read) {
        (Ok(filter), Ok(read)) => {
            assert!(filter == read);
            assert_eq!((filter.count(), taken), (read.count(), bytes.len()));
            assert!(filter.num_blocks() * 64 <= LIMIT);
            for format in FORMATS.into_iter().filter(|&format| format == Format::Native || filter.seed() == 0)
            {
                let again = Filter::from_bytes(&filter.to_bytes(format).unwrap(), &with_limit(kind)).unwrap();
                assert!(again == filter && again.count() == filter.count());
            }
            filter.add(b"key");
            assert!(filter.test(b"key"));
        }
        (Err(error), read) => {
            assert!(
                matches!(
                    error,
                    Error::Corrupt { .. }
                        | Error::Truncated { .. }
                        | Error::MissingChecksum { .. }
                        | Error::Unsupported { .. }
                        | Error::Dirty
                ),
                "{error}"
            );
            // A stream does not say how long it is: more may follow, and too much may be claimed.
            match read {
                Ok(_) => assert!(taken < bytes.len()),
                Err(error) => assert!(!matches!(error, Error::OutOfMemory { .. } | Error::Argument { .. })),
            }
        }
        (Ok(_), Err(error)) => panic!("taken as bytes, but not from a stream: {error}"),
    }
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let keys = proptest::collection::vec(any::<u64>(), 0..500);
    (0..3usize, 1u64..600, 3u32..=17, prop_oneof![Just(0), any::<u64>()], keys).prop_map(
        |(kind, num_blocks, k, seed, keys)| {
            let options = Options::for_blocks(num_blocks, k).kind(KINDS[kind]).seed(seed);
            let filter = Filter::create(&options).unwrap();
            keys.iter().for_each(|key| filter.add(&key.to_le_bytes()));
            filter
        },
    )
}

fn read_sizes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![1usize..10, 1usize..5000, Just(usize::MAX)];
    proptest::collection::vec(size, 1..20)
}

/// What happens to a file on its way.
#[derive(Clone, Debug)]
enum Damage {
    Flip(usize),
    Number(usize, u64),
    Cut(usize),
    Insert(usize, u8),
    Repeat(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    // Most of a native file is padding; so look at its first 200 bytes more often.
    let at = || prop_oneof![0usize..200, any::<usize>()];
    let number = prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 50), 0u64..1000, any::<u64>()];
    prop_oneof![
        at().prop_map(Damage::Flip),
        (at(), number).prop_map(|(at, number)| Damage::Number(at, number)),
        at().prop_map(Damage::Cut),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        (at(), 1usize..300).prop_map(|(at, len)| Damage::Repeat(at, len)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match *self {
            Damage::Flip(at) => bytes[at / 8 % len] ^= 1 << (at % 8),
            Damage::Number(at, number) => {
                let at = at % len;
                let end = len.min(at + 8);
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
            Damage::Cut(at) => bytes.truncate(at % len),
            Damage::Insert(at, byte) => bytes.insert(at % len, byte),
            Damage::Repeat(at, count) => {
                let piece = bytes[at % len..len.min(at % len + count)].to_vec();
                bytes.splice(at % len..at % len, piece);
            }
        }
    }
}

/// Makes the checksums of a native file right where there is room for them, so that damage gets past them.
fn seal(bytes: &mut [u8], which: u8) {
    let mut put = |content: std::ops::Range<usize>, at: usize| {
        if bytes.len() >= at + 4 && content.end <= bytes.len() && content.start <= content.end {
            let sum = crc32c::crc32c(&bytes[content]);
            bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
        }
    };
    if which & 1 != 0 {
        put(0..124, 124);
    }
    if which & 2 != 0 {
        put(128..172, 172);
    }
    let end = bytes.len();
    let mut put = |content: std::ops::Range<usize>, at: usize| {
        let sum = crc32c::crc32c(&bytes[content]);
        bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    };
    if which & 4 != 0 && end > 65536 + 16 {
        put(192..end - 16, end - 8);
        put(end - 16..end - 4, end - 4);
    }
    if which & 8 != 0 && end >= 25 {
        // As of format v1.
        put(0..end - 4, end - 4);
    }
}

/// Of more blocks than are merged at a time.
#[test]
fn bytes_are_merged_as_the_filter_that_they_hold() {
    for format in FORMATS {
        let new = || Filter::create(&Options::for_blocks(700, 5)).unwrap();
        let (target, expected, source) = (new(), new(), new());
        for i in 0..2000u32 {
            target.add(format!("own {i}").as_bytes());
            expected.add(format!("own {i}").as_bytes());
            source.add(format!("its {i}").as_bytes());
        }
        expected.merge(&source).unwrap();
        assert!(target != expected);
        target.merge_bytes(&source.to_bytes(format).unwrap()).unwrap();
        assert!(target == expected);
        assert_eq!(target.count(), 4000);
    }
}

/// One changed bit in any byte, with and without checksums that fit it. With them a filter of other numbers, keys and bits
/// is a filter, too; all else is not.
#[test]
fn a_native_file_with_a_wrong_bit_is_refused() {
    let filter = Filter::create(&Options::for_blocks(2, 5)).unwrap();
    filter.add(b"key");
    let good = filter.to_bytes(Format::Native).unwrap();
    let read = |bytes: &[u8]| Filter::from_bytes(bytes, &LoadOptions::default());
    assert!(read(&good).unwrap() == filter);
    let mut bytes = good.clone();
    for at in 0..good.len() {
        bytes[at] ^= 1 << (at % 8);
        assert!(read(&bytes).is_err(), "byte {at}");
        seal(&mut bytes, 7);
        let (seed_and_items, rate, count, boot) = (32..48, 48..56, 128..136, 144..160);
        let is_free = [seed_and_items, rate, count, boot].iter().any(|fields| fields.contains(&at))
            || (65536..65664).contains(&at)
            // A checksum that was put right again.
            || bytes == good;
        assert_eq!(read(&bytes).is_ok(), is_free, "byte {at} with its checksum: {:?}", read(&bytes));
        bytes.copy_from_slice(&good);
    }
}

/// Of a stream the length is not known before: only what is missing tells that it is the checksum.
#[test]
fn a_v1_stream_that_ends_before_its_checksum_is_named() {
    let filter = Filter::create(&Options::for_blocks(3, 5)).unwrap();
    let bytes = filter.to_bytes(Format::V1).unwrap();
    let length = bytes.len() - 4;
    let read = |bytes: &[u8]| deserialize(bytes, &[7], &LoadOptions::default()).0;
    assert_eq!(read(&bytes[..length]).unwrap_err(), Error::MissingChecksum { length: length as u64 });
    assert_eq!(read(&bytes[..length + 1]).unwrap_err(), Error::Truncated { length: length as u64 + 1 });
    assert_eq!(read(&bytes[..length - 1]).unwrap_err(), Error::Truncated { length: length as u64 - 1 });
}

proptest! {
    #[test]
    fn any_bytes(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        first in prop_oneof![Just(vec![]), Just(vec![1]), Just(b"\x89GLM\r\n\x1a\n\x01\0\0\0\x01\0\0\0\x01\0\0\0".to_vec())],
        which: u8,
        sizes in read_sizes(),
    ) {
        bytes.splice(0..first.len().min(bytes.len()), first);
        seal(&mut bytes, which);
        check_any_bytes(&bytes, &sizes, Kind::Atomic);
    }

    #[test]
    fn damaged_files(
        filter in any_filter(),
        damages in proptest::collection::vec(damage(), 1..4),
        which: u8,
        kind in 0usize..3,
        sizes in read_sizes(),
    ) {
        let target = Filter::create(&Options::for_blocks(filter.num_blocks(), filter.k()).seed(filter.seed())).unwrap();
        target.add(b"its own");
        for format in FORMATS {
            let Ok(good) = filter.to_bytes(format) else { continue };
            let mut bytes = good.clone();
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            if format == Format::Native {
                seal(&mut bytes, which & !8);
            } else {
                seal(&mut bytes, which & 8);
            }
            check_any_bytes(&bytes, &sizes, KINDS[kind]);

            // A merge takes what a load takes, as far as it fits, or leaves everything as it was.
            let before = target.try_clone().unwrap();
            let loaded = Filter::from_bytes(&bytes, &with_limit(Kind::Plain));
            match target.merge_bytes(&bytes) {
                Ok(()) => before.merge(&loaded.unwrap()).unwrap(),
                Err(Error::Incompatible { .. }) => {}
                Err(_) => prop_assert!(loaded.is_err()),
            }
            prop_assert!(target == before && target.count() == before.count());
        }
    }

    /// However little comes at a time; and what follows is left in the stream.
    #[test]
    fn streams_of_any_pieces(filter in any_filter(), sizes in read_sizes(), more in 0usize..100) {
        for format in FORMATS {
            let Ok(mut bytes) = filter.to_bytes(format) else { continue };
            let len = bytes.len();
            bytes.resize(len + more, 0x89);
            let (read, taken) = deserialize(&bytes, &sizes, &LoadOptions::default());
            let read = read.unwrap();
            prop_assert!(read == filter && taken == len);
            prop_assert_eq!(read.count(), filter.count());
            prop_assert_eq!((read.expected_items(), read.fp_rate()), (0, 0.0));
        }
    }

    /// Folding is adding to the smaller filter, for any size that has the factor.
    #[test]
    fn folding_by_any_factor(
        blocks in 1u64..100,
        factor in 1u64..50,
        k in 3u32..=17,
        kind in 0usize..3,
        seed: u64,
        keys in proptest::collection::vec(any::<u64>(), 0..300),
    ) {
        let make = |num_blocks| {
            let filter = Filter::create(&Options::for_blocks(num_blocks, k).kind(KINDS[kind]).seed(seed)).unwrap();
            keys.iter().for_each(|key| filter.add(&key.to_le_bytes()));
            filter
        };
        let folded = make(blocks * factor).fold(factor).unwrap();
        let direct = make(blocks);
        prop_assert!(folded == direct);
        prop_assert_eq!((folded.count(), folded.kind()), (direct.count(), direct.kind()));
    }

    /// Of the keys that were added, those of both stay.
    #[test]
    fn intersecting_any_two(
        num_blocks in 1u64..600,
        k in 3u32..=17,
        kinds in (0usize..3, 0usize..3),
        a in proptest::collection::vec(0u64..1000, 0..300),
        b in proptest::collection::vec(0u64..1000, 0..300),
    ) {
        let make = |kind: usize, keys: &[u64]| {
            let filter = Filter::create(&Options::for_blocks(num_blocks, k).kind(KINDS[kind])).unwrap();
            keys.iter().for_each(|key| filter.add(&key.to_le_bytes()));
            filter
        };
        let (target, source) = (make(kinds.0, &a), make(kinds.1, &b));
        target.intersect(&source).unwrap();
        prop_assert!(a.iter().filter(|key| b.contains(key)).all(|key| target.test(&key.to_le_bytes())));
        prop_assert_eq!(target.count(), a.len().min(b.len()) as u64);
        // Nothing that only one of them had a bit of.
        source.merge(&target).unwrap();
        prop_assert!(source == make(kinds.1, &b));
    }
}
