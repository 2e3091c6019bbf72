//! Filters that hash by SipHash: the frozen figures, what they do like others, and why they are there.
#![cfg(not(loom))]

mod common;

use common::{KINDS, mix};
use gloom::{Error, Filter, Format, HashKind, KeyHash, Keys, Kind, Level, LoadOptions, MapOptions, Options};

const SEED: u64 = 0x5eed_5eed_5eed_5eed;

fn options(kind: Kind, seed: u64) -> Options {
    Options::for_blocks(100, 7).kind(kind).seed(seed).hash(HashKind::SipHash)
}

fn siphash(kind: Kind) -> Filter {
    Filter::create(&options(kind, SEED)).unwrap()
}

/// Strings of all lengths up to some more than a hundred bytes.
fn strings(n: u64) -> Vec<Vec<u8>> {
    (0..n).map(|i| (0..mix(i) % 120).map(|j| (mix(i) >> (j % 8)) as u8 ^ j as u8).collect()).collect()
}

#[test]
fn golden_vectors() {
    let file = include_str!("../ctests/golden/siphash_vectors.tsv");
    let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with(['#', 's'])).collect();
    assert_eq!(lines.len(), 372);
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let (seed, len): (u64, usize) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
        let key: Vec<u8> = (0..len).map(|j| (j * 131 + len + 7) as u8).collect();
        let hash = KeyHash::siphash(&key, seed);
        assert_eq!([format!("{:016x}", hash.hi), format!("{:016x}", hash.lo)], fields[2..4], "{line}");
        assert_eq!(hash.probe().to_string(), fields[4], "{line}");
        assert_eq!(hash.block(1000).to_string(), fields[5], "{line}");
        assert_eq!(Filter::create(&options(Kind::Plain, seed)).unwrap().hash(&key), hash);
    }
}

#[test]
fn batches_do_what_single_calls_do() {
    let keys = strings(1000);
    let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let numbers: Vec<u8> = (0..1000u64).flat_map(u64::to_le_bytes).collect();
    let hashes: Vec<KeyHash> = keys.iter().map(|key| KeyHash::siphash(key, SEED)).collect();
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for kind in KINDS {
            let filter = || Filter::create_at_level(&options(kind, SEED), level).unwrap();
            let (single, batch, by_hash) = (filter(), filter(), filter());
            keys[..500].iter().for_each(|key| single.add(key));
            batch.add_batch(Keys::slices(&slices[..500]));
            by_hash.add_batch(Keys::hashes(&hashes[..500]));
            assert!(single == batch && single == by_hash, "{level:?} {kind:?}");
            let expected: Vec<u8> = keys.iter().map(|key| single.test(key).into()).collect();
            let mut results = vec![7; keys.len()];
            let hits = batch.test_batch(Keys::slices(&slices), Some(&mut results)).unwrap();
            assert_eq!((results, hits >= 500), (expected, true));

            let (single, batch) = (filter(), filter());
            numbers.chunks(8).for_each(|key| single.add(key));
            batch.add_batch(Keys::fixed(&numbers, 8).unwrap());
            assert!(single == batch, "{level:?} {kind:?}");
        }
    }
}

#[test]
fn files_tell_the_hash() {
    let path = std::env::temp_dir().join(format!("gloom-siphash-{}", std::process::id()));
    let saved = siphash(Kind::Plain);
    strings(300).iter().for_each(|key| saved.add(key));
    saved.save(&path, Format::Native).unwrap();
    assert_eq!(Filter::inspect(&path).unwrap().hash, HashKind::SipHash);
    for kind in KINDS {
        let loaded = Filter::load(&path, &LoadOptions { kind, ..LoadOptions::default() }).unwrap();
        assert_eq!((loaded.hash_kind(), loaded.seed()), (HashKind::SipHash, SEED));
        assert!(loaded == saved && strings(300).iter().all(|key| loaded.test(key)));
    }
    let mapped = Filter::map(&path, &MapOptions { read_write: true, ..MapOptions::default() }).unwrap();
    assert!(mapped == saved && mapped.hash_kind() == HashKind::SipHash);
    mapped.add(b"one more");
    saved.add(b"one more");
    let slices: [&[u8]; 2] = [b"one more", b"another"];
    mapped.add_batch(Keys::slices(&slices));
    saved.add_batch(Keys::slices(&slices));
    assert!(mapped == saved);
    drop(mapped);
    assert!(Filter::load(&path, &LoadOptions::default()).unwrap() == saved);
    std::fs::remove_file(&path).unwrap();

    let created = Filter::map_create(&path, &options(Kind::Atomic, SEED)).unwrap();
    strings(300).iter().for_each(|key| created.add(key));
    drop(created);
    let loaded = Filter::load(&path, &LoadOptions::default()).unwrap();
    assert!(loaded.hash_kind() == HashKind::SipHash && strings(300).iter().all(|key| loaded.test(key)));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn copies_keep_the_hash() {
    let filter = siphash(Kind::Sharded);
    strings(300).iter().for_each(|key| filter.add(key));
    let bytes = filter.to_bytes(Format::Native).unwrap();
    let merged = siphash(Kind::Atomic);
    merged.merge_bytes(&bytes).unwrap();
    assert!(merged == filter);
    for copy in [filter.try_clone().unwrap(), filter.fold(4).unwrap()] {
        assert_eq!((copy.hash_kind(), copy.seed()), (HashKind::SipHash, SEED));
        assert!(strings(300).iter().all(|key| copy.test(key)));
    }
}

#[test]
fn mixtures_are_refused_by_name() {
    let by_siphash = siphash(Kind::Atomic);
    let by_xxh3 = Filter::create(&options(Kind::Atomic, SEED).hash(HashKind::Xxh3)).unwrap();
    assert!(by_siphash != by_xxh3, "both are empty");
    let bytes = by_xxh3.to_bytes(Format::Native).unwrap();
    for result in [
        by_siphash.merge(&by_xxh3),
        by_xxh3.merge(&by_siphash),
        by_siphash.intersect(&by_xxh3),
        by_siphash.merge_bytes(&bytes),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Incompatible { .. }), "{error:?}");
        assert!(error.to_string().contains("the hash (1: XXH3, 2: SipHash) is"), "{error}");
    }
}

