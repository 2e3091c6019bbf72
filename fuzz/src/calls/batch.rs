//! Keys in bulk, in all five shapes, and with everything wrong that can be.

use super::keys::numbered_key;
use super::model::Key;
use super::{Input, World};
use crate::definition::noise;
use gloom::capi::*;
use libfuzzer_sys::arbitrary::Result;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The arguments of a call, each array in an allocation of its own that is not a byte longer.
struct Batch {
    shape: Shape,
    n: usize,
    keys: Vec<Key>,
    /// What shall come of it.
    status: gloom_status,
    _bytes: Box<[u8]>,
    _single: Vec<Box<[u8]>>,
    _words: Box<[u64]>,
    _more_words: Box<[u64]>,
}

#[derive(Clone, Copy)]
enum Shape {
    Fixed { keys: *const c_void, key_size: usize },
    Offsets32 { data: *const c_void, data_len: usize, offsets: *const i32 },
    Offsets64 { data: *const c_void, data_len: usize, offsets: *const i64 },
    Pointers { keys: *const *const c_void, lens: *const usize },
    Hashes(*const gloom_hash),
}

const TOO_MANY: [usize; 4] = [usize::MAX, usize::MAX - 1, 1 << 63, (1 << 63) + 5];

impl Batch {
    fn new(input: Input<'_, '_>) -> Result<Batch> {
        let shape = input.int_in_range(0..=4)?;
        let n = *input.choose(&[0, 1, 1, 2, 3, 5, 8, 17, 63, 64, 65, 100, 130, 200, 300, 2100])?;
        // Most are fine.
        let flaw = input.arbitrary::<u8>()?.saturating_sub(150) / 8;
        let first: u8 = input.arbitrary()?;
        Ok(match shape {
            0 => Batch::fixed(input, n, flaw, first)?,
            1 => Batch::offsets(input, n, flaw, first, true)?,
            2 => Batch::offsets(input, n, flaw, first, false)?,
            3 => Batch::pointers(input, n, flaw, first)?,
            _ => Batch::hashes(input, n, flaw, first)?,
        })
    }

    fn of(shape: Shape, n: usize, keys: Vec<Key>, status: gloom_status) -> Batch {
        let none = || Vec::new().into_boxed_slice();
        let _bytes = Vec::new().into_boxed_slice();
        Batch { shape, n, keys, status, _bytes, _single: Vec::new(), _words: none(), _more_words: none() }
    }

    fn fixed(input: Input<'_, '_>, n: usize, flaw: u8, first: u8) -> Result<Batch> {
        let key_size = *input.choose(&[0, 1, 4, 8, 8, 8, 16, 20, 32, 33, 130, 250])?;
        let keys: Vec<Vec<u8>> =
            (0..n).map(|i| numbered_key(u64::from(first) + i as u64, key_size)).collect();
        let bytes = keys.concat().into_boxed_slice();
        let data = bytes.as_ptr().cast();
        let needs_data = n > 0 && key_size > 0;
        let (n, key_size, data, status) = match flaw {
            1 => (n, key_size, null(), if needs_data { GLOOM_ERR_NULL } else { GLOOM_OK }),
            2 => (*input.choose(&TOO_MANY)?, key_size, data, GLOOM_ERR_INVALID_ARGUMENT),
            // No keys, however long.
            3 => (0, usize::MAX, null(), GLOOM_OK),
            4 => (1, *input.choose(&TOO_MANY)?, data, GLOOM_ERR_INVALID_ARGUMENT),
            5 => (1 << 33, 1 << 33, data, GLOOM_ERR_INVALID_ARGUMENT),
            // As many as there may be, since they take no memory.
            6 => {
                return Ok(Batch::of(
                    Shape::Fixed { keys: null(), key_size: 0 },
                    isize::MAX as usize - usize::from(first),
                    vec![Key::Bytes(Vec::new())],
                    GLOOM_OK,
                ));
            }
            _ => (n, key_size, data, GLOOM_OK),
        };
        let keys = keys.into_iter().take(n).map(Key::Bytes).collect();
        Ok(Batch { _bytes: bytes, ..Batch::of(Shape::Fixed { keys: data, key_size }, n, keys, status) })
    }

