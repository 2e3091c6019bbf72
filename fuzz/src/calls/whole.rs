//! Whole filters, in memory and as bytes.

use super::create::shards_of;
use super::model::{Content, Model, Plan};
use super::{Input, World};
use crate::definition::Bits;
use crate::fault;
use crate::format::{self, Image, Reader};
use crate::handle::{expect, expect_filter};
use gloom::capi::*;
use libfuzzer_sys::arbitrary::Result;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// Options for loading, and what shall come of them for a filter that is fine.
pub struct LoadOptions(Option<gloom_load_options>);

impl LoadOptions {
    pub fn new(input: Input<'_, '_>) -> Result<LoadOptions> {
        let mut options = gloom_load_options {
            struct_size: size_of::<gloom_load_options>(),
            kind: i32::from(input.arbitrary::<u8>()? % 4),
            flags: 0,
            num_shards: 0,
            reserved: 0,
            max_bytes: 0,
        };
        match input.arbitrary::<u8>()? {
            0..100 => return Ok(LoadOptions(None)),
            100..200 => {}
            200..220 => options.num_shards = *input.choose(&[1, 2, 4, 3, 65536, 131_072])?,
            220..230 => options.max_bytes = u64::from(input.arbitrary::<u8>()?) * 32,
            230..235 => options.flags = input.arbitrary()?,
            235..240 => options.reserved = input.arbitrary()?,
            240..245 => options.kind = input.arbitrary()?,
            _ => options.struct_size = *input.choose(&[0, 16, 31, 4097, usize::MAX])?,
        }
        Ok(LoadOptions(Some(options)))
    }

    pub fn get(&self) -> *const gloom_load_options {
        self.0.as_ref().map_or(null(), |options| options)
    }

    /// Are they refused before anything is looked at?
    pub fn are_wrong(&self) -> bool {
        self.0.is_some_and(|options| {
            options.struct_size != size_of::<gloom_load_options>()
                || options.flags & !(GLOOM_FLAG_SMALL_PAGES | GLOOM_FLAG_SPECIAL_FILES) != 0
                || options.reserved != 0
                || !(0..=3).contains(&options.kind)
        })
    }

    /// What becomes of a filter of so many blocks: its kind and shards.
    pub fn predict(&self, num_blocks: u64) -> std::result::Result<(i32, u32), gloom_status> {
        let Some(options) = self.0 else { return Ok((GLOOM_KIND_ATOMIC, 1)) };
        let gloom_load_options { kind, num_shards, max_bytes, .. } = options;
        if max_bytes != 0 && num_blocks * 64 > max_bytes {
            return Err(GLOOM_ERR_LIMIT);
        }
        let shards_fit =
            num_shards.is_power_of_two() && num_shards <= 65536 && u64::from(num_shards) <= num_blocks;
        if num_shards != 0 && (kind != GLOOM_KIND_SHARDED || !shards_fit) {
            return Err(GLOOM_ERR_INVALID_ARGUMENT);
        }
        Ok((if kind == 0 { GLOOM_KIND_ATOMIC } else { kind }, shards_of(kind, num_shards)))
    }
}

/// A filter that was loaded from what another one, or a file, holds.
pub fn loaded(image: &Image, content: &Content, kind: i32, num_shards: u32) -> Model {
    let &Image { num_blocks, k, hash, seed, expected_items, fp_rate, .. } = image;
    let plan = Plan { num_blocks, k, hash, seed, expected_items, fp_rate };
    Model { content: Rc::new(content.clone()), own: image.count, ..Model::new(kind, num_shards, plan) }
}

fn some_format(input: Input<'_, '_>) -> Result<i32> {
    let number: u8 = input.arbitrary()?;
    Ok(if number < 240 { i32::from(number) % 2 } else { *input.choose(&[2, -1, i32::MAX, i32::MIN])? })
}

/// Each block is the union of `factor` neighbours.
fn folded_bits(bits: &[Bits], factor: usize) -> Vec<Bits> {
    let or = |sum: Bits, block: &Bits| std::array::from_fn(|i| sum[i] | block[i]);
    bits.chunks(factor).map(|blocks| blocks.iter().fold([0; 8], or)).collect()
}

fn combine(target: &Model, source: &Content, with: fn(u64, u64) -> u64) {
    // Both may be one.
    let source = source.bits.borrow().clone();
    for (target, source) in target.content.bits.borrow_mut().iter_mut().zip(source) {
        *target = std::array::from_fn(|i| with(target[i], source[i]));
    }
}