#[test]
fn v1_and_no_key_are_refused() {
    let error = siphash(Kind::Plain).to_bytes(Format::V1).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("SipHash"), "{error}");
    let error = Filter::create(&options(Kind::Plain, 0)).unwrap_err();
    assert!(matches!(error, Error::Argument { name: "seed", .. }), "{error:?}");

    // The same in a file, and a hash that nobody knows.
    let mut bytes = siphash(Kind::Plain).to_bytes(Format::Native).unwrap();
    let read = |bytes: &[u8]| Filter::from_bytes(bytes, &LoadOptions::default()).unwrap_err();
    let seal = |bytes: &mut [u8]| {
        let checksum = crc32c::crc32c(&bytes[..124]);
        bytes[124..128].copy_from_slice(&checksum.to_le_bytes());
    };
    bytes[32..40].fill(0);
    seal(&mut bytes);
    assert!(matches!(read(&bytes), Error::Corrupt { what: "the seed", .. }));
    for hash in [0u32, 3] {
        bytes[16..20].copy_from_slice(&hash.to_le_bytes());
        seal(&mut bytes);
        assert!(matches!(read(&bytes), Error::Unsupported { name: "the hash", .. }));
    }
}

/// The first words of XXH3's secret, to which the seed is added (even words) or from which it is subtracted (odd ones).
const SECRET: [u64; 10] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
    0xcb00_c391_bb52_283c,
    0x71a3_2e53_8b65_d088,
];

fn secret(word: usize, seed: u64) -> u64 {
    if word.is_multiple_of(2) { SECRET[word].wrapping_add(seed) } else { SECRET[word].wrapping_sub(seed) }
}

/// Pairs of keys of 256 bytes that collide under many seeds, made without knowing any.
///
/// XXH3 takes 64 bytes at a time; of each, word i is XORed with word (i + number of the 64 bytes) of the secret, and the
/// product of the halves of that is added up, as is the word itself. Flip the top bit of the same word in two of the
/// 64 bytes: the sum of the words stays, and so does that of the products if the low halves are equal and the top bits
/// are not. Which difference of the two words does that depends on the seed, but some do for many seeds.
fn colliding_pairs(count: usize) -> Vec<[[u8; 256]; 2]> {
    let mut found = std::collections::HashMap::new();
    for word in 0..8 {
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            for seed in (0..20_000).map(mix) {
                let (a, b) = (secret(word + first, seed), secret(word + second, seed));
                let difference = (a ^ b) as u32;
                let same_top = (a ^ b) >> 63 == 0;
                *found.entry((word, first, second, difference, same_top)).or_insert(0u32) += 1;
            }
        }
    }
    let mut best: Vec<_> = found.into_iter().map(|(place, seeds)| (seeds, place)).collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let pairs = best.into_iter().take(count).map(|(_, (word, first, second, difference, same_top))| {
        [0u64, 1 << 63].map(|flip| {
            let mut key = [0; 256];
            let at = |stripe: usize| stripe * 64 + word * 8..stripe * 64 + word * 8 + 8;
            let second_word = u64::from(difference) | u64::from(same_top) << 63;
            key[at(first)].copy_from_slice(&flip.to_le_bytes());
            key[at(second)].copy_from_slice(&(second_word ^ flip).to_le_bytes());
            key
        })
    });
    pairs.collect()
}

/// What docs/files.md says of seeds: XXH3's is no protection beyond 240 bytes.
#[test]
fn long_keys_collide_under_many_seeds_of_xxh3_and_none_of_siphash() {
    let pairs = colliding_pairs(200);
    let seeds: Vec<u64> = (1 << 40..(1 << 40) + 1000).map(mix).collect();
    let broken = |hash: fn(&[u8], u64) -> KeyHash| {
        let breaks = |seed: u64| pairs.iter().any(|[a, b]| a != b && hash(a, seed) == hash(b, seed));
        seeds.iter().filter(|&&seed| breaks(seed)).count()
    };
    let (by_xxh3, by_siphash) = (broken(KeyHash::new), broken(KeyHash::siphash));
    println!("{by_xxh3} of {} seeds of XXH3 broken, {by_siphash} of SipHash", seeds.len());
    assert!(by_xxh3 > 100, "{by_xxh3}");
    assert_eq!(by_siphash, 0);
}
