//! Using a native file in place, alone or shared with other processes.
//!
//! Who maps a file for writing shares a lock of it. The file is marked dirty on the disk before the
//! first bit can change; the last writer who closes it (and so can take the lock for itself) writes the
//! count and the checksum and takes the mark away.

use super::load::{open_regular, read_some, unless_changed};
use super::new_file::{NewFile, remove_leftovers};
use super::place::{Last, Place};
use crate::error::Error;
use crate::filter::{Filter, Kind, Options};
use crate::format::native::{self, BOOT, FAILED, LIVE_COUNT, PAYLOAD, SEALED_STATE, STATE, STATE_LEN, State};
use crate::format::{self, Format, Info, Input};
use crate::layout::BLOCK_BYTES;
use crate::memory::Blocks;
use crate::panics::may_panic;
use crate::sync::{AtomicBool, Ordering::Relaxed};
use crate::sys::{Lock, Mapping, Process, boot_id, reserve};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How a file is mapped.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapOptions {
    /// Adds go to the file, and are seen by all who map it. Otherwise it is only read.
    pub read_write: bool,
    /// Read the whole file and check its checksum. (One that is dirty has none to check.)
    pub verify: bool,
    /// Map also a file that may have lost adds, because the system or the disk failed while it was mapped for writing.
    pub allow_dirty: bool,
    /// The most bytes the blocks may take; 0 for no limit. Checked before address space is taken, or, for writing, space
    /// on the disk, of which a file with holes may have taken little before.
    pub max_bytes: u64,
}

/// A file that is mapped, or will be.
pub(crate) struct MappedFile {
    /// Holds the lock of a writer.
    file: File,
    writable: bool,
    /// Where it was found, once it is mapped.
    place: Option<Place>,
    /// The process that mapped it. A child after a fork shares the lock, and must not end it.
    process: Process,
    /// Adds may be missing on the disk, as in a file whose state says so.
    failed: AtomicBool,
    /// One sync at a time: of two threads that wait for the same page, the system tells one that it has failed.
    syncs: Mutex<()>,
}

