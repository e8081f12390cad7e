//! [`NdArray`]: an n-dimensional array in a frame of its own; [`ArrayView`]: one in a frame that is lent.
//!
//! ```
//! use blosc_frame::SuperChunk;
//! use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec, Take};
//!
//! let spec = Spec::new(&[3, 5], Dtype::parse("|u1")?)?.chunks(&[2, 3])?.blocks(&[1, 2])?;
//! let data: Vec<u8> = (1..=15).collect();
//! let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &data)?;
//!
//! assert_eq!(nd.get(&Selection::ranges(nd.shape(), &[1..3, 2..4])?)?, [8, 9, 13, 14]);
//! let every_other_row_backwards = [Take::slice(3, None, None, -2)?, Take::List(vec![4, 0])];
//! assert_eq!(nd.get(&Selection::new(nd.shape(), &every_other_row_backwards)?)?, [15, 11, 5, 1]);
//! nd.resize(&[4, 5])?;
//! assert_eq!(nd.get(&Selection::ranges(nd.shape(), &[3..4, 0..5])?)?, [0; 5]);
//! # Ok::<(), blosc_frame::Error>(())
//! ```

use super::cache::{Cache, Own};
use super::gather::Worker;
use super::layout::{Layout, Opaque};
use crate::cframe::header::ChunkSize;
use crate::dtype::Dtype;
#[cfg(feature = "std")]
use crate::error::FileError;
use crate::error::{Error, Structure};
use crate::schunk::SuperChunk;
use crate::shape::Dims;
use crate::shape::Geometry;
use crate::shape::metalayer;
use crate::spare::Spare;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::borrow::BorrowMut;
#[cfg(feature = "std")]
use std::path::Path;

/// An n-dimensional array on a frame that is owned, [`NdArray`], or lent, [`ArrayView`]. Data goes in and out as the bytes of
/// a dense C-order array.
///
/// Changes follow the rules of [`SuperChunk`]: they become visible with [`ArrayOn::commit`].
pub struct ArrayOn<F> {
    frame: F,
    pub(super) layout: Layout,
    /// For each reader one per thread, to decode blocks side by side.
    pub(super) workers: Spare<Vec<Worker>>,
    /// Decoded or not yet encoded chunk of an edit.
    pub(super) scratch: Vec<u8>,
    pub(super) cache: Own,
}

/// An n-dimensional array that owns its frame.
pub type NdArray<'a> = ArrayOn<SuperChunk<'a>>;

/// An n-dimensional array on a frame of someone else: what is changed through it is changed there.
///
/// ```
/// # use blosc_frame::SuperChunk;
/// # use blosc_frame::b2nd::{ArrayView, Dtype, NdArray, Spec};
/// # let spec = Spec::new(&[3], Dtype::parse("|u1")?)?;
/// # let mut frame = NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &[1, 2, 3])?.into_frame();
/// ArrayView::open(&mut frame)?.append(0, &[4, 5])?;
/// assert_eq!(NdArray::open(frame)?.get_all()?, [1, 2, 3, 4, 5]);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub type ArrayView<'f, 'a> = ArrayOn<&'f mut SuperChunk<'a>>;

#[cfg(feature = "std")]
impl NdArray<'static> {
    /// Opens the array in the file or directory `path` for reading, under the default limits.
    ///
    /// # Errors
    /// What is no array, or is damaged; errors of the file system. They name the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<NdArray<'static>, FileError> {
        let path = path.as_ref();
        NdArray::open(SuperChunk::open_path(path)?).map_err(FileError::at(path))
    }

    /// As [`NdArray::open_path`], to change it, too: other writers are kept out until it is dropped.
    ///
    /// # Errors
    /// As [`NdArray::open_path`], and as [`PathFile::open_rw`](crate::io::PathFile::open_rw).
    pub fn open_path_mut(path: impl AsRef<Path>) -> Result<NdArray<'static>, FileError> {
        let path = path.as_ref();
        NdArray::open(SuperChunk::open_path_mut(path)?).map_err(FileError::at(path))
    }
}

