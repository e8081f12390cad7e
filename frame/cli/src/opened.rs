//! [`Opened`]: what a command has opened, and one way to read it, whatever it is.

use crate::access::Lock;
use crate::failure::{Failure, Result, failure};
use crate::readers::Reader;
use crate::readers::array::ArrayReader;
use crate::readers::chunk::ChunkReader;
use crate::readers::engines;
use crate::readers::frame::FrameReader;
use crate::readers::rows::RowsReader;
use crate::readers::store::StoreReader;
use crate::readers::table;
use crate::trailing::Trailing;
use blosc_frame::any;
use blosc_frame::table::Records;
use serde_json::Value;
use std::path::Path;

/// What the items are to who writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Bytes without dtype and shape.
    Bytes,
    /// Items of a dtype in a shape.
    Array,
    /// Several arrays by their names.
    Arrays,
    /// The rows of a table of python-blosc2.
    Table,
    /// Values of their own lengths.
    Records,
}

/// What a path holds.
pub enum Contents {
    /// An array.
    Array(Box<ArrayReader>),
    /// A frame that is no array.
    Frame(FrameReader),
    /// A bloscpack file, a bcolz or Blaze directory, a NumPy file.
    Rows(RowsReader),
    /// Several arrays.
    Store(StoreReader),
    /// A bare chunk.
    Chunk(ChunkReader),
    /// A Zarr store or an HDF5 file.
    ForeignStore(engines::Tree),
    /// One array in a Zarr store or an HDF5 file.
    ForeignArray(engines::GridReader),
}

/// What a command reads or changes.
pub struct Opened {
    /// What it is.
    pub what: Contents,
    /// What lies behind the end of it in the file.
    pub(crate) trailing: Option<Trailing>,
    /// The last field: it is released after the container is closed.
    pub(crate) _lock: Option<Lock>,
}

impl From<engines::Foreign> for Contents {
    fn from(found: engines::Foreign) -> Contents {
        match found {
            engines::Foreign::Store(tree) => Contents::ForeignStore(tree),
            engines::Foreign::Array(array) => Contents::ForeignArray(array),
        }
    }
}

impl Contents {
    /// The container as the library converts it.
    ///
    /// # Errors
    /// A chunk or a store is no container of rows.
    pub fn into_any(self, path: &Path) -> Result<any::AnyRows> {
        let frame = match self {
            Contents::Rows(mut rows) => {
                rows.prepare()?;
                return Ok(rows.opened);
            }
            Contents::Array(array) => array.nd.into_frame(),
            Contents::Frame(reader) => reader.frame,
            Contents::Store(store) => return Err(store.many()),
            Contents::Chunk(_) => {
                return Err(Failure::at(
                    path,
                    "a bare chunk is no container: decompress it, and compress that",
                ));
            }
            Contents::ForeignStore(tree) => return Err(tree.many()),
            Contents::ForeignArray(_) => {
                let how = "is not converted: decompress it to a .npy file, and compress that";
                return Err(Failure::Unable(format!("{}: {how}", path.display())));
            }
        };
        any::of_frame(frame).map_err(failure(path))
    }
}

impl Opened {
    /// What lies in something that is open already.
    pub fn of(what: Contents) -> Opened {
        Opened { what, trailing: None, _lock: None }
    }

    /// What is read item by item.
    ///
    /// # Errors
    /// One array of a store must be named.
    pub fn reader(&mut self) -> Result<&mut dyn Reader> {
        Ok(match &mut self.what {
            Contents::Array(reader) => &mut **reader,
            Contents::Frame(reader) => reader,
            Contents::Rows(reader) => reader,
            Contents::Chunk(reader) => reader,
            Contents::Store(store) => return Err(store.many()),
            Contents::ForeignStore(tree) => return Err(tree.many()),
            Contents::ForeignArray(reader) => reader,
        })
    }

    /// Everything there is to say, as a JSON object; `kind` comes first.
    pub fn info(&mut self) -> Result<Value> {
        let mut info = match &mut self.what {
            Contents::Store(store) => table::info(store)?,
            Contents::ForeignStore(tree) => tree.info(),
            _ => self.reader()?.info()?,
        };
        if let (Some(trailing), Value::Object(info)) = (&self.trailing, &mut info) {
            info.insert("trailing_bytes".into(), trailing.bytes.into());
        }
        Ok(info)
    }

    /// Whether it is bytes, an array, or several.
    pub fn holds(&mut self) -> Holds {
        match &self.what {
            Contents::Store(store) if store.store.is_table() => Holds::Table,
            Contents::Store(_) => Holds::Arrays,
            Contents::ForeignStore(_) => Holds::Arrays,
            Contents::Array(_) => Holds::Array,
            Contents::Frame(reader) if Records::are_in(&reader.frame) => Holds::Records,
            _ => match self.reader().map(|reader| reader.items().dtype) {
                Ok(Some(_)) => Holds::Array,
                _ => Holds::Bytes,
            },
        }
    }

    /// Decoded size in bytes, if known beforehand.
    pub fn nbytes(&mut self) -> Option<u64> {
        self.reader().ok().map(|reader| reader.items().nbytes())
    }
}
