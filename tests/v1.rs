//! Format v1 through the Rust API: what is written is read, by every kind; what is not a file is refused.
//!
//! What the bytes must be is pinned by golden figures in ctests/; bits by the model in tests/model.rs.

mod common;

use common::{KINDS, filter, key, mix, sharded};
use gloom::{Error, Filter, Format, Kind, LoadOptions, MAX_K, MIN_K, Options};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};

const HEADER: usize = 21;

fn load_as(kind: Kind) -> LoadOptions {
    LoadOptions { kind, ..LoadOptions::default() }
}

fn load(data: &[u8]) -> Result<Filter, Error> {
    Filter::from_bytes(data, &LoadOptions::default())
}

/// CRC-32C bit by bit (reflected polynomial of 0x1EDC6F41), so that the library's is not trusted.
fn crc32c(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 },
        )
    })
}

/// Puts the right checksum at the end.
fn seal(data: &mut [u8]) {
    if let Some(end) = data.len().checked_sub(4) {
        let checksum = crc32c(&data[..end]);
        data[end..].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// A file with this header and these blocks.
fn file(k: u32, num_blocks: u64, count: u64, blocks: &[u8]) -> Vec<u8> {
    let mut file = vec![1];
    file.extend_from_slice(&k.to_le_bytes());
    file.extend_from_slice(&num_blocks.to_le_bytes());
    file.extend_from_slice(&count.to_le_bytes());
    file.extend_from_slice(blocks);
    file.extend_from_slice(&[0; 4]);
    seal(&mut file);
    file
}

/// The whole definition of a v1 file.
fn is_a_file(data: &[u8]) -> bool {
    let number = |range: Range<usize>| {
        data[range].iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    data.len() >= HEADER + 64 + 4
        && data[0] == 1
        && (3..=17).contains(&number(1..5))
        && u128::from(number(5..13)) * 64 == (data.len() - HEADER - 4) as u128
        && crc32c(&data[..data.len() - 4]).to_le_bytes() == data[data.len() - 4..]
}

#[test]
fn every_kind_loads_what_every_kind_wrote() {
    // Around the number of blocks that are written at a time.
    for num_blocks in [1, 2, 3, 63, 64, 65, 128, 1000] {
        for k in MIN_K..=MAX_K {
            let keys = num_blocks * 20;
            let mut first: Option<Vec<u8>> = None;
            for kind in KINDS {
                let written = filter(kind, num_blocks, k);
                (0..keys).for_each(|i| written.add(&key(i)));
                let bytes = written.to_bytes(Format::V1).unwrap();
                assert_eq!(bytes.len() as u64, written.serialized_size(Format::V1).unwrap());
                assert!(is_a_file(&bytes));
                assert_eq!(bytes[..HEADER], file(k, num_blocks, keys, &[])[..HEADER]);
                // The kind is how it is written, never what its bits are.
                assert_eq!(*first.get_or_insert_with(|| bytes.clone()), bytes);
                for target in KINDS {
                    let loaded = Filter::from_bytes(&bytes, &load_as(target)).unwrap();
                    assert_eq!((loaded.kind(), loaded.k(), loaded.num_blocks()), (target, k, num_blocks));
                    assert_eq!((loaded.seed(), loaded.expected_items(), loaded.fp_rate()), (0, 0, 0.0));
                    assert_eq!(loaded.count(), keys);
                    assert_eq!((loaded == written, written == loaded), (true, true));
                    assert!((0..keys).all(|i| loaded.test(&key(i))));
                    assert_eq!(loaded.to_bytes(Format::V1).unwrap(), bytes);
                    // It goes on like any other.
                    loaded.add(b"one more");
                    assert!(loaded.test(b"one more"));
                    assert_eq!(loaded.count(), keys + 1);
                }
            }
        }
    }
}

#[test]
fn a_filter_is_loaded_with_the_shards_asked_for() {
    let bytes = sharded(100, 7, 64).to_bytes(Format::V1).unwrap();
    let load = |kind, num_shards| {
        Filter::from_bytes(&bytes, &LoadOptions { num_shards, ..load_as(kind) })
            .map(|filter| filter.num_shards())
    };
    assert_eq!(load(Kind::Sharded, 1), Ok(1));
    assert_eq!(load(Kind::Sharded, 64), Ok(64));
    assert_eq!(load(Kind::Atomic, 0), Ok(1));
    for (kind, num_shards) in [(Kind::Sharded, 3), (Kind::Sharded, 128), (Kind::Plain, 2), (Kind::Atomic, 1)]
    {
        let error = load(kind, num_shards).unwrap_err();
        assert!(matches!(error, Error::Argument { name: "num_shards", .. }), "{error}");
    }
}

#[test]
fn what_v1_cannot_hold_is_refused() {
    let seeded = Filter::create(&Options::for_blocks(1, 7).seed(1)).unwrap();
    let mut pieces = 0;
    let mut sink = |_: &[u8]| {
        pieces += 1;
        Ok(())
    };
    for error in [
        seeded.to_bytes(Format::V1).unwrap_err(),
        seeded.serialized_size(Format::V1).unwrap_err(),
        seeded.serialize(Format::V1, &mut sink).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Unsupported { name: "seed", .. }), "{error}");
    }
    assert_eq!(pieces, 0, "part of a filter was written");
}

#[test]
fn a_sink_gets_pieces_of_a_few_kib_and_can_stop() {
    let filter = filter(Kind::Atomic, 4000, 7);
    (0..80_000).for_each(|i| filter.add(&key(i)));
    let whole = filter.to_bytes(Format::V1).unwrap();
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    filter
        .serialize(Format::V1, &mut |piece| {
            pieces.push(piece.to_vec());
            Ok(())
        })
        .unwrap();
    assert!(pieces.len() > 10 && pieces.iter().all(|piece| piece.len() <= 16 << 10));
    assert_eq!(pieces.concat(), whole);
    for stop in 0..pieces.len() {
        let full = Error::OutOfMemory { bytes: stop as u64 };
        let mut taken = 0;
        let result = filter.serialize(Format::V1, &mut |_| {
            taken += 1;
            if taken > stop { Err(full) } else { Ok(()) }
        });
        assert_eq!((result, taken), (Err(full), stop + 1));
    }
}

/// Fault seen elsewhere: only one of several loaders honours the caller's limit (RedisBloom 699, guava
/// 1156). Here it comes even before the checksum, which is work in proportion to the data.
#[test]
fn the_limit_is_checked_before_the_data_is_read() {
    let mut bytes = filter(Kind::Plain, 10, 7).to_bytes(Format::V1).unwrap();
    for kind in KINDS {
        let with = |max_bytes| LoadOptions { max_bytes, ..load_as(kind) };
        assert!(Filter::from_bytes(&bytes, &with(640)).is_ok());
        let refused = Err(Error::Limit { needed: 640, limit: 639 });
        assert_eq!(Filter::from_bytes(&bytes, &with(639)).map(|_| ()), refused);
        // With a wrong checksum: within the limit that is what is wrong, above it nobody has looked.
        bytes[100] ^= 1;
        assert_eq!(Filter::from_bytes(&bytes, &with(639)).map(|_| ()), refused);
        assert!(matches!(Filter::from_bytes(&bytes, &with(640)), Err(Error::Corrupt { .. })));
        bytes[100] ^= 1;
    }
}

/// Fault seen elsewhere: hostile bytes cause a huge allocation (guava 8463, fleur 10). The length decides,
/// so nothing is allocated (ctests/ runs the same under a memory limit).
#[test]
fn a_header_alone_promises_nothing() {
    for num_blocks in [1, 2, 1 << 20, 1 << 50, (1 << 58) - 1, 1 << 58, u64::MAX / 64, u64::MAX] {
        let file = file(7, num_blocks, 0, &[]);
        for length in 0..=file.len() {
            let error = load(&file[..length]).unwrap_err();
            let expected = if length < HEADER {
                matches!(error, Error::Truncated { .. })
            } else {
                matches!(error, Error::Corrupt { .. })
            };
            assert!(expected, "{num_blocks} blocks, {length} bytes: {error}");
        }
    }
}

/// Fault seen elsewhere: counters from the file are trusted (datasketches-rust 187).
#[test]
fn a_count_changes_no_answer() {
    let honest = filter(Kind::Plain, 3, 7);
    (0..50).for_each(|i| honest.add(&key(i)));
    let blocks = honest.to_bytes(Format::V1).unwrap()[HEADER..][..3 * 64].to_vec();
    for count in [0, 1, u64::MAX - 1, u64::MAX] {
        for kind in KINDS {
            let loaded = Filter::from_bytes(&file(7, 3, count, &blocks), &load_as(kind)).unwrap();
            assert!(loaded == honest);
            assert_eq!(loaded.count(), count);
            assert_eq!(loaded.estimate_items(), honest.estimate_items());
            assert_eq!(loaded.current_fp_rate(), honest.current_fp_rate());
            assert!((0..1000).all(|i| loaded.test(&key(i)) == honest.test(&key(i))));
            loaded.add(b"a");
            loaded.add(b"b");
            assert_eq!(loaded.count(), count.saturating_add(2));
            loaded.merge(&honest).unwrap();
            assert_eq!(loaded.count(), count.saturating_add(52));
        }
    }
}

/// The checksum is that of what was written, whatever others add meanwhile.
#[test]
fn a_file_written_while_others_add_is_whole() {
    const KEYS: u64 = 20_000;
    for live in [filter(Kind::Atomic, 1000, 7), filter(Kind::Sharded, 1000, 7), filter(Kind::Plain, 1000, 7)]
    {
        let returned = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..KEYS {
                    live.add(&key(i));
                    returned.store(i + 1, Release);
                }
            });
            loop {
                let before = returned.load(Acquire);
                let bytes = live.to_bytes(Format::V1).unwrap();
                assert!(is_a_file(&bytes));
                let copy = load(&bytes).unwrap();
                assert!((0..before).all(|i| copy.test(&key(i))));
                assert!((before..=KEYS).contains(&copy.count()));
                if before == KEYS {
                    break;
                }
            }
        });
    }
}

