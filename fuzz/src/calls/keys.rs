//! Keys one by one.

use super::model::Key;
use super::{Input, Slot, World};
use crate::definition::{self, noise};
use gloom::capi::*;
use libfuzzer_sys::arbitrary::Result;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// A key of the caller, or something that is none.
enum Argument {
    Key(Box<[u8]>),
    /// NULL with a length.
    Null(usize),
    /// Longer than any memory.
    TooLong(usize),
}

/// From a small set, so that keys are met again; or as it comes.
pub fn some_key(input: Input<'_, '_>) -> Result<Vec<u8>> {
    let number: u8 = input.arbitrary()?;
    if number < 224 {
        return Ok(numbered_key(number.into(), usize::from(input.arbitrary::<u8>()? % 40)));
    }
    let len = input.int_in_range(0..=300)?.min(input.len());
    Ok(input.bytes(len)?.to_vec())
}

pub fn numbered_key(number: u64, len: usize) -> Vec<u8> {
    noise(number % 256, len)
}

impl Argument {
    fn new(input: Input<'_, '_>) -> Result<Argument> {
        Ok(match input.arbitrary::<u8>()? {
            255 => Argument::Null(input.arbitrary::<usize>()?.max(1)),
            254 => Argument::TooLong(isize::MAX as usize + 1 + input.arbitrary::<u16>()? as usize),
            253 => Argument::TooLong(usize::MAX),
            _ => Argument::Key(some_key(input)?.into_boxed_slice()),
        })
    }

    fn get(&self) -> (*const c_void, usize) {
        match self {
            Argument::Key(key) if key.is_empty() => (null(), 0),
            Argument::Key(key) => (key.as_ptr().cast(), key.len()),
            &Argument::Null(len) => (null(), len),
            &Argument::TooLong(len) => ([0u8; 1].as_ptr().cast(), len),
        }
    }

    /// The key, or the status.
    fn key(self) -> std::result::Result<Key, gloom_status> {
        match self {
            Argument::Key(key) => Ok(Key::Bytes(key.into_vec())),
            Argument::Null(_) => Err(GLOOM_ERR_NULL),
            Argument::TooLong(_) => Err(GLOOM_ERR_INVALID_ARGUMENT),
        }
    }
}

impl World {
    pub fn add(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let argument = Argument::new(input)?;
        let (key, len) = argument.get();
        // SAFETY: a live handle or NULL, and a key as above; so below.
        let status = unsafe { gloom_add(self.handle(at), key, len) };
        self.added(at, status, argument);
        Ok(())
    }

    /// Checks the status of an add; true if the key was new, if it is one.
    fn added(&mut self, at: usize, status: gloom_status, argument: Argument) -> Option<bool> {
        match (self.unwritable(at), argument.key()) {
            (GLOOM_OK, Ok(key)) => {
                assert_eq!(status, GLOOM_OK);
                Some(self.slots[at].as_mut().expect("it is writable").model.add(key))
            }
            (GLOOM_OK, Err(wanted)) | (wanted, _) => {
                assert_eq!(status, wanted);
                None
            }
        }
    }

    pub fn test(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let argument = Argument::new(input)?;
        let (key, len) = argument.get();
        let found = unsafe { gloom_test(self.handle(at), key, len) };
        // "Maybe", for all misuse.
        let wanted = match (&self.slots[at], argument.key()) {
            (Some(slot), Ok(key)) => slot.model.test(&key),
            _ => true,
        };
        assert_eq!(found, wanted);
        Ok(())
    }

    pub fn test_and_add(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let argument = Argument::new(input)?;
        let (key, len) = argument.get();
        // What a failed call leaves alone.
        let before = input.arbitrary()?;
        let (mut was_present, no_answer) = (before, input.ratio(1, 8)?);
        let out = if no_answer { null_mut() } else { &raw mut was_present };
        let status = unsafe { gloom_test_and_add(self.handle(at), key, len, out) };
        let is_new = self.added(at, status, argument);
        assert_eq!(was_present, is_new.filter(|_| !no_answer).map_or(before, |is_new| !is_new));
        Ok(())
    }

    pub fn hashes(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        if input.arbitrary()? {
            let (argument, seed) = (Argument::new(input)?, input.arbitrary()?);
            let (key, len) = argument.get();
            let hashes = unsafe { [gloom_hash_key(key, len, seed), gloom_siphash_key(key, len, seed)] };
            let key = argument.key();
            for (gloom_hash { lo, hi }, kind) in hashes.into_iter().zip(1..) {
                let wanted = match &key {
                    Ok(Key::Bytes(key)) => definition::hash(key, kind, seed),
                    _ => gloom::KeyHash { lo: 0, hi: 0 },
                };
                assert_eq!(gloom::KeyHash { lo, hi }, wanted);
            }
        }
        let (lo, hi) = (input.arbitrary()?, input.arbitrary()?);
        let key = Key::Hash(lo, hi);
        let filter = self.handle(at);
        let wanted = self.slots[at].as_ref().is_none_or(|slot| slot.model.test(&key));
        assert_eq!(unsafe { gloom_test_hash(filter, gloom_hash { lo, hi }) }, wanted);
        let status = unsafe { gloom_add_hash(filter, gloom_hash { lo, hi }) };
        assert_eq!(status, self.unwritable(at));
        if status == GLOOM_OK {
            self.slots[at].as_mut().expect("it is writable").model.add(key);
        }
        Ok(())
    }

    /// Counts adds that a binding says to have made; sets no bits.
    pub fn note_adds(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        // Few at most times: counts that are full stay full, and show nothing more.
        let n = if input.ratio(15, 16)? { input.arbitrary::<u8>()?.into() } else { input.arbitrary()? };
        let status = match (self.unwritable(at), &self.slots[at]) {
            (GLOOM_OK, Some(Slot { model, .. }))
                if model.kind == GLOOM_KIND_SHARDED || model.file.is_some() =>
            {
                GLOOM_ERR_INVALID_ARGUMENT
            }
            (status, _) => status,
        };
        assert_eq!(unsafe { gloom_note_adds(self.handle(at), n) }, status);
        if status == GLOOM_OK {
            let model = &mut self.slots[at].as_mut().expect("it is writable").model;
            model.own = model.own.saturating_add(n);
        }
        Ok(())
    }
}
