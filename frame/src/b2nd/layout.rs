//! [`Layout`]: all that an array is besides its chunks. No frame is in it.
//!
//! ```text
//! metalayer `b2nd` or `caterva`  <->  Layout: shapes of array, chunks and blocks; type of the items; name of the metalayer
//! ```

use crate::dtype::{ByteOrder, Dtype, DtypeError, Kind};
use crate::error::Error;
use crate::shape::Geometry;
use crate::shape::metalayer::{self, Metalayer};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

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

/// How an array is cut into chunks and blocks, what its items are, and the name of the metalayer that says so.
///
/// ```
/// use blosc_frame::b2nd::{Dtype, Geometry, Layout};
/// let layout = Layout::new(Geometry::new(&[3, 5], &[2, 3], &[1, 2], 1)?, &Dtype::parse("|u1")?);
/// assert_eq!(Layout::parse(layout.name(), &layout.to_bytes()?, 1)?, layout);
/// let wider = layout.with_axes(&[true, false, false])?;
/// assert_eq!(wider.geometry().shape()[..], [1, 3, 5]);
/// assert_eq!(wider.without_axes(&[true, false, false])?, layout);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub(super) geometry: Geometry,
    name: &'static str,
    version: u8,
    dtype_format: Option<u8>,
    /// The dtype as it is stored.
    text: Vec<u8>,
    dtype: Dtype,
    opaque: Option<Opaque>,
}

impl Layout {
    /// The layout of a new array.
    pub fn new(geometry: Geometry, dtype: &Dtype) -> Layout {
        let mut layout = Layout::described(geometry, 0, dtype.to_string().as_bytes());
        (layout.dtype, layout.opaque) = (dtype.clone(), None);
        layout
    }

    /// The layout of a new array whose dtype is any text, in the form `dtype_format`: 0 is NumPy's.
    pub fn described(geometry: Geometry, dtype_format: u8, text: &[u8]) -> Layout {
        let meta = Metalayer { dtype_format: Some(dtype_format), ..geometry.metalayer(text) };
        Layout::of(metalayer::NAME, &meta, geometry)
    }

    /// Reads the content of the metalayer `name`, of a frame whose items have `typesize` bytes. A dtype that cannot be
    /// read is no error: see [`Layout::opaque`].
    ///
    /// # Errors
    /// `Invalid` and `Truncated` with field and offset for what is no such metalayer, and shapes that are impossible.
    pub fn parse(name: &'static str, content: &[u8], typesize: u32) -> Result<Layout, Error> {
        let meta = Metalayer::parse(content)?;
        let geometry = Geometry::of(&meta, typesize)?;
        Ok(Layout::of(name, &meta, geometry))
    }

    fn of(name: &'static str, meta: &Metalayer<'_>, geometry: Geometry) -> Layout {
        let (dtype, opaque) = describe(meta, geometry.typesize());
        let (version, dtype_format) = (meta.version, meta.dtype_format);
        Layout { geometry, name, version, dtype_format, text: meta.dtype.to_vec(), dtype, opaque }
    }

    /// The content of the metalayer.
    ///
    /// # Errors
    /// A dtype text beyond [`metalayer::MAX_DTYPE`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let (version, dtype_format) = (self.version, self.dtype_format);
        Metalayer { version, dtype_format, ..self.geometry.metalayer(&self.text) }.to_bytes()
    }

    /// The shapes of array, chunks and blocks, and the item size.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    /// Name of the metalayer.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Type of the items; `|V<size>` where the stored one cannot be used, see [`Layout::opaque`].
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// Why [`Layout::dtype`] is not the one stored, if it is not.
    pub fn opaque(&self) -> Option<Opaque> {
        self.opaque
    }
    /// The dtype text as stored, however strange.
    pub fn dtype_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.text)
    }
    /// In which form the dtype is written, 0 = NumPy's; `None` where there is no dtype.
    pub fn dtype_format(&self) -> Option<u8> {
        self.dtype_format
    }

    /// This layout of an array cut otherwise.
    pub fn with_geometry(&self, geometry: Geometry) -> Layout {
        Layout { geometry, ..self.clone() }
    }

    /// This layout with more axes, of one item each, where `added` is true; it has one value for each axis afterwards. No
    /// chunk of the array changes.
    ///
    /// # Errors
    /// `Param` where `added` has not as many false values as the array has axes, and for more than 16.
    pub fn with_axes(&self, added: &[bool]) -> Result<Layout, Error> {
        let old = &self.geometry;
        if added.iter().filter(|new| !**new).count() != old.ndim() {
            let value = added.len() as i64;
            return Err(Error::Param { name: "axes", value, allowed: "those of the array, and new ones" });
        }
        let mut axes = 0..old.ndim();
        let from: Vec<Option<usize>> =
            added.iter().map(|new| if *new { None } else { axes.next() }).collect();
        self.cut(&from)
    }

    /// This layout without the axes for which `gone` is true. No chunk of the array changes.
    ///
    /// # Errors
    /// `Param` for axes on which array or chunks have other than one item: new chunks are needed, as in a copy.
    pub fn without_axes(&self, gone: &[bool]) -> Result<Layout, Error> {
        let (shape, chunks) = (self.geometry.shape(), self.geometry.chunks());
        let single = |axis| shape.at(axis) == 1 && chunks.at(axis) == 1;
        if gone.len() != shape.len() || !gone.iter().enumerate().all(|(axis, gone)| !gone || single(axis)) {
            return Err(Error::Param {
                name: "chunk side of an axis of one item",
                value: 0,
                allowed: "1; else the chunks need another layout, as in a copy",
            });
        }
        let kept: Vec<Option<usize>> =
            (0..).zip(gone).filter(|(_, gone)| !**gone).map(|(k, _)| Some(k)).collect();
        self.cut(&kept)
    }

    /// This layout with these of its axes; those that it has not have one item.
    fn cut(&self, from: &[Option<usize>]) -> Result<Layout, Error> {
        let old = &self.geometry;
        let shape: Vec<u64> = from.iter().map(|k| k.map_or(1, |k| old.shape().at(k))).collect();
        let parts =
            |d: &crate::shape::Dims<u32>| from.iter().map(|k| k.map_or(1, |k| d.at(k))).collect::<Vec<u32>>();
        let (chunks, blocks) = (parts(old.chunks()), parts(old.blocks()));
        Ok(self.with_geometry(Geometry::new(&shape, &chunks, &blocks, old.typesize())?))
    }
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
