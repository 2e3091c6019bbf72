//! Batches do what single calls do, wherever the keys lie: at every level, in every kind, for every k.
#![cfg(not(loom))]

use gloom::{Error, Filter, KeyHash, Keys, Kind, Level, MAX_K, MIN_K, Options};
use proptest::prelude::*;

const KINDS: [Kind; 3] = [Kind::Plain, Kind::Atomic, Kind::Sharded];

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// What the keys of one batch need to be taken in every way.
struct Batch {
    keys: Vec<Vec<u8>>,
    /// The keys one after the other, with some bytes of no key around them.
    data: Vec<u8>,
    before: usize,
    offsets64: Vec<i64>,
    offsets32: Vec<i32>,
    hashes: Vec<KeyHash>,
}

impl Batch {
    fn new(keys: Vec<Vec<u8>>, seed: u64, before: usize, behind: usize) -> Batch {
        let mut data = vec![0x5a; before];
        let mut offsets64 = vec![before as i64];
        for key in &keys {
            data.extend_from_slice(key);
            offsets64.push(data.len() as i64);
        }
        data.resize(data.len() + behind, 0xa5);
        let offsets32 = offsets64.iter().map(|&offset| offset as i32).collect();
        let hashes = keys.iter().map(|key| KeyHash::new(key, seed)).collect();
        Batch { keys, data, before, offsets64, offsets32, hashes }
    }

    fn slices(&self) -> Vec<&[u8]> {
        self.keys.iter().map(Vec::as_slice).collect()
    }

    /// Each way of taking these keys, with its name.
    fn ways<'a>(&'a self, slices: &'a [&'a [u8]]) -> Vec<(&'static str, Keys<'a>)> {
        let mut ways = vec![
            ("offsets32", Keys::offsets32(&self.data, &self.offsets32).unwrap()),
            ("offsets64", Keys::offsets64(&self.data, &self.offsets64).unwrap()),
            ("slices", Keys::slices(slices)),
            ("hashes", Keys::hashes(&self.hashes)),
        ];
        let size = slices.first().map_or(8, |key| key.len());
        if size > 0 && slices.iter().all(|key| key.len() == size) {
            let data = &self.data[self.before..][..size * slices.len()];
            ways.push(("fixed", Keys::fixed(data, size).unwrap()));
        }
        ways
    }
}

/// A filter to fill in each way, and to hold against one of the portable level that is filled one by one.
#[derive(Clone, Copy, Debug)]
struct Shape {
    num_blocks: u64,
    k: u32,
    seed: u64,
    /// Only for sharded filters, and at most as many as blocks.
    shards: u32,
}

impl Shape {
    fn filter(self, kind: Kind, level: Level) -> Filter {
        let most = self.num_blocks.ilog2();
        let num_shards = if kind == Kind::Sharded { 1 << self.shards.min(most) } else { 0 };
        let options = Options::for_blocks(self.num_blocks, self.k).kind(kind).seed(self.seed);
        Filter::create_at_level(&Options { num_shards, ..options }, level).unwrap()
    }
}

/// Returns how many of the answers were yes.
fn check(batch: &Batch, shape: Shape) -> usize {
    let all = shape.filter(Kind::Plain, Level::Portable);
    let some = shape.filter(Kind::Plain, Level::Portable);
    for (number, key) in batch.keys.iter().enumerate() {
        all.add(key);
        // Two of three, so that neighbours differ and groups do not look alike.
        if number % 3 != 1 {
            some.add(key);
        }
    }
    let expected: Vec<u8> = batch.keys.iter().map(|key| some.test(key).into()).collect();
    let expected_hits = expected.iter().filter(|&&hit| hit == 1).count();
    let slices = batch.slices();
    for level in levels() {
        for kind in KINDS {
            // The same bits as the portable filter, so that answers of the same keys can be compared.
            let asked = shape.filter(kind, level);
            asked.merge(&some).unwrap();
            for (way, keys) in batch.ways(&slices) {
                let context = format!("{way}, {level:?}, {kind:?}, {shape:?}, {} keys", keys.len());
                assert_eq!(keys.len(), batch.keys.len(), "{context}");
                assert_eq!(keys.is_empty(), batch.keys.is_empty(), "{context}");

                let filled = shape.filter(kind, level);
                for times in 1..=2 {
                    filled.add_batch(keys);
                    assert!(filled == all, "{context}");
                    assert_eq!(filled.count(), times * keys.len() as u64, "{context}");
                }

                let mut results = vec![7; keys.len()];
                let hits = asked.test_batch(keys, Some(&mut results));
                assert_eq!(hits, Ok(expected_hits), "{context}");
                assert_eq!(results, expected, "{context}");
                assert_eq!(asked.test_batch(keys, None), Ok(expected_hits), "{context}");
                assert!(asked == some, "{context}");
            }
        }
    }
    expected_hits
}

