//! The decoded bytes of a container as something to read from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, IoError, IoKind};
use crate::io::{ReadAt, filled};
use crate::plain::{MOST_HELD, Plain, Window};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::cell::RefCell;

/// Takes bytes that belong at a position.
pub(super) type Take<'f> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'f;

struct State<'a> {
    pool: &'a mut Pool,
    window: Window,
    /// Why reading failed, which an [`IoError`] could not say.
    failed: Option<Error>,
}

/// Decoded bytes, read by way of one chunk's worth of memory.
pub(super) struct Decoded<'a> {
    data: &'a dyn Plain,
    state: RefCell<State<'a>>,
}

impl<'a> Decoded<'a> {
    pub fn new(data: &'a dyn Plain, pool: &'a mut Pool) -> Decoded<'a> {
        let window = Window::new(data.chunk_nbytes());
        Decoded { data, state: RefCell::new(State { pool, window, failed: None }) }
    }

    /// A good number of bytes to read at once.
    pub fn step(&self) -> u64 {
        self.data.chunk_nbytes().clamp(1, MOST_HELD)
    }

    /// Hands out all bytes in pieces of `step`, and where each belongs.
    pub fn each(&self, step: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let len = self.size()?;
        let (mut at, mut buffer) = (0u64, Vec::new());
        while at < len {
            let n = step.min(len.saturating_sub(at)).max(1);
            buffer.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
            self.read_exact_at(at, &mut buffer)?;
            take(at, &buffer)?;
            at = at.saturating_add(n);
        }
        Ok(())
    }

    /// Lets `f` read the decoded bytes itself.
    pub fn with<T>(&self, f: impl FnOnce(&dyn Plain, &mut Pool) -> Result<T, Error>) -> Result<T, Error> {
        f(self.data, self.state.borrow_mut().pool)
    }

    /// The reason of a failed read, in place of the bare input/output error it became.
    pub fn explain<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| self.state.borrow_mut().failed.take().unwrap_or(error))
    }
}

impl ReadAt for Decoded<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.data.nbytes())
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let State { pool, window, failed } = &mut *self.state.borrow_mut();
        let data = self.data;
        let out = filled(buf, data.nbytes(), offset);
        let n = out.len();
        if let Err(error) =
            window.read(data.nbytes(), offset, out, &mut |at, out| data.read_plain(pool, at, out))
        {
            *failed = Some(error);
            return Err(IoKind::Other.into());
        }
        Ok(n)
    }
}
