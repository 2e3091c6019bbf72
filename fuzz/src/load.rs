//! Bytes, given to every loader of the library, and to a reader that was written from `docs/format.md`.
//!
//! They must agree: the status of each loader is the one that the page tells, and what is accepted has the same bits,
//! answers and figures everywhere and goes out again byte for byte.

use crate::definition::{self, Bits, noise};
use crate::fault;
use crate::format::{self, Image, PAYLOAD, Reader, Refusal};
use crate::handle::{Handle, expect, expect_filter};
use crate::scratch;
use gloom::capi::*;
use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{null, null_mut};

/// The first bytes of an input say what is done with the others.
struct Plan {
    /// Bits of [`SEAL`] and the rest.
    shape: u8,
    /// Which byte is damaged, and how: 0 for not at all.
    damage: (u16, u8),
    /// Bytes that are added at the end, or taken away.
    longer: i8,
    kind: i32,
    num_shards: u32,
    max_bytes: u64,
    flags: u32,
    /// Whether the target of a merge fits.
    target: u8,
    /// How far the data is from an aligned address.
    misaligned: usize,
    chunks: u8,
    /// What the source of a stream does when it comes to `stop`.
    at_stop: u8,
    stop: u16,
}

const PLAN: usize = 16;
/// Makes all checksums right, so that what is behind them is reached.
const SEAL: u8 = 1;
/// Puts in the padding of the native format: 64 KiB that inputs need not have.
const PAD: u8 = 2;
/// Repeats or cuts the blocks so that there are as many as the header says.
const FIT: u8 = 4;
/// Writes this boot into the state, as in a file that is mapped for writing.
const BOOT: u8 = 8;

const MAX_BYTES: u64 = 1 << 20;

impl Plan {
    fn new(bytes: [u8; PLAN]) -> Plan {
        let pair = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Plan {
            shape: bytes[0],
            damage: (pair(2), bytes[4]),
            longer: bytes[5] as i8,
            kind: [0, 1, 2, 3, 0, 1, 2, 3, 4, -1][usize::from(bytes[6] % 10)],
            num_shards: [0, 0, 0, 1, 2, 4, 16, 3, 65536, 131_072][usize::from(bytes[7] % 10)],
            max_bytes: if bytes[8] < 128 { MAX_BYTES } else { u64::from(bytes[8] - 127) * 64 },
            flags: [0, GLOOM_FLAG_SMALL_PAGES, GLOOM_FLAG_SPECIAL_FILES, 5][usize::from(bytes[1] % 4)],
            target: bytes[9],
            misaligned: usize::from(bytes[10] % 64),
            chunks: bytes[11],
            at_stop: bytes[12],
            stop: pair(13),
        }
    }

    /// The data to be loaded.
    fn data(&self, content: &[u8]) -> Vec<u8> {
        let mut data = content.to_vec();
        let is_native = data.first() == Some(&0x89);
        let start = if is_native { 192 } else { 21 };
        let end = if is_native { 16 } else { 4 };
        if self.shape & FIT != 0 && data.len() > start {
            let at = if is_native { 24 } else { 5 };
            let wanted = u64::from_le_bytes(data[at..at + 8].try_into().expect("eight bytes"));
            if wanted <= 1100 {
                let blocks = data.split_off(start);
                data.extend(blocks.iter().cycle().take(wanted as usize * 64));
                data.extend(vec![0; end]);
            }
        }
        if is_native && data.len() >= 192 {
            if self.shape & BOOT != 0 {
                data[144..160].copy_from_slice(&format::boot_id());
            }
            if self.shape & PAD != 0 {
                data.splice(192..192, vec![0; PAYLOAD - 192]);
            }
        }
        if self.shape & SEAL != 0 {
            format::seal(&mut data);
        }
        let len = data.len();
        if let (Some(at), (position, change)) = (len.checked_sub(1), self.damage) {
            // From the beginning, or from the end, where the trailer is.
            let at = if position < 1 << 15 {
                at.min(position.into())
            } else {
                at.saturating_sub((u16::MAX - position).into())
            };
            data[at] ^= change;
        }
        data.resize((len as i64 + i64::from(self.longer)).max(0) as usize, 0);
        data
    }

