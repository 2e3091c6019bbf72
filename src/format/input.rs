//! Where serialized filters are read from: memory, or calls that bring the next bytes.

use super::corrupt;
use crate::error::Error;
use crate::panics::may_panic;
use std::io::Read;

/// Brings bytes in order, sums them up, and takes no more than it is asked for.
pub(crate) struct Input<'a> {
    source: Source<'a>,
    /// The length of everything, where it is known.
    length: Option<u64>,
    taken: u64,
    checksum: u32,
}

enum Source<'a> {
    Slice(&'a [u8]),
    Calls(&'a mut dyn FnMut(&mut [u8]) -> Result<usize, Error>),
}

impl<'a> Input<'a> {
    pub fn of(data: &'a [u8]) -> Input<'a> {
        Input { source: Source::Slice(data), length: Some(data.len() as u64), taken: 0, checksum: 0 }
    }

    /// Calls `source`, which fills a buffer from its start and tells how far, or 0 at the end.
    pub fn calling(
        source: &'a mut dyn FnMut(&mut [u8]) -> Result<usize, Error>,
        length: Option<u64>,
    ) -> Input<'a> {
        Input { source: Source::Calls(source), length, taken: 0, checksum: 0 }
    }

    /// Fills the whole buffer.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        may_panic();
        let mut rest = &mut *buffer;
        while !rest.is_empty() {
            let count = match &mut self.source {
                // Memory never fails.
                Source::Slice(data) => data.read(rest).unwrap_or(0),
                Source::Calls(read) => read(rest)?,
            };
            if count == 0 {
                return Err(Error::Truncated { length: self.taken });
            }
            rest = rest.get_mut(count..).ok_or(Error::Argument {
                name: "the result of the read callback",
                value: count.into(),
                allowed: "at most the bytes asked for",
            })?;
            self.taken = self.taken.saturating_add(count as u64);
        }
        self.checksum = crc32c::crc32c_append(self.checksum, buffer);
        Ok(())
    }

    pub fn byte(&mut self) -> Result<u8, Error> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    /// The CRC-32C of all bytes since it was begun anew.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    pub fn begin_checksum(&mut self) {
        self.checksum = 0;
    }

    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The length of everything, where it is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Refuses a length other than `expected`, as far as it is known.
    pub fn check_length(&self, expected: u64) -> Result<(), Error> {
        match self.length {
            Some(length) if length != expected => Err(corrupt("the length in bytes", length, expected)),
            _ => Ok(()),
        }
    }
}
