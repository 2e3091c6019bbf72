//! Every level gives the bits and answers of the definition, for every k.

use super::*;
use crate::hash::{HashKind, KeyHash};
use crate::layout::{MAX_K, MIN_K, partitions};
use crate::memory::Blocks;
use proptest::prelude::*;

/// The definition: bit i is `offset_i + probe mod p_i`.
fn defined(k: u32, probe: u32) -> [u64; 8] {
    let mut words = [0; 8];
    let mut offset = 0;
    for &size in partitions(k) {
        let bit = offset + probe % size;
        words[(bit / 64) as usize] |= 1 << (bit % 64);
        offset += size;
    }
    words
}

fn kernels() -> impl Iterator<Item = (u32, Kernel)> {
    let levels = Level::ALL.into_iter().filter(|level| level.is_available());
    levels.flat_map(|level| (MIN_K..=MAX_K).map(move |k| (k, Kernel::select(k, level, HashKind::Xxh3))))
}

/// By what Linux knows of the processor.
#[cfg(all(vectors, target_os = "linux"))]
#[test]
fn the_levels_are_those_of_the_processor() {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags: Vec<&str> =
        cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap().split_whitespace().collect();
    let has = |instructions: &[&str]| instructions.iter().all(|name| flags.contains(name));
    let avx512 = has(&["avx512f", "avx512dq", "avx512vl", "avx512bw", "popcnt"]);
    let levels = [
        (Level::Portable, c"portable", true),
        (Level::Avx2, c"avx2", has(&["avx2", "fma", "popcnt"])),
        (Level::Avx512, c"avx512", avx512),
        (Level::Avx512Ifma, c"avx512ifma", avx512 && has(&["avx512ifma"])),
    ];
    let mut best = Level::Portable;
    for (level, name, is_there) in levels {
        assert_eq!(level.is_available(), is_there, "{level:?}");
        assert_eq!(
            Kernel::select(7, level, HashKind::Xxh3).name(),
            if is_there { name } else { c"portable" }
        );
        best = if is_there { level } else { best };
    }
    assert_eq!(Level::best(), best);
}

fn fill(block: &Block, words: [u64; 8]) {
    for (word, value) in block.words.iter().zip(words) {
        word.store(value, Relaxed);
    }
}

/// Checks one kernel with one probe on a block that holds `before`.
fn check(kernel: &Kernel, k: u32, probe: u32, before: [u64; 8]) {
    let blocks = Blocks::zeroed(1, false).unwrap();
    let block = &blocks[0];
    let bits = defined(k, probe);
    let context = || format!("{:?} k {k} probe {probe:#x} in {before:x?}", kernel.name());
    let present = bits.iter().zip(&before).all(|(bits, before)| before & bits == *bits);
    let after: [u64; 8] = std::array::from_fn(|i| before[i] | bits[i]);

    fill(block, before);
    assert_eq!(kernel.test(block, probe), present, "{}", context());
    let mut results = [7];
    assert_eq!(
        kernel.test_many(&blocks, &[0], &[probe], &[], &mut results),
        usize::from(present),
        "{}",
        context()
    );
    assert_eq!(results, [u8::from(present)], "{}", context());
    assert_eq!(read_block(block), before, "{}", context());

    for set in [Kernel::set, Kernel::set_shared] {
        fill(block, before);
        assert_eq!(set(kernel, block, probe), !present, "{}", context());
        assert_eq!(read_block(block), after, "{}", context());
        assert!(!set(kernel, block, probe), "{}", context());
        assert!(kernel.test(block, probe), "{}", context());
    }
    for set_many in [Kernel::set_many, Kernel::set_many_shared] {
        // What is fetched for later changes nothing, be it more or less than what is set.
        for ahead in [&[][..], &[0, 0, 0]] {
            fill(block, before);
            set_many(kernel, &blocks, &[0], &[probe], ahead);
            assert_eq!(read_block(block), after, "{}", context());
        }
    }
}

/// Remainders are computed by multiplication with rounded reciprocals; they are most easily wrong next
/// to multiples and at the ends of the range.
#[test]
fn remainders_are_exact_at_the_edges() {
    for (k, kernel) in kernels() {
        for &size in partitions(k) {
            let last = u32::MAX / size * size;
            let around = |multiple: u32| [multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1)];
            for probe in [0, size, size * 7, 1 << 31, last / 2 / size * size, last - size, last, u32::MAX]
                .map(around)
                .concat()
            {
                check(&kernel, k, probe, [0; 8]);
            }
        }
    }
}

#[test]
fn one_missing_bit_is_a_miss() {
    for (k, kernel) in kernels() {
        for probe in (0..40u32).map(|i| i.wrapping_mul(0x9e37_79b9)) {
            let bits = defined(k, probe);
            for bit in (0..512).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 == 1) {
                let mut without = [u64::MAX; 8];
                without[bit / 64] &= !(1 << (bit % 64));
                check(&kernel, k, probe, without);
            }
        }
    }
}

