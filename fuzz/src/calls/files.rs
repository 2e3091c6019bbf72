//! Files and maps.

use super::create::Options;
use super::model::{Content, File, Model, State};
use super::whole::{LoadOptions, loaded};
use super::{FILES, Input, World};
use crate::format::Image;
use crate::handle::{Handle, expect, expect_filter};
use gloom::capi::*;
use libfuzzer_sys::arbitrary::Result;
use std::ffi::c_char;
use std::ptr::null;
use std::rc::Rc;

/// How a file is mapped.
enum How {
    Flags(u32),
    Options(Option<gloom_map_options>),
}

impl How {
    fn new(input: Input<'_, '_>) -> Result<How> {
        let flags = match input.arbitrary::<u8>()? {
            flags @ 0..200 => return Ok(How::Flags(u32::from(flags) % 8)),
            flags @ 200..240 => u32::from(flags) % 8,
            _ => return Ok(How::Flags(input.arbitrary()?)),
        };
        let mut options = gloom_map_options {
            struct_size: size_of::<gloom_map_options>(),
            flags,
            reserved: 0,
            max_bytes: 0,
        };
        match input.arbitrary::<u8>()? {
            0..40 => return Ok(How::Options(None)),
            40..100 => {}
            100..220 => options.max_bytes = u64::from(input.arbitrary::<u8>()?) * 32,
            220..230 => options.flags = input.arbitrary()?,
            230..240 => options.reserved = input.arbitrary()?,
            _ => options.struct_size = *input.choose(&[0, 8, 23, 4097, usize::MAX])?,
        }
        Ok(How::Options(Some(options)))
    }

    fn flags(&self) -> u32 {
        match self {
            How::Flags(flags) => *flags,
            How::Options(options) => options.map_or(0, |options| options.flags),
        }
    }

    fn are_wrong(&self) -> bool {
        let is_wrong = |options: &gloom_map_options| {
            options.struct_size != size_of::<gloom_map_options>() || options.reserved != 0
        };
        self.flags() > 7 || matches!(self, How::Options(Some(options)) if is_wrong(options))
    }

    fn allows(&self, num_blocks: u64) -> bool {
        let max_bytes = match self {
            How::Options(Some(options)) => options.max_bytes,
            _ => 0,
        };
        max_bytes == 0 || num_blocks * 64 <= max_bytes
    }
}

impl World {
    /// One of the files, seldom one in a folder that is not there.
    fn some_path(&self, input: Input<'_, '_>) -> Result<(usize, *const c_char)> {
        let number: u8 = input.arbitrary()?;
        let at = if number < 250 { usize::from(number) % FILES } else { FILES };
        Ok((at, self.paths[at].1.as_ptr()))
    }

    fn file(&self, at: usize) -> Option<&File> {
        self.files.get(at)?.as_ref()
    }

    pub fn save(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (to, path) = self.some_path(input)?;
        let format = if input.ratio(1, 16)? { 2 } else { i32::from(input.arbitrary::<bool>()?) };
        let status = match self.status_of_format(at, format) {
            GLOOM_OK if to == FILES => GLOOM_ERR_IO,
            GLOOM_OK if self.file(to).is_some_and(|file| file.writers() > 0) => GLOOM_ERR_BUSY,
            status => status,
        };
        // SAFETY: a live handle or NULL, and paths that end; so below.
        expect(status, |error| unsafe { gloom_save(self.handle(at), path, format, error) });
        if status == GLOOM_OK {
            let model = &self.slots[at].as_ref().expect("it is there").model;
            let image = model.image(format);
            let saved = loaded(&image, &model.content, GLOOM_KIND_ATOMIC, 1);
            let state = State::default();
            state.clean.set(image.count);
            self.files[to] =
                Some(File { format, plan: saved.plan, content: saved.content, state: Rc::new(state) });
        }
        self.verify_files();
        Ok(())
    }

    pub fn load(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (from, path) = self.some_path(input)?;
        let options = LoadOptions::new(input)?;
        let predicted = match self.file(from) {
            _ if options.are_wrong() => Err(GLOOM_ERR_INVALID_ARGUMENT),
            None => Err(GLOOM_ERR_IO),
            Some(file) => options.predict(file.plan.num_blocks),
        };
        let made = expect_filter(predicted.err().unwrap_or(GLOOM_OK), |out, error| unsafe {
            gloom_load(path, options.get(), out, error)
        });
        if let (Some(made), Ok((kind, num_shards)), Some(file)) = (made, predicted, self.file(from)) {
            // With what writers have counted who have closed it.
            let image = Image { count: file.state.count(), ..file.image() };
            let model = loaded(&image, &file.content, kind, num_shards);
            self.put(at, made, model);
        }
        Ok(())
    }