fn merge(target: &mut Model, source: &Content, count: u64) {
    combine(target, source, |a, b| a | b);
    let keys = source.keys.borrow().clone();
    target.content.keys.borrow_mut().extend(keys);
    let counted = if fault::wanted("calls-model") { 0 } else { count };
    target.own = target.own.saturating_add(counted);
}

impl World {
    /// The status of a call with a target that it writes and a source that must match.
    fn status_of_pair(&self, target: usize, source: usize) -> gloom_status {
        match (&self.slots[target], &self.slots[source]) {
            (None, _) | (_, None) => GLOOM_ERR_NULL,
            (Some(target), _) if target.model.is_read_only() => GLOOM_ERR_READ_ONLY,
            (Some(target), Some(source)) if target.model.plan.matches(&source.model.plan) => GLOOM_OK,
            _ => GLOOM_ERR_INCOMPATIBLE,
        }
    }

    pub fn merge(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let from = self.some_slot(input)?;
        let status = self.status_of_pair(at, from);
        // SAFETY: live handles or NULL; so below.
        expect(status, |error| unsafe { gloom_merge(self.handle(at), self.handle(from), error) });
        if status == GLOOM_OK && at != from {
            let (content, count) = self.content_of(from);
            merge(&mut self.slots[at].as_mut().expect("it is there").model, &content, count);
        }
        Ok(())
    }

    fn content_of(&self, at: usize) -> (Rc<Content>, u64) {
        let model = &self.slots[at].as_ref().expect("it is there").model;
        (model.content.clone(), model.count())
    }

    pub fn intersect(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let from = self.some_slot(input)?;
        let status = self.status_of_pair(at, from);
        expect(status, |error| unsafe { gloom_intersect(self.handle(at), self.handle(from), error) });
        if status == GLOOM_OK && at != from {
            let (content, count) = self.content_of(from);
            let target = &mut self.slots[at].as_mut().expect("it is there").model;
            combine(target, &content, |a, b| a & b);
            if !Rc::ptr_eq(&target.content, &content) {
                let keys = content.keys.borrow();
                target.content.keys.borrow_mut().retain(|key| keys.contains(key));
            }
            target.set_count(count.min(target.count()));
        }
        Ok(())
    }

    pub fn fold(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let to = self.some_slot(input)?;
        let factor = match input.arbitrary::<u8>()? {
            factor @ 0..240 => u64::from(factor % 9),
            _ => *input.choose(&[64, 1000, 1 << 32, u64::MAX])?,
        };
        let num_blocks = self.slots[at].as_ref().map(|slot| slot.model.plan.num_blocks);
        let status = match num_blocks {
            None => GLOOM_ERR_NULL,
            Some(blocks) if factor > 0 && blocks % factor == 0 => GLOOM_OK,
            Some(_) => GLOOM_ERR_INVALID_ARGUMENT,
        };
        let folded =
            expect_filter(status, |out, error| unsafe { gloom_fold(self.handle(at), factor, out, error) });
        if let (Some(folded), Some(blocks)) = (folded, num_blocks) {
            let source = &self.slots[at].as_ref().expect("it is there").model;
            let plan = Plan { num_blocks: blocks / factor, expected_items: 0, fp_rate: 0.0, ..source.plan };
            let bits = folded_bits(&source.content.bits.borrow(), factor as usize);
            let content = Content { bits: RefCell::new(bits), keys: source.content.keys.clone() };
            let fewer = if u64::from(source.num_shards) <= plan.num_blocks { source.num_shards } else { 0 };
            let model = Model {
                content: Rc::new(content),
                own: source.count(),
                ..Model::new(source.kind, fewer, plan)
            };
            self.put(to, folded, model);
        }
        Ok(())
    }

    pub fn clear(&mut self, at: usize) {
        let status = self.unwritable(at);
        assert_eq!(unsafe { gloom_clear(self.handle(at)) }, status);
        if status == GLOOM_OK {
            let model = &mut self.slots[at].as_mut().expect("it is there").model;
            model.content.bits.borrow_mut().fill([0; 8]);
            model.content.keys.borrow_mut().clear();
            model.set_count(0);
        }
    }

    pub fn clone(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let to = self.some_slot(input)?;
        let status = if self.slots[at].is_some() { GLOOM_OK } else { GLOOM_ERR_NULL };
        let copy = expect_filter(status, |out, error| unsafe { gloom_clone(self.handle(at), out, error) });
        if let (Some(copy), Some(slot)) = (copy, &self.slots[at]) {
            assert!(unsafe { gloom_equal(copy.get(), slot.handle.get()) });
            let source = &slot.model;
            let content = Content::clone(&source.content);
            let model = Model {
                content: Rc::new(content),
                own: source.count(),
                ..Model::new(source.kind, source.num_shards, source.plan)
            };
            self.put(to, copy, model);
        }
        Ok(())
    }

