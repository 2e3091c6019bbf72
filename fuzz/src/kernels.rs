//! The kernels of every level that the processor has, against the definition of `docs/layout.md`: any bits, keys, seed,
//! k and number of blocks; one by one and in batches of all kinds.

use crate::definition::{self, Bits};
use crate::fault;
use crate::format::{self, Image};
use gloom::capi::{GLOOM_FORMAT_NATIVE, GLOOM_FORMAT_V1};
use gloom::{Filter, Format, HashKind, KeyHash, Keys, Kind, Level, LoadOptions, Options};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use std::sync::LazyLock;

static LEVELS: LazyLock<Vec<Level>> =
    LazyLock::new(|| Level::ALL.into_iter().filter(|level| level.is_available()).collect());

pub fn run(input: &[u8]) {
    let _ = check(&mut Unstructured::new(input));
}

/// What is asked of every level, and what each must answer.
struct Case {
    options: Options,
    keys: Vec<Box<[u8]>>,
    /// All keys have this size.
    size: Option<usize>,
    /// Those of the keys, and others.
    hashes: Vec<KeyHash>,
    before: Filter,
    other: Filter,
    merged: Filter,
    intersected: Filter,
    folded: Vec<(u64, Filter)>,
    /// One by one, first the keys and then all hashes: is it there, and is it new?
    singles: Vec<(bool, bool)>,
    after_singles: Filter,
    of_keys: Expected,
    of_hashes: Expected,
}

/// What a batch must answer before its keys are added, and the filter afterwards.
struct Expected {
    results: Vec<u8>,
    after: Filter,
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let k = input.int_in_range(3..=17)?;
    let num_blocks = match input.arbitrary::<u8>()? {
        blocks @ 0..192 => 1 + u64::from(blocks) / 8,
        blocks => 1 + u64::from(blocks - 192) * 4 + input.int_in_range(0..=3)?,
    };
    let seed: u64 = match input.arbitrary::<u8>()? {
        0..160 => 0,
        160..192 => 1,
        _ => input.arbitrary()?,
    };
    let hash = if seed > 1 && seed.is_multiple_of(2) { HashKind::SipHash } else { HashKind::Xxh3 };
    let kind = *input.choose(&[Kind::Plain, Kind::Atomic, Kind::Sharded])?;
    let layout = Layout { k, hash: if hash == HashKind::SipHash { 2 } else { 1 }, seed };
    let before = some_bits(input, num_blocks)?;
    let other = some_bits(input, num_blocks)?;
    let size = match input.arbitrary::<u8>()? {
        size @ 0..64 => Some(usize::from(size)),
        64..100 => Some(input.int_in_range(0..=300)?),
        _ => None,
    };
    let keys = some_keys(input, size)?;
    let mut hashes: Vec<KeyHash> = keys.iter().map(|key| definition::hash(key, layout.hash, seed)).collect();
    // Hashes may also come from elsewhere.
    while !input.is_empty() && hashes.len() < 400 {
        hashes.push(KeyHash { lo: input.arbitrary()?, hi: input.arbitrary()? });
    }

    let combined = |with: fn(u64, u64) -> u64| -> Vec<Bits> {
        before.iter().zip(&other).map(|(a, b)| std::array::from_fn(|i| with(a[i], b[i]))).collect()
    };
    let factors = (1..=num_blocks).filter(|&factor| num_blocks.is_multiple_of(factor)).skip(1).take(2);
    let mut after = before.clone();
    let singles = hashes[..keys.len()].iter().chain(&hashes);
    let singles = singles.map(|&hash| (layout.test(&after, hash), layout.add(&mut after, hash))).collect();
    let case = Case {
        options: Options::for_blocks(num_blocks, k).kind(kind).seed(seed).hash(hash),
        size,
        merged: layout.filter(&combined(|a, b| a | b)),
        intersected: layout.filter(&combined(|a, b| a & b)),
        folded: factors.map(|factor| (factor, layout.filter(&folded(&before, factor as usize)))).collect(),
        singles,
        after_singles: layout.filter(&after),
        of_keys: layout.expected(&before, &hashes[..keys.len()]),
        of_hashes: layout.expected(&before, &hashes),
        before: layout.filter(&before),
        other: layout.filter(&other),
        keys,
        hashes,
    };
    for &level in LEVELS.iter() {
        check_counting(&case, level, &before);
        check_combining(&case, level);
        check_one_by_one(&case, level);
        check_batches(&case, level);
    }
    Ok(())
}

/// What bits mean.
struct Layout {
    k: u32,
    hash: u32,
    seed: u64,
}

