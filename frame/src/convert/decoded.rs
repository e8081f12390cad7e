//! The decoded bytes of a container as something to read from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::any::Opened;
use crate::error::{Error, IoError, IoKind};
use crate::io::ReadAt;
use crate::plain::Plain;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::cell::RefCell;

/// Most bytes held at a time.
const MOST: u64 = 64 << 20;

/// Takes bytes that belong at a position.
pub(super) type Take<'f> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'f;

struct State<'a> {
    pool: &'a mut Pool,
    /// Bytes decoded last and where they start: small reads that follow each other decode a chunk once.
    held: (u64, Vec<u8>),
    /// Why reading failed, which an [`IoError`] could not say.
    failed: Option<Error>,
}

/// Decoded bytes, read by way of one chunk's worth of memory.
pub(super) struct Decoded<'a> {
    input: &'a Opened,
    state: RefCell<State<'a>>,
}

impl<'a> Decoded<'a> {
    pub fn new(input: &'a Opened, pool: &'a mut Pool) -> Decoded<'a> {
        Decoded { input, state: RefCell::new(State { pool, held: (0, Vec::new()), failed: None }) }
    }

    /// A good number of bytes to read at once.
    pub fn step(&self) -> u64 {
        self.input.data.chunk_nbytes().clamp(1, MOST)
    }

    /// Hands out all bytes in pieces of `step`, and where each belongs.
    pub fn each(&self, step: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let len = self.size()?;
        let (mut at, mut buffer) = (0u64, Vec::new());
        while at < len {
            let n = step.min(len.saturating_sub(at)).max(1);
            buffer.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
            self.read_exact_at(at, &mut buffer)?;
            take(at, &buffer)?;
            at = at.saturating_add(n);
        }
        Ok(())
    }

    /// The reason of a failed read, in place of the bare input/output error it became.
    pub fn explain<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| self.state.borrow_mut().failed.take().unwrap_or(error))
    }

    fn read(&self, state: &mut State<'_>, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let step = self.step();
        if out.len() as u64 >= step {
            return self.input.data.read_plain(state.pool, at, out);
        }
        let (mut at, mut out) = (at, out);
        while !out.is_empty() {
            let start = at.saturating_sub(at.checked_rem(step).unwrap_or(0));
            if state.held.0 != start || state.held.1.is_empty() {
                let n = self.input.data.nbytes().saturating_sub(start).min(step);
                state.held.1.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
                state.held.0 = start;
                let read = self.input.data.read_plain(state.pool, start, &mut state.held.1);
                read.inspect_err(|_| state.held.1.clear())?;
            }
            let skip = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
            let have = state.held.1.get(skip..).unwrap_or_default();
            let n = have.len().min(out.len());
            let (Some(from), Some((now, rest))) =
                (have.get(..n), core::mem::take(&mut out).split_at_mut_checked(n))
            else {
                break;
            };
            if n == 0 {
                return Err(IoKind::UnexpectedEnd.into());
            }
            now.copy_from_slice(from);
            out = rest;
            at = at.saturating_add(n as u64);
        }
        Ok(())
    }
}

impl ReadAt for Decoded<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.input.data.nbytes())
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let left = self.input.data.nbytes().saturating_sub(offset);
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let mut state = self.state.borrow_mut();
        if let Err(error) = self.read(&mut state, offset, buf.get_mut(..n).unwrap_or_default()) {
            state.failed = Some(error);
            return Err(IoKind::Other.into());
        }
        Ok(n)
    }
}