    pub fn equal(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let other = self.some_slot(input)?;
        let wanted = match (&self.slots[at], &self.slots[other]) {
            (Some(a), Some(b)) => {
                a.model.plan.matches(&b.model.plan) && a.model.content.bits == b.model.content.bits
            }
            _ => false,
        };
        let (a, b) = (self.handle(at), self.handle(other));
        assert_eq!(unsafe { (gloom_equal(a, b), gloom_equal(b, a)) }, (wanted, wanted));
        Ok(())
    }

    /// The status of writing a filter in a format.
    pub fn status_of_format(&self, at: usize, format: i32) -> gloom_status {
        match &self.slots[at] {
            None => GLOOM_ERR_NULL,
            Some(_) if !(0..=1).contains(&format) => GLOOM_ERR_INVALID_ARGUMENT,
            Some(slot) if format == GLOOM_FORMAT_V1 && slot.model.plan.seed != 0 => GLOOM_ERR_UNSUPPORTED,
            Some(_) => GLOOM_OK,
        }
    }

    pub fn serialize(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (filter, format) = (self.handle(at), some_format(input)?);
        let status = self.status_of_format(at, format);
        let mut size = 0x5a;
        expect(status, |error| unsafe { gloom_serialized_size(filter, format, &mut size, error) });
        let wanted = match &self.slots[at] {
            Some(slot) if status == GLOOM_OK => format::write(&slot.model.image(format)),
            _ => Vec::new(),
        };
        assert_eq!(size, if status == GLOOM_OK { wanted.len() as u64 } else { 0x5a });

        let change = input.int_in_range(-20..=4i64)?.max(-(wanted.len() as i64));
        let mut buffer = vec![0xa5u8; (wanted.len() as i64 + change) as usize].into_boxed_slice();
        let (mut written, len) = (0x5a5a, buffer.len());
        let fits = len >= wanted.len();
        let status_here = if status == GLOOM_OK && !fits { GLOOM_ERR_BUFFER_TOO_SMALL } else { status };
        let start = buffer.as_mut_ptr().cast();
        expect(status_here, |error| unsafe {
            gloom_serialize(filter, format, start, len, &mut written, error)
        });
        if status_here == GLOOM_OK {
            assert_eq!(written, wanted.len());
            assert!(buffer[..written] == wanted[..], "the format of the page");
        }
        let untouched = if status_here == GLOOM_OK { &buffer[written..] } else { &buffer[..] };
        assert!(untouched.iter().all(|&byte| byte == 0xa5), "written without need");
        if (0..=1).contains(&format) {
            expect(GLOOM_ERR_NULL, |error| unsafe {
                gloom_serialize(filter, format, null_mut(), 9, null_mut(), error)
            });
        }
        self.write(input, filter, format, status, &wanted)
    }

    /// The same piece by piece.
    fn write(
        &self,
        input: Input<'_, '_>,
        filter: *mut gloom_filter,
        format: i32,
        status: gloom_status,
        wanted: &[u8],
    ) -> Result<()> {
        let (answer, at_stop) = match input.int_in_range(0..=5)? {
            0 => (0, GLOOM_ERR_INVALID_ARGUMENT),
            1 => (-1, GLOOM_ERR_CANCELLED),
            2 => (-28, GLOOM_ERR_IO),
            3 => (i64::MIN, GLOOM_ERR_IO),
            4 => (i64::MAX, GLOOM_ERR_INVALID_ARGUMENT),
            _ => (1, GLOOM_OK),
        };
        let stop = if answer == 1 { usize::MAX } else { usize::from(input.arbitrary::<u16>()?) };
        let most = *input.choose(&[usize::MAX, 97, 4096, 1000])?;
        let mut sink = Sink { bytes: Vec::new(), most, stop, answer };
        let stops = stop < wanted.len();
        let status = if status == GLOOM_OK && stops { at_stop } else { status };
        let context = (&raw mut sink).cast();
        expect(status, |error| unsafe { gloom_write(filter, format, Some(take), context, error) });
        let written = if status == GLOOM_OK { wanted } else { &wanted[..sink.bytes.len().min(wanted.len())] };
        assert!(sink.bytes == written, "the format of the page");
        Ok(())
    }