fn number_keys(n: usize) -> Vec<Vec<u8>> {
    (0..n as u64).map(|i| i.to_be_bytes().to_vec()).collect()
}

fn string_keys(n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| format!("user:{}:block:{i}", i * i % 1009).into_bytes()).collect()
}

#[test]
fn every_k_at_every_level() {
    let (mut hits, mut asked) = (0, 0);
    for k in MIN_K..=MAX_K {
        for seed in [0, 0x9e37_79b9_7f4a_7c15] {
            for keys in [number_keys(200), string_keys(200)] {
                asked += keys.len();
                hits += check(&Batch::new(keys, seed, 0, 0), Shape { num_blocks: 100, k, seed, shards: 3 });
            }
        }
    }
    // Two of three are in; of the others few are found.
    assert!(hits * 3 >= asked * 2 - 600 && hits * 10 < asked * 7, "{hits} of {asked}");
}

/// Both sides of a group of 64 keys and of a round of 2048; and nothing.
#[test]
fn every_number_of_keys() {
    for n in (0..=130).chain([191, 192, 193, 2047, 2048, 2049, 4096, 4097]) {
        for shards in [0, 1, 6, 9] {
            let shape = Shape { num_blocks: 600, k: 7, seed: 0, shards };
            check(&Batch::new(string_keys(n), 0, 0, 0), shape);
            if n % 8 < 2 {
                check(&Batch::new(number_keys(n), 0, 0, 0), shape);
            }
        }
    }
}

#[test]
fn every_length_of_keys() {
    for len in 0..=300 {
        let keys = (0..11u8).map(|i| (0..len).map(|j| i.wrapping_mul(29) ^ (j as u8)).collect()).collect();
        check(&Batch::new(keys, 1, 1, 1), Shape { num_blocks: 9, k: 5, seed: 1, shards: 2 });
    }
}

fn any_keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let bytes = |len| proptest::collection::vec(any::<u8>(), len);
    let mixed =
        prop_oneof![bytes(0..=300), bytes(0..=34), bytes(15..=25), bytes(60..=70), Just(Vec::new())].boxed();
    let of_one_size =
        (0usize..=70).prop_flat_map(move |size| proptest::collection::vec(bytes(size..=size), 0..150));
    prop_oneof![proptest::collection::vec(mixed, 0..150), of_one_size]
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let num_blocks = prop_oneof![1u64..10, 1u64..1000];
    let seed = prop_oneof![Just(0), any::<u64>()];
    (num_blocks, MIN_K..=MAX_K, seed, 0u32..10).prop_map(|(num_blocks, k, seed, shards)| Shape {
        num_blocks,
        k,
        seed,
        shards,
    })
}

proptest! {
    #[test]
    fn batches_do_what_single_calls_do(
        keys in any_keys(),
        shape in any_shape(),
        before in 0usize..80,
        behind in 0usize..80,
    ) {
        check(&Batch::new(keys, shape.seed, before, behind), shape);
    }
}

// What is refused.

fn is_refused(keys: Result<Keys<'_>, Error>, argument: &str) -> bool {
    matches!(keys, Err(Error::Argument { name, .. }) if name == argument)
}

#[test]
fn sizes_that_do_not_divide_the_data_are_refused() {
    for (len, size) in [(0, 0), (1, 0), (10, 3), (10, 11), (10, usize::MAX), (7, 8), (9, 8)] {
        assert!(is_refused(Keys::fixed(&vec![0; len], size), "size"), "{len} bytes, {size} each");
    }
    for (len, size, keys) in [(0, 1, 0), (0, usize::MAX, 0), (10, 1, 10), (10, 5, 2), (10, 10, 1)] {
        assert!(Keys::fixed(&vec![0; len], size).is_ok_and(|fixed| fixed.len() == keys));
    }
}