    fn options(&self) -> gloom_load_options {
        gloom_load_options {
            struct_size: size_of::<gloom_load_options>(),
            kind: self.kind,
            flags: self.flags,
            num_shards: self.num_shards,
            reserved: 0,
            max_bytes: self.max_bytes,
        }
    }

    fn is_too_large(&self, image: &Image) -> bool {
        image.num_blocks.saturating_mul(64) > self.max_bytes
    }

    /// What options make of a filter that is otherwise fine.
    fn accept(&self, image: &Image) -> gloom_status {
        let is_sharded = self.kind == GLOOM_KIND_SHARDED;
        if self.is_too_large(image) {
            GLOOM_ERR_LIMIT
        } else if self.num_shards != 0
            && (!is_sharded
                || !self.num_shards.is_power_of_two()
                || self.num_shards > 65536
                || u64::from(self.num_shards) > image.num_blocks)
        {
            GLOOM_ERR_INVALID_ARGUMENT
        } else {
            GLOOM_OK
        }
    }

    /// What a loader has to make of the data.
    fn predict(&self, data: &[u8], reader: Reader) -> Result<Image, Refusal> {
        if !(0..=3).contains(&self.kind) {
            return Err(Refusal { status: GLOOM_ERR_INVALID_ARGUMENT, ran_out: false });
        }
        format::read(data, reader, format::boot_id(), |image| self.accept(image))
    }
}

pub fn run(input: &[u8]) {
    let mut plan = [0; PLAN];
    let len = input.len().min(PLAN);
    plan[..len].copy_from_slice(&input[..len]);
    let plan = Plan::new(plan);
    let data = plan.data(&input[len..]);

    let mut predicted = plan.predict(&data, Reader::Whole);
    if fault::wanted("load-model") && predicted.is_err() {
        predicted = Err(Refusal { status: GLOOM_ERR_UNSUPPORTED, ran_out: false });
    }
    let loaded = check_bytes(&plan, &data, &predicted);
    check_stream(&plan, &data);
    check_pipe(&plan, &data, &predicted);
    check_merge(&plan, &data);
    check_file(&plan, &data, &predicted);
    if let (Some(loaded), Ok(image)) = (loaded, &predicted) {
        check_content(&loaded, image);
        check_round_trips(&plan, &loaded, &data, image);
    }
}

fn status_of<T>(result: &Result<T, Refusal>) -> gloom_status {
    result.as_ref().err().map_or(GLOOM_OK, |refusal| refusal.status)
}

/// A copy of `data` with nothing behind its end, and at any alignment.
fn exact_copy(data: &[u8], misaligned: usize) -> (Box<[u8]>, *const c_void) {
    let mut copy = vec![0; misaligned];
    copy.extend_from_slice(data);
    let copy = copy.into_boxed_slice();
    let start = copy[misaligned..].as_ptr().cast();
    (copy, start)
}

fn check_bytes(plan: &Plan, data: &[u8], predicted: &Result<Image, Refusal>) -> Option<Handle> {
    // What is accepted has been read to its last byte, which is missing then.
    let cut = usize::from(fault::wanted("overread") && predicted.is_ok());
    let (_copy, start) = exact_copy(&data[..data.len() - cut], plan.misaligned);
    let (options, len) = (plan.options(), data.len());
    // SAFETY: pointers to what is here.
    expect_filter(status_of(predicted), |out, error| unsafe {
        gloom_deserialize(start, len, &options, out, error)
    })
}

/// Hands out data in pieces of many sizes.
struct Source<'a> {
    data: &'a [u8],
    at: usize,
    chunks: u8,
    calls: u8,
    /// What it answers at the end.
    at_end: i64,
}

