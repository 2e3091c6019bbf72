//! The C ABI as a sequence of calls, sensible ones and hostile ones, beside a model of every filter and file.
//!
//! The model knows the bits and the keys, so it tells every answer, count and status. No key that was added is ever
//! missed, and a call that fails changes nothing.

mod batch;
mod create;
mod files;
mod keys;
mod model;
mod whole;

use crate::handle::Handle;
use crate::scratch;
use gloom::capi::*;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use model::{File, Key, Model};
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::rc::Rc;

type Input<'a, 'b> = &'a mut Unstructured<'b>;

/// A filter and what it should be.
struct Slot {
    handle: Handle,
    model: Model,
}

const SLOTS: usize = 5;
const FILES: usize = 3;

/// Everything there is.
struct World {
    slots: [Option<Slot>; SLOTS],
    files: [Option<File>; FILES],
    paths: Vec<(PathBuf, CString)>,
}

pub fn run(input: &[u8]) {
    let mut world = World::new();
    let mut input = Unstructured::new(input);
    for _ in 0..100 {
        if input.is_empty() || world.step(&mut input).is_err() {
            break;
        }
    }
    world.finish();
}

impl World {
    fn new() -> World {
        let mut paths: Vec<_> = (0..FILES).map(|i| scratch::file(&format!("file-{i}"))).collect();
        // What an input before this one has left.
        for (path, _) in &paths {
            let _ = std::fs::remove_file(path);
        }
        paths.push(scratch::file("no-such-folder/file"));
        World { slots: [const { None }; SLOTS], files: [const { None }; FILES], paths }
    }

    fn step(&mut self, input: Input<'_, '_>) -> Result<()> {
        let at = self.some_slot(input)?;
        // Without a filter only these make sense; the others would all be calls with NULL.
        let makes = self.slots[at].is_none() && input.ratio(7, 8)?;
        let call = if makes { input.int_in_range(0..=5)? } else { input.int_in_range(0..=32)? };
        match call {
            0 | 1 => self.create(input, at)?,
            2 => self.new_filter(input, at)?,
            3 => self.load(input, at)?,
            4 => self.map(input, at)?,
            5 => self.map_create(input, at)?,
            6 | 7 => self.add(input, at)?,
            8 => self.test(input, at)?,
            9 => self.test_and_add(input, at)?,
            10 => self.hashes(input, at)?,
            11..=13 => self.add_batch(input, at)?,
            14 | 15 => self.test_batch(input, at)?,
            16 | 17 => self.merge(input, at)?,
            18 => self.intersect(input, at)?,
            19 => self.fold(input, at)?,
            20 => self.clear(at),
            21 => self.clone(input, at)?,
            22 => self.equal(input, at)?,
            23 => self.serialize(input, at)?,
            24 => self.deserialize(input, at)?,
            25 => self.merge_serialized(input, at)?,
            26 => self.save(input, at)?,
            27 => self.inspect(input)?,
            28 => self.sync(at),
            29 => self.figures(at),
            30 => self.remove_file(input)?,
            31 => self.note_adds(input, at)?,
            _ => self.free(at),
        }
        self.verify(at);
        Ok(())
    }

    fn some_slot(&self, input: Input<'_, '_>) -> Result<usize> {
        Ok(usize::from(input.arbitrary::<u8>()?) % SLOTS)
    }

    /// NULL where there is none.
    fn handle(&self, at: usize) -> *mut gloom_filter {
        self.slots[at].as_ref().map_or(std::ptr::null_mut(), |slot| slot.handle.get())
    }

    /// Why the filter cannot be written, if so.
    fn unwritable(&self, at: usize) -> gloom_status {
        match &self.slots[at] {
            None => GLOOM_ERR_NULL,
            Some(slot) if slot.model.is_read_only() => GLOOM_ERR_READ_ONLY,
            Some(_) => GLOOM_OK,
        }
    }

    /// Puts a new filter where another may have been.
    fn put(&mut self, at: usize, handle: Handle, mut model: Model) {
        if model.num_shards == 0 {
            // The library has chosen.
            // SAFETY: a live handle.
            model.num_shards = unsafe { gloom_num_shards(handle.get()) };
            assert!(
                model.num_shards.is_power_of_two() && u64::from(model.num_shards) <= model.plan.num_blocks
            );
        }
        self.free(at);
        self.slots[at] = Some(Slot { handle, model });
        self.verify(at);
    }

    fn free(&mut self, at: usize) {
        if let Some(slot) = self.slots[at].take() {
            drop(slot.handle);
            slot.model.close();
            self.verify_files();
        }
    }