impl NdArray<'_> {
    /// Whether [`open`](ArrayOn::open) would take this frame.
    ///
    /// # Errors
    /// As [`open`](ArrayOn::open).
    pub fn check(frame: &SuperChunk<'_>) -> Result<(), Error> {
        layout_of(frame).map(drop)
    }
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Takes a frame as the array its metalayer describes.
    ///
    /// # Errors
    /// `NoSuchName` without a `b2nd` or `caterva` metalayer; `Invalid` and `Truncated` with field and
    /// offset for a metalayer that is not one, shapes that are impossible, and a frame that does not
    /// have the chunks the shapes demand. A dtype that cannot be read is no error: see [`ArrayOn::opaque`].
    pub fn open(frame: F) -> Result<ArrayOn<F>, Error> {
        let layout = layout_of(frame.borrow())?;
        Ok(ArrayOn::with(frame, layout))
    }

    /// An array on a frame that is one.
    pub(super) fn with(mut frame: F, layout: Layout) -> ArrayOn<F> {
        let own: &mut SuperChunk<'a> = frame.borrow_mut();
        own.set_blockshape(layout.geometry.blocks());
        ArrayOn {
            workers: Spare::new(Worker::crew(own.threads())),
            frame,
            layout,
            scratch: Vec::new(),
            cache: Own::new(Cache::default()),
        }
    }

    /// Uses up to `threads` threads (0: one per core). Default 1. Changes no byte of any result.
    pub fn set_threads(&mut self, threads: usize) {
        let threads = Pool::new(threads).threads();
        self.frame.borrow_mut().set_threads(threads);
        self.workers = Spare::new(Worker::crew(threads));
    }

    /// Items per axis.
    pub fn shape(&self) -> &Dims<u64> {
        self.layout.geometry.shape()
    }
    /// How it is cut into chunks and blocks.
    pub fn geometry(&self) -> &Geometry {
        &self.layout.geometry
    }
    /// How it is cut, what its items are, and what its metalayer is called.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// Type of the items; `|V<size>` where the frame's own cannot be used, see [`ArrayOn::opaque`].
    pub fn dtype(&self) -> &Dtype {
        self.layout.dtype()
    }
    /// Why [`ArrayOn::dtype`] is not the one stored, if it is not.
    pub fn opaque(&self) -> Option<Opaque> {
        self.layout.opaque()
    }
    /// The dtype text as stored, however strange.
    pub fn dtype_text(&self) -> String {
        self.layout.dtype_text().into_owned()
    }
    /// Whether it was found under the metalayer of the predecessor, `caterva`.
    pub fn is_caterva(&self) -> bool {
        self.layout.name() == metalayer::NAME_CATERVA
    }
    /// The frame it lies in: metalayers, parameters, limits.
    pub fn frame(&self) -> &SuperChunk<'a> {
        self.frame.borrow()
    }
    /// The frame, to change its metalayers or limits. Changing its chunks is at the caller's risk.
    pub fn frame_mut(&mut self) -> &mut SuperChunk<'a> {
        self.edit()
    }
    /// The frame, to change it: what is kept decoded of it goes.
    pub(super) fn edit(&mut self) -> &mut SuperChunk<'a> {
        self.cache.clear();
        self.frame.borrow_mut()
    }
    /// The frame.
    pub fn into_frame(self) -> F {
        self.frame
    }

    /// Makes all changes visible in one atomic step.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`].
    pub fn commit(&mut self) -> Result<(), Error> {
        self.frame.borrow_mut().commit()
    }

    /// Takes over what another writer changed since the array was opened. Only the shape may differ.
    /// Tells whether there was anything new.
    ///
    /// # Errors
    /// `Changed` if it is another array now, and as [`SuperChunk::refresh`].
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let new = self.edit().refresh()?;
        if new {
            self.load_shape()?;
        }
        Ok(new)
    }

    /// Forgets all changes since the last commit.
    ///
    /// # Errors
    /// Errors of reading what is stored; `Changed` if another writer made another array of it.
    pub fn discard(&mut self) -> Result<(), Error> {
        self.edit().discard()?;
        self.load_shape()
    }

    /// Takes the shape from the metalayer.
    fn load_shape(&mut self) -> Result<(), Error> {
        let other = Error::Changed { what: "chunk shape, block shape or item size of the array" };
        let (frame, name) = (self.frame(), self.layout.name());
        let new = Layout::parse(name, frame.metalayer(name).ok_or(other)?, frame.typesize())?;
        let (old, geometry) = (&self.layout.geometry, &new.geometry);
        let same = geometry.chunks() == old.chunks()
            && geometry.blocks() == old.blocks()
            && geometry.typesize() == old.typesize();
        if !same {
            return Err(other);
        }
        check_frame(frame, geometry)?;
        self.layout.geometry = new.geometry;
        Ok(())
    }

    /// Writes another shape into the metalayer. The chunks must fit it already, or will at the commit.
    pub(super) fn store_shape(&mut self, geometry: Geometry) -> Result<(), Error> {
        let name = self.layout.name();
        let content = self.frame().metalayer(name).ok_or(NO_ARRAY)?;
        let mut content = content.to_vec();
        metalayer::patch_shape(&mut content, geometry.shape())?;
        self.edit().set_metalayer(name, &content)?;
        self.layout.geometry = geometry;
        Ok(())
    }

    /// Stores a layout of another number of axes; the metalayer changes its length.
    pub(super) fn store_layout(&mut self, layout: Layout) -> Result<(), Error> {
        let content = layout.to_bytes()?;
        self.edit().set_metalayer(layout.name(), &content)?;
        self.edit().set_blockshape(layout.geometry.blocks());
        self.layout = layout;
        Ok(())
    }
}

const NO_ARRAY: Error = Error::NoSuchName { what: "metalayer as b2nd: this is no array" };

/// What the metalayer of an array tells, checked against the frame.
fn layout_of(frame: &SuperChunk<'_>) -> Result<Layout, Error> {
    let (name, content) = [metalayer::NAME, metalayer::NAME_CATERVA]
        .into_iter()
        .find_map(|name| Some((name, frame.metalayer(name)?)))
        .ok_or(NO_ARRAY)?;
    let layout = Layout::parse(name, content, frame.typesize())?;
    check_frame(frame, &layout.geometry)?;
    Ok(layout)
}

/// Whether the frame has the chunks the geometry demands.
fn check_frame(frame: &SuperChunk<'_>, geometry: &Geometry) -> Result<(), Error> {
    if frame.nchunks() != geometry.nchunks() {
        return Err(Error::Invalid {
            structure: Structure::B2nd,
            field: "number of chunks of the frame (the array's shape needs another)",
            offset: 5,
            value: i64::try_from(frame.nchunks()).unwrap_or(i64::MAX),
        });
    }
    match frame.chunksize() {
        ChunkSize::Fixed(c) if c == geometry.chunk_bytes() => Ok(()),
        // Without chunks there is nothing to read, whatever is declared.
        _ if frame.nchunks() == 0 => Ok(()),
        other => Err(Error::Invalid {
            structure: Structure::FrameHeader,
            field: "chunk_size (the array's chunks have another)",
            offset: 0x39,
            value: match other {
                ChunkSize::Fixed(c) => c.into(),
                ChunkSize::Variable => 0,
                ChunkSize::Unknown => -1,
            },
        }),
    }
}