unsafe extern "C" fn read(context: *mut c_void, buffer: *mut c_void, len: usize) -> i64 {
    // SAFETY: the context that `check_stream` gives, which nobody else uses meanwhile.
    let source = unsafe { &mut *context.cast::<Source<'_>>() };
    assert!(len > 0 && len <= 65536, "asked for {len} bytes");
    let left = &source.data[source.at..];
    if left.is_empty() {
        return if source.at_end > 0 { len as i64 + source.at_end } else { source.at_end };
    }
    source.calls = source.calls.wrapping_add(1);
    let wanted = match source.chunks {
        0..64 => len,
        64..128 => 1 + usize::from(source.chunks - 64),
        chunks => {
            1 + noise(u64::from(chunks) << 8 | u64::from(source.calls), 2)
                .iter()
                .map(|&byte| usize::from(byte))
                .product::<usize>()
        }
    };
    let count = wanted.min(len).min(left.len());
    // SAFETY: the library's buffer has room for `len` bytes.
    unsafe { std::ptr::copy_nonoverlapping(left.as_ptr(), buffer.cast(), count) };
    source.at += count;
    count as i64
}

fn check_stream(plan: &Plan, data: &[u8]) {
    // The end, by itself, by failing in one of four ways, or by taking too much.
    let (at_end, status) = match plan.at_stop % 6 {
        0 | 1 => (0, GLOOM_ERR_CORRUPT),
        2 => (-1, GLOOM_ERR_CANCELLED),
        3 => (-5, GLOOM_ERR_IO),
        4 => (i64::MIN, GLOOM_ERR_IO),
        _ => (1 + i64::from(plan.at_stop), GLOOM_ERR_INVALID_ARGUMENT),
    };
    let stop =
        if plan.at_stop.is_multiple_of(6) { data.len() } else { data.len() * usize::from(plan.stop) / 65536 };
    let data = &data[..stop];
    let predicted = plan.predict(data, Reader::Stream);
    let wanted = match &predicted {
        Err(Refusal { ran_out: true, .. }) => status,
        other => status_of(other),
    };
    let mut source = Source { data, at: 0, chunks: plan.chunks, calls: 0, at_end };
    let options = plan.options();
    let context = (&raw mut source).cast();
    // SAFETY: pointers to what is here.
    let loaded =
        expect_filter(wanted, |out, error| unsafe { gloom_read(Some(read), context, &options, out, error) });
    if let (Some(loaded), Ok(image)) = (loaded, predicted) {
        assert_eq!(source.at as u64, image.bytes, "it took other bytes than the filter's");
        check_same(&loaded, &image);
    }
}

/// A pipe has no length either, but nothing may follow.
fn check_pipe(plan: &Plan, data: &[u8], predicted: &Result<Image, Refusal>) {
    // More would wait for a reader.
    if data.len() > 60_000 {
        return;
    }
    let mut ends = [0; 2];
    // SAFETY: two descriptors, which are ours.
    let [output, input] = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        ends.map(|end| std::fs::File::from_raw_fd(end))
    };
    std::io::Write::write_all(&mut &input, data).expect("a pipe takes this much");
    drop(input);
    let path = std::ffi::CString::new(format!("/proc/self/fd/{}", output.as_raw_fd())).expect("no zero");
    // What whole data is refused for at once, because of its length, is refused later, and maybe for another reason.
    let wanted = match plan.predict(data, Reader::Stream) {
        Ok(_) if predicted.is_err() => GLOOM_ERR_CORRUPT,
        other => status_of(&other),
    };
    let options = plan.options();
    // SAFETY: pointers to what is here.
    let loaded =
        expect_filter(wanted, |out, error| unsafe { gloom_load(path.as_ptr(), &options, out, error) });
    if let (Some(loaded), Ok(image)) = (loaded, predicted) {
        check_same(&loaded, image);
    }
}

/// A filter in memory of this geometry, with some keys.
fn some_filter(num_blocks: u64, k: u32, hash: u32, seed: u64, kind: i32) -> Handle {
    // SAFETY: numbers only.
    let mut options: gloom_options = unsafe { std::mem::zeroed() };
    options.struct_size = size_of::<gloom_options>();
    (options.num_blocks, options.k, options.seed, options.kind) = (num_blocks, k, seed, kind);
    options.flags = if hash == 2 { GLOOM_FLAG_SIPHASH } else { 0 };
    // SAFETY: pointers to what is here.
    let filter = expect_filter(GLOOM_OK, |out, error| unsafe { gloom_create(&options, out, error) });
    let filter = filter.expect("success");
    for number in 0..3 {
        let key = noise(number, 9);
        // SAFETY: a live handle and a key.
        assert_eq!(unsafe { gloom_add(filter.get(), key.as_ptr().cast(), key.len()) }, GLOOM_OK);
    }
    filter
}

