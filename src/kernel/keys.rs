//! Where the keys of a batch lie.

use crate::error::Error;
use crate::hash::KeyHash;
use std::marker::PhantomData;

/// Keys that are handled at a time: enough for their cache misses to overlap, few enough for their
/// blocks to stay in the first-level cache.
pub(crate) const GROUP: usize = 64;

/// The keys of a batch, borrowed, without pointers inside the caller's memory where that is possible.
///
/// ```
/// use gloom::{Filter, Keys};
/// let filter = Filter::new_atomic(1000, 0.01)?;
/// // Two keys, "user:17" and "user:4", one after the other.
/// filter.add_batch(Keys::offsets32(b"user:17user:4", &[0, 7, 13])?);
/// let mut results = [0; 3];
/// let hits = filter.test_batch(Keys::slices(&[b"user:17", b"user:4", b"user:5"]), Some(&mut results))?;
/// assert_eq!((hits, results), (2, [1, 1, 0]));
/// # Ok::<(), gloom::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    len: usize,
    place: Place,
    borrowed: PhantomData<&'a [u8]>,
}

/// Invariant: all pointers are aligned, and all keys and arrays that they lead to for numbers below `len`
/// are readable for as long as the `Keys` live.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// One after the other, all of one size.
    Fixed { data: *const u8, size: usize },
    /// Key i is `data[offsets[i]..offsets[i + 1]]`.
    Offsets32 { data: *const u8, offsets: *const i32 },
    /// The same with wider offsets.
    Offsets64 { data: *const u8, offsets: *const i64 },
    /// Key i is `lens[i]` bytes at `keys[i]`, which may be NULL if there are none.
    Pointers { keys: *const *const u8, lens: *const usize },
    /// Rust slices.
    Slices(*const &'static [u8]),
    /// Hashes instead of keys.
    Hashes(*const KeyHash),
}

impl<'a> Keys<'a> {
    /// Keys of `size` bytes each, one after the other: u64 arrays have size 8.
    ///
    /// # Errors
    /// [`Error::Argument`] unless `size` is positive and divides the length of `data`.
    pub fn fixed(data: &'a [u8], size: usize) -> Result<Keys<'a>, Error> {
        if size == 0 || !data.len().is_multiple_of(size) {
            let allowed = "positive and a divisor of the length of the data";
            return Err(Error::Argument { name: "size", value: size.into(), allowed });
        }
        Ok(Keys::new(data.len() / size, Place::Fixed { data: data.as_ptr(), size }))
    }

    /// Keys in the layout of Arrow's binary arrays: key i is `data[offsets[i]..offsets[i + 1]]`. The first
    /// offset may be greater than 0, the last one less than the length of `data`.
    ///
    /// # Errors
    /// [`Error::Argument`] if an offset is negative, decreases or lies beyond `data`.
    pub fn offsets32(data: &'a [u8], offsets: &'a [i32]) -> Result<Keys<'a>, Error> {
        check_offsets(data.len(), offsets)?;
        let place = Place::Offsets32 { data: data.as_ptr(), offsets: offsets.as_ptr() };
        Ok(Keys::new(offsets.len().saturating_sub(1), place))
    }