impl Filter {
    /// Uses the filter in a native file where it is; takes milliseconds whatever its size (in tmpfs, for writing, in
    /// proportion to it). The file must not be truncated meanwhile: reading what is no longer there ends a process (SIGBUS).
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Special`], [`Error::Limit`], [`Error::Dirty`], [`Error::Busy`] (to write: a stranger has locked
    /// his file in a sticky folder that all may write), and those of [`from_bytes`](Filter::from_bytes) that concern
    /// header and length; format v1 is [`Error::Unsupported`].
    pub fn map(path: &Path, options: &MapOptions) -> Result<Filter, Error> {
        let place = Place::of(path, Last::Use)?;
        unless_changed(&place, || Filter::map_once(&place, options)).map(|filter| filter.found_at(place))
    }

    fn map_once(place: &Place, options: &MapOptions) -> Result<Filter, Error> {
        let mapped = if options.read_write {
            open_for_writing(place)?
        } else {
            MappedFile::new(open_regular(place, libc::O_RDONLY)?.0, false)
        };
        let file = &mapped.file;
        let failed = Error::io("reading the file");
        let length = file.metadata().map_err(&failed)?.len();
        let mut reader = file.try_clone().map_err(&failed)?;
        let mut read = |buffer: &mut [u8]| read_some(&mut reader, buffer);
        let mut input = Input::calling(&mut read, Some(length));
        let info = format::inspect(&mut input)?;
        if info.format != Format::Native {
            let reason = "format v1 cannot be mapped; load it";
            return Err(Error::Unsupported { name: "format", value: 1u32.into(), reason });
        }
        if info.may_have_lost_adds && !options.allow_dirty {
            return Err(Error::Dirty);
        }
        let needed = info.num_blocks.saturating_mul(BLOCK_BYTES as u64);
        if options.max_bytes != 0 && needed > options.max_bytes {
            return Err(Error::Limit { needed, limit: options.max_bytes });
        }
        native::read_padding(&mut input)?;
        let mut trailer = [0; native::TRAILER];
        file.read_exact_at(&mut trailer, native::payload_end(info.num_blocks)).map_err(&failed)?;
        native::check_trailer(&trailer, None)?;
        if options.read_write {
            reserve(file, length)?;
        }
        let mapping = Mapping::new(file, length, options.read_write)?;
        if options.read_write && info.may_have_lost_adds {
            // Of what could not be written before, memory may have more than the disk: now all of it is written.
            // Read first, where what cannot be read is an error and no SIGBUS.
            reader.seek(SeekFrom::Start(PAYLOAD as u64)).map_err(&failed)?;
            while read_some(&mut reader, &mut [0; 16384])? > 0 {}
            mapping.touch();
        }
        let blocks = Blocks::mapped(mapping, PAYLOAD, info.num_blocks);
        if options.verify && !info.dirty {
            native::check_trailer(&trailer, Some(native::payload_checksum(&blocks)))?;
        }
        Filter::of_mapped(blocks, &info, options.read_write, || {
            // Last, so that a file that is refused stays as it was.
            if options.read_write {
                mapped.mark_dirty(&info)?;
            }
            Ok(mapped)
        })
    }

    /// Makes a new native file for a filter as `options` describe it (atomic: the only kind that processes
    /// can share), and maps it for writing. It appears when it is complete: one that is interrupted leaves at
    /// most a file with another name (`.name.gloom-...`), which the next one to the path removes.
    ///
    /// # Errors
    /// [`Error::Io`] if the file exists or cannot be made, and those of [`Filter::create`].
    pub fn map_create(path: &Path, options: &Options) -> Result<Filter, Error> {
        if options.kind != Kind::Atomic {
            let allowed = "GLOOM_KIND_ATOMIC, the only kind that processes can share";
            return Err(Error::Argument { name: "kind", value: "plain or sharded".into(), allowed });
        }
        let geometry = options.geometry()?;
        let info = native::info(&geometry, options.hash, options.seed);
        let taken = || Error::Io { action: "creating the file", os_error: libc::EEXIST };
        let place = Place::of(path, Last::Link)?;
        // Also at the end; but before space is taken for nothing.
        if place.look().is_ok() {
            return Err(taken());
        }
        remove_leftovers(&place);
        let mut new = NewFile::create(&place, 0o666)?;
        let failed = Error::io("creating the file");
        Lock::Writers.share(&new.file)?;
        reserve(&new.file, info.bytes)?;
        let state = State { count: 0, dirty: true, boot: boot_id()? };
        new.file.write_all_at(&native::header(&info), 0).map_err(&failed)?;
        new.file.write_all_at(&state.encode(), STATE as u64).map_err(&failed)?;
        new.file.write_all_at(&native::trailer(0), native::payload_end(info.num_blocks)).map_err(&failed)?;
        new.file.sync_all().map_err(&failed)?;
        let mapping = Mapping::new(&new.file, info.bytes, true)?;
        let blocks = Blocks::mapped(mapping, PAYLOAD, info.num_blocks);
        let filter = Filter::of_mapped(blocks, &info, true, || {
            let file = new.file.try_clone().map_err(&failed)?;
            match new.name_if_free() {
                Ok(true) => Ok(MappedFile::new(file, true)),
                Ok(false) => Err(taken()),
                Err(error) => {
                    // Unless somebody else has it mapped already.
                    Lock::Writers.release(&file);
                    if Lock::Writers.try_take(&file) && place.has(&file) {
                        // Best effort: there is an error to tell of already.
                        let _ = place.folder.remove(&place.name);
                    }
                    Err(error)
                }
            }
        })?;
        drop(new);
        Ok(filter.found_at(place))
    }

    /// Does the map show something else than what the path led to, so that the file should be mapped again? True if the
    /// file was replaced (a save, a rename) or removed (its name in its folder counts; that the folder is where it was is
    /// not looked at); and if it is one of a container's image that a writer has
    /// opened since (overlayfs: the writer got a copy, whose adds are never seen here). False in memory.
    ///
    /// Cost: two calls to the system.
    pub fn is_stale(&self) -> bool {
        match (self.blocks().mapping(), self.mapped_file()) {
            (Some(mapping), Some(file)) => file.is_stale(mapping),
            _ => false,
        }
    }

    /// Waits until all adds that have returned are on the disk, so that a failure of the system does not
    /// lose them. (The file stays marked as dirty until its last writer closes it.)
    ///
    /// If it fails once, the system may have forgotten what it could not write. So it fails from then on, and the
    /// file counts as one that may have lost adds; the filter can be saved elsewhere.
    ///
    /// # Errors
    /// [`Error::Argument`] unless the filter is mapped, [`Error::ReadOnly`], [`Error::Io`].
    pub fn sync(&self) -> Result<(), Error> {
        match (self.blocks().mapping(), self.mapped_file()) {
            (Some(mapping), Some(file)) if file.writable => file.sync(mapping),
            (Some(_), _) => Err(Error::ReadOnly),
            _ => Err(Error::Argument { name: "filter", value: "in memory".into(), allowed: "a mapped file" }),
        }
    }
}

impl MappedFile {
    fn new(file: File, writable: bool) -> MappedFile {
        MappedFile {
            file,
            writable,
            place: None,
            process: Process::this(),
            failed: AtomicBool::new(false),
            syncs: Mutex::new(()),
        }
    }

    /// The count in the file: when it was last clean, and what writers have added since who have closed it.
    pub fn count(&self, mapping: &Mapping) -> u64 {
        let clean = mapping.number(STATE).load(Relaxed);
        // Wraps, so that the live count can also take away.
        clean.wrapping_add(mapping.number(LIVE_COUNT).load(Relaxed))
    }

    pub fn found_at(&mut self, place: Place) {
        self.place = Some(place);
    }

    pub fn reset_count(&self, mapping: &Mapping) {
        let clean = mapping.number(STATE).load(Relaxed);
        mapping.number(LIVE_COUNT).store(clean.wrapping_neg(), Relaxed);
    }

    /// Ends the use of the file. Errors cannot be told: what is not on the disk stays marked as dirty.
    pub fn close(&self, blocks: &Blocks, added: u64) {
        let (true, Some(mapping)) = (self.is_writer(), blocks.mapping()) else {
            return;
        };
        let clean = mapping.number(STATE).load(Relaxed);
        let more = |live: u64| clean.wrapping_add(live).saturating_add(added).wrapping_sub(clean);
        let _ = mapping.number(LIVE_COUNT).fetch_update(Relaxed, Relaxed, |live| Some(more(live)));
        if self.failed.load(Relaxed) {
            // Again: somebody who was opening the file, or says that he knows, may have written over it.
            mark_failed(&self.file);
        }
        // Not by making its share a lock for itself: two who do so at once would find each other's share,
        // and both would leave the file as it is.
        Lock::Writers.release(&self.file);
        if Lock::Writers.try_take(&self.file) {
            let _ = self.make_clean(blocks, mapping);
        }
    }

    fn is_stale(&self, mapping: &Mapping) -> bool {
        // The file and its map are the same bytes. Overlayfs reads a file that was copied from the copy, while its map
        // stays what it was. More than once, since a writer may come or go in between.
        self.place.as_ref().is_some_and(|place| place.has_lost(&self.file))
            || (0..3).all(|_| self.differs(mapping))
    }

    fn differs(&self, mapping: &Mapping) -> bool {
        let mut state = [0; SEALED_STATE];
        self.file.read_exact_at(&mut state, STATE as u64).is_ok()
            && state.as_chunks().0.iter().enumerate().any(|(i, word)| {
                let at = STATE.saturating_add(i.saturating_mul(8));
                mapping.number(at).load(Relaxed) != u64::from_le_bytes(*word)
            })
    }

    fn is_writer(&self) -> bool {
        self.writable && self.process.is_this()
    }

    fn make_clean(&self, blocks: &Blocks, mapping: &Mapping) -> Result<(), Error> {
        may_panic();
        let failed = Error::io("closing the file");
        let trailer = native::trailer(native::payload_checksum(blocks));
        self.file.write_all_at(&trailer, native::payload_end(blocks.len() as u64)).map_err(&failed)?;
        self.sync(mapping)?;
        // What was not written through the map.
        self.file.sync_all().map_err(&failed).inspect_err(|_| mark_failed(&self.file))?;
        if has_failed(mapping) {
            // A child of this process, which shares the lock, has been told meanwhile.
            return Ok(());
        }
        // Only now that everything else is on the disk.
        let state = State { count: self.count(mapping), dirty: false, boot: [0; 16] };
        self.file.write_all_at(&state.encode(), STATE as u64).map_err(&failed)?;
        self.file.sync_all().map_err(&failed)
    }

    /// Waits until everything that was written is on the disk.
    ///
    /// A system tells only once that it could not write, and may forget what it has not written (Rebello et al., "Can
    /// Applications Recover from fsync Failures?", USENIX ATC 2020). Hence the first failure is remembered: here,
    /// and in the file, for other processes and those to come.
    fn sync(&self, mapping: &Mapping) -> Result<(), Error> {
        // Not in a child after a fork, which could wait for a thread that it does not have.
        let _alone =
            self.process.is_this().then(|| self.syncs.lock().unwrap_or_else(PoisonError::into_inner));
        let result = if self.failed.load(Relaxed) || has_failed(mapping) {
            let action = "writing the mapped file, which has failed before";
            Err(Error::Io { action, os_error: libc::EIO })
        } else {
            mapping.sync()
        };
        // There, it reaches the disk's cache only.
        #[cfg(target_os = "macos")]
        let result = result.and_then(|()| self.file.sync_all().map_err(Error::io("writing the mapped file")));
        result.inspect_err(|_| {
            self.failed.store(true, Relaxed);
            mark_failed(&self.file);
        })
    }

    /// Makes it durable that bits may change from now on.
    fn mark_dirty(&self, info: &Info) -> Result<(), Error> {
        may_panic();
        let file = &self.file;
        let failed = Error::io("marking the file as dirty");
        let boot = boot_id()?;
        // Another one may have marked it meanwhile.
        let state = read_state(file)?;
        if state.may_have_lost_adds()? && !info.may_have_lost_adds {
            return Err(Error::Dirty);
        }
        // Also if it is dirty: who marked it may not have come to the sync yet, or that has failed and the system has
        // forgotten the page.
        let dirty = State { dirty: true, boot, ..state };
        write_state(file, &dirty).map_err(&failed)?;
        file.sync_all().map_err(&failed).inspect_err(|_| {
            if state.dirty {
                // What cannot be written may be what a process that has died had added.
                mark_failed(file);
            }
        })
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        if self.is_writer() {
            // Closing the file would not end the lock while a child of this process has it, too.
            Lock::Writers.release(&self.file);
        }
    }
}

/// Could somebody who has the file mapped not write all of it to the disk?
fn has_failed(mapping: &Mapping) -> bool {
    [BOOT, BOOT + 8].map(|at| mapping.number(at).load(Relaxed)) == [u64::MAX; 2]
}

/// Makes it known that not all adds are on the disk. Best effort: that has failed already.
fn mark_failed(file: &File) {
    if let Ok(state) = read_state(file) {
        let _ = write_state(file, &State { dirty: true, boot: FAILED, ..state });
        let _ = file.sync_all();
    }
}

fn read_state(file: &File) -> Result<State, Error> {
    let mut state = [0; STATE_LEN];
    file.read_exact_at(&mut state, STATE as u64).map_err(Error::io("reading the file"))?;
    State::decode(&state)
}

/// Not the live count behind it, which others may be counting.
fn write_state(file: &File, state: &State) -> std::io::Result<()> {
    file.write_all_at(&state.encode()[..SEALED_STATE], STATE as u64)
}

/// Opens a file and shares the lock of writers. While this waits for a save to end, the file may be replaced:
/// then the new one is wanted.
fn open_for_writing(place: &Place) -> Result<MappedFile, Error> {
    // Bounded, for file systems where a file never has the same number twice; but many may save at the same time, so that
    // it is replaced again and again while this waits.
    for _ in 0..10_000 {
        let mapped = MappedFile::new(open_regular(place, libc::O_RDWR)?.0, true);
        let file = &mapped.file;
        let metadata = file.metadata().map_err(Error::io("looking at the file"))?;
        let is_of_stranger = place.is_of_stranger(&metadata)?;
        if is_of_stranger {
            // He may have locked it for ever.
            if !Lock::Writers.try_share(file) && Lock::Writers.is_used(file) {
                return Err(Error::Busy);
            }
        } else {
            Lock::Writers.share(file)?;
        }
        // A save that comes from now on finds the file in use. One that did not is waited for; not a stranger's.
        if Lock::Savers.is_used(file) {
            if is_of_stranger {
                return Err(Error::Busy);
            }
            Lock::Savers.take(file)?;
            Lock::Savers.release(file);
        }
        if place.has(file) {
            return Ok(mapped);
        }
    }
    Err(Error::Io { action: "finding the file, which changes again and again", os_error: libc::EAGAIN })
}