fn check_merge(plan: &Plan, data: &[u8]) {
    // The target is like what the header says, if that is possible, or differs in one thing.
    let header = format::read(data, Reader::Inspect, format::boot_id(), |_| GLOOM_OK);
    let header = header.ok().filter(|header| header.num_blocks * 64 <= MAX_BYTES);
    let (mut num_blocks, mut k, mut hash, mut seed) =
        header.map_or((2, 7, 1, 0), |header| (header.num_blocks, header.k, header.hash, header.seed));
    match plan.target % 8 {
        1 => num_blocks += 1,
        2 => k = if k == 17 { 3 } else { k + 1 },
        3 if hash == 1 || seed != 1 => seed ^= 1,
        4 if seed != 0 => hash = 3 - hash,
        _ => {}
    }
    let target = some_filter(num_blocks, k, hash, seed, i32::from(plan.target / 8 % 4));
    let before = target.blocks();
    let predicted = format::read(data, Reader::Whole, format::boot_id(), |image| {
        let fits = (image.num_blocks, image.k, image.hash, image.seed) == (num_blocks, k, hash, seed);
        if fits { GLOOM_OK } else { GLOOM_ERR_INCOMPATIBLE }
    });
    let (_copy, start) = exact_copy(data, plan.misaligned);
    // SAFETY: pointers to what is here.
    expect(status_of(&predicted), |error| unsafe {
        gloom_merge_serialized(target.get(), start, data.len(), error)
    });
    match predicted {
        Ok(image) => {
            let merged: Vec<Bits> =
                before.iter().zip(&image.blocks).map(|(a, b)| std::array::from_fn(|i| a[i] | b[i])).collect();
            assert!(target.has_blocks(&merged), "merged bits");
            assert_eq!(target.count(), 3u64.saturating_add(image.count));
        }
        Err(_) => {
            assert!(target.has_blocks(&before), "a failed merge changed bits");
            assert_eq!(target.count(), 3);
        }
    }
}

fn check_file(plan: &Plan, data: &[u8], predicted: &Result<Image, Refusal>) {
    let (path, for_c) = scratch::file("loaded");
    let for_c = for_c.as_ptr();
    std::fs::write(&path, data).expect("files can be written");
    let options = plan.options();
    // SAFETY: here and below pointers to what is here.
    let loaded =
        expect_filter(status_of(predicted), |out, error| unsafe { gloom_load(for_c, &options, out, error) });
    if let (Some(loaded), Ok(image)) = (loaded, predicted) {
        check_same(&loaded, image);
    }
    check_inspect(for_c, data);

    for (verify, allow_dirty) in [(false, false), (true, false), (false, true), (true, true)] {
        let flags =
            if verify { GLOOM_MAP_VERIFY } else { 0 } | if allow_dirty { GLOOM_MAP_ALLOW_DIRTY } else { 0 };
        let image = format::read(data, Reader::Map { verify, allow_dirty }, format::boot_id(), |_| GLOOM_OK);
        let mapped =
            expect_filter(status_of(&image), |out, error| unsafe { gloom_map(for_c, flags, out, error) });
        if let (Some(mapped), Ok(image)) = (mapped, image) {
            check_mapped(&mapped, &image);
            unsafe {
                assert!(gloom_is_read_only(mapped.get()));
                assert_eq!(gloom_add(mapped.get(), null(), 0), GLOOM_ERR_READ_ONLY);
                expect(GLOOM_ERR_READ_ONLY, |error| gloom_sync(mapped.get(), error));
            }
            check_mapped(&mapped, &image);
            if fault::wanted("panic") {
                // As the boundary does it: a panic that is caught is a bug all the same.
                let filter =
                    gloom::Filter::map(&path, &gloom::MapOptions { allow_dirty, ..Default::default() });
                let _ = std::panic::catch_unwind(|| filter.map(|filter| filter.add(b"")));
            }
        }
        check_map_with_limit(plan, for_c, data, flags);
        assert!(std::fs::read(&path).expect("it is there") == data, "a reader changed the file");
        check_writing(&path, for_c, data, flags);
        std::fs::write(&path, data).expect("files can be written");
    }
}