    fn offsets(input: Input<'_, '_>, n: usize, flaw: u8, first: u8, narrow: bool) -> Result<Batch> {
        let (before, behind, longest) = (
            usize::from(input.arbitrary::<u8>()? % 8),
            usize::from(input.arbitrary::<u8>()? % 4),
            some_length(input)?,
        );
        let mut data = noise(1, before);
        let mut offsets = vec![before as i64];
        let keys: Vec<Vec<u8>> =
            (0..n).map(|i| numbered_key(u64::from(first) + i as u64, length(first, i, longest))).collect();
        for key in &keys {
            data.extend_from_slice(key);
            offsets.push(data.len() as i64);
        }
        data.extend(noise(2, behind));
        let data = data.into_boxed_slice();
        let (mut start, mut data_len, mut count) = (data.as_ptr().cast(), data.len(), n);
        let mut status = GLOOM_OK;
        let (mut no_offsets, mut misaligned) = (false, false);
        let at = input.int_in_range(0..=n)?;
        let smallest = if narrow { i64::from(i32::MIN) } else { i64::MIN };
        let wrong = if n == 0 { GLOOM_OK } else { GLOOM_ERR_INVALID_ARGUMENT };
        match flaw {
            1 => {
                start = null();
                status = if n > 0 && data_len > 0 { GLOOM_ERR_NULL } else { GLOOM_OK };
            }
            2 => (no_offsets, status) = (true, if n == 0 { GLOOM_OK } else { GLOOM_ERR_NULL }),
            3 => (misaligned, status) = (true, wrong),
            4 => (count, status) = (*input.choose(&TOO_MANY)?, GLOOM_ERR_INVALID_ARGUMENT),
            5 => (offsets[0], status) = (*input.choose(&[-1, smallest, -7])?, wrong),
            6 => (offsets[at], status) = (*input.choose(&[-1, smallest])?, wrong),
            7 => (offsets[n], status) = (data_len as i64 + 1, wrong),
            8 => (offsets[n], status) = (if narrow { i32::MAX.into() } else { i64::MAX }, wrong),
            9 if n > 0 => {
                // One that is greater than the next, if it is not the last.
                let at = at.min(n - 1);
                (offsets[at], status) = (offsets[at + 1] + 1, wrong);
            }
            // More than there can be; only said, never read, as the offsets are out of range first.
            10 => (data_len, status) = (*input.choose(&TOO_MANY)?, wrong),
            11 if data_len > 0 && behind == 0 => {
                data_len -= 1;
                // The last offset is beyond it, if there is one.
                status = wrong;
            }
            12 => (start, data_len, count, no_offsets) = (null(), usize::MAX, 0, true),
            _ => {}
        }
        let words: Box<[u64]> = if narrow {
            // Two to a word; the number of words is rounded up, so AddressSanitizer would not see one offset more.
            // Its last one is a trap: it lies beyond the data.
            let mut narrow: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
            narrow.resize(narrow.len().next_multiple_of(2), i32::MAX);
            narrow.chunks(2).map(|pair| u64::from(pair[0] as u32) | u64::from(pair[1] as u32) << 32).collect()
        } else {
            offsets.iter().map(|&offset| offset as u64).collect()
        };
        let mut place: *const u8 = if no_offsets { null() } else { words.as_ptr().cast() };
        if misaligned {
            place = place.wrapping_add(if narrow { 2 } else { 4 });
        }
        let shape = if narrow {
            Shape::Offsets32 { data: start, data_len, offsets: place.cast() }
        } else {
            Shape::Offsets64 { data: start, data_len, offsets: place.cast() }
        };
        let keys = keys.into_iter().take(count).map(Key::Bytes).collect();
        Ok(Batch { _bytes: data, _words: words, ..Batch::of(shape, count, keys, status) })
    }