    pub fn map(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (from, path) = self.some_path(input)?;
        let how = How::new(input)?;
        let status = match self.file(from) {
            _ if how.are_wrong() => GLOOM_ERR_INVALID_ARGUMENT,
            None => GLOOM_ERR_IO,
            Some(file) if file.format == GLOOM_FORMAT_V1 => GLOOM_ERR_UNSUPPORTED,
            Some(file) if !how.allows(file.plan.num_blocks) => GLOOM_ERR_LIMIT,
            Some(_) => GLOOM_OK,
        };
        let mapped = expect_filter(status, |out, error| unsafe {
            match &how {
                How::Flags(flags) => gloom_map(path, *flags, out, error),
                How::Options(options) => {
                    let options = options.as_ref().map_or(null(), |options| &raw const *options);
                    gloom_map_with_options(path, options, out, error)
                }
            }
        });
        if let (Some(mapped), Some(file)) = (mapped, self.file(from)) {
            self.put_mapped(at, mapped, from, file.state.clone(), how.flags() & GLOOM_MAP_READ_WRITE != 0);
        } else {
            self.verify_files();
        }
        Ok(())
    }

    /// A filter that is file number `from`.
    fn put_mapped(&mut self, at: usize, handle: Handle, from: usize, state: Rc<State>, writes: bool) {
        let file = self.file(from).expect("it is there");
        if writes {
            state.writers.set(state.writers.get() + 1);
        }
        let content: Rc<Content> = file.content.clone();
        let model =
            Model { content, file: Some((state, writes)), ..Model::new(GLOOM_KIND_ATOMIC, 1, file.plan) };
        self.put(at, handle, model);
    }

    pub fn map_create(&mut self, input: Input<'_, '_>, at: usize) -> Result<()> {
        let (to, path) = self.some_path(input)?;
        let other = self.some_plan(input)?;
        let options = Options::new(input, other)?;
        let predicted = match options.for_a_map() {
            Ok(_) if to == FILES || self.file(to).is_some() => Err(GLOOM_ERR_IO),
            other => other,
        };
        let made = expect_filter(predicted.err().unwrap_or(GLOOM_OK), |out, error| unsafe {
            gloom_map_create(path, options.get(), out, error)
        });
        if let (Some(made), Ok(plan)) = (made, predicted) {
            let content = Model::new(GLOOM_KIND_ATOMIC, 1, plan).content;
            let state = Rc::new(State::default());
            self.files[to] = Some(File { format: GLOOM_FORMAT_NATIVE, plan, content, state: state.clone() });
            self.put_mapped(at, made, to, state, true);
        } else {
            self.verify_files();
        }
        Ok(())
    }

    pub fn inspect(&mut self, input: Input<'_, '_>) -> Result<()> {
        let (from, path) = self.some_path(input)?;
        // SAFETY: numbers only.
        let mut info: gloom_file_info = unsafe { std::mem::zeroed() };
        info.struct_size =
            if input.ratio(1, 8)? { input.arbitrary::<usize>()? % 60 } else { size_of::<gloom_file_info>() };
        let is_small = info.struct_size < size_of::<gloom_file_info>();
        let status = match self.file(from) {
            None => GLOOM_ERR_IO,
            Some(_) if is_small => GLOOM_ERR_INVALID_ARGUMENT,
            Some(_) => GLOOM_OK,
        };
        expect(status, |error| unsafe { gloom_inspect(path, &mut info, error) });
        if let (GLOOM_OK, Some(file)) = (status, self.file(from)) {
            let image = file.image();
            assert_eq!((info.format, info.k, info.num_blocks), (image.format, image.k, image.num_blocks));
            assert_eq!((info.seed, info.count, info.bytes), (image.seed, image.count, image.bytes));
            assert_eq!((info.expected_items, info.fp_rate), (image.expected_items, image.fp_rate));
            assert_eq!((info.dirty, info.hash), (u32::from(file.writers() > 0), image.hash));
        } else {
            assert_eq!((info.k, info.num_blocks, info.bytes), (0, 0, 0));
        }
        Ok(())
    }

    pub fn sync(&mut self, at: usize) {
        let status = match &self.slots[at] {
            None => GLOOM_ERR_NULL,
            Some(slot) => match slot.model.file {
                None => GLOOM_ERR_INVALID_ARGUMENT,
                Some((_, false)) => GLOOM_ERR_READ_ONLY,
                Some((_, true)) => GLOOM_OK,
            },
        };
        expect(status, |error| unsafe { gloom_sync(self.handle(at), error) });
    }

    /// Whoever has it mapped goes on with it.
    pub fn remove_file(&mut self, input: Input<'_, '_>) -> Result<()> {
        let (at, _) = self.some_path(input)?;
        if self.files.get_mut(at).and_then(Option::take).is_some() {
            std::fs::remove_file(&self.paths[at].0).expect("it is there");
        }
        Ok(())
    }
}