proptest! {
    #[test]
    fn all_levels_follow_the_definition(probe: u32, words: [u64; 8], dense: [u64; 8], other: u32) {
        for (k, kernel) in kernels() {
            check(&kernel, k, probe, [0; 8]);
            check(&kernel, k, probe, words);
            check(&kernel, k, probe, std::array::from_fn(|i| words[i] | dense[i] | defined(k, other)[i]));
        }
    }
}

/// Checks what a kernel makes of many blocks with as many others, word by word; no others change.
fn check_combined(kernel: &Kernel, targets: &[[u64; 8]], sources: &[[u64; 8]]) {
    let len = targets.len();
    let blocks = |words: &[[u64; 8]]| {
        let blocks = Blocks::zeroed(len as u64 + 2, false).unwrap();
        blocks.iter().for_each(|block| fill(block, [0x5a5a; 8]));
        blocks[1..=len].iter().zip(words).for_each(|(block, &words)| fill(block, words));
        blocks
    };
    type Combined = (fn(&Kernel, &[Block], &[Block]), fn(u64, u64) -> u64);
    let cases: [Combined; 3] = [
        (Kernel::or_all, |a, b| a | b),
        (Kernel::or_all_shared, |a, b| a | b),
        (Kernel::and_all, |a, b| a & b),
    ];
    for (i, (combine, defined)) in cases.into_iter().enumerate() {
        let (target, source) = (blocks(targets), blocks(sources));
        combine(kernel, &target[1..=len], &source[1..=len]);
        for block in 0..len {
            let expected: [u64; 8] =
                std::array::from_fn(|word| defined(targets[block][word], sources[block][word]));
            let context = || format!("{:?} case {i} block {block} of {len}", kernel.name());
            assert_eq!(read_block(&target[1 + block]), expected, "{}", context());
            assert_eq!(read_block(&source[1 + block]), sources[block], "{}", context());
        }
        for outside in [&target[0], &target[len + 1], &source[0], &source[len + 1]] {
            assert_eq!(read_block(outside), [0x5a5a; 8], "{:?} case {i}: beyond {len} blocks", kernel.name());
        }
        // With itself nothing changes.
        combine(kernel, &source[1..=len], &source[1..=len]);
        assert!((0..len).all(|block| read_block(&source[1 + block]) == sources[block]));
    }
}

/// One bit here or there, in each of the words: the tests that spare a store look at all of them.
#[test]
fn blocks_that_differ_in_one_bit_are_combined() {
    for (_, kernel) in kernels().filter(|&(k, _)| k == 7) {
        for bit in 0..512 {
            let mut words = [0; 8];
            words[bit / 64] = 1 << (bit % 64);
            let without = words.map(|word: u64| !word);
            let cases = [[0; 8], words, without, [u64::MAX; 8]];
            let targets = cases.map(|words| [words; 4]).concat();
            check_combined(&kernel, &targets, &[cases; 4].concat());
        }
    }
}

proptest! {
    #[test]
    fn all_levels_combine_word_by_word(
        words in proptest::collection::vec(any::<([u64; 8], [u64; 8], u8)>(), 0..20),
    ) {
        // Words that lack something, and words that lack nothing.
        let (targets, sources): (Vec<_>, Vec<_>) = words
            .into_iter()
            .map(|(a, b, how)| match how % 4 {
                0 => (a, std::array::from_fn(|i| a[i] & b[i])),
                1 => (a, std::array::from_fn(|i| a[i] | b[i])),
                2 => ([0; 8], b),
                _ => (a, b),
            })
            .unzip();
        for (_, kernel) in kernels().filter(|&(k, _)| k == 7 || k == 17) {
            check_combined(&kernel, &targets, &sources);
        }
    }
}

/// Counts bit by bit, and compares.
fn check_counted(words: &[[u64; 8]]) {
    let blocks = Blocks::zeroed(words.len() as u64, false).unwrap();
    blocks.iter().zip(words).for_each(|(block, &words)| fill(block, words));
    let ones = |words: &[u64; 8], bits: std::ops::Range<u32>| {
        bits.filter(|bit| words[(bit / 64) as usize] >> (bit % 64) & 1 == 1).count()
    };
    let all: u64 = words.iter().map(|words| ones(words, 0..512) as u64).sum();
    for (k, kernel) in kernels() {
        let hit = |words| {
            let mut offset = 0;
            let chance_of = |&size: &u32| {
                offset += size;
                ones(words, offset - size..offset) as f64 / f64::from(size)
            };
            partitions(k).iter().map(chance_of).product::<f64>()
        };
        let expected: f64 = words.iter().map(hit).sum();
        let (counted, hits) = kernel.ones_and_hits(&blocks);
        assert_eq!((kernel.ones(&blocks), counted), (all, all), "{:?} k {k}", kernel.name());
        // The same numbers are multiplied in another order.
        let error = (hits - expected).abs();
        assert!(error <= expected * 1e-13, "{:?} k {k}: {hits}, not {expected}", kernel.name());
    }
}