/// Asks a filter everything. The bits may be such as no key has set.
fn use_it(filter: &Filter) -> Result<(), TestCaseError> {
    let rate = |rate| (0.0..=1.0).contains(&rate);
    prop_assert!(rate(filter.fill_ratio()) && rate(filter.current_fp_rate()));
    prop_assert_eq!(filter.estimate_items() == u64::MAX, filter.fill_ratio() == 1.0);
    let before = filter.try_clone().unwrap();
    prop_assert!(before == *filter);
    for i in 0..20 {
        let known = filter.test(&key(i));
        prop_assert_eq!(filter.test_and_add(&key(i)), known);
        prop_assert!(filter.test(&key(i)));
    }
    before.merge(filter).unwrap();
    prop_assert!(before == *filter);
    Ok(())
}

/// Loads what may be a file. It is loaded if and only if it is one, and then as what it says.
fn check(data: &[u8], kind: Kind) -> Result<(), TestCaseError> {
    match Filter::from_bytes(data, &load_as(kind)) {
        Ok(filter) => {
            prop_assert!(is_a_file(data), "loaded what is no file");
            prop_assert_eq!(filter.to_bytes(Format::V1).unwrap(), data);
            use_it(&filter)
        }
        Err(error) => {
            prop_assert!(!is_a_file(data), "{}", error);
            // The data is to blame, whatever part of the library noticed.
            let blamed = matches!(
                error,
                Error::Corrupt { .. }
                    | Error::Truncated { .. }
                    | Error::MissingChecksum { .. }
                    | Error::Unsupported { .. }
            );
            prop_assert!(blamed, "{}", error);
            Ok(())
        }
    }
}

