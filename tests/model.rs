//! Random operations on filters of all kinds, against the plainest filter there could be.
//!
//! The model knows the definition of the layout and nothing else, so it predicts every answer exactly:
//! also which absent keys are hits, and what test-and-add tells. proptest prints the smallest failing
//! sequence with its seed, and stores the seed in tests/model.regressions.

mod common;

use common::KINDS;
use gloom::{Error, Filter, Format, KeyHash, Kind, LoadOptions, MAX_K, MIN_K, Options};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;

/// The partitions, written down anew: a table that the library and its test shared would prove nothing.
const PARTITIONS: [&[u32]; 15] = [
    &[167, 173, 172],
    &[109, 127, 137, 139],
    &[97, 101, 103, 109, 102],
    &[61, 79, 83, 89, 97, 103],
    &[61, 67, 71, 79, 83, 89, 62],
    &[37, 47, 53, 61, 67, 71, 79, 97],
    &[41, 43, 47, 53, 59, 67, 71, 73, 58],
    &[31, 37, 41, 43, 47, 53, 59, 61, 67, 73],
    &[29, 31, 37, 41, 43, 44, 47, 53, 59, 61, 67],
    &[17, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 71],
    &[17, 19, 23, 29, 31, 37, 41, 43, 47, 52, 53, 59, 61],
    &[11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 53, 59, 61, 71],
    &[11, 13, 17, 19, 23, 28, 29, 31, 37, 41, 43, 47, 53, 59, 61],
    &[5, 7, 11, 13, 17, 19, 23, 27, 29, 31, 37, 41, 43, 47, 53, 109],
    &[3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 101],
];

/// The block and the bits in it of a hash, by the definition of the layout.
fn bits(hash: KeyHash, num_blocks: u64, k: u32) -> (u64, Vec<u32>) {
    let block = (u128::from(hash.hi) * u128::from(num_blocks)) >> 64;
    let probe = hash.lo as u32 ^ (hash.lo >> 32) as u32;
    let mut offset = 0;
    let bits = PARTITIONS[k as usize - 3].iter().map(|size| {
        let bit = offset + probe % size;
        offset += size;
        bit
    });
    (block as u64, bits.collect())
}

/// What a filter should be.
#[derive(Clone)]
struct Model {
    num_blocks: u64,
    k: u32,
    /// Block and bit of all bits that are set.
    set: BTreeSet<(u64, u32)>,
    /// The keys inside.
    hashes: BTreeSet<(u64, u64)>,
    count: u64,
}

impl Model {
    fn new(num_blocks: u64, k: u32) -> Model {
        Model { num_blocks, k, set: BTreeSet::new(), hashes: BTreeSet::new(), count: 0 }
    }

    fn test(&self, hash: KeyHash) -> bool {
        let (block, bits) = bits(hash, self.num_blocks, self.k);
        bits.iter().all(|&bit| self.set.contains(&(block, bit)))
    }

    /// True if a bit was clear.
    fn add(&mut self, hash: KeyHash) -> bool {
        let new = !self.test(hash);
        let (block, bits) = bits(hash, self.num_blocks, self.k);
        self.set.extend(bits.iter().map(|&bit| (block, bit)));
        self.hashes.insert((hash.lo, hash.hi));
        self.count += 1;
        new
    }

    fn merge(&mut self, source: &Model) {
        self.set.extend(&source.set);
        self.hashes.extend(&source.hashes);
        self.count += source.count;
    }

    fn hashes(&self) -> impl DoubleEndedIterator<Item = KeyHash> {
        self.hashes.iter().map(|&(lo, hi)| KeyHash { lo, hi })
    }

    /// A hash that is not inside, unless every bit is set (or nearly).
    fn absent(&self) -> Option<KeyHash> {
        (0..4096).map(|lo| KeyHash { lo, hi: u64::MAX }).find(|&hash| !self.test(hash))
    }

    /// The bytes of all blocks.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.num_blocks as usize * 64];
        for &(block, bit) in &self.set {
            // Bit b of a little-endian word is bit b % 8 of its byte b / 8.
            bytes[block as usize * 64 + bit as usize / 8] |= 1 << (bit % 8);
        }
        bytes
    }
}

/// The blocks in a v1 file.
fn blocks_of(filter: &Filter) -> Vec<u8> {
    let file = filter.to_bytes(Format::V1).unwrap();
    file[21..file.len() - 4].to_vec()
}

/// Filters and keys of a run are named by their numbers.
#[derive(Clone, Debug)]
enum Op {
    Add(usize, usize),
    AddHash(usize, KeyHash),
    TestAndAdd(usize, usize),
    Test(usize, usize),
    TestHash(usize, KeyHash),
    Merge(usize, usize),
    Clone(usize, usize),
    Reload(usize, Kind, u32),
    Clear(usize),
}

const FILTERS: usize = 4;
const KEYS: usize = 24;

