//! [`Spec`]: everything that is chosen when an array is created.

use super::defaults::{Caches, default_parts};
use crate::dtype::{ByteOrder, Dtype, Kind};
use crate::error::Error;
use crate::shape::Dims;
use crate::shape::Geometry;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use blosc_core::Params;

/// Shape, type, partition and parameters of a new array. What is not said is chosen as docs/formats/b2nd.md §6 describes.
///
/// ```
/// use blosc_frame::b2nd::{Dtype, Spec};
/// let spec = Spec::new(&[10_000_000], Dtype::parse("<f8")?)?;
/// assert_eq!(spec.geometry().chunks()[..], [1_000_000]);
/// assert_eq!(spec.params().blocksize, Some(250_000));
/// # Ok::<(), blosc_frame::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    dtype: Dtype,
    chunks: Option<Dims<u32>>,
    blocks: Option<Dims<u32>>,
    caches: Caches,
    params: Params,
    geometry: Geometry,
    metalayers: Vec<(String, Vec<u8>)>,
}

impl Spec {
    /// An array of `shape` with items of `dtype`, compressed with the defaults of the C library
    /// unless [`Spec::params_from`] says otherwise.
    ///
    /// # Errors
    /// More than 16 axes, sizes beyond the format's limits, items of no bytes.
    pub fn new(shape: &[u64], dtype: Dtype) -> Result<Spec, Error> {
        let typesize = dtype.itemsize();
        let (c, b) = default_parts(shape, typesize, None, None, &Caches::DEFAULT);
        let geometry = Geometry::new(shape, &c, &b, typesize)?;
        let params = Params::new(typesize);
        let caches = Caches::DEFAULT;
        Ok(Spec { dtype, chunks: None, blocks: None, caches, params, geometry, metalayers: Vec::new() })
    }

    /// An array like `geometry`, which keeps its chunks and blocks.
    ///
    /// # Errors
    /// As [`Spec::new`].
    pub fn like(geometry: &Geometry, dtype: Dtype, params: &Params) -> Result<Spec, Error> {
        let spec = Spec::new(geometry.shape(), dtype)?.params_from(params);
        let mut spec = Spec { chunks: Some(*geometry.chunks()), blocks: Some(*geometry.blocks()), ..spec };
        spec.update(geometry.shape())?;
        Ok(spec)
    }

    /// Checks everything that can be checked without the data.
    ///
    /// # Errors
    /// As [`Params::check`]; ZFP with items that are not floats, or with blocks that it does not take.
    pub fn check(&self) -> Result<(), blosc_core::Error> {
        let params = self.params();
        params.check()?;
        let floats = matches!(&self.dtype, Dtype::Scalar(item)
            if item.kind == Kind::Float && item.order == ByteOrder::Little && matches!(item.size, 4 | 8));
        let blocks = self.geometry.blocks();
        let fits = matches!(blocks.len(), 1..=4) && blocks.iter().all(|&side| side >= 4);
        if params.codec.is_zfp() && params.level > 0 && !(floats && fits) {
            let allowed =
                "ZFP takes arrays of <f4 or <f8 whose blocks have 1 to 4 dimensions, each of 4 items or more";
            return Err(blosc_core::Error::Param { name: "codec", value: params.codec.id().into(), allowed });
        }
        Ok(())
    }

    fn update(&mut self, shape: &[u64]) -> Result<(), Error> {
        let (c, b) = default_parts(
            shape,
            self.dtype.itemsize(),
            self.chunks.as_deref(),
            self.blocks.as_deref(),
            &self.caches,
        );
        self.geometry = Geometry::asked(shape, &c, &b, self.dtype.itemsize())?;
        Ok(())
    }

    fn dims(&self, name: &'static str, given: &[u32]) -> Result<Dims<u32>, Error> {
        let wrong = Error::Param {
            name,
            value: given.iter().find(|n| **n == 0).map_or(given.len() as i64, |n| i64::from(*n)),
            allowed: "one number per axis, none of them zero on an axis with items",
        };
        let fits = |(n, side): (&u32, &u64)| *n > 0 || *side == 0;
        Dims::new(given)
            .filter(|d| {
                d.len() == self.geometry.ndim() && d.iter().zip(self.geometry.shape().iter()).all(fits)
            })
            .ok_or(wrong)
    }

    /// Sets the chunk shape; the blocks follow unless they are set too.
    ///
    /// # Errors
    /// What [`Geometry::new`] refuses.
    pub fn chunks(mut self, chunks: &[u32]) -> Result<Spec, Error> {
        self.chunks = Some(self.dims("chunks", chunks)?);
        let shape = *self.geometry.shape();
        self.update(&shape)?;
        Ok(self)
    }

    /// Sets the block shape. Without a chunk shape it only says how large blocks shall be, as in
    /// python-blosc2: the shapes are fitted to that.
    ///
    /// # Errors
    /// What [`Geometry::new`] refuses, and a block larger than its chunk.
    pub fn blocks(mut self, blocks: &[u32]) -> Result<Spec, Error> {
        let blocks = self.dims("blocks", blocks)?;
        if let Some(chunks) = &self.chunks
            && let Some((_, b)) = chunks.iter().zip(blocks.iter()).find(|(c, b)| b > c)
        {
            let allowed = "at most the chunk's size on every axis";
            return Err(Error::Param { name: "blocks", value: (*b).into(), allowed });
        }
        self.blocks = Some(blocks);
        let shape = *self.geometry.shape();
        self.update(&shape)?;
        Ok(self)
    }

    /// Fits default shapes to these caches.
    ///
    /// # Errors
    /// What [`Geometry::new`] refuses.
    pub fn caches(mut self, caches: Caches) -> Result<Spec, Error> {
        self.caches = caches;
        let shape = *self.geometry.shape();
        self.update(&shape)?;
        Ok(self)
    }

    /// Takes codec, level, filters and split mode from `params`; item size and block size follow
    /// from the array.
    pub fn params_from(mut self, params: &Params) -> Spec {
        self.params = *params;
        self
    }

    /// Adds a metalayer of the user's, to be stored beside `b2nd`.
    pub fn metalayer(mut self, name: &str, content: &[u8]) -> Spec {
        self.metalayers.push((name.to_string(), content.to_vec()));
        self
    }

    /// Parameters of the chunks: make the frame with them.
    pub fn params(&self) -> Params {
        let block = self.geometry.block_bytes();
        let blocksize = (block > 0).then_some(block);
        self.params.typesize(self.geometry.typesize()).blocksize(blocksize).blosc1(false)
    }

    /// Type of the items.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Shapes, all chosen.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(super) fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.metalayers.iter().map(|(name, content)| (name.as_str(), content.as_slice()))
    }
}
