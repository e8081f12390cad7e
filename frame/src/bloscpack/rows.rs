//! [`PackRows`]: a file as rows, whose metadata follows when their number changes.
//!
//! ```text
//! row = the file's typesize, or with NumPy metadata all items that have one first index
//! append, splice, resize of an array: chunks and the new shape go into one new file → rename
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::edit::Edit;
use super::numpy::{Numpy, Order};
use super::reader::Bloscpack;
use crate::error::{Error, Structure};
use crate::io::{ReadAt, Store};
use crate::limits::Limits;
use crate::plain::{Piece, Plain};
use crate::reversed::AxesReversed;
use crate::rows::{Rows, byte_range, check_end, check_rows, count};
use crate::value::Value;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::{Chunk, Params, Pool};
use core::ops::Range;

/// A bloscpack file as rows.
pub struct PackRows<S> {
    pack: Bloscpack<S>,
    edit: Edit,
    numpy: Option<Numpy>,
    row: u64,
}

impl<S: ReadAt> PackRows<S> {
    /// Opens a file; chunks that change are written as its last one was.
    ///
    /// # Errors
    /// As [`Bloscpack::open`], and for metadata that contradicts the data.
    pub fn open(source: S, limits: &Limits) -> Result<PackRows<S>, Error> {
        let pack = Bloscpack::open(source, limits)?;
        let numpy = pack.numpy()?;
        let row = match &numpy {
            Some(n) => n
                .shape
                .iter()
                .skip(1)
                .fold(u64::from(n.dtype.itemsize()), |row, &dim| row.saturating_mul(dim)),
            None => u64::from(pack.header().typesize).max(1),
        };
        let edit = Edit { grow: true, ..Edit::default() };
        Ok(PackRows { pack, edit, numpy, row })
    }

    /// The file.
    pub fn pack(&self) -> &Bloscpack<S> {
        &self.pack
    }

    /// What the metadata says about a NumPy array.
    pub fn numpy(&self) -> Option<&Numpy> {
        self.numpy.as_ref()
    }

    /// The parameters of the last chunk, as far as a chunk tells them.
    ///
    /// # Errors
    /// A last chunk that is damaged.
    pub fn params(&self) -> Result<Params, Error> {
        let header = self.pack.header();
        let mut params = Params::new(u32::from(header.typesize).max(1)).blosc1(true);
        if let Some(last) = self.pack.nchunks().checked_sub(1) {
            let bytes = self.pack.chunk_bytes(last)?;
            let header = *Chunk::parse(&bytes).map_err(Error::Codec)?.header();
            params.typesize = header.typesize.into();
            params = params.codec(header.codec).filters(header.filters);
        }
        Ok(params)
    }

    /// Bytes of a row: all items of an array that have one first index, else an item.
    pub fn row_nbytes(&self) -> u64 {
        self.row
    }

    /// The array, where its items are stored in another order than that of its rows.
    fn fortran(&self) -> Option<&Numpy> {
        self.numpy.as_ref().filter(|numpy| numpy.order == Order::F && numpy.shape.len() > 1)
    }

    /// The items in C order.
    fn items(&self) -> Result<Box<dyn Plain + '_>, Error> {
        Ok(match self.fortran() {
            Some(array) => Box::new(AxesReversed::new(&self.pack, &array.shape, array.dtype.itemsize())?),
            None => Box::new(&self.pack),
        })
    }

    /// The metadata with another number of rows, in C order; `None` where nothing of it changes.
    fn reshaped(&self, len: u64) -> Result<Option<Value>, Error> {
        let same = self.row > 0 && len == self.pack.nbytes() && self.fortran().is_none();
        let Some(numpy) = self.numpy.as_ref().filter(|_| !same) else { return Ok(None) };
        let mut shape = numpy.shape.clone();
        let (Some(first), Some(rows)) = (shape.first_mut(), len.checked_div(self.row)) else {
            let what = "changing the length of an array without dimensions, or of rows without items";
            return Err(Error::Unsupported { structure: Structure::BloscpackMetadata, what });
        };
        *first = rows;
        let mut metadata = self.pack.metadata().cloned().unwrap_or(Value::Null);
        metadata.set("shape", Value::List(shape.iter().map(|&n| Value::int(n)).collect()));
        if self.fortran().is_some() {
            metadata.set("order", Value::text("C"));
        }
        Ok(Some(metadata))
    }
}

impl<S: Store> PackRows<S> {
    fn change(&mut self, pool: &mut Pool, range: Range<u64>, pieces: Vec<Piece<'_>>) -> Result<(), Error> {
        let added = pieces.iter().fold(0u64, |n, piece| n.saturating_add(piece.len()));
        let gone = range.end.saturating_sub(range.start);
        let metadata = self.reshaped(self.pack.nbytes().saturating_sub(gone).saturating_add(added))?;
        let edit = Edit { params: self.params()?, ..self.edit };
        let fortran = self.fortran().cloned();
        self.pack.splice_array(pool, &edit, range, pieces, metadata.as_ref(), fortran.as_ref())?;
        self.numpy = self.pack.numpy()?;
        Ok(())
    }
}

impl<S: ReadAt> Plain for PackRows<S> {
    fn nbytes(&self) -> u64 {
        self.pack.nbytes()
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.items()?.read_plain(pool, at, out)
    }
    fn chunk_nbytes(&self) -> u64 {
        self.items().map_or(1 << 20, |items| items.chunk_nbytes())
    }
    fn read_box(
        &self,
        pool: &mut Pool,
        array: (&[u64], u64),
        ranges: &[Range<u64>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        self.items()?.read_box(pool, array, ranges, out)
    }
}

impl<S: Store> Rows for PackRows<S> {
    fn row_nbytes(&self) -> u64 {
        self.row
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        check_end(self.pack.nbytes(), self.row)?;
        let n = count(self.row, data)?.saturating_mul(self.row);
        self.change(pool, byte_range(self.row, &rows)?, vec![Piece::New(data, 0..n)])
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        let old = self.pack.nbytes();
        let new = byte_range(self.row, &(0..rows))?.end;
        let pieces = match new.checked_sub(old) {
            Some(more) if more > 0 => vec![Piece::Fill(&[0], more)],
            _ => Vec::new(),
        };
        self.change(pool, new.min(old)..old, pieces)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.edit.reserve = bytes;
    }

    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        if self.fortran().is_some() {
            let what = "changing an array in Fortran order in place";
            return Err(Error::Unsupported { structure: Structure::BloscpackMetadata, what });
        }
        let n = count(self.row, data)?;
        check_rows(self.rows(), row..row.saturating_add(n))?;
        self.pack.check_unchanged()?;
        let at = byte_range(self.row, &(0..row))?.end;
        let edit = Edit { params: self.params()?, ..self.edit };
        self.pack.set_in_place(pool, &edit, at, data)
    }
}
