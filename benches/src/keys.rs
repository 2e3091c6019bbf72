//! The keys: distinct, always the same ones, some to add and as many that are never added.

use std::hash::Hash;

/// Keys of one kind, or a part of them, borrowed.
pub trait KeySet<'a>: Copy + Send + Sync {
    type Key: ?Sized + Bytes + Hash + 'static;

    fn len(self) -> usize;
    fn is_empty(self) -> bool {
        self.len() == 0
    }
    fn iter(self) -> impl Iterator<Item = &'a Self::Key>;
    /// The first half and the second half.
    fn halves(self) -> [Self; 2];
    /// As arguments of a batch.
    fn batch(self) -> Batch<'a>;
}

/// What the functions that take many keys at once are given.
#[derive(Clone, Copy)]
pub enum Batch<'a> {
    Offsets32 { data: &'a [u8], offsets: &'a [i32] },
    Fixed { data: &'a [u8], size: usize },
}

/// A key as it is hashed.
pub trait Bytes {
    fn bytes(&self) -> &[u8];
}

impl Bytes for [u8] {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Bytes for u64 {
    #[inline]
    fn bytes(&self) -> &[u8] {
        of_numbers(std::slice::from_ref(self))
    }
}

fn of_numbers(numbers: &[u64]) -> &[u8] {
    // SAFETY: a number is 8 bytes, all of them initialised, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Strings such as `user:17:block:99`, 16 to 24 bytes long, in one buffer.
pub struct StringBuffer {
    data: Vec<u8>,
    /// Invariant: they do not decrease, and the last one is the length of `data`.
    offsets: Vec<i32>,
}

#[derive(Clone, Copy)]
pub struct Strings<'a> {
    data: &'a [u8],
    offsets: &'a [i32],
}

#[derive(Clone, Copy)]
pub struct Numbers<'a>(&'a [u64]);

/// `n` strings to add, and `n` others.
pub fn strings(n: usize) -> [StringBuffer; 2] {
    [0, 1].map(|other| {
        let mut data = Vec::with_capacity(n * 22);
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        for i in 0..n {
            write_string((2 * i + other) as u64, n, &mut data);
            offsets.push(i32::try_from(data.len()).expect("32 bits reach for 10^8 keys"));
        }
        StringBuffer { data, offsets }
    })
}

/// `n` numbers to add, and `n` others.
pub fn numbers(n: usize) -> [Vec<u64>; 2] {
    [0, 1].map(|other| (0..n).map(|i| scramble((2 * i + other) as u64)).collect())
}

/// Writes string number `j`. 64 users have a block of each number; the user's number has 2 to 6 digits and
/// leaves the remainder `j % 64` when divided by 64, so that no two strings are equal.
fn write_string(j: u64, n: usize, data: &mut Vec<u8>) {
    let random = scramble(j);
    // Fewer digits for very many keys: the offsets have 32 bits.
    let most_digits = if n > 10_000_000 { 3 } else { 6 };
    let smallest = 10u64.pow(1 + (random % (most_digits - 1)) as u32);
    let user = smallest + (random >> 32) % (9 * smallest);
    let mut user = user - user % 64 + j % 64;
    if user < smallest {
        user += 64;
    } else if user >= 10 * smallest {
        user -= 64;
    }
    data.extend_from_slice(b"user:");
    write_decimal(user, data);
    data.extend_from_slice(b":block:");
    write_decimal(10 + j / 64, data);
}

fn write_decimal(mut number: u64, data: &mut Vec<u8>) {
    let first = data.len();
    while number > 0 || data.len() == first {
        data.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    data[first..].reverse();
}

/// Another number for each number (splitmix64).
fn scramble(j: u64) -> u64 {
    let mut x = j.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl StringBuffer {
    pub fn all(&self) -> Strings<'_> {
        Strings { data: &self.data, offsets: &self.offsets }
    }
}

impl<'a> Numbers<'a> {
    pub fn new(numbers: &'a [u64]) -> Numbers<'a> {
        Numbers(numbers)
    }
}

impl<'a> KeySet<'a> for Strings<'a> {
    type Key = [u8];

    fn len(self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        self.offsets.windows(2).map(move |pair| {
            // SAFETY: the invariant of `StringBuffer`. A check would be counted as part of the hash.
            unsafe { self.data.get_unchecked(pair[0] as usize..pair[1] as usize) }
        })
    }

    fn halves(self) -> [Self; 2] {
        let middle = self.len() / 2;
        [&self.offsets[..=middle], &self.offsets[middle..]].map(|offsets| Strings { offsets, ..self })
    }

    fn batch(self) -> Batch<'a> {
        Batch::Offsets32 { data: self.data, offsets: self.offsets }
    }
}

impl<'a> KeySet<'a> for Numbers<'a> {
    type Key = u64;

    fn len(self) -> usize {
        self.0.len()
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = &'a u64> {
        self.0.iter()
    }

    fn halves(self) -> [Self; 2] {
        let (first, second) = self.0.split_at(self.len() / 2);
        [Numbers(first), Numbers(second)]
    }

    fn batch(self) -> Batch<'a> {
        Batch::Fixed { data: of_numbers(self.0), size: size_of::<u64>() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn strings_look_as_promised_and_are_distinct() {
        for n in [1, 1000, 100_000] {
            let [present, absent] = strings(n);
            let all: HashSet<&[u8]> = present.all().iter().chain(absent.all().iter()).collect();
            assert_eq!(all.len(), 2 * n);
            for key in all {
                assert!((16..=24).contains(&key.len()), "{}", key.escape_ascii());
                let key = str::from_utf8(key).expect("digits and letters");
                let (user, block) =
                    key.strip_prefix("user:").and_then(|key| key.split_once(":block:")).expect(key);
                assert!(user.parse::<u32>().is_ok() && block.parse::<u32>().is_ok(), "{key}");
            }
        }
    }

    /// A sample of sets too large for a test.
    #[test]
    fn strings_of_large_sets_have_16_to_24_bytes_and_32_bits_reach() {
        for n in [1_000_000, 10_000_000, 100_000_000] {
            let sample = (0..2 * n).step_by(n / 10_000 + 1).map(|j| {
                let mut data = Vec::new();
                write_string(j as u64, n, &mut data);
                data.len()
            });
            let lengths: Vec<usize> = sample.collect();
            assert!(lengths.iter().all(|length| (16..=24).contains(length)));
            let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
            assert!(mean * n as f64 <= f64::from(i32::MAX), "{n} strings of {mean} bytes");
        }
    }

    #[test]
    fn numbers_are_distinct() {
        let all: HashSet<u64> = numbers(10_000).into_iter().flatten().collect();
        assert_eq!(all.len(), 20_000);
    }

    #[test]
    fn halves_are_the_whole() {
        let [buffer, _] = strings(7);
        let [first, second] = buffer.all().halves();
        assert_eq!((first.len(), second.len()), (3, 4));
        assert!(first.iter().chain(second.iter()).eq(buffer.all().iter()));
        let [first, second] = Numbers::new(&[1, 2, 3]).halves();
        assert!(first.iter().chain(second.iter()).eq(&[1, 2, 3]));
    }

    #[test]
    fn a_number_is_hashed_as_it_lies_in_memory() {
        assert_eq!(0x0102_0304_0506_0708u64.bytes(), [8, 7, 6, 5, 4, 3, 2, 1]);
    }
}
