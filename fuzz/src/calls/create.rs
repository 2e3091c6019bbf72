//! Making filters.

use super::model::{Model, Plan};
use super::{Input, World};
use crate::handle::{Handle, expect_filter};
use gloom::capi::*;
use libfuzzer_sys::arbitrary::Result;
use std::ptr::{null, null_mut};

/// The most blocks that a filter gets here.
const MOST_BLOCKS: u64 = 1024;

/// Options in exactly as many bytes as they say (or as few as can be read), and what shall come of them.
pub struct Options {
    bytes: Box<[u8]>,
    is_atomic: bool,
    predicted: std::result::Result<(i32, u32, Plan), gloom_status>,
}

impl Options {
    /// Options like those of another filter, now and then, so that there are some that match.
    pub fn new(input: Input<'_, '_>, other: Option<Plan>) -> Result<Options> {
        let size: u8 = input.int_in_range(0..=5)?;
        let mut options = gloom_options {
            struct_size: size_of::<gloom_options>(),
            kind: i32::from(input.arbitrary::<u8>()? % 4),
            flags: u32::from(input.arbitrary::<u8>()? & 3),
            expected_items: 0,
            fp_rate: 0.0,
            num_blocks: 0,
            k: 0,
            num_shards: 0,
            seed: *input.choose(&[0, 0, 0, 1, 0x5eed, u64::MAX])?,
            max_bytes: MOST_BLOCKS * 64,
            block_multiple: *input.choose(&[0, 0, 0, 1, 2, 3, 4, 16])?,
        };
        if let (0..=2, Some(plan)) = (size, other) {
            (options.num_blocks, options.k, options.seed) = (plan.num_blocks, plan.k, plan.seed);
            options.flags = options.flags & 1 | if plan.hash == 2 { GLOOM_FLAG_SIPHASH } else { 0 };
            options.block_multiple = 0;
        } else if size.is_multiple_of(3) {
            options.expected_items = input.arbitrary::<u16>()?.into();
            options.fp_rate = *input.choose(&[0.1, 0.01, 0.5, 1e-4, 1e-9])?;
        } else {
            options.num_blocks = *input.choose(&[1, 2, 3, 4, 8, 16, 33, 64, 200, 1000])?;
            options.k = *input.choose(&[3, 7, 9, 17])?;
        }
        if options.kind == GLOOM_KIND_SHARDED {
            options.num_shards = *input.choose(&[0, 0, 1, 2, 4, 16, 64])?;
        }
        let mut behind = 0;
        if input.ratio(1, 4)? {
            match input.int_in_range(0..=13)? {
                0 => options.struct_size = *input.choose(&[0, 8, 71, 73, 80, 4096, 4097, usize::MAX])?,
                1 => (options.struct_size, behind) = (80, 1),
                2 => options.kind = input.arbitrary()?,
                3 => options.flags = input.arbitrary()?,
                4 => options.expected_items = input.arbitrary()?,
                5 => options.fp_rate = f64::from_bits(input.arbitrary()?),
                6 => {
                    options.fp_rate =
                        *input.choose(&[0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, 5e-324, 1e-10])?
                }
                7 => options.num_blocks = input.arbitrary()?,
                8 => options.k = *input.choose(&[0, 1, 2, 18, u32::MAX])?,
                9 => options.num_shards = input.arbitrary()?,
                10 => options.num_shards = *input.choose(&[3, 65536, 131_072, 1 << 31])?,
                11 => options.max_bytes = u64::from(input.arbitrary::<u8>()?) * 16 + 1,
                12 => options.block_multiple = *input.choose(&[1000, 1 << 32, 1 << 60, u64::MAX])?,
                // Larger than any address space.
                _ => {
                    (options.num_blocks, options.k, options.max_bytes) =
                        (1 << *input.choose(&[57, 58, 63])?, 7, 0)
                }
            }
        }
        let size = options.struct_size;
        let mut bytes = vec![0; size_of::<gloom_options>()];
        // SAFETY: a struct of numbers without padding, copied as bytes.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const options).cast(), bytes.as_mut_ptr(), bytes.len())
        };
        if (bytes.len()..=4096).contains(&size) {
            bytes.resize(size, 0);
            let last = bytes.len() - 1;
            bytes[last] |= behind;
        }
        let predicted = predict(&options, behind != 0);
        let is_atomic = matches!(options.kind, 0 | GLOOM_KIND_ATOMIC);
        Ok(Options { bytes: bytes.into_boxed_slice(), is_atomic, predicted })
    }

    pub fn get(&self) -> *const gloom_options {
        self.bytes.as_ptr().cast()
    }

    /// The same for a file: only atomic filters live in one, and their kind is looked at before their size.
    pub fn for_a_map(&self) -> std::result::Result<Plan, gloom_status> {
        match self.predicted {
            Ok((GLOOM_KIND_ATOMIC, _, plan)) => Ok(plan),
            Ok(_) => Err(GLOOM_ERR_INVALID_ARGUMENT),
            Err(GLOOM_ERR_LIMIT | GLOOM_ERR_UNREACHABLE_RATE) if !self.is_atomic => {
                Err(GLOOM_ERR_INVALID_ARGUMENT)
            }
            Err(status) => Err(status),
        }
    }
}

