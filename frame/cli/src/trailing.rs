//! [`Trailing`]: what follows the end of a container in its file, which no command passes over in silence.

use crate::access::Intent;
use crate::failure::{Failure, Result};
use crate::output::notice;
use blosc_frame::any::{HEAD, Kind};
use blosc_frame::io::ReadAt;
use blosc_frame::npy::NpyHeader;
use std::path::Path;

/// Bytes behind the end of a frame, chunk, bloscpack or NumPy file.
pub struct Trailing {
    at: u64,
    /// How many there are.
    pub bytes: u64,
    data: bool,
}

impl Trailing {
    /// What is behind a container of kind `container`, the `len` bytes from `offset` on. Chunks behind a frame or a
    /// bloscpack file are what an append left that was ended before its commit: they are no data, and the next writer
    /// takes them away.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(container: Kind, file: &dyn ReadAt, offset: u64, len: u64) -> Result<Option<Trailing>> {
        let (at, size) = (offset.saturating_add(len), file.size()?);
        let bytes = size.saturating_sub(at);
        if bytes == 0 {
            return Ok(None);
        }
        let mut head = vec![0; bytes.min(HEAD as u64) as usize];
        file.read_exact_at(at, &mut head)?;
        let kind = Kind::of_head(&head, Some(bytes));
        let data = kind.advice().is_none() && (kind != Kind::Chunk || container == Kind::Chunk);
        Ok(Some(Trailing { at, bytes, data }))
    }

    /// What is behind the NumPy file that starts at `offset`; nothing, if it is damaged.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of_npy(file: &dyn ReadAt, offset: u64) -> Result<Option<Trailing>> {
        let mut head = vec![0; file.size()?.saturating_sub(offset).min(66_000) as usize];
        file.read_exact_at(offset, &mut head)?;
        let (Ok(header), Ok(length)) = (NpyHeader::parse(&head), NpyHeader::length(&head)) else {
            return Ok(None);
        };
        let len = header.nbytes().unwrap_or(u64::MAX).saturating_add(length as u64);
        Trailing::of(Kind::Npy, file, offset, len)
    }

    /// Whether it is something that could be read.
    pub fn is_data(&self) -> bool {
        self.data
    }

    /// Says that they are not read, and refuses to write over data.
    ///
    /// # Errors
    /// What could be read, where `intent` is to change what is before it.
    pub fn keep(&self, path: &Path, intent: Intent) -> Result<()> {
        let Trailing { at, bytes, .. } = self;
        match intent {
            Intent::Read => notice(format_args!("{}: {}", path.display(), self.describe())),
            _ if intent.writes() && self.is_data() => {
                let text =
                    format!("{bytes} more bytes from byte {at} on would be overwritten: they can be read");
                return Err(Failure::at(
                    path,
                    format!("{text} by --offset {at}; put them into a file of their own"),
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// What to say of them.
    pub fn describe(&self) -> String {
        let Trailing { at, bytes, .. } = self;
        match self.is_data() {
            true => format!("{bytes} more bytes from byte {at} on are not read: --offset {at} reads them"),
            false => format!("{bytes} more bytes from byte {at} on are no part of it"),
        }
    }
}
