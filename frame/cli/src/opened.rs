//! [`Opened`]: what a command has opened, and one way to read it, whatever it is.

use crate::access::Lock;
use crate::behind::Behind;
use crate::failure::{Failure, Result, failure};
use crate::readers::Reader;
use crate::readers::array::ArrayReader;
use crate::readers::chunk::ChunkReader;
use crate::readers::engines;
use crate::readers::frame::FrameReader;
use crate::readers::rows::RowsReader;
use crate::readers::store::StoreReader;
use crate::readers::table;
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
pub enum What {
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
    pub what: What,
    /// What lies behind the end of it in the file.
    pub(crate) behind: Option<Behind>,
    /// The last field: it is released after the container is closed.
    pub(crate) _lock: Option<Lock>,
}

impl From<engines::Foreign> for What {
    fn from(found: engines::Foreign) -> What {
        match found {
            engines::Foreign::Store(tree) => What::ForeignStore(tree),
            engines::Foreign::Array(array) => What::ForeignArray(array),
        }
    }
}

impl What {
    /// The container as the library converts it.
    ///
    /// # Errors
    /// A chunk or a store is no container of rows.
    pub fn into_any(self, path: &Path) -> Result<any::AnyRows> {
        let frame = match self {
            What::Rows(mut rows) => {
                rows.prepare()?;
                return Ok(rows.opened);
            }
            What::Array(array) => array.nd.into_frame(),
            What::Frame(reader) => reader.frame,
            What::Store(store) => return Err(store.many()),
            What::Chunk(_) => {
                return Err(Failure::at(
                    path,
                    "a bare chunk is no container: decompress it, and compress that",
                ));
            }
            What::ForeignStore(tree) => return Err(tree.many()),
            What::ForeignArray(_) => {
                let how = "is not converted: decompress it to a .npy file, and compress that";
                return Err(Failure::Unable(format!("{}: {how}", path.display())));
            }
        };
        any::of_frame(frame).map_err(failure(path))
    }
}

impl Opened {
    /// What lies in something that is open already.
    pub fn of(what: What) -> Opened {
        Opened { what, behind: None, _lock: None }
    }

    /// What is read item by item.
    ///
    /// # Errors
    /// One array of a store must be named.
    pub fn reader(&mut self) -> Result<&mut dyn Reader> {
        Ok(match &mut self.what {
            What::Array(reader) => &mut **reader,
            What::Frame(reader) => reader,
            What::Rows(reader) => reader,
            What::Chunk(reader) => reader,
            What::Store(store) => return Err(store.many()),
            What::ForeignStore(tree) => return Err(tree.many()),
            What::ForeignArray(reader) => reader,
        })
    }

    /// Everything there is to say, as a JSON object; `kind` comes first.
    pub fn info(&mut self) -> Result<Value> {
        let mut info = match &mut self.what {
            What::Store(store) => table::info(store)?,
            What::ForeignStore(tree) => tree.info(),
            _ => self.reader()?.info()?,
        };
        if let (Some(behind), Value::Object(info)) = (&self.behind, &mut info) {
            info.insert("trailing_bytes".into(), behind.bytes.into());
        }
        Ok(info)
    }

    /// Whether it is bytes, an array, or several.
    pub fn holds(&mut self) -> Holds {
        match &self.what {
            What::Store(store) if store.store.is_table() => Holds::Table,
            What::Store(_) => Holds::Arrays,
            What::ForeignStore(_) => Holds::Arrays,
            What::Array(_) => Holds::Array,
            What::Frame(reader) if Records::are_in(&reader.frame) => Holds::Records,
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
