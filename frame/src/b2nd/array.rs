//! [`NdArray`]: an n-dimensional array in a frame.
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

use super::cache::{self, Cache};
use crate::cframe::header::ChunkSize;
use crate::dtype::{ByteOrder, Dtype, DtypeError, Kind};
#[cfg(feature = "std")]
use crate::error::FileError;
use crate::error::{Error, Structure};
use crate::schunk::SuperChunk;
use crate::shape::Dims;
use crate::shape::Geometry;
use crate::shape::metalayer::{self, Metalayer};
use crate::spare::{Lock, Spare};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Pool;
#[cfg(feature = "std")]
use std::path::Path;

/// Why the items of an array can only be seen as raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opaque {
    /// The dtype text cannot be read.
    Text(DtypeError),
    /// The dtype's items have another size than the frame's. The frame is right.
    Size {
        /// Bytes of an item of the dtype.
        dtype: u32,
        /// Bytes of an item of the frame.
        frame: u32,
    },
    /// The dtype is written in a form other than NumPy's.
    Format(u8),
    /// There is no dtype (`caterva`).
    Missing,
}

impl core::fmt::Display for Opaque {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Opaque::Text(error) => error.fmt(f),
            Opaque::Size { dtype, frame } => {
                write!(f, "the dtype's items have {dtype} bytes, those of the frame {frame}")
            }
            Opaque::Format(n) => write!(f, "dtype_format {n} is not known"),
            Opaque::Missing => f.write_str("there is no dtype"),
        }
    }
}

/// An n-dimensional array. Data goes in and out as the bytes of a dense C-order array.
///
/// Changes follow the rules of [`SuperChunk`]: they become visible with [`NdArray::commit`].
pub struct NdArray<'a> {
    pub(super) frame: SuperChunk<'a>,
    pub(super) geometry: Geometry,
    /// The metalayer the array was found under.
    pub(super) name: &'static str,
    pub(super) dtype: Dtype,
    pub(super) opaque: Option<Opaque>,
    /// For each reader one per thread, to decode blocks side by side.
    pub(super) workers: Spare<Vec<Worker>>,
    /// Decoded or not yet encoded chunk of an edit.
    pub(super) scratch: Vec<u8>,
    pub(super) cache: Lock<Cache>,
    /// Bytes of decoded blocks that may be kept.
    pub(super) cache_room: usize,
}

/// What a thread needs to decode blocks.
pub(super) struct Worker {
    pub(super) pool: Pool,
    /// What is read of a chunk, and a block of it.
    pub(super) read: Vec<u8>,
    pub(super) block: Vec<u8>,
}

impl Worker {
    pub(super) fn new() -> Worker {
        Worker { pool: Pool::new(1), read: Vec::new(), block: Vec::new() }
    }

    /// One for each of `threads` threads.
    pub(super) fn crew(threads: usize) -> Vec<Worker> {
        core::iter::repeat_with(Worker::new).take(threads).collect()
    }
}

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
    /// As [`NdArray::open_path`], and for files that may not be written.
    pub fn open_path_mut(path: impl AsRef<Path>) -> Result<NdArray<'static>, FileError> {
        let path = path.as_ref();
        NdArray::open(SuperChunk::open_path_mut(path)?).map_err(FileError::at(path))
    }
}