fn predict(options: &gloom_options, behind: bool) -> std::result::Result<(i32, u32, Plan), gloom_status> {
    let wrong = Err(GLOOM_ERR_INVALID_ARGUMENT);
    let &gloom_options {
        struct_size,
        kind,
        flags,
        expected_items,
        fp_rate,
        num_blocks,
        k,
        num_shards,
        seed,
        ..
    } = options;
    if !(size_of::<gloom_options>()..=4096).contains(&struct_size) {
        return wrong;
    }
    if behind {
        return Err(GLOOM_ERR_UNSUPPORTED);
    }
    if flags & !(GLOOM_FLAG_SMALL_PAGES | GLOOM_FLAG_SIPHASH) != 0 || !(0..=3).contains(&kind) {
        return wrong;
    }
    let hash = if flags & GLOOM_FLAG_SIPHASH != 0 { 2 } else { 1 };
    if hash == 2 && seed == 0 {
        return wrong;
    }
    let by_items = num_blocks == 0 && k == 0;
    let (num_blocks, k) = if by_items {
        match gloom::size_for(expected_items, fp_rate) {
            Ok(sizing) => (sizing.num_blocks, sizing.k),
            Err(gloom::Error::UnreachableRate { .. }) => return Err(GLOOM_ERR_UNREACHABLE_RATE),
            Err(gloom::Error::Limit { .. }) => return Err(GLOOM_ERR_LIMIT),
            Err(_) => return wrong,
        }
    } else if expected_items != 0 || fp_rate.to_bits() != 0 || num_blocks == 0 || !(3..=17).contains(&k) {
        return wrong;
    } else {
        (num_blocks, k)
    };
    let most = if options.max_bytes == 0 { i64::MAX as u64 } else { options.max_bytes };
    let rounded = num_blocks.checked_next_multiple_of(options.block_multiple.max(1));
    let fitting = rounded.filter(|blocks| blocks.checked_mul(64).is_some_and(|bytes| bytes <= most));
    let num_blocks = fitting.ok_or(GLOOM_ERR_LIMIT)?;
    let shards_fit =
        num_shards.is_power_of_two() && num_shards <= 65536 && u64::from(num_shards) <= num_blocks;
    if num_shards != 0 && (kind != GLOOM_KIND_SHARDED || !shards_fit) {
        return wrong;
    }
    let plan = Plan { num_blocks, k, hash, seed, expected_items, fp_rate };
    Ok((if kind == 0 { GLOOM_KIND_ATOMIC } else { kind }, shards_of(kind, num_shards), plan))
}

/// 1 unless sharded; 0 if the library chooses.
pub fn shards_of(kind: i32, num_shards: u32) -> u32 {
    if kind == GLOOM_KIND_SHARDED { num_shards } else { 1 }
}

impl World {
    /// What another filter was made for.
    pub fn some_plan(&self, input: Input<'_, '_>) -> Result<Option<Plan>> {
        let other = self.some_slot(input)?;
        Ok(self.slots[other].as_ref().map(|slot| slot.model.plan))
    }

    pub fn create(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let other = self.some_plan(input)?;
        let options = Options::new(input, other)?;
        match input.arbitrary::<u8>()? {
            // SAFETY: NULLs, which are refused.
            255 => {
                drop(expect_filter(GLOOM_ERR_NULL, |out, error| unsafe { gloom_create(null(), out, error) }))
            }
            // SAFETY: as above.
            254 => crate::handle::expect(GLOOM_ERR_NULL, |error| unsafe {
                gloom_create(options.get(), null_mut(), error)
            }),
            _ => {
                let wanted = options.predicted.err().unwrap_or(GLOOM_OK);
                // SAFETY: pointers to what is here.
                let made =
                    expect_filter(wanted, |out, error| unsafe { gloom_create(options.get(), out, error) });
                if let (Some(handle), Ok((kind, num_shards, plan))) = (made, options.predicted) {
                    self.put(at, handle, Model::new(kind, num_shards, plan));
                }
            }
        }
        Ok(())
    }

    /// By the short forms.
    pub fn new_filter(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (items, kind) = (u64::from(input.arbitrary::<u16>()? % 8192), input.int_in_range(1..=3)?);
        let fp_rate = *input.choose(&[0.1, 0.01, 0.5, 1e-3, 0.0, 1.0, f64::NAN, 1e-300])?;
        let shards = *input.choose(&[0, 1, 3, 5, 1000, 65536, 65537, u32::MAX])?;
        let filter = match kind {
            GLOOM_KIND_PLAIN => gloom_new(items, fp_rate),
            GLOOM_KIND_ATOMIC => gloom_new_atomic(items, fp_rate),
            _ => gloom_new_sharded(items, fp_rate, shards),
        };
        let Some(sizing) =
            gloom::size_for(items, fp_rate).ok().filter(|_| kind != GLOOM_KIND_SHARDED || shards <= 65536)
        else {
            assert!(filter.is_null());
            return Ok(());
        };
        let largest = 1 << sizing.num_blocks.min(65536).ilog2();
        let rounded = match shards {
            0 => 0,
            1..=65536 => shards.next_power_of_two().min(largest),
            // Not a sharded one.
            _ => 1,
        };
        let plan = Plan {
            num_blocks: sizing.num_blocks,
            k: sizing.k,
            hash: 1,
            seed: 0,
            expected_items: items,
            fp_rate,
        };
        self.put(at, Handle::new(filter), Model::new(kind, shards_of(kind, rounded), plan));
        Ok(())
    }
}