    /// The same with 64-bit offsets (Arrow's large binary arrays).
    ///
    /// # Errors
    /// As [`offsets32`](Keys::offsets32).
    pub fn offsets64(data: &'a [u8], offsets: &'a [i64]) -> Result<Keys<'a>, Error> {
        check_offsets(data.len(), offsets)?;
        let place = Place::Offsets64 { data: data.as_ptr(), offsets: offsets.as_ptr() };
        Ok(Keys::new(offsets.len().saturating_sub(1), place))
    }

    /// Keys wherever they are.
    pub fn slices(keys: &'a [&'a [u8]]) -> Keys<'a> {
        Keys::new(keys.len(), Place::Slices(keys.as_ptr().cast()))
    }

    /// Hashes of keys, made by the filter's hash with its seed.
    pub fn hashes(hashes: &'a [KeyHash]) -> Keys<'a> {
        Keys::new(hashes.len(), Place::Hashes(hashes.as_ptr()))
    }

    /// `len` keys of no bytes, which [`fixed`](Keys::fixed) cannot count.
    pub(crate) fn empty_keys(len: usize) -> Keys<'a> {
        Keys::new(len, Place::Fixed { data: std::ptr::dangling(), size: 0 })
    }

    /// Keys at `keys`, of as many bytes as `lens` says.
    ///
    /// # Errors
    /// [`Error::Null`] or [`Error::Argument`] for a key that is NULL but not empty, or longer than memory.
    ///
    /// # Safety
    /// All keys are readable for `'a`.
    pub(crate) unsafe fn pointers(keys: &'a [*const u8], lens: &'a [usize]) -> Result<Keys<'a>, Error> {
        if keys.iter().zip(lens).any(|(key, &len)| key.is_null() && len > 0) {
            return Err(Error::Null("a key"));
        }
        if let Some(&len) = lens.iter().find(|&&len| isize::try_from(len).is_err()) {
            return Err(Error::Argument {
                name: "lens",
                value: len.into(),
                allowed: "at most PTRDIFF_MAX each",
            });
        }
        let len = keys.len().min(lens.len());
        Ok(Keys::new(len, Place::Pointers { keys: keys.as_ptr(), lens: lens.as_ptr() }))
    }

    /// Are they one key, the empty one, again and again? There may be more of it than anybody can wait for, since it
    /// takes no memory.
    pub(crate) fn are_all_empty(&self) -> bool {
        matches!(self.place, Place::Fixed { size: 0, .. })
    }

    fn new(len: usize, place: Place) -> Keys<'a> {
        Keys { len, place, borrowed: PhantomData }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Do the keys lie one after the other?
    #[cfg(vectors)]
    pub(super) fn is_contiguous(&self) -> bool {
        !matches!(self.place, Place::Pointers { .. } | Place::Slices(_))
    }

    /// Calls `each` with the number, place and length of `count` keys from `first` on, at most as many as
    /// there are.
    #[inline(always)]
    pub(super) fn for_each(&self, first: usize, count: usize, mut each: impl FnMut(usize, *const u8, usize)) {
        let keys = first..first.saturating_add(count).min(self.len);
        // SAFETY: numbers are below `len`; the rest is the invariant of `Place`. Offsets are not
        // negative and do not decrease.
        unsafe {
            match self.place {
                Place::Fixed { data, size } => {
                    keys.for_each(|i| each(i - first, data.wrapping_add(i * size), size))
                }
                Place::Offsets32 { data, offsets } => keys.for_each(|i| {
                    let (start, end) = (*offsets.add(i), *offsets.add(i + 1));
                    each(i - first, data.wrapping_add(start as usize), (end - start) as usize);
                }),
                Place::Offsets64 { data, offsets } => keys.for_each(|i| {
                    let (start, end) = (*offsets.add(i), *offsets.add(i + 1));
                    each(i - first, data.wrapping_add(start as usize), (end - start) as usize);
                }),
                Place::Pointers { keys: pointers, lens } => {
                    keys.for_each(|i| each(i - first, *pointers.add(i), *lens.add(i)));
                }
                Place::Slices(slices) => {
                    keys.for_each(|i| {
                        let slice: &[u8] = *slices.add(i);
                        each(i - first, slice.as_ptr(), slice.len());
                    });
                }
                Place::Hashes(_) => {}
            }
        }
    }
}

/// Refuses offsets with which a key would lie outside `data_len` bytes.
fn check_offsets<T: Copy + PartialOrd + Default + Into<i64>>(
    data_len: usize,
    offsets: &[T],
) -> Result<(), Error> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Ok(());
    };
    // All pairs are looked at, without a way out in between: that compiles to vectors.
    let in_order = offsets.windows(2).fold(true, |in_order, pair| in_order & (pair[0] <= pair[1]));
    let refuse = |value: T, allowed| {
        Err(Error::Argument { name: "offsets", value: crate::error::Value::Signed(value.into()), allowed })
    };
    if first < T::default() {
        return refuse(first, "0 or more");
    }
    if !in_order {
        let decreasing = offsets.windows(2).find(|pair| pair[0] > pair[1]).map_or(first, |pair| pair[1]);
        return refuse(decreasing, "no less than the offset before it");
    }
    if usize::try_from(last.into()).is_ok_and(|last| last > data_len) {
        return refuse(last, "at most data_len");
    }
    Ok(())
}