fn check_inspect(path: *const std::ffi::c_char, data: &[u8]) {
    let header = format::read(data, Reader::Inspect, format::boot_id(), |_| GLOOM_OK);
    // SAFETY: numbers only; pointers to what is here.
    let mut info: gloom_file_info = unsafe { std::mem::zeroed() };
    info.struct_size = size_of::<gloom_file_info>();
    expect(status_of(&header), |error| unsafe { gloom_inspect(path, &mut info, error) });
    let Ok(image) = header else {
        assert_eq!((info.k, info.num_blocks, info.bytes), (0, 0, 0));
        return;
    };
    assert_eq!(
        (info.format, info.k, info.num_blocks, info.seed),
        (image.format, image.k, image.num_blocks, image.seed)
    );
    assert_eq!(
        (info.count, info.bytes, info.expected_items),
        (image.count, data.len() as u64, image.expected_items)
    );
    assert_eq!((info.fp_rate, info.dirty, info.hash), (image.fp_rate, image.dirty.into(), image.hash));
}

fn reader_of(flags: u32) -> Reader {
    Reader::Map { verify: flags & GLOOM_MAP_VERIFY != 0, allow_dirty: flags & GLOOM_MAP_ALLOW_DIRTY != 0 }
}

/// What is too large is refused to writers, too, before they change anything.
fn check_map_with_limit(plan: &Plan, path: *const std::ffi::c_char, data: &[u8], flags: u32) {
    let image = format::read(data, reader_of(flags), format::boot_id(), |image| {
        if plan.is_too_large(image) { GLOOM_ERR_LIMIT } else { GLOOM_OK }
    });
    let mut options = gloom_map_options {
        struct_size: size_of::<gloom_map_options>(),
        flags,
        reserved: 0,
        max_bytes: plan.max_bytes,
    };
    let status = status_of(&image);
    // SAFETY: here and below pointers to what is here.
    let mapped =
        expect_filter(status, |out, error| unsafe { gloom_map_with_options(path, &options, out, error) });
    if let (Some(mapped), Ok(image)) = (mapped, image) {
        check_mapped(&mapped, &image);
    }
    if status == GLOOM_ERR_LIMIT {
        options.flags |= GLOOM_MAP_READ_WRITE;
        expect_filter(status, |out, error| unsafe { gloom_map_with_options(path, &options, out, error) });
    }
}

/// Maps the file for writing, adds a key, closes it and looks at the file.
fn check_writing(path: &std::path::Path, for_c: *const std::ffi::c_char, data: &[u8], flags: u32) {
    let reader = reader_of(flags);
    let image = format::read(data, reader, format::boot_id(), |_| GLOOM_OK);
    let flags = flags | GLOOM_MAP_READ_WRITE;
    // SAFETY: here and below pointers to what is here.
    let mapped =
        expect_filter(status_of(&image), |out, error| unsafe { gloom_map(for_c, flags, out, error) });
    let (Some(mapped), Ok(mut image)) = (mapped, image) else {
        assert!(std::fs::read(path).expect("it is there") == data, "a map that was refused changed the file");
        return;
    };
    check_mapped(&mapped, &image);
    let key = noise(77, 12);
    unsafe {
        assert!(!gloom_is_read_only(mapped.get()));
        assert_eq!(gloom_add(mapped.get(), key.as_ptr().cast(), key.len()), GLOOM_OK);
        expect(GLOOM_OK, |error| gloom_sync(mapped.get(), error));
    }
    definition::add(&mut image.blocks, image.k, definition::hash(&key, image.hash, image.seed));
    let count = image.count.wrapping_add(image.live).saturating_add(1);
    (image.count, image.live) = (count, 0);
    check_mapped(&mapped, &image);
    drop(mapped);
    // The last writer has made it clean.
    image.dirty = false;
    assert!(
        std::fs::read(path).expect("it is there") == format::write(&image),
        "the file that a writer closed"
    );
}

fn check_mapped(mapped: &Handle, image: &Image) {
    // SAFETY: a live handle.
    assert!(unsafe { gloom_is_mapped(mapped.get()) && !gloom_is_stale(mapped.get()) });
    check_same(mapped, &Image { count: image.count.wrapping_add(image.live), ..image.clone() });
}

/// Has the filter what the image has?
fn check_same(filter: &Handle, image: &Image) {
    let handle = filter.get();
    // SAFETY: a live handle.
    unsafe {
        assert_eq!((gloom_num_blocks(handle), gloom_k(handle)), (image.num_blocks, image.k));
        assert_eq!((gloom_seed(handle), gloom_count(handle)), (image.seed, image.count));
        assert_eq!(gloom_hash_kind(handle), image.hash as i32);
        assert_eq!(
            (gloom_expected_items(handle), gloom_fp_rate(handle)),
            (image.expected_items, image.fp_rate)
        );
    }
    assert!(filter.has_blocks(&image.blocks), "other bits");
}