fn a_hash() -> impl Strategy<Value = KeyHash> {
    let half = || prop_oneof![6 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1 << 32)];
    (half(), half()).prop_map(|(lo, hi)| KeyHash { lo, hi })
}

fn a_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(&KINDS[..])
}

fn an_op() -> impl Strategy<Value = Op> {
    let (filter, key) = (0..FILTERS, 0..KEYS);
    prop_oneof![
        12 => (filter.clone(), key.clone()).prop_map(|(f, key)| Op::Add(f, key)),
        4 => (filter.clone(), a_hash()).prop_map(|(f, hash)| Op::AddHash(f, hash)),
        8 => (filter.clone(), key.clone()).prop_map(|(f, key)| Op::TestAndAdd(f, key)),
        4 => (filter.clone(), key).prop_map(|(f, key)| Op::Test(f, key)),
        4 => (filter.clone(), a_hash()).prop_map(|(f, hash)| Op::TestHash(f, hash)),
        3 => (filter.clone(), filter.clone()).prop_map(|(to, from)| Op::Merge(to, from)),
        2 => (filter.clone(), filter.clone()).prop_map(|(to, from)| Op::Clone(to, from)),
        3 => (filter.clone(), a_kind(), 0u32..4).prop_map(|(f, kind, shards)| Op::Reload(f, kind, shards)),
        1 => filter.prop_map(Op::Clear),
    ]
}

/// A number of shards that `num_blocks` allows.
fn shards(kind: Kind, wanted: u32, num_blocks: u64) -> u32 {
    // 0 lets the library choose; otherwise 1, 2, 4 or fewer.
    if kind != Kind::Sharded || wanted == 0 { 0 } else { (1 << (wanted - 1)).min(1 << num_blocks.ilog2()) }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn filters_do_what_the_model_does(
        num_blocks in prop_oneof![1u64..5, 5u64..200],
        k in MIN_K..=MAX_K,
        seed in prop_oneof![3 => Just(0), 1 => any::<u64>()],
        kinds in prop::collection::vec((a_kind(), 0u32..4), FILTERS),
        keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), KEYS),
        ops in prop::collection::vec(an_op(), 0..120),
    ) {
        let make = |kind, wanted| {
            let options = Options::for_blocks(num_blocks, k).kind(kind).seed(seed);
            Filter::create(&Options { num_shards: shards(kind, wanted, num_blocks), ..options }).unwrap()
        };
        let mut filters: Vec<_> = kinds.iter().map(|&(kind, shards)| make(kind, shards)).collect();
        let mut models = vec![Model::new(num_blocks, k); FILTERS];
        let hashes: Vec<_> = keys.iter().map(|key| KeyHash::new(key, seed)).collect();

        for op in ops {
            let changed = match op {
                Op::Add(f, key) => {
                    filters[f].add(&keys[key]);
                    models[f].add(hashes[key]);
                    f
                }
                Op::AddHash(f, hash) => {
                    prop_assert_eq!(filters[f].add_hash(hash), models[f].add(hash));
                    f
                }
                Op::TestAndAdd(f, key) => {
                    prop_assert_eq!(filters[f].test_and_add(&keys[key]), !models[f].add(hashes[key]));
                    f
                }
                Op::Test(f, key) => {
                    prop_assert_eq!(filters[f].test(&keys[key]), models[f].test(hashes[key]));
                    f
                }
                Op::TestHash(f, hash) => {
                    prop_assert_eq!(filters[f].test_hash(hash), models[f].test(hash));
                    f
                }
                Op::Merge(to, from) => {
                    filters[to].merge(&filters[from]).unwrap();
                    // With itself: nothing changes, not even the count.
                    if to != from {
                        let source = models[from].clone();
                        models[to].merge(&source);
                    }
                    to
                }
                Op::Clone(to, from) => {
                    let clone = filters[from].try_clone().unwrap();
                    prop_assert_eq!(clone.kind(), filters[from].kind());
                    prop_assert_eq!(clone.num_shards(), filters[from].num_shards());
                    prop_assert_eq!(clone.seed(), seed);
                    filters[to] = clone;
                    models[to] = models[from].clone();
                    to
                }
                Op::Reload(f, kind, wanted) => {
                    let num_shards = shards(kind, wanted, num_blocks);
                    match filters[f].to_bytes(Format::V1) {
                        Ok(file) => {
                            prop_assert_eq!(seed, 0);
                            let options = LoadOptions { kind, num_shards, ..LoadOptions::default() };
                            filters[f] = Filter::from_bytes(&file, &options).unwrap();
                            prop_assert_eq!(filters[f].kind(), kind);
                        }
                        Err(error) => {
                            let told = matches!(error, Error::Unsupported { name: "seed", .. });
                            prop_assert!(seed != 0 && told, "{}", error);
                        }
                    }
                    f
                }
                Op::Clear(f) => {
                    filters[f].clear();
                    models[f] = Model::new(num_blocks, k);
                    f
                }
            };
            prop_assert_eq!(filters[changed].count(), models[changed].count);
        }

        for (filter, model) in filters.iter().zip(&models) {
            prop_assert_eq!(filter.count(), model.count);
            prop_assert!(model.hashes().all(|hash| filter.test_hash(hash)), "a false negative");
            for (key, &hash) in keys.iter().zip(&hashes) {
                prop_assert_eq!(filter.hash(key), hash);
                prop_assert_eq!(filter.test(key), model.test(hash));
            }
            // The same keys in another order, into every kind: the same filter.
            for kind in KINDS {
                let other = make(kind, 0);
                model.hashes().rev().for_each(|hash| {
                    other.add_hash(hash);
                });
                prop_assert_eq!((filter == &other, &other == filter), (true, true));
                // A key more would be seen.
                if let Some(hash) = model.absent() {
                    other.add_hash(hash);
                    prop_assert_eq!((filter == &other, &other == filter), (false, false));
                }
            }
            if seed == 0 {
                prop_assert_eq!(blocks_of(filter), model.bytes());
            }
        }
    }

    /// Faults seen elsewhere: filters that differ in k, blocks or seed merge in silence and lose keys
    /// (stream-lib PR 134, commons-collections PR 258, ArashPartow, fastbloom).
    #[test]
    fn filters_that_do_not_match_are_neither_merged_nor_equal(
        geometries in prop::collection::vec((1u64..4, 3u32..6, 0u64..3), 2),
        kinds in prop::collection::vec(a_kind(), 2),
        keys in prop::collection::vec(any::<u64>(), 1..50),
    ) {
        let make = |i: usize| {
            let (num_blocks, k, seed) = geometries[i];
            Filter::create(&Options::for_blocks(num_blocks, k).kind(kinds[i]).seed(seed)).unwrap()
        };
        let (target, source) = (make(0), make(1));
        keys.iter().for_each(|key| source.add(&key.to_le_bytes()));
        target.add(b"its own");
        let before = target.try_clone().unwrap();
        let merged = target.merge(&source);
        let ((blocks, k, seed), (source_blocks, source_k, source_seed)) = (geometries[0], geometries[1]);
        if geometries[0] == geometries[1] {
            prop_assert_eq!(merged, Ok(()));
            prop_assert_eq!(target.count(), 1 + keys.len() as u64);
            prop_assert!(keys.iter().all(|key| target.test(&key.to_le_bytes())));
        } else {
            let (what, ours, theirs) = if blocks != source_blocks {
                ("num_blocks", blocks, source_blocks)
            } else if k != source_k {
                ("k", k.into(), source_k.into())
            } else {
                ("seed", seed, source_seed)
            };
            prop_assert_eq!(merged, Err(Error::Incompatible { what, target: ours, source: theirs }));
            prop_assert!(target == before && target.count() == 1);
            prop_assert_eq!((target == source, source == target), (false, false));
        }
    }
}