    pub fn deserialize(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let to = self.some_slot(input)?;
        let options = LoadOptions::new(input)?;
        let (format, cut, flip) =
            (i32::from(input.arbitrary::<bool>()?), input.arbitrary::<u8>()?, input.arbitrary::<u8>()?);
        let Some(slot) = &self.slots[at] else {
            // SAFETY: no data.
            let status = if options.are_wrong() { GLOOM_ERR_INVALID_ARGUMENT } else { GLOOM_ERR_CORRUPT };
            expect_filter(status, |out, error| unsafe {
                gloom_deserialize(null(), 0, options.get(), out, error)
            });
            return Ok(());
        };
        let format = if slot.model.plan.seed == 0 { format } else { GLOOM_FORMAT_NATIVE };
        let image = slot.model.image(format);
        let data = damaged(&image, cut, flip);
        let predicted = if options.are_wrong() {
            Err(GLOOM_ERR_INVALID_ARGUMENT)
        } else {
            let accept = |image: &Image| options.predict(image.num_blocks).err().unwrap_or(GLOOM_OK);
            let read = format::read(&data, Reader::Whole, format::boot_id(), accept);
            read.map_err(|refusal| refusal.status).and_then(|image| options.predict(image.num_blocks))
        };
        let (start, len) = (data.as_ptr().cast(), data.len());
        let made = expect_filter(predicted.err().unwrap_or(GLOOM_OK), |out, error| unsafe {
            gloom_deserialize(start, len, options.get(), out, error)
        });
        if let (Some(made), Ok((kind, num_shards))) = (made, predicted) {
            let model = loaded(&image, &slot.model.content, kind, num_shards);
            self.put(to, made, model);
        }
        Ok(())
    }

    pub fn merge_serialized(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let from = self.some_slot(input)?;
        let (format, cut, flip) =
            (i32::from(input.arbitrary::<bool>()?), input.arbitrary::<u8>()?, input.arbitrary::<u8>()?);
        let data = self.slots[from].as_ref().map(|source| {
            let format = if source.model.plan.seed == 0 { format } else { GLOOM_FORMAT_NATIVE };
            damaged(&source.model.image(format), cut, flip)
        });
        let (start, len) = data.as_ref().map_or((null(), 0), |data| (data.as_ptr().cast(), data.len()));
        let status = match (&self.slots[at], &data) {
            (None, _) => GLOOM_ERR_NULL,
            (Some(target), _) if target.model.is_read_only() => GLOOM_ERR_READ_ONLY,
            (Some(_), None) => GLOOM_ERR_CORRUPT,
            (Some(target), Some(data)) => {
                let plan = target.model.plan;
                let accept = |image: &Image| {
                    let fits = (plan.num_blocks, plan.k, plan.hash, plan.seed)
                        == (image.num_blocks, image.k, image.hash, image.seed);
                    if fits { GLOOM_OK } else { GLOOM_ERR_INCOMPATIBLE }
                };
                let read = format::read(data, Reader::Whole, format::boot_id(), accept);
                read.err().map_or(GLOOM_OK, |refusal| refusal.status)
            }
        };
        expect(status, |error| unsafe { gloom_merge_serialized(self.handle(at), start, len, error) });
        if status == GLOOM_OK {
            let (content, count) = self.content_of(from);
            merge(&mut self.slots[at].as_mut().expect("it is there").model, &content, count);
        }
        Ok(())
    }
}

/// A filter as bytes, mostly as they should be, in exactly as much memory.
fn damaged(image: &Image, cut: u8, flip: u8) -> Box<[u8]> {
    let mut data = format::write(image);
    if cut > 230 {
        data.truncate(data.len() - usize::from(cut - 230));
    }
    if flip > 230 {
        // At the ends, where everything but blocks and padding is.
        let at = usize::from(flip - 230) * 7 % data.len();
        let at = if flip.is_multiple_of(2) { at } else { data.len() - 1 - at };
        data[at] ^= 1 << (flip % 8);
    }
    data.into_boxed_slice()
}

/// Takes what is written, up to a point.
struct Sink {
    bytes: Vec<u8>,
    most: usize,
    stop: usize,
    answer: i64,
}

unsafe extern "C" fn take(context: *mut c_void, data: *const c_void, len: usize) -> i64 {
    // SAFETY: the context that `write` gives, which nobody else uses meanwhile.
    let sink = unsafe { &mut *context.cast::<Sink>() };
    assert!(len > 0 && len <= 65536, "{len} bytes at a time");
    if sink.bytes.len() >= sink.stop {
        return sink.answer;
    }
    let count = len.min(sink.most).min(sink.stop - sink.bytes.len());
    // SAFETY: so many bytes are there.
    sink.bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(data.cast(), count) });
    count as i64
}
