//! [`Behind`]: what follows the end of a container in its file, which no command passes over in silence.

use crate::failure::Result;
use blosc_frame::any::{HEAD, Kind};
use blosc_frame::io::ReadAt;

/// Bytes behind the end of a frame, chunk or bloscpack file.
pub struct Behind {
    at: u64,
    /// How many there are.
    pub bytes: u64,
    data: bool,
}

impl Behind {
    /// What is behind a container of kind `container`, the `len` bytes from `offset` on. Chunks behind a frame or a
    /// bloscpack file are what an append left that was ended before its commit: they are no data, and the next writer
    /// takes them away.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of(container: Kind, file: &dyn ReadAt, offset: u64, len: u64) -> Result<Option<Behind>> {
        let (at, size) = (offset.saturating_add(len), file.size()?);
        let bytes = size.saturating_sub(at);
        if bytes == 0 {
            return Ok(None);
        }
        let mut head = vec![0; bytes.min(HEAD as u64) as usize];
        file.read_exact_at(at, &mut head)?;
        let kind = Kind::of_head(&head, Some(bytes));
        let data = kind.advice().is_none() && (kind != Kind::Chunk || container == Kind::Chunk);
        Ok(Some(Behind { at, bytes, data }))
    }

    /// Whether it is something that could be read.
    pub fn is_data(&self) -> bool {
        self.data
    }

    /// What to say of them.
    pub fn describe(&self) -> String {
        let Behind { at, bytes, .. } = self;
        match self.is_data() {
            true => format!("{bytes} more bytes from byte {at} on are not read: --offset {at} reads them"),
            false => format!("{bytes} more bytes from byte {at} on are no part of it"),
        }
    }
}