    fn pointers(input: Input<'_, '_>, n: usize, flaw: u8, first: u8) -> Result<Batch> {
        let longest = some_length(input)?;
        let mut single: Vec<Box<[u8]>> = (0..n)
            .map(|i| numbered_key(u64::from(first) + i as u64, length(first, i, longest)).into_boxed_slice())
            .collect();
        let at = input.int_in_range(0..=n.max(1) - 1)?;
        if flaw == 8 && n > 0 {
            single[at] = Box::new([]);
        }
        let mut pointers: Box<[u64]> = single.iter().map(|key| key.as_ptr().addr() as u64).collect();
        let mut lens: Box<[u64]> = single.iter().map(|key| key.len() as u64).collect();
        let (mut count, mut status) = (n, GLOOM_OK);
        let if_any = |status| if n == 0 { GLOOM_OK } else { status };
        if n > 0 {
            match flaw {
                5 => {
                    (pointers[at], status) = (0, if lens[at] == 0 { GLOOM_OK } else { GLOOM_ERR_NULL });
                }
                6 => (lens[at], status) = (*input.choose(&TOO_MANY)? as u64, GLOOM_ERR_INVALID_ARGUMENT),
                8 => pointers[at] = 0,
                _ => {}
            }
        }
        let (mut keys, mut lengths): (*const u8, *const u8) =
            (pointers.as_ptr().cast(), lens.as_ptr().cast());
        match flaw {
            1 => (keys, status) = (null(), if_any(GLOOM_ERR_NULL)),
            2 => (lengths, status) = (null(), if_any(GLOOM_ERR_NULL)),
            3 => (keys, status) = (keys.wrapping_add(1), if_any(GLOOM_ERR_INVALID_ARGUMENT)),
            4 => (lengths, status) = (lengths.wrapping_add(4), if_any(GLOOM_ERR_INVALID_ARGUMENT)),
            7 => (count, status) = (*input.choose(&TOO_MANY)?, GLOOM_ERR_INVALID_ARGUMENT),
            _ => {}
        }
        let shape = Shape::Pointers { keys: keys.cast(), lens: lengths.cast() };
        let keys = single.iter().map(|key| Key::Bytes(key.to_vec())).collect();
        Ok(Batch {
            _single: single,
            _words: pointers,
            _more_words: lens,
            ..Batch::of(shape, count, keys, status)
        })
    }

    fn hashes(input: Input<'_, '_>, n: usize, flaw: u8, first: u8) -> Result<Batch> {
        let seed = if input.arbitrary()? { u64::from(first) } else { input.arbitrary()? };
        let noise = noise(seed, n * 16);
        let words: Box<[u64]> =
            noise.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect();
        let mut place: *const u8 = words.as_ptr().cast();
        let (mut count, mut status) = (n, GLOOM_OK);
        let if_any = |status| if n == 0 { GLOOM_OK } else { status };
        match flaw {
            1 => (place, status) = (null(), if_any(GLOOM_ERR_NULL)),
            2 => (place, status) = (place.wrapping_add(4), if_any(GLOOM_ERR_INVALID_ARGUMENT)),
            3 => (count, status) = (*input.choose(&TOO_MANY)?, GLOOM_ERR_INVALID_ARGUMENT),
            _ => {}
        }
        let keys = words.chunks(2).map(|hash| Key::Hash(hash[0], hash[1])).collect();
        Ok(Batch { _words: words, ..Batch::of(Shape::Hashes(place.cast()), count, keys, status) })
    }

    /// # Safety
    /// `filter` is NULL or live.
    unsafe fn add(&self, filter: *mut gloom_filter) -> gloom_status {
        let n = self.n;
        // SAFETY: arrays of the sizes that are given, unless they are refused before they are read.
        unsafe {
            match self.shape {
                Shape::Fixed { keys, key_size } => gloom_add_batch_fixed(filter, keys, key_size, n),
                Shape::Offsets32 { data, data_len, offsets } => {
                    gloom_add_batch_offsets32(filter, data, data_len, offsets, n)
                }
                Shape::Offsets64 { data, data_len, offsets } => {
                    gloom_add_batch_offsets64(filter, data, data_len, offsets, n)
                }
                Shape::Pointers { keys, lens } => gloom_add_batch_pointers(filter, keys, lens, n),
                Shape::Hashes(hashes) => gloom_add_batch_hashes(filter, hashes, n),
            }
        }
    }