/// The first and the last bit of every partition are in it and in no other.
#[test]
fn bits_are_counted_where_they_are() {
    check_counted(&[[u64::MAX; 8]]);
    check_counted(&[[0; 8], [u64::MAX; 8], [0; 8]]);
    for bit in 0..512 {
        let mut words = [0; 8];
        words[bit / 64] = 1 << (bit % 64);
        check_counted(&[words, words.map(|word: u64| !word)]);
    }
}

proptest! {
    #[test]
    fn all_levels_count_bit_by_bit(words in proptest::collection::vec(any::<[u64; 8]>(), 1..9)) {
        check_counted(&words);
    }
}

/// Hashes keys of these lengths by every level and compares with the hash of each key by itself.
fn check_hashes(lens: &[usize], seed: u64, num_blocks: u64) {
    check_hashes_of(HashKind::Xxh3, lens, seed, num_blocks);
    check_hashes_of(HashKind::SipHash, lens, seed, num_blocks);
}

fn check_hashes_of(hash: HashKind, lens: &[usize], seed: u64, num_blocks: u64) {
    // Each key is an allocation of its own, so that a sanitizer sees a read beyond its ends.
    let keys: Vec<Box<[u8]>> = lens
        .iter()
        .enumerate()
        .map(|(i, &len)| (0..len).map(|j| (i * 31 + j * 131 + len) as u8).collect())
        .collect();
    let slices: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let data = keys.concat();
    let mut offsets = vec![0];
    for key in &keys {
        offsets.push(offsets[offsets.len() - 1] + key.len() as i64);
    }
    let offsets32: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
    let pointers: Vec<*const u8> = keys.iter().map(|key| key.as_ptr()).collect();
    let hash_key = match hash {
        HashKind::Xxh3 => KeyHash::new,
        HashKind::SipHash => KeyHash::siphash,
    };
    let hashes: Vec<KeyHash> = keys.iter().map(|key| hash_key(key, seed)).collect();
    let mut sources = vec![
        Keys::offsets32(&data, &offsets32).unwrap(),
        Keys::offsets64(&data, &offsets).unwrap(),
        Keys::slices(&slices),
        // SAFETY: the keys outlive the batch.
        unsafe { Keys::pointers(&pointers, lens).unwrap() },
        Keys::hashes(&hashes),
    ];
    if lens.iter().all(|len| *len == lens[0] && *len > 0) {
        sources.push(Keys::fixed(&data, lens[0]).unwrap());
    }
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let kernel = Kernel::select(7, level, hash);
        let mut located = Located::new();
        for keys in &sources {
            assert_eq!(keys.len(), lens.len());
            for first in (0..lens.len()).step_by(GROUP) {
                kernel.hash(keys, first, seed, num_blocks, &mut located);
                let count = (lens.len() - first).min(GROUP);
                assert_eq!(located.len(), count, "{level:?} {lens:?}");
                let mut seen = vec![false; count];
                for (i, &number) in located.order().iter().enumerate() {
                    let hash = hashes[first + number as usize];
                    let expected = (hash.block(num_blocks), hash.probe());
                    let got = (located.indices()[i], located.probes()[i]);
                    assert_eq!(
                        got,
                        expected,
                        "{level:?} length {} seed {seed}",
                        lens[first + number as usize]
                    );
                    assert!(!std::mem::replace(&mut seen[number as usize], true), "{level:?}: twice");
                }
                assert!(seen.iter().all(|&seen| seen), "{level:?}: a key of {count} is missing");
            }
        }
    }
}

#[test]
fn groups_are_hashed_as_single_keys_at_every_length() {
    for seed in [0, 1, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        for num_blocks in [1, 1000, (1 << 32) - 1, 1 << 32, (1 << 50) + 12345] {
            for len in 0..260 {
                check_hashes(&[len; 11], seed, num_blocks);
            }
        }
        check_hashes(&(0..1000).collect::<Vec<_>>(), seed, 1_000_003);
        for count in 1..=(2 * GROUP + 1) {
            check_hashes(&vec![8; count], seed, 77);
            check_hashes(&vec![20; count], seed, 77);
        }
    }
}

proptest! {
    #[test]
    fn groups_of_mixed_lengths_are_hashed_as_single_keys(
        lens in proptest::collection::vec(prop_oneof![0usize..70, 3usize..34, 0usize..300], 1..200),
        seed: u64,
        num_blocks in 1u64..1 << 57,
    ) {
        check_hashes(&lens, seed, num_blocks);
    }
}
