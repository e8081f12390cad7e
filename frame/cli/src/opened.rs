//! [`Opened`]: what a command has opened, and one way to read it, whatever it is.

use crate::access::Lock;
use crate::behind::Behind;
use crate::failure::{Failure, Result, failure};
use crate::output::notice;
use crate::readers::array::ArrayReader;
use crate::readers::chunk::ChunkReader;
use crate::readers::engines;
use crate::readers::frame::FrameReader;
use crate::readers::rows::RowsReader;
use crate::readers::store::StoreReader;
use crate::readers::table;
use crate::readers::{Cut, NpyHead, Reader};
use crate::writers::choice::Holds;
use blosc_frame::any;
use blosc_frame::table::Records;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

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
    #[cfg_attr(not(any(feature = "zarr", feature = "hdf5")), expect(dead_code))]
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

    /// Writes the items that `cut` selects, in C order, telling `progress` how many bytes each time.
    pub fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        if let What::Array(array) = &mut self.what {
            return array.slice(cut, out, progress);
        }
        if let What::ForeignArray(array) = &mut self.what {
            return array.slice(cut, out, progress);
        }
        if let What::Rows(rows) = &mut self.what
            && rows.has_axes(cut)
        {
            return rows.slice(cut, out, progress);
        }
        let reader = self.reader()?;
        let rows = (!cut.is_all()).then(|| cut.rows_of(&reader.items())).transpose()?;
        reader.read(rows, out, progress)
    }

    /// The head of a `.npy` file of what `cut` selects; `None` where the type of the items is not known.
    pub fn npy_head(&mut self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        if let What::Array(array) = &mut self.what {
            return array.npy_head(cut).map(Some);
        }
        if let What::ForeignArray(array) = &self.what {
            return array.npy_head(cut).map(Some);
        }
        if let What::Rows(rows) = &self.what
            && rows.has_axes(cut)
        {
            return rows.npy_head(cut);
        }
        let items = self.reader()?.items();
        items.npy_head(&cut.rows_of(&items)?)
    }

    /// Writes all items in the order that the header of the whole says.
    pub fn read_npy(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        match &mut self.what {
            What::Array(array) => array.read_npy(out, progress),
            _ => self.read(&Cut::ALL, out, progress),
        }
    }

    /// Hands every array of a store to `f`, with its name as the member of a `.npz` file.
    pub fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        match &self.what {
            What::Store(store) => store.each_array(f),
            What::ForeignStore(tree) => tree.each_array(f),
            _ => Ok(()),
        }
    }

    /// Checks every checksum, and unless `quick` decodes everything.
    ///
    /// # Errors
    /// A verdict that is not `intact`.
    pub fn verify(&mut self, path: &Path, quick: bool, progress: &dyn Fn(u64)) -> Result<Value> {
        let mut found = match &mut self.what {
            What::Store(store) if !quick => table::verify(store, progress),
            What::ForeignStore(tree) if !quick => tree.verify(progress),
            What::Rows(rows) => rows.verify(quick, progress)?,
            _ if quick => {
                let which = "only bloscpack files and Blaze directories have checksums for that";
                return Err(Failure::Usage(format!("--quick: {which}")));
            }
            _ => self.reader()?.verify(progress)?,
        };
        if let (Some(behind), Value::Object(report)) = (&self.behind, &mut found.report) {
            report.insert("trailing_bytes".into(), behind.bytes.into());
            match behind.is_data() {
                true => found.unchecked.push(behind.describe()),
                false => notice(format_args!("{}: {}", path.display(), behind.describe())),
            }
        }
        found.verdict(path)
    }
}