impl Layout {
    fn test(&self, bits: &[Bits], hash: KeyHash) -> bool {
        let k = if fault::wanted("kernels-model") && self.k == 17 { 16 } else { self.k };
        definition::test(bits, k, hash)
    }

    fn add(&self, bits: &mut [Bits], hash: KeyHash) -> bool {
        definition::add(bits, self.k, hash)
    }

    fn expected(&self, before: &[Bits], hashes: &[KeyHash]) -> Expected {
        let results = hashes.iter().map(|&hash| self.test(before, hash).into()).collect();
        let mut after = before.to_vec();
        for &hash in hashes {
            self.add(&mut after, hash);
        }
        Expected { results, after: self.filter(&after) }
    }

    /// A filter with these bits, which were copied into it one by one.
    fn filter(&self, bits: &[Bits]) -> Filter {
        let file = format::write(&Image {
            // The native format is the longer one, but only it holds a seed.
            format: if self.seed == 0 { GLOOM_FORMAT_V1 } else { GLOOM_FORMAT_NATIVE },
            k: self.k,
            num_blocks: bits.len() as u64,
            hash: self.hash,
            seed: self.seed,
            expected_items: 0,
            fp_rate: 0.0,
            count: 5,
            live: 0,
            dirty: false,
            bytes: 0,
            blocks: bits.to_vec(),
        });
        let filter = Filter::from_bytes(&file, &LoadOptions::default()).expect("a file that is fine");
        // By the library's best kernel, which so is compared with the others, and here with the bits themselves.
        assert!(
            filter.to_bytes(if self.seed == 0 { Format::V1 } else { Format::Native }).expect("memory")
                == file
        );
        filter
    }
}

/// Each block is the union of `factor` neighbours.
fn folded(bits: &[Bits], factor: usize) -> Vec<Bits> {
    let or = |sum: Bits, block: &Bits| std::array::from_fn(|i| sum[i] | block[i]);
    bits.chunks(factor).map(|blocks| blocks.iter().fold([0; 8], or)).collect()
}

/// Empty, full, or anything.
fn some_bits(input: &mut Unstructured<'_>, num_blocks: u64) -> Result<Vec<Bits>> {
    let how: u8 = input.arbitrary()?;
    let seed: u64 = if how < 40 { 0 } else { input.arbitrary()? };
    let noise = definition::noise(seed, num_blocks as usize * 64);
    let words: Vec<u64> =
        noise.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect();
    let word = |at: usize| words[at % words.len()];
    let bits = |at: usize| match how {
        0..40 => 0,
        40..80 => word(at),
        80..120 => word(at) | word(at + 1) | word(at + 3),
        120..160 => word(at) & word(at + 1) & word(at + 3),
        // One bit is missing, here and there.
        160..220 if word(at).is_multiple_of(4) => !(1 << (word(at) >> 58)),
        _ => u64::MAX,
    };
    Ok((0..num_blocks as usize).map(|block| std::array::from_fn(|i| bits(block * 8 + i))).collect())
}

/// Each in an allocation of its own, so that a read beyond its ends shows.
fn some_keys(input: &mut Unstructured<'_>, size: Option<usize>) -> Result<Vec<Box<[u8]>>> {
    let count = match input.arbitrary::<u8>()? {
        count @ 0..100 => u64::from(count % 20),
        count => u64::from(count - 80),
    };
    let (first, lens): (u64, u8) = (input.arbitrary()?, input.arbitrary()?);
    let mut keys = Vec::new();
    for number in 0..count {
        let noise = definition::noise(first.wrapping_add(number), 2);
        let len = size.unwrap_or(match lens {
            0..64 => usize::from(noise[0] % 34),
            64..128 => usize::from(noise[0]),
            128..192 => usize::from(lens - 128) + usize::from(noise[0] % 8),
            _ => usize::from(noise[0]) * usize::from(noise[1]) % 1100,
        });
        keys.push(definition::noise(first.wrapping_add(number), len).into_boxed_slice());
    }
    // And one as it comes.
    if let Ok(len) = input.int_in_range(0..=40) {
        let key = input.bytes(size.unwrap_or(len))?;
        keys.push(key.into());
    }
    Ok(keys)
}

/// A filter of this level with the bits from before, which its own kernel puts in.
fn filter(case: &Case, level: Level) -> Filter {
    let filter = Filter::create_at_level(&case.options, level).expect("a small filter");
    filter.merge(&case.before).expect("they match");
    filter
}