impl<'a> NdArray<'a> {
    /// Whether [`open`](Self::open) would take this frame.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn check(frame: &SuperChunk<'_>) -> Result<(), Error> {
        metalayer_of(frame).map(|_| ())
    }

    /// Takes a frame as the array its metalayer describes.
    ///
    /// # Errors
    /// `NoSuchName` without a `b2nd` or `caterva` metalayer; `Invalid` and `Truncated` with field and
    /// offset for a metalayer that is not one, shapes that are impossible, and a frame that does not
    /// have the chunks the shapes demand. A dtype that cannot be read is no error: see [`NdArray::opaque`].
    pub fn open(frame: SuperChunk<'a>) -> Result<NdArray<'a>, Error> {
        let (name, meta, geometry) = metalayer_of(&frame)?;
        let (dtype, opaque) = describe(&meta, frame.typesize());
        Ok(NdArray::with(frame, name, geometry, dtype, opaque))
    }

    /// An array on a frame that is one.
    pub(super) fn with(
        mut frame: SuperChunk<'a>,
        name: &'static str,
        geometry: Geometry,
        dtype: Dtype,
        opaque: Option<Opaque>,
    ) -> NdArray<'a> {
        frame.set_blockshape(geometry.blocks());
        NdArray {
            workers: Spare::new(Worker::crew(frame.threads())),
            frame,
            geometry,
            name,
            dtype,
            opaque,
            scratch: Vec::new(),
            cache: Lock::new(Cache::new()),
            cache_room: cache::ROOM,
        }
    }

    /// Uses up to `threads` threads (0: one per core). Default 1. Changes no byte of any result.
    pub fn set_threads(&mut self, threads: usize) {
        let threads = Pool::new(threads).threads();
        self.frame.set_threads(threads);
        self.workers = Spare::new(Worker::crew(threads));
    }

    /// Items per axis.
    pub fn shape(&self) -> &Dims<u64> {
        self.geometry.shape()
    }
    /// How it is cut into chunks and blocks.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    /// Type of the items; `|V<size>` where the frame's own cannot be used, see [`NdArray::opaque`].
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// Why [`NdArray::dtype`] is not the one stored, if it is not.
    pub fn opaque(&self) -> Option<Opaque> {
        self.opaque
    }
    /// The dtype text as stored, however strange.
    pub fn dtype_text(&self) -> String {
        let meta = self.frame.metalayer(self.name).and_then(|content| Metalayer::parse(content).ok());
        meta.map_or_else(String::new, |m| String::from_utf8_lossy(m.dtype).into_owned())
    }
    /// Whether it was found under the metalayer of the predecessor, `caterva`.
    pub fn is_caterva(&self) -> bool {
        self.name == metalayer::NAME_CATERVA
    }
    /// The frame it lies in: metalayers, parameters, limits.
    pub fn frame(&self) -> &SuperChunk<'a> {
        &self.frame
    }
    /// The frame, to change its metalayers or limits. Changing its chunks is at the caller's risk.
    pub fn frame_mut(&mut self) -> &mut SuperChunk<'a> {
        self.edit()
    }
    /// The frame, to change it: what is kept decoded of it goes.
    pub(super) fn edit(&mut self) -> &mut SuperChunk<'a> {
        self.cache.get_mut().clear();
        &mut self.frame
    }
    /// The frame.
    pub fn into_frame(self) -> SuperChunk<'a> {
        self.frame
    }

    /// Makes all changes visible in one atomic step.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`].
    pub fn commit(&mut self) -> Result<(), Error> {
        self.frame.commit()
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
        let content = self.frame.metalayer(self.name).ok_or(other)?;
        let meta = Metalayer::parse(content)?;
        let geometry = Geometry::of(&meta, self.frame.typesize())?;
        let same = geometry.chunks() == self.geometry.chunks()
            && geometry.blocks() == self.geometry.blocks()
            && geometry.typesize() == self.geometry.typesize();
        if !same {
            return Err(other);
        }
        check_frame(&self.frame, &geometry)?;
        self.geometry = geometry;
        Ok(())
    }

    /// Writes another shape into the metalayer. The chunks must fit it already, or will at the commit.
    pub(super) fn store_shape(&mut self, geometry: Geometry) -> Result<(), Error> {
        let mut content = self.content()?.to_vec();
        metalayer::patch_shape(&mut content, geometry.shape())?;
        let name = self.name;
        self.edit().set_metalayer(name, &content)?;
        self.geometry = geometry;
        Ok(())
    }

    /// Stores a geometry of another number of axes; the metalayer changes its length.
    pub(super) fn store_geometry(&mut self, geometry: Geometry) -> Result<(), Error> {
        let old = Metalayer::parse(self.content()?)?;
        let (dtype_format, version) = (old.dtype_format, old.version);
        let new = Metalayer { dtype_format, version, ..geometry.metalayer(old.dtype) }.to_bytes()?;
        let name = self.name;
        self.edit().set_metalayer(name, &new)?;
        self.frame.set_blockshape(geometry.blocks());
        self.geometry = geometry;
        Ok(())
    }

    fn content(&self) -> Result<&[u8], Error> {
        self.frame.metalayer(self.name).ok_or(Error::NoSuchName { what: "metalayer as b2nd" })
    }
}

/// The metalayer of an array under the name that it has, and the shapes that it tells, checked against the frame.
fn metalayer_of<'f>(frame: &'f SuperChunk<'_>) -> Result<(&'static str, Metalayer<'f>, Geometry), Error> {
    let (name, content) = [metalayer::NAME, metalayer::NAME_CATERVA]
        .into_iter()
        .find_map(|name| Some((name, frame.metalayer(name)?)))
        .ok_or(Error::NoSuchName { what: "metalayer as b2nd: this is no array" })?;
    let meta = Metalayer::parse(content)?;
    let geometry = Geometry::of(&meta, frame.typesize())?;
    check_frame(frame, &geometry)?;
    Ok((name, meta, geometry))
}

/// The dtype of an array, and why it is not the one stored.
fn describe(meta: &Metalayer<'_>, typesize: u32) -> (Dtype, Option<Opaque>) {
    let opaque = |why| (Dtype::opaque(typesize), Some(why));
    match meta.dtype_format {
        // python-blosc2 shows items without a dtype as bytes of that size.
        None if meta.version == 0 && meta.dtype.is_empty() => {
            (Dtype::scalar(Kind::Bytes, ByteOrder::None, typesize), Some(Opaque::Missing))
        }
        None => opaque(Opaque::Missing),
        Some(0) => {
            let text = core::str::from_utf8(meta.dtype)
                .map_err(|e| DtypeError::Syntax { offset: e.valid_up_to(), expected: "UTF-8" });
            match text.and_then(Dtype::parse) {
                Ok(dtype) if dtype.itemsize() == typesize => (dtype, None),
                Ok(dtype) => opaque(Opaque::Size { dtype: dtype.itemsize(), frame: typesize }),
                Err(error) => opaque(Opaque::Text(error)),
            }
        }
        Some(format) => opaque(Opaque::Format(format)),
    }
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
