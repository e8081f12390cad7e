//! [`Tensor`]: an array that python-blosc2's `save_tensor` or `pack_array2` put into a plain frame.

use crate::dtype::Dtype;
use crate::error::Error;
use crate::schunk::SuperChunk;
pub use crate::shape::tensor::{NAME, TensorMeta};
use alloc::vec::Vec;

/// An array in C order in the chunks of a plain frame. Opened by [`any::open_mut`](crate::any::open_mut) its rows can be
/// changed: see [`Opened::into_rows`](crate::any::Opened::into_rows).
pub struct Tensor<'a> {
    frame: SuperChunk<'a>,
    meta: TensorMeta,
}

/// What a frame says of the tensor in it; `None` where it does not say that it is one.
///
/// # Errors
/// A description that cannot be read, or is not of as many bytes as the frame has.
pub fn meta_of(frame: &SuperChunk<'_>) -> Result<Option<TensorMeta>, Error> {
    let Some(content) = frame.vlmetalayer(NAME)? else { return Ok(None) };
    let meta = TensorMeta::parse(&content)?;
    meta.check(frame.nbytes())?;
    Ok(Some(meta))
}

impl<'a> Tensor<'a> {
    /// Takes a frame as the tensor that its vlmetalayer describes.
    ///
    /// # Errors
    /// `NoSuchName` for a frame that is none, and as [`meta_of`].
    pub fn open(frame: SuperChunk<'a>) -> Result<Tensor<'a>, Error> {
        let meta = meta_of(&frame)?.ok_or(Error::NoSuchName { what: "vlmetalayer __pack_tensor__" })?;
        Ok(Tensor { frame, meta })
    }

    /// A frame of which the description has been read.
    #[cfg(all(feature = "std", feature = "classic"))]
    pub(crate) fn of(frame: SuperChunk<'a>, meta: TensorMeta) -> Tensor<'a> {
        Tensor { frame, meta }
    }

    /// Items per axis.
    pub fn shape(&self) -> &[u64] {
        self.meta.shape()
    }

    /// Type of the items.
    pub fn dtype(&self) -> &Dtype {
        self.meta.dtype()
    }

    /// What the frame says of it.
    pub fn meta(&self) -> &TensorMeta {
        &self.meta
    }

    /// All items in C order.
    ///
    /// # Errors
    /// Chunks that are damaged, or that decode to more than the limits allow.
    pub fn read(&mut self) -> Result<Vec<u8>, Error> {
        self.frame.read_all()
    }

    /// The frame it lies in.
    pub fn frame(&self) -> &SuperChunk<'a> {
        &self.frame
    }

    /// The frame it lies in.
    pub fn into_frame(self) -> SuperChunk<'a> {
        self.frame
    }
}