    /// # Safety
    /// `filter` is NULL or live; `results` are NULL or as many as there are keys; `hits` is NULL or writable.
    unsafe fn test(&self, filter: *const gloom_filter, results: *mut u8, hits: *mut usize) -> gloom_status {
        let n = self.n;
        // SAFETY: as for `add`.
        unsafe {
            match self.shape {
                Shape::Fixed { keys, key_size } => {
                    gloom_test_batch_fixed(filter, keys, key_size, n, results, hits)
                }
                Shape::Offsets32 { data, data_len, offsets } => {
                    gloom_test_batch_offsets32(filter, data, data_len, offsets, n, results, hits)
                }
                Shape::Offsets64 { data, data_len, offsets } => {
                    gloom_test_batch_offsets64(filter, data, data_len, offsets, n, results, hits)
                }
                Shape::Pointers { keys, lens } => {
                    gloom_test_batch_pointers(filter, keys, lens, n, results, hits)
                }
                Shape::Hashes(hashes) => gloom_test_batch_hashes(filter, hashes, n, results, hits),
            }
        }
    }
}

fn some_length(input: Input<'_, '_>) -> Result<usize> {
    Ok(*input.choose(&[0, 1, 4, 9, 17, 34, 65, 250])?)
}

/// Lengths that differ from key to key, or do not.
fn length(first: u8, i: usize, longest: usize) -> usize {
    if first.is_multiple_of(3) { longest } else { (usize::from(first) + i * 7) % (longest + 1) }
}

impl World {
    pub fn add_batch(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let batch = Batch::new(input)?;
        // SAFETY: a live handle or NULL.
        let status = unsafe { batch.add(self.handle(at)) };
        match self.unwritable(at) {
            GLOOM_OK => assert_eq!(status, batch.status),
            wanted => assert_eq!(status, wanted),
        }
        if status == GLOOM_OK {
            let model = &mut self.slots[at].as_mut().expect("it is writable").model;
            // Of the empty key the model gets one for all.
            model.own = model.own.saturating_add((batch.n - batch.keys.len()) as u64);
            batch.keys.into_iter().for_each(|key| {
                model.add(key);
            });
        }
        Ok(())
    }

    pub fn test_batch(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let batch = Batch::new(input)?;
        let (no_results, no_hits) = (input.ratio(1, 4)?, input.ratio(1, 4)?);
        // More results than PTRDIFF_MAX there cannot be; they are left alone.
        let is_possible = isize::try_from(batch.n).is_ok();
        // Where n is a lie that is not beyond that, results would be written beyond their end.
        let no_results = no_results || (is_possible && batch.n != batch.keys.len());
        let mut results = vec![7; if is_possible && !no_results { batch.n } else { 16 }].into_boxed_slice();
        let mut hits = 0x5a5a;
        let to_results = if no_results { null_mut() } else { results.as_mut_ptr() };
        // SAFETY: a live handle or NULL, and places as above.
        let status =
            unsafe { batch.test(self.handle(at), to_results, if no_hits { null_mut() } else { &mut hits }) };
        let slot = self.slots[at].as_ref();
        assert_eq!(status, if slot.is_some() { batch.status } else { GLOOM_ERR_NULL });
        let wanted: Vec<u8> = match slot {
            Some(slot) if status == GLOOM_OK => {
                batch.keys.iter().map(|key| slot.model.test(key).into()).collect()
            }
            // "Maybe", for all of them.
            _ if is_possible && !no_results => vec![1; batch.n],
            _ => Vec::new(),
        };
        let wanted_hits = match &wanted[..] {
            _ if status != GLOOM_OK => batch.n,
            // Of the empty key the model has one for all.
            &[hit] => batch.n * usize::from(hit),
            hits => hits.iter().map(|&hit| usize::from(hit)).sum(),
        };
        assert_eq!(hits, if no_hits { 0x5a5a } else { wanted_hits });
        if no_results || !is_possible {
            assert_eq!(*results, [7; 16]);
        } else {
            assert_eq!(*results, *wanted);
        }
        Ok(())
    }
}
