//! [`open`]: what a path holds, as the type that knows it best.

use super::array::ArrayRows;
use super::frame::FrameRows;
#[cfg(feature = "store")]
use super::rows::unknown;
use super::rows::{About, AnyRows, Container, open_rows};
use crate::b2nd::NdArray;
use crate::error::{Error, FileError};
use crate::io::Locking;
use crate::kind::{Found, Kind, no_offset};
use crate::limits::Limits;
use crate::msgpack;
use crate::schunk::SuperChunk;
#[cfg(feature = "store")]
use crate::store::{self, Form, Leaf, Store};
use crate::tensor::{self, Tensor};
use crate::value::Value;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::path::Path;

/// Names of the metalayer that makes a frame an array.
const ARRAY: [&str; 2] = ["b2nd", "caterva"];

/// What a path holds.
#[non_exhaustive]
pub enum Opened {
    /// A frame, contiguous or sparse, that is neither an array nor a tensor.
    Frame(Box<SuperChunk<'static>>),
    /// An array: a frame with a `b2nd` metalayer.
    Array(Box<NdArray<'static>>),
    /// An array in a plain frame, as `save_tensor` of python-blosc2 writes it.
    Tensor(Box<Tensor<'static>>),
    /// A bloscpack file, a bcolz or Blaze directory, a NumPy file.
    Rows(Box<AnyRows>),
    /// Several arrays and frames: a store of python-blosc2 or a folder of arrays (feature `store`).
    #[cfg(feature = "store")]
    Store(Box<Store>),
    /// A store that is one table: with the feature `table`, `store.table("")` reads its rows.
    #[cfg(feature = "store")]
    Table(Box<Store>),
}

/// Opens what `path` holds for reading, under the default limits.
///
/// ```no_run
/// use blosc_frame::any::{Opened, open};
/// match open("a.b2nd")? {
///     Opened::Array(array) => println!("{} items of {}", array.geometry().items(), array.dtype()),
///     Opened::Tensor(tensor) => println!("{:?} items of {}", tensor.shape(), tensor.dtype()),
///     other => println!("{} bytes", other.into_rows()?.data.nbytes()),
/// }
/// # use blosc_frame::plain::Plain;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A path that cannot be read or holds no container that is known here; a container that is damaged. The error names
/// the path.
pub fn open(path: impl AsRef<Path>) -> Result<Opened, FileError> {
    open_with(path.as_ref(), None)
}

/// As [`open`], to change it, too: other writers are kept out until it is dropped. Not so of a store, whose
/// `put` does that itself; a `.b2e` file is the frame that it is.
///
/// # Errors
/// As [`open`], and as [`PathFile::open_rw`](crate::io::PathFile::open_rw).
pub fn open_mut(path: impl AsRef<Path>) -> Result<Opened, FileError> {
    open_with(path.as_ref(), Some(Locking::System))
}

fn open_with(path: &Path, write: Option<Locking>) -> Result<Opened, FileError> {
    let opened = Found::at(path, 0, write).and_then(|found| Opened::of(found, &Limits::DEFAULT, false));
    opened.map_err(FileError::at(path))
}

impl Opened {
    /// Opens what was found; `anywhere` allows a manifest of shards to name directories outside its own.
    ///
    /// # Errors
    /// As [`open_found`](super::open_found).
    pub fn of(found: Found, limits: &Limits, anywhere: bool) -> Result<Opened, Error> {
        if !matches!(found.kind, Kind::Bloscpack | Kind::Frame | Kind::Npy) && found.offset != 0 {
            return Err(no_offset(
                found.offset,
                "0 for what is not a frame, bloscpack file, NumPy file or chunk",
            ));
        }
        match found.kind {
            #[cfg(feature = "store")]
            Kind::Frame if found.write.is_none() => {
                let path = found.path.clone();
                let frame = found.frame(limits)?;
                match store::is_root(&frame) {
                    true => Store::of_frame(&path, frame).map(Opened::of_store),
                    false => Opened::of_frame(frame),
                }
            }
            Kind::Frame | Kind::SparseFrame => Opened::of_frame(found.frame(limits)?),
            #[cfg(feature = "store")]
            Kind::Store | Kind::Arrays | Kind::Directory | Kind::Zip => {
                open_store(found, limits).map(Opened::of_store)
            }
            _ => open_rows(found, limits, anywhere).map(|rows| Opened::Rows(Box::new(rows))),
        }
    }

    /// What a frame is. One whose description of a tensor cannot be read is a frame and no more.
    ///
    /// # Errors
    /// A metalayer of an array that contradicts the frame.
    pub fn of_frame(frame: SuperChunk<'static>) -> Result<Opened, Error> {
        if ARRAY.iter().any(|name| frame.metalayer(name).is_some()) {
            return NdArray::open(frame).map(|array| Opened::Array(Box::new(array)));
        }
        Ok(match tensor::meta_of(&frame) {
            Ok(Some(meta)) => Opened::Tensor(Box::new(Tensor::of(frame, meta))),
            _ => Opened::Frame(Box::new(frame)),
        })
    }

    /// A store, or the table that it is.
    #[cfg(feature = "store")]
    fn of_store(store: Store) -> Opened {
        let store = Box::new(store);
        if store.is_table() { Opened::Table(store) } else { Opened::Store(store) }
    }

    /// The rows of it, to read and to change: see [`Rows`](crate::Rows). Where rows of a tensor are added or taken away,
    /// its description follows in the same commit.
    ///
    /// # Errors
    /// A vlmetalayer that cannot be decoded; a store, which is no rows of one size.
    pub fn into_rows(self) -> Result<AnyRows, Error> {
        Ok(match self {
            Opened::Rows(rows) => *rows,
            #[cfg(feature = "store")]
            Opened::Store(_) | Opened::Table(_) => {
                let what = "taking a store as rows: it holds several arrays, each under its key,";
                return Err(Error::Unsupported { structure: crate::error::Structure::Store, what });
            }
            Opened::Frame(frame) => {
                let mut frame = *frame;
                let mut about = about("frame", &mut frame)?;
                if let Err(error) = tensor::meta_of(&frame) {
                    about.left_out.push(alloc::format!("vlmetalayer {} ({error})", tensor::NAME));
                }
                AnyRows {
                    most: most(&frame)?,
                    data: Container::Other(Box::new(FrameRows::new(frame, None))),
                    about,
                }
            }
            Opened::Tensor(tensor) => {
                let meta = tensor.meta().clone();
                let mut frame = tensor.into_frame();
                let about = about("tensor", &mut frame)?;
                let (dtype, shape) = (Some(meta.dtype().clone()), Some(meta.shape().to_vec()));
                let about = About { dtype, shape, tensor: Some(meta.clone()), ..about };
                AnyRows {
                    most: most(&frame)?,
                    data: Container::Other(Box::new(FrameRows::new(frame, Some(meta)))),
                    about,
                }
            }
            Opened::Array(mut array) => {
                let about = about("b2nd", array.frame_mut())?;
                let (dtype, shape) = (Some(array.dtype().clone()), Some(array.shape().to_vec()));
                let about = About { dtype, shape, ..about };
                AnyRows {
                    most: most(array.frame())?,
                    data: Container::Other(Box::new(ArrayRows::new(*array))),
                    about,
                }
            }
        })
    }
}

/// Opens the store that was found. It keeps no lock, so that its own changes can take it.
#[cfg(feature = "store")]
fn open_store(found: Found, limits: &Limits) -> Result<Store, Error> {
    let store = match found.file {
        Some(file) if found.write.is_none() => Store::of_file(&found.path, file, limits)?,
        file => {
            drop(file);
            Store::open_with(&found.path, limits)?
        }
    };
    let frames = |leaf| !matches!(leaf, Leaf::Foreign | Leaf::Link);
    match store.form() == Form::Folder && !store.entries().iter().any(|entry| frames(entry.leaf())) {
        true => Err(unknown()),
        false => Ok(store),
    }
}

/// Most bytes that a single call may decode of a frame.
fn most(frame: &SuperChunk<'_>) -> Result<u64, Error> {
    Ok(frame.limits().most(frame.container_bytes()?))
}

/// What a frame says besides its items.
fn about(kind: &'static str, frame: &mut SuperChunk<'_>) -> Result<About, Error> {
    let (mut left_out, mut pairs) = (Vec::new(), Vec::new());
    let names: Vec<String> = frame.vlmetalayer_names().collect();
    let known = [crate::cframe::CHECKSUMS_NAME, tensor::NAME];
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let content = frame.vlmetalayer(name)?.unwrap_or_default();
        match msgpack::to_value(&content) {
            Ok(value) => pairs.push((name.clone(), value)),
            Err(_) => left_out.push(alloc::format!("vlmetalayer {name} (no MessagePack)")),
        }
    }
    for name in frame.metalayer_names().filter(|name| !ARRAY.contains(&name.as_str())) {
        left_out.push(alloc::format!("metalayer {name}"));
    }
    let metadata = (!pairs.is_empty()).then_some(Value::Object(pairs));
    let (typesize, params) = (frame.typesize(), Some(frame.params()));
    Ok(About { kind, typesize, params, metadata, left_out, ..About::default() })
}