    /// Is the filter what the model is?
    fn verify(&self, at: usize) {
        let Some(Slot { handle, model }) = &self.slots[at] else { return };
        let filter = handle.get();
        // SAFETY: a live handle.
        unsafe {
            assert_eq!(
                (gloom_kind_of(filter), gloom_hash_kind(filter)),
                (model.kind, model.plan.hash as i32)
            );
            assert_eq!((gloom_num_blocks(filter), gloom_k(filter)), (model.plan.num_blocks, model.plan.k));
            assert_eq!((gloom_seed(filter), gloom_num_shards(filter)), (model.plan.seed, model.num_shards));
            assert_eq!(gloom_expected_items(filter), model.plan.expected_items);
            assert_eq!(gloom_fp_rate(filter), model.plan.fp_rate);
            assert_eq!(gloom_is_mapped(filter), model.file.is_some());
            assert_eq!(gloom_is_read_only(filter), model.is_read_only());
            assert_eq!(gloom_is_stale(filter), self.is_stale(model));
            assert_eq!(gloom_count(filter), model.count());
        }
        assert!(handle.has_blocks(&model.content.bits.borrow()), "other bits than the model's");
    }

    /// Is it a map of a file that was replaced or removed?
    fn is_stale(&self, model: &Model) -> bool {
        let is_there = |state| self.files.iter().flatten().any(|file| Rc::ptr_eq(&file.state, state));
        model.file.as_ref().is_some_and(|(state, _)| !is_there(state))
    }

    /// Files that nobody writes are what they should be, byte for byte.
    fn verify_files(&self) {
        for (file, (path, _)) in self.files.iter().zip(&self.paths) {
            let bytes = std::fs::read(path).ok();
            match file {
                None => assert!(bytes.is_none(), "a file that should not be there"),
                Some(file) if file.writers() > 0 => assert!(bytes.is_some()),
                Some(file) => assert!(bytes == Some(crate::format::write(&file.image())), "another file"),
            }
        }
    }

    /// No key that was added is missed.
    fn finish(mut self) {
        for at in 0..SLOTS {
            self.verify(at);
            if let Some(Slot { handle, model }) = &self.slots[at] {
                for key in model.content.keys.borrow().iter() {
                    // SAFETY: a live handle.
                    let found = unsafe {
                        match key {
                            Key::Bytes(key) => gloom_test(handle.get(), key.as_ptr().cast(), key.len()),
                            &Key::Hash(lo, hi) => gloom_test_hash(handle.get(), gloom_hash { lo, hi }),
                        }
                    };
                    assert!(found, "a key is missed: {key:?}");
                }
            }
        }
        for at in 0..SLOTS {
            self.free(at);
        }
        self.verify_files();
    }

    fn figures(&self, at: usize) {
        let filter = self.handle(at);
        // SAFETY: a live handle or NULL.
        unsafe {
            let (fill, estimate) = (gloom_fill_ratio(filter), gloom_estimate_items(filter));
            let (rate, memory) = (gloom_current_fp_rate(filter), gloom_memory_bytes(filter));
            let Some(Slot { model, .. }) = &self.slots[at] else {
                assert_eq!((fill, estimate, rate, memory), (1.0, u64::MAX, 1.0, 0));
                assert_eq!((gloom_num_blocks(filter), gloom_k(filter), gloom_num_shards(filter)), (0, 0, 0));
                assert_eq!((gloom_kind_of(filter), gloom_seed(filter), gloom_count(filter)), (0, 0, 0));
                assert_eq!((gloom_hash_kind(filter), gloom_is_stale(filter)), (0, false));
                assert!(
                    gloom_blocks(filter).is_null() && !gloom_is_mapped(filter) && !gloom_is_read_only(filter)
                );
                assert_eq!(
                    (gloom_expected_items(filter), gloom_fp_rate(filter), gloom_bit_capacity(filter)),
                    (0, 1.0, 0)
                );
                assert_eq!(CStr::from_ptr(gloom_simd_level(filter)), c"portable");
                return;
            };
            let ones: u64 =
                model.content.bits.borrow().iter().flatten().map(|word| u64::from(word.count_ones())).sum();
            let capacity = model.plan.num_blocks * 512;
            assert_eq!((fill, gloom_bit_capacity(filter)), (ones as f64 / capacity as f64, capacity));
            // A key sets k bits; an intersection may leave fewer.
            assert!(if ones == 0 { estimate == 0 } else { estimate > 0 || ones < model.plan.k.into() });
            assert_eq!(estimate == u64::MAX, ones == capacity);
            assert!((0.0..=1.0).contains(&rate) && (ones > 0 || rate == 0.0), "{rate} {ones}");
            let keys = model.plan.num_blocks * 64;
            assert!((keys..keys + 8192 + u64::from(model.num_shards) * 64).contains(&memory), "{memory}");
        }
    }
}