/// The figures that count bits.
fn check_counting(case: &Case, level: Level, bits: &[Bits]) {
    let filter = filter(case, level);
    let (k, num_blocks) = (filter.k(), bits.len() as f64);
    let ones: u32 = bits.iter().flatten().map(|word| word.count_ones()).sum();
    assert_eq!(filter.fill_ratio(), f64::from(ones) / (num_blocks * 512.0), "{level:?}");
    // The chance of a random probe by the definition, and of one that another key of the block has.
    let hits: f64 = bits.iter().map(|block| definition::hit_chance(block, k)).sum();
    let same_probe = filter.estimate_items() as f64 / num_blocks / 2f64.powi(32);
    let expected = (hits / num_blocks + same_probe).min(1.0);
    let rate = filter.current_fp_rate();
    assert!((rate - expected).abs() <= expected * 1e-12, "{level:?}: {rate}, not {expected}");
}

/// Merging, intersecting, folding.
fn check_combining(case: &Case, level: Level) {
    let filled = filter(case, level);
    assert_eq!(filled.count(), 5);
    assert!(filled == case.before, "{level:?}: bits that were merged into an empty filter");
    filled.merge(&case.other).expect("they match");
    assert!(filled == case.merged, "{level:?}: merge");
    assert_eq!(filled.count(), 10);
    let filled = filter(case, level);
    filled.intersect(&case.other).expect("they match");
    assert!(filled == case.intersected, "{level:?}: intersect");
    for (factor, folded) in &case.folded {
        let filled = filter(case, level);
        assert!(filled.fold(*factor).expect("a divisor") == *folded, "{level:?}: fold by {factor}");
    }
}

fn check_one_by_one(case: &Case, level: Level) {
    let filter = filter(case, level);
    let mut expected = case.singles.iter();
    for ((key, &hash), &(is_there, is_new)) in case.keys.iter().zip(&case.hashes).zip(expected.by_ref()) {
        assert_eq!(filter.hash(key), hash);
        assert_eq!(filter.test(key), is_there, "{level:?}");
        assert_eq!(filter.test_and_add(key), !is_new, "{level:?}");
        assert!(filter.test(key));
    }
    for (&hash, &(is_there, is_new)) in case.hashes.iter().zip(expected) {
        assert_eq!(filter.test_hash(hash), is_there, "{level:?}");
        assert_eq!(filter.add_hash(hash), is_new, "{level:?}");
        assert!(filter.test_hash(hash) && !filter.add_hash(hash));
    }
    assert!(filter == case.after_singles, "{level:?}: added one by one");
    assert_eq!(filter.count(), (5 + case.keys.len() + 2 * case.hashes.len()) as u64);
}

/// Every way to hand over keys in bulk.
fn check_batches(case: &Case, level: Level) {
    let slices: Vec<&[u8]> = case.keys.iter().map(|key| &key[..]).collect();
    // Arrow arrays may be slices of larger ones: something comes before.
    let mut data = vec![0xee; 3];
    let mut offsets = vec![3i64];
    for key in &case.keys {
        data.extend_from_slice(key);
        offsets.push(data.len() as i64);
    }
    let data = data.into_boxed_slice();
    let offsets32: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
    let mut batches = vec![
        ("slices", Keys::slices(&slices), &case.of_keys),
        ("offsets32", Keys::offsets32(&data, &offsets32).expect("in order"), &case.of_keys),
        ("offsets64", Keys::offsets64(&data, &offsets).expect("in order"), &case.of_keys),
        ("hashes", Keys::hashes(&case.hashes), &case.of_hashes),
    ];
    if let Some(size) = case.size.filter(|&size| size > 0) {
        batches.push(("fixed", Keys::fixed(&data[3..], size).expect("a divisor"), &case.of_keys));
    }
    for (way, keys, expected) in batches {
        let context = || format!("{level:?} {way} {} keys", keys.len());
        let filter = filter(case, level);
        let mut results = vec![7; keys.len()].into_boxed_slice();
        let hits = filter.test_batch(keys, Some(&mut results)).expect("as many results as keys");
        assert_eq!(*results, *expected.results, "{}", context());
        assert_eq!(hits, results.iter().filter(|&&hit| hit == 1).count(), "{}", context());
        assert_eq!(filter.test_batch(keys, None), Ok(hits), "{}", context());
        // Then with the keys inside, twice: all are hits.
        for _ in 0..2 {
            filter.add_batch(keys);
            assert!(filter == expected.after, "{}", context());
            assert_eq!(filter.test_batch(keys, Some(&mut results)), Ok(keys.len()), "{}", context());
            assert!(results.iter().all(|&result| result == 1), "{}", context());
        }
        assert_eq!(filter.count(), 5 + 2 * keys.len() as u64);
    }
}
