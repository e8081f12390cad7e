//! Adapters: a container that starts inside a larger store, a store that must not be written, and one that is far.

use super::traits::{Fill, Part, ReadAt, Store, WriteAt};
use crate::error::{Error, IoError, IoKind};

/// The bytes of `inner` from `base` on. Not writable: a frame inside a larger file cannot grow.
#[derive(Clone, Copy, Debug)]
pub struct Offset<R> {
    inner: R,
    base: u64,
}

impl<R: ReadAt> Offset<R> {
    /// A view that starts at `base`, which must lie inside `inner`.
    ///
    /// # Errors
    /// A `base` behind the end of `inner`, and errors of `inner`.
    pub fn new(inner: R, base: u64) -> Result<Offset<R>, IoError> {
        if base > inner.size()? { Err(IoKind::UnexpectedEnd.into()) } else { Ok(Offset { inner, base }) }
    }
    /// The store underneath.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: ReadAt> ReadAt for Offset<R> {
    fn size(&self) -> Result<u64, IoError> {
        self.inner.size()?.checked_sub(self.base).ok_or(IoError::new(IoKind::UnexpectedEnd))
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        match self.base.checked_add(offset) {
            Some(at) => self.inner.read_at(at, buf),
            None => Ok(0),
        }
    }
    fn as_slice(&self) -> Option<&[u8]> {
        let base = usize::try_from(self.base).ok()?;
        self.inner.as_slice()?.get(base..)
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        for (offset, _) in parts.iter_mut() {
            *offset = self.base.checked_add(*offset).ok_or(IoKind::UnexpectedEnd)?;
        }
        self.inner.read_ranges(parts)
    }
    fn is_far(&self) -> bool {
        self.inner.is_far()
    }
}

/// Gives a readable source the shape of a [`Store`]; every change fails with [`IoKind::ReadOnly`].
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly<R>(pub R);

/// A source that says of itself that it [is far](ReadAt::is_far), whatever `R` says: a file on a network disk, or one
/// that is not in the page cache.
///
/// ```no_run
/// use blosc_frame::{Limits, SuperChunk, io::Far};
/// let file = std::fs::File::open("/mnt/nfs/a.b2frame")?;
/// let frame = SuperChunk::open_read(Far(file), &Limits::DEFAULT)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Far<R>(pub R);

impl<R: ReadAt> ReadAt for ReadOnly<R> {
    super::traits::forward_read!(this => &this.0);
}

impl<R: ReadAt> ReadAt for Far<R> {
    super::traits::forward_read!(this => &this.0, true);
}

impl<R: ReadAt> WriteAt for ReadOnly<R> {
    fn write_at(&mut self, _: u64, _: &[u8]) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn truncate(&mut self, _: u64) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
}

impl<R: ReadAt> Store for ReadOnly<R> {
    fn replace(&mut self, _: &mut Fill<'_>) -> Result<(), Error> {
        Err(IoKind::ReadOnly.into())
    }
}
