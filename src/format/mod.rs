//! Filters as bytes.

mod v1;

use crate::error::Error;
use crate::filter::{Filter, Kind};

/// How a filter is written as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The library's own format.
    Native,
    /// The interchange format, byte for byte that of the Go module `jcalabro/gloom`. Holds no seed.
    V1,
}

/// What a filter that is loaded shall be like.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// How it is written; any kind can be loaded as any other.
    pub kind: Kind,
    /// As in [`Options`](crate::Options).
    pub num_shards: u32,
    /// The most bytes its blocks may take; 0 for no limit. Checked before anything is allocated.
    pub max_bytes: u64,
    /// No huge pages.
    pub small_pages: bool,
}

/// Takes the next bytes of a serialized filter.
type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

impl Filter {
    /// The bytes that this filter takes in `format`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it cannot be written so: format v1 holds no seed.
    pub fn serialized_size(&self, format: Format) -> Result<u64, Error> {
        match format {
            Format::V1 => v1::serialized_size(self),
            Format::Native => Err(native_is_missing()),
        }
    }

    /// Writes this filter to `sink`, in pieces of a few KiB. Others may add meanwhile: what is written
    /// holds every key whose add had returned before the call.
    ///
    /// # Errors
    /// As [`serialized_size`](Filter::serialized_size), or what `sink` returns.
    pub fn serialize(
        &self,
        format: Format,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match format {
            Format::V1 => v1::write(self, sink),
            Format::Native => Err(native_is_missing()),
        }
    }

    /// This filter as bytes.
    ///
    /// # Errors
    /// As [`serialized_size`](Filter::serialized_size); [`Error::OutOfMemory`].
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        let size = self.serialized_size(format)?;
        let mut bytes = Vec::new();
        let reserved = usize::try_from(size).ok().and_then(|size| bytes.try_reserve_exact(size).ok());
        reserved.ok_or(Error::OutOfMemory { bytes: size })?;
        self.serialize(format, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The filter that `data` holds, all of it.
    ///
    /// Trusts nothing: lengths and checksum are verified before memory is taken.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::MissingChecksum`] or [`Error::Unsupported`] for data that is not a
    /// filter; otherwise as [`Filter::create`].
    pub fn from_bytes(data: &[u8], options: &LoadOptions) -> Result<Filter, Error> {
        v1::read(data, options)
    }
}

fn native_is_missing() -> Error {
    Error::Unsupported { name: "format", value: 0u64.into(), reason: "this release writes format v1 only" }
}