#[test]
fn offsets_that_lead_elsewhere_are_refused() {
    let data = [0; 10];
    let refused: [&[i64]; 18] = [
        &[-1],
        &[11],
        &[-1, 5],
        &[0, -1],
        &[0, 11],
        &[11, 11],
        &[10, 11],
        &[5, 4],
        &[0, 5, 4],
        &[0, 5, 4, 10],
        &[5, 0, 10],
        &[0, 11, 10],
        &[0, -1, 10],
        &[-2, -1],
        &[-2, -1, 10],
        &[i32::MIN.into(), 10],
        &[0, i32::MAX.into()],
        &[0, i32::MIN.into()],
    ];
    for offsets in refused {
        let narrow: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
        assert!(is_refused(Keys::offsets64(&data, offsets), "offsets"), "{offsets:?}");
        assert!(is_refused(Keys::offsets32(&data, &narrow), "offsets"), "{offsets:?}");
    }
    // In their low 32 bits these are fine.
    for offsets in
        [[0, (1 << 32) + 10], [1 << 32, (1 << 32) + 5], [i64::MIN, 10], [0, i64::MAX], [-1 << 32, 5]]
    {
        assert!(is_refused(Keys::offsets64(&data, &offsets), "offsets"), "{offsets:?}");
    }
    let fine: [(&[i64], usize); 8] = [
        (&[], 0),
        (&[0], 0),
        (&[10], 0),
        (&[0, 0], 1),
        (&[10, 10], 1),
        (&[3, 7], 1),
        (&[0, 10, 10], 2),
        (&[0, 5, 5, 10], 3),
    ];
    for (offsets, keys) in fine {
        let narrow: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
        assert!(Keys::offsets64(&data, offsets).is_ok_and(|batch| batch.len() == keys), "{offsets:?}");
        assert!(Keys::offsets32(&data, &narrow).is_ok_and(|batch| batch.len() == keys), "{offsets:?}");
    }
}

/// The message tells which offset was wrong and what would have been right.
#[test]
fn refusals_name_argument_value_and_range() {
    let message = |offsets: &[i64]| Keys::offsets64(&[0; 10], offsets).err().map(|error| error.to_string());
    for (offsets, value, allowed) in [
        (&[-3, 5][..], "offsets = -3", "0 or more"),
        (&[0, 5, 5, 4, 9], "offsets = 4", "no less than"),
        (&[0, 5, 11], "offsets = 11", "data_len"),
    ] {
        let message = message(offsets).expect("refused");
        assert!(message.contains(value) && message.contains(allowed), "{message}");
    }
    let message = Keys::fixed(&[0; 10], 3).err().expect("refused").to_string();
    assert!(message.contains("size = 3"), "{message}");
}

proptest! {
    #[test]
    fn offsets_are_accepted_if_and_only_if_all_keys_lie_in_the_data(
        data_len in 0usize..300,
        mut offsets in proptest::collection::vec(0i32..300, 0..200),
        spoilt in proptest::option::of((any::<prop::sample::Index>(), prop_oneof![-3i32..303, any::<i32>()])),
    ) {
        offsets.sort_unstable();
        if let (Some((at, value)), false) = (spoilt, offsets.is_empty()) {
            let at = at.index(offsets.len());
            offsets[at] = value;
        }
        let inside = |&offset: &i32| usize::try_from(offset).is_ok_and(|offset| offset <= data_len);
        let fine = offsets.iter().all(inside) && offsets.is_sorted();
        let data = vec![0; data_len];
        let wide: Vec<i64> = offsets.iter().map(|&offset| offset.into()).collect();
        let keys = offsets.len().saturating_sub(1);
        for batch in [Keys::offsets32(&data, &offsets), Keys::offsets64(&data, &wide)] {
            match batch {
                Ok(batch) => prop_assert!(fine && batch.len() == keys),
                Err(error) => prop_assert!(!fine, "{}", error),
            }
        }
    }
}

#[test]
fn results_must_be_as_many_as_keys() {
    let batch = Batch::new(number_keys(100), 0, 0, 0);
    let slices = batch.slices();
    for kind in KINDS {
        let filter = Shape { num_blocks: 50, k: 7, seed: 0, shards: 1 }.filter(kind, Level::best());
        filter.add(&batch.keys[0]);
        for (way, keys) in batch.ways(&slices) {
            for len in [0, 1, 99, 101, 1000] {
                let mut results = vec![7; len];
                let refused = filter.test_batch(keys, Some(&mut results));
                assert!(matches!(refused, Err(Error::Argument { .. })), "{way}, {len} results: {refused:?}");
                assert!(results.iter().all(|&result| result == 7), "{way}, {len} results");
            }
            assert_eq!(filter.test_batch(keys, Some(&mut [7; 100])), Ok(1), "{way}");
        }
    }
}