/// Damage to a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u32),
    Set(prop::sample::Index, u8),
    Header(usize, u64),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index),
    Insert(prop::sample::Index, u8),
    Append(Vec<u8>),
}

impl Damage {
    fn apply(&self, data: &mut Vec<u8>) {
        let len = data.len();
        if len == 0 {
            return;
        }
        match self {
            Damage::Flip(at, bit) => data[at.index(len)] ^= 1 << bit,
            Damage::Set(at, byte) => data[at.index(len)] = *byte,
            Damage::Header(at, number) => {
                let end = len.min(*at + 8);
                let start = end.min(*at);
                data[start..end].copy_from_slice(&number.to_le_bytes()[..end - start]);
            }
            Damage::Cut(at) => data.truncate(at.index(len)),
            Damage::Remove(at) => {
                data.remove(at.index(len));
            }
            Damage::Insert(at, byte) => data.insert(at.index(len), *byte),
            Damage::Append(bytes) => data.extend_from_slice(bytes),
        }
    }
}

fn some_damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let number = prop_oneof![any::<u64>(), 0u64..20, Just(1 << 50), Just(1 << 58), Just(u64::MAX)];
    prop_oneof![
        (at(), 0u32..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (prop::sample::select(&[0, 1, 5, 13][..]), number)
            .prop_map(|(at, number)| Damage::Header(at, number)),
        at().prop_map(Damage::Cut),
        at().prop_map(Damage::Remove),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        prop::collection::vec(any::<u8>(), 0..140).prop_map(Damage::Append),
    ]
}

