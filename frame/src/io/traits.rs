//! What the bytes of a container can do: be read, be written, be replaced as a whole. References and boxes can what they hold can.

use crate::error::{Error, IoError, IoKind};
#[cfg(feature = "alloc")]
use alloc::{boxed::Box, sync::Arc};

/// The methods of [`ReadAt`], as those of the reference `$inner`; whether that is far, `$far` may say instead.
macro_rules! forward_read {
    ($this:ident => $inner:expr) => {
        crate::io::traits::forward_read!($this => $inner, crate::io::traits::ReadAt::is_far($inner));
    };
    ($this:ident => $inner:expr, $far:expr) => {
        fn size(&self) -> Result<u64, crate::error::IoError> {
            let $this = self;
            crate::io::traits::ReadAt::size($inner)
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, crate::error::IoError> {
            let $this = self;
            crate::io::traits::ReadAt::read_at($inner, offset, buf)
        }
        fn as_slice(&self) -> Option<&[u8]> {
            let $this = self;
            crate::io::traits::ReadAt::as_slice($inner)
        }
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), crate::error::IoError> {
            let $this = self;
            crate::io::traits::ReadAt::read_exact_at($inner, offset, buf)
        }
        fn read_ranges(&self, parts: &mut [crate::io::traits::Part<'_>]) -> Result<(), crate::error::IoError> {
            let $this = self;
            crate::io::traits::ReadAt::read_ranges($inner, parts)
        }
        fn is_far(&self) -> bool {
            let $this = self;
            let _ = $this;
            $far
        }
    };
}
pub(crate) use forward_read;

/// Methods that are those of `$inner`, by their signatures.
macro_rules! forward {
    ($this:ident => $inner:expr; $(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(fn $name(&$this, $($arg: $type),*) -> $out {
            $inner.$name($($arg),*)
        })*
    };
    (mut $this:ident => $inner:expr; $(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(fn $name(&mut $this, $($arg: $type),*) -> $out {
            $inner.$name($($arg),*)
        })*
    };
}
#[cfg(feature = "alloc")]
pub(crate) use forward;

/// Bytes that several readers share.
#[cfg(feature = "alloc")]
pub type Shared = Arc<dyn ReadAt + Send + Sync>;

/// A buffer, and where the bytes start that it is to be filled with.
pub type Part<'b> = (u64, &'b mut [u8]);

/// Bytes that can be read at any position.
///
/// # Errors
/// Every method gives what the system says.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all of its methods")]
pub trait ReadAt {
    /// How many bytes there are now.
    fn size(&self) -> Result<u64, IoError>;

    /// Reads some bytes from `offset` on into the start of `buf`; 0 means the end was reached.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError>;

    /// All bytes, where they lie in memory anyway: readers then borrow instead of copying.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Fills `buf` from `offset` on, or fails with [`IoKind::UnexpectedEnd`].
    fn read_exact_at(&self, mut offset: u64, mut buf: &mut [u8]) -> Result<(), IoError> {
        while !buf.is_empty() {
            let n = self.read_at(offset, buf)?;
            let rest = core::mem::take(&mut buf).split_at_mut_checked(n);
            match rest {
                Some((_, rest)) if n > 0 => buf = rest,
                _ => return Err(IoKind::UnexpectedEnd.into()),
            }
            offset = offset.checked_add(n as u64).ok_or(IoKind::UnexpectedEnd)?;
        }
        Ok(())
    }

    /// Fills each buffer from its offset on, or fails as [`ReadAt::read_exact_at`] does; then what is in the buffers is
    /// not defined. The parts may come in any order, and overlap.
    ///
    /// The default reads one after the other. A source that can serve several requests at the same time should: for
    /// readers of a source that [is far](ReadAt::is_far) one call is one round trip. A [`File`](std::fs::File) tells the
    /// system of all parts before it reads the first (`POSIX_FADV_WILLNEED`, on Linux and Android), so that a disk or a
    /// server fetches them side by side.
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        parts.iter_mut().try_for_each(|(offset, buf)| self.read_exact_at(*offset, buf))
    }

    /// Whether a request takes so long, milliseconds, that some KiB that are not needed are better than a second one.
    /// Readers of such a source ask for all they need in one to three calls of [`ReadAt::read_ranges`], and keep it in
    /// memory meanwhile; opening asks for both ends at once. The default is `false`: requests are small and exact, and
    /// one follows the other.
    fn is_far(&self) -> bool {
        false
    }
}

/// Bytes that can also be written, cut off and flushed.
///
/// # Errors
/// Every method gives what the system says, and [`IoKind::ReadOnly`] where nothing may be written.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all of its methods")]
pub trait WriteAt: ReadAt {
    /// Writes all of `data` at `offset`; a gap before it reads as zeros.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError>;
    /// Makes the store exactly `len` bytes long.
    fn truncate(&mut self, len: u64) -> Result<(), IoError>;
    /// Returns when everything written so far will survive a power failure. What is written before a
    /// `sync` is never reordered with what is written after it.
    fn sync(&mut self) -> Result<(), IoError>;
}

/// What a [`Store`] calls to have its new content written.
pub type Fill<'f> = dyn FnMut(&mut dyn WriteAt) -> Result<(), Error> + 'f;

/// As [`Fill`], with the old content to read from.
pub type Refill<'f> = dyn FnMut(&dyn ReadAt, &mut dyn WriteAt) -> Result<(), Error> + 'f;

/// Bytes that can be replaced as a whole: afterwards the store is either all old or all new.
///
/// # Errors
/// Every method gives what the system says, and errors of what fills the store; nothing has changed then.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all of its methods")]
pub trait Store: WriteAt {
    /// Replaces the content by what `fill` writes into an empty store, in one step that survives
    /// crashes, or fails with [`Error::NotAtomic`] where that cannot be done.
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error>;

    /// As [`Store::replace`], while `fill` can read what is there now.
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        let _ = fill;
        Err(Error::NotAtomic { why: "this store cannot be read while it is being replaced" })
    }

    /// Whether others may read these bytes, now or after a crash. If not (a vector), writers may change
    /// them in place.
    fn is_shared(&self) -> bool {
        true
    }

    /// Whether the store's name, if it has one, still stands for these bytes. Not so when another program
    /// has put a new file in its place: what is written here then would be lost.
    fn is_current(&self) -> Result<bool, IoError> {
        Ok(true)
    }

    /// Opens what the name stands for now, if that is something else.
    fn follow(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

macro_rules! forward_write {
    () => {
        forward! {
            mut self => (**self);
            fn write_at(offset: u64, data: &[u8]) -> Result<(), IoError>;
            fn truncate(len: u64) -> Result<(), IoError>;
            fn sync() -> Result<(), IoError>;
        }
    };
}

macro_rules! forward_store {
    () => {
        forward! {
            mut self => (**self);
            fn replace(fill: &mut Fill<'_>) -> Result<(), Error>;
            fn rewrite(fill: &mut Refill<'_>) -> Result<(), Error>;
            fn follow() -> Result<(), IoError>;
        }
        forward! {
            self => (**self);
            fn is_shared() -> bool;
            fn is_current() -> Result<bool, IoError>;
        }
    };
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    forward_read!(this => &**this);
}
impl<T: ReadAt + ?Sized> ReadAt for &mut T {
    forward_read!(this => &**this);
}
impl<T: WriteAt + ?Sized> WriteAt for &mut T {
    forward_write!();
}
impl<T: Store + ?Sized> Store for &mut T {
    forward_store!();
}
#[cfg(feature = "alloc")]
impl<T: ReadAt + ?Sized> ReadAt for Box<T> {
    forward_read!(this => &**this);
}
#[cfg(feature = "alloc")]
impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    forward_read!(this => &**this);
}
#[cfg(feature = "alloc")]
impl<T: WriteAt + ?Sized> WriteAt for Box<T> {
    forward_write!();
}
#[cfg(feature = "alloc")]
impl<T: Store + ?Sized> Store for Box<T> {
    forward_store!();
}

/// The part of `buf` that `size` bytes fill from `offset` on.
#[cfg(feature = "alloc")]
pub(crate) fn filled(buf: &mut [u8], size: u64, offset: u64) -> &mut [u8] {
    let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
    let n = left.min(buf.len());
    buf.get_mut(..n).unwrap_or_default()
}

/// Copies what `bytes` holds from `offset` on into `buf`.
pub(super) fn read_slice(bytes: &[u8], offset: u64, buf: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or(&[]);
    let n = rest.len().min(buf.len());
    if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
        to.copy_from_slice(from);
    }
    n
}

impl ReadAt for [u8] {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        Ok(read_slice(self, offset, buf))
    }
    fn as_slice(&self) -> Option<&[u8]> {
        Some(self)
    }
}