/// Every k, with hashes at the edges of blocks, partitions and 32 bits.
#[test]
fn bits_lie_where_the_definition_puts_them() {
    const BLOCKS: u64 = 5;
    for (k, sizes) in (MIN_K..).zip(PARTITIONS) {
        assert_eq!((sizes.len() as u32, sizes.iter().sum::<u32>()), (k, 512));
        let mut los = vec![
            0,
            1,
            1 << 31,
            u32::MAX.into(),
            u64::MAX,
            1 << 32,
            0x0000_0001_0000_0000,
            0x1234_5678_9abc_def0,
        ];
        los.extend(sizes.iter().flat_map(|&size| [u64::from(size) - 1, size.into(), u64::from(size) + 1]));
        los.extend((0..200).map(common::mix));
        let his = [0, 1, u64::MAX / 5, u64::MAX / 5 + 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for kind in KINDS {
            let filter = common::filter(kind, BLOCKS, k);
            for &lo in &los {
                for hi in his {
                    let hash = KeyHash { lo, hi };
                    let mut model = Model::new(BLOCKS, k);
                    model.add(hash);
                    assert!(!filter.test_hash(hash));
                    assert!(filter.add_hash(hash));
                    assert_eq!(blocks_of(&filter), model.bytes(), "{kind:?} {k} {hash:?}");
                    assert!(filter.test_hash(hash));
                    assert!(!filter.add_hash(hash));
                    filter.clear();
                }
            }
        }
    }
    assert_eq!(PARTITIONS.len() as u32, MAX_K - MIN_K + 1);
}

/// Faults seen elsewhere: the empty key is refused, or taken for another (rocksdb PR 3776, ClickHouse
/// PR 8242, tenzir PR 6252).
#[test]
fn the_empty_key_is_a_key() {
    for kind in KINDS {
        let filter = common::filter(kind, 1000, 7);
        assert!(!filter.test(b"") && !filter.test(b"\0"));
        assert!(!filter.test_and_add(b""));
        assert!(filter.test(b"") && !filter.test(b"\0"));
        assert_eq!(filter.count(), 1);
    }
}