/// The bytes of `num_blocks` blocks: more or less full, and such as no key sets.
fn some_blocks(num_blocks: u64) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => Just(0), 3 => any::<u8>(), 2 => Just(0xff)];
    let bytes = num_blocks as usize * 64;
    prop_oneof![
        6 => prop::collection::vec(byte, bytes),
        1 => Just(vec![0; bytes]),
        1 => Just(vec![0xff; bytes]),
    ]
}

fn a_file() -> impl Strategy<Value = Vec<u8>> {
    (MIN_K..=MAX_K, 1u64..8, prop_oneof![0u64..1000, any::<u64>()]).prop_flat_map(|(k, num_blocks, count)| {
        some_blocks(num_blocks).prop_map(move |blocks| file(k, num_blocks, count, &blocks))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bits_are_a_filter(file in a_file(), kind in prop::sample::select(&KINDS[..])) {
        prop_assert!(is_a_file(&file));
        check(&file, kind)?;
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(
        mut data in prop::collection::vec(any::<u8>(), 0..300),
        version_1 in any::<bool>(),
        sealed in any::<bool>(),
    ) {
        if version_1 && !data.is_empty() {
            data[0] = 1;
        }
        if sealed {
            seal(&mut data);
        }
        check(&data, Kind::Atomic)?;
    }

    /// Also with the right checksum, so that it is not only the checksum that protects.
    #[test]
    fn a_damaged_file_is_refused_or_is_another_file(
        mut data in a_file(),
        damage in prop::collection::vec(some_damage(), 1..4),
        sealed in any::<bool>(),
        kind in prop::sample::select(&KINDS[..]),
    ) {
        damage.iter().for_each(|damage| damage.apply(&mut data));
        if sealed {
            seal(&mut data);
        }
        check(&data, kind)?;
    }
}

/// The two refusals that name what the caller may want to do something about.
#[test]
fn old_and_other_versions_are_refused_by_name() {
    let file = filter(Kind::Plain, 2, 7).to_bytes(Format::V1).unwrap();
    // 137 begins the native format, which the rest of this is not.
    for version in (0..=255).filter(|&version| version != 1 && version != 137) {
        let mut other = file.clone();
        other[0] = version;
        seal(&mut other);
        let error = load(&other).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(&version.to_string()), "{error}");
    }
    let short = &file[..file.len() - 4];
    assert_eq!(load(short).map(|_| ()), Err(Error::MissingChecksum { length: short.len() as u64 }));
}

/// A file larger than what is read or written at a time anywhere, and beyond the size from which memory
/// comes from the system.
#[test]
fn a_large_filter_survives() {
    let written = Filter::new_sharded(2_000_000, 0.01, 0).unwrap();
    (0..100_000).for_each(|i| written.add(&mix(i).to_be_bytes()));
    let bytes = written.to_bytes(Format::V1).unwrap();
    for kind in KINDS {
        assert!(Filter::from_bytes(&bytes, &load_as(kind)).unwrap() == written);
    }
}