/// Answers and figures of bits that no adds may have set.
fn check_content(filter: &Handle, image: &Image) {
    check_same(filter, image);
    let handle = filter.get();
    let mut hits = Vec::new();
    let keys: Vec<Vec<u8>> = (0..24).map(|number| noise(number, number as usize)).collect();
    // SAFETY: a live handle, keys, and as many results as there are keys.
    unsafe {
        for key in &keys {
            let hit = definition::test(&image.blocks, image.k, definition::hash(key, image.hash, image.seed));
            assert_eq!(gloom_test(handle, key.as_ptr().cast(), key.len()), hit);
            hits.push(u8::from(hit));
        }
        let pointers: Vec<*const c_void> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let lens: Vec<usize> = keys.iter().map(Vec::len).collect();
        let (mut results, mut count) = (vec![7; keys.len()], 0);
        let status = gloom_test_batch_pointers(
            handle,
            pointers.as_ptr(),
            lens.as_ptr(),
            keys.len(),
            results.as_mut_ptr(),
            &mut count,
        );
        assert_eq!((status, count), (GLOOM_OK, hits.iter().filter(|&&hit| hit == 1).count()));
        assert_eq!(results, hits);

        let ones: u64 = image.blocks.iter().flatten().map(|word| u64::from(word.count_ones())).sum();
        let capacity = image.num_blocks * 512;
        assert_eq!(gloom_fill_ratio(handle), ones as f64 / capacity as f64);
        let (estimate, rate) = (gloom_estimate_items(handle), gloom_current_fp_rate(handle));
        assert_eq!(estimate == u64::MAX, ones == capacity, "{estimate} keys of {ones} bits");
        // A key sets k bits.
        assert!(if ones == 0 { estimate == 0 } else { estimate > 0 || ones < image.k.into() });
        assert!((0.0..=1.0).contains(&rate), "{rate}");
        assert!(ones < capacity || rate == 1.0);
        assert!(!CStr::from_ptr(gloom_simd_level(handle)).is_empty());
        let asked = image.num_blocks * 64;
        assert!(
            (asked..asked + 8192 + 64 * u64::from(gloom_num_shards(handle)))
                .contains(&gloom_memory_bytes(handle))
        );
    }
}

/// Out again and in again.
fn check_round_trips(plan: &Plan, filter: &Handle, data: &[u8], image: &Image) {
    let clean = Image { dirty: false, live: 0, ..image.clone() };
    let own = filter.serialized(image.format);
    assert!(own == format::write(&clean), "the format of the page");
    // Of a clean file nobody looks at the boot, and the state of a dirty one is not kept.
    let has_boot = image.format == GLOOM_FORMAT_NATIVE && data[144..160] != [0; 16];
    assert!(own == data || image.dirty || has_boot, "not byte for byte what was loaded");
    let other = GLOOM_FORMAT_NATIVE + GLOOM_FORMAT_V1 - image.format;
    if other == GLOOM_FORMAT_V1 && image.seed != 0 {
        let mut size = 0;
        // SAFETY: pointers to what is here; the buffer is never written.
        unsafe {
            expect(GLOOM_ERR_UNSUPPORTED, |error| {
                gloom_serialized_size(filter.get(), other, &mut size, error)
            });
            let buffer = [0u8; 1].as_mut_ptr().cast();
            expect(GLOOM_ERR_UNSUPPORTED, |error| {
                gloom_serialize(filter.get(), other, buffer, 1, null_mut(), error)
            });
        }
        return;
    }
    let bytes = filter.serialized(other);
    let options = gloom_load_options { max_bytes: 0, ..plan.options() };
    // SAFETY: pointers to what is here.
    let again = expect_filter(GLOOM_OK, |out, error| unsafe {
        gloom_deserialize(bytes.as_ptr().cast(), bytes.len(), &options, out, error)
    });
    let again = again.expect("success");
    assert!(again.has_blocks(&image.blocks) && again.count() == image.count);
    // SAFETY: live handles.
    assert!(unsafe { gloom_equal(filter.get(), again.get()) });
    expect(GLOOM_OK, |error| unsafe { gloom_merge(again.get(), filter.get(), error) });
    assert!(again.has_blocks(&image.blocks) && again.count() == image.count.saturating_mul(2));
}
