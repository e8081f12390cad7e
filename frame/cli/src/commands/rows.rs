//! Changing bloscpack files, bcolz and Blaze directories: rows of equal size.

use crate::args::{Append, Column, ColumnAction, Delete, Resize, Set, Trim};
use crate::failure::{Failure, Result};
use crate::source::plain::failure;
use crate::{detect, source};
use blosc_core::{Chunk, Params, Pool};
use blosc_frame::b2nd::dtype::Dtype;
use blosc_frame::b2nd::npy::NpyHeader;
use blosc_frame::bcolz::{CArray, CTable, Create};
use blosc_frame::blaze::{Blaze, is_blaze};
use blosc_frame::bloscpack::{Bloscpack, Edit, MetaOptions, Numpy, Order};
use blosc_frame::io::{FsDir, Offset, PathFile, ReadAt};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// A container that can be changed row by row.
pub enum Rows {
    /// A bloscpack file; a row is an item, or a row of its array.
    Pack(Box<Bloscpack<PathFile>>, Edit),
    /// A bcolz column.
    Column(Box<CArray<FsDir>>),
    /// A bcolz table.
    Table(CTable<FsDir>),
    /// A Blaze directory.
    Blaze(Box<Blaze<FsDir>>),
}

/// Opens `path` when it is one of these kinds.
pub fn open(path: &Path) -> Result<Option<Rows>> {
    let fail = failure(path);
    let limits = Limits::NONE;
    if path.is_dir() {
        if path.join("chunks.b2frame").is_file() || detect::directory(path).is_none() {
            return Ok(None);
        }
        let root = FsDir::open(path).map_err(|e| Failure::at(path, e))?;
        let rows = if path.join("__rootdirs__").exists() {
            Rows::Table(CTable::open(root, &limits).map_err(&fail)?)
        } else if is_blaze(&root) {
            Rows::Blaze(Box::new(Blaze::open(&root, &limits).map_err(&fail)?))
        } else {
            Rows::Column(Box::new(CArray::open(root, &limits).map_err(&fail)?))
        };
        return Ok(Some(rows));
    }
    let mut head = [0; 4];
    let is_pack = File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok() && head == *b"blpk";
    if !is_pack {
        return Ok(None);
    }
    let store = PathFile::open_rw(path).map_err(|e| Failure::at(path, e))?;
    let pack = Bloscpack::open(store, &limits).map_err(&fail)?;
    // New chunks are written as the last one was.
    let mut params = Params { blosc1: true, ..Params::new(u32::from(pack.header().typesize).max(1)) };
    if let Some(last) = pack.nchunks().checked_sub(1) {
        let bytes = pack.chunk_bytes(last).map_err(&fail)?;
        let header = *Chunk::parse(&bytes)?.header();
        params.typesize = header.typesize.into();
        params = params.codec(header.codec).filters(header.filters);
    }
    Ok(Some(Rows::Pack(Box::new(pack), Edit { params, ..Edit::default() })))
}

/// As [`open`], when nothing else will do.
pub fn require(path: &Path) -> Result<Rows> {
    open(path)?.ok_or_else(|| Failure::at(path, "not a bloscpack file, bcolz or Blaze directory"))
}

/// Bytes of a row.
fn row_of<R: ReadAt>(pack: &Bloscpack<R>, numpy: Option<&Numpy>) -> u64 {
    let row = match numpy {
        Some(n) => {
            n.shape.iter().skip(1).fold(u64::from(n.dtype.itemsize()), |n, &dim| n.saturating_mul(dim))
        }
        None => pack.header().typesize.into(),
    };
    row.max(1)
}

/// What is done to the rows.
enum Change<'a> {
    Append(&'a dyn ReadAt),
    Set(u64, &'a dyn ReadAt, bool),
    Remove(u64, u64),
    Resize(u64),
    Trim(u64),
}

impl Rows {
    fn change(&mut self, pool: &mut Pool, change: &Change<'_>) -> std::result::Result<(), Error> {
        let whole = |row: u64, n: u64| {
            n.checked_mul(row).ok_or(Error::OutOfRange { what: "row", index: n, len: u64::MAX })
        };
        match self {
            Rows::Pack(pack, edit) => {
                let numpy = pack.numpy()?;
                let row = row_of(pack, numpy.as_ref());
                let len = pack.nbytes();
                let new_len = match change {
                    Change::Append(data) => len.saturating_add(data.size()?),
                    Change::Set(..) => len,
                    Change::Remove(from, to) => len.saturating_sub(whole(row, to.saturating_sub(*from))?),
                    Change::Resize(rows) => whole(row, *rows)?,
                    Change::Trim(rows) => len.saturating_sub(whole(row, *rows)?),
                };
                let metadata = new_shape(numpy, pack, row, new_len)?;
                if let Some(metadata) = &metadata {
                    pack.check_metadata(metadata, &MetaOptions::default())?;
                }
                match change {
                    Change::Append(data) => pack.append(pool, edit, data)?,
                    Change::Set(at, data, false) => pack.set(pool, edit, whole(row, *at)?, data)?,
                    Change::Set(at, data, true) => pack.set_in_place(pool, edit, whole(row, *at)?, data)?,
                    Change::Remove(from, to) => {
                        pack.remove(pool, edit, whole(row, *from)?..whole(row, *to)?)?
                    }
                    Change::Resize(_) | Change::Trim(_) => pack.resize(pool, edit, new_len, &[0])?,
                }
                metadata.map_or(Ok(()), |metadata| pack.set_metadata(&metadata, &MetaOptions::default()))
            }
            Rows::Column(column) => match change {
                Change::Append(data) => column.append(pool, data),
                Change::Set(at, data, _) => column.set(pool, *at, data),
                Change::Remove(from, to) => column.remove(pool, *from..*to),
                Change::Resize(rows) => column.resize(pool, *rows),
                Change::Trim(rows) => column.trim(pool, *rows),
            },
            Rows::Table(table) => match change {
                Change::Append(data) => table.append(pool, data),
                Change::Set(at, data, _) => table.set(pool, *at, data),
                Change::Remove(from, to) => table.remove(pool, *from..*to),
                Change::Resize(rows) => table.resize(pool, *rows),
                Change::Trim(rows) => table.trim(pool, *rows),
            },
            Rows::Blaze(set) => match change {
                Change::Append(data) => set.append(pool, data),
                Change::Set(at, data, false) => set.set(pool, *at, data),
                Change::Set(at, data, true) => set.set_in_place(pool, *at, data),
                Change::Remove(from, to) => set.remove(pool, *from..*to),
                Change::Resize(rows) => set.resize(pool, *rows),
                Change::Trim(rows) => {
                    let (have, index) = (set.rows(), *rows);
                    let left =
                        have.checked_sub(index).ok_or(Error::OutOfRange { what: "row", index, len: have })?;
                    set.resize(pool, left)
                }
            },
        }
    }
}

/// The metadata of an array whose number of rows changes; bloscpack itself would leave it wrong.
fn new_shape(
    numpy: Option<Numpy>,
    pack: &Bloscpack<PathFile>,
    row: u64,
    len: u64,
) -> std::result::Result<Option<blosc_frame::value::Value>, Error> {
    let Some(mut numpy) = numpy.filter(|_| len != pack.nbytes()) else { return Ok(None) };
    let structure = blosc_frame::Structure::BloscpackMetadata;
    if numpy.order == Order::F && numpy.shape.len() > 1 {
        return Err(Error::Unsupported {
            structure,
            what: "changing the length of an array in Fortran order",
        });
    }
    let (Some(first), 0) = (numpy.shape.first_mut(), len % row) else {
        let value = i64::try_from(len).unwrap_or(i64::MAX);
        return Err(Error::Param { name: "bytes", value, allowed: "whole rows of the array" });
    };
    *first = len / row;
    let mut metadata = pack.metadata().cloned().unwrap_or(blosc_frame::value::Value::Null);
    let fresh = numpy.to_metadata()?;
    if let Some(shape) = fresh.get("shape") {
        metadata.set("shape", shape.clone());
    }
    Ok(Some(metadata))
}

/// Data from a file, the items of a `.npy` file, or standard input kept in a file meanwhile.
fn data(path: &Path) -> Result<Offset<File>> {
    let mut offset = 0;
    let file = if path == Path::new("-") {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        file.rewind()?;
        file
    } else {
        let mut file = File::open(path).map_err(|e| Failure::at(path, e))?;
        if path.extension().is_some_and(|e| e == "npy") {
            let mut head = Vec::new();
            file.by_ref().take(66_000).read_to_end(&mut head)?;
            offset = NpyHeader::length(&head).map_err(failure(path))? as u64;
        }
        file
    };
    Offset::new(file, offset).map_err(|e| Failure::at(path, e))
}

fn apply(path: &Path, rows: &mut Rows, change: &Change<'_>, threads: usize) -> Result<()> {
    rows.change(&mut Pool::new(threads), change).map_err(failure(path))
}

/// `blosc append`.
pub fn append(mut rows: Rows, args: &Append) -> Result<()> {
    let data = data(&args.input)?;
    apply(&args.frame, &mut rows, &Change::Append(&data), args.threads)
}

/// `blosc set`.
pub fn set(mut rows: Rows, args: &Set) -> Result<()> {
    let data = data(&args.input)?;
    let (start, _) = source::one_dimension(&args.start, &[], u64::MAX)?;
    apply(&args.array, &mut rows, &Change::Set(start, &data, args.in_place), args.run.threads)
}

/// `blosc resize`.
pub fn resize(mut rows: Rows, args: &Resize) -> Result<()> {
    let [n] = args.shape.as_slice() else {
        return Err(Failure::Usage("--shape: one number, the rows".into()));
    };
    apply(&args.array, &mut rows, &Change::Resize(*n), 1)
}

/// `blosc delete`.
pub fn delete(mut rows: Rows, args: &Delete) -> Result<()> {
    if args.axis != 0 {
        return Err(Failure::Usage("--axis: only rows can be deleted here".into()));
    }
    apply(&args.array, &mut rows, &Change::Remove(args.start, args.stop), 1)
}

/// `blosc trim`.
pub fn trim(args: &Trim) -> Result<()> {
    let mut rows = require(&args.container)?;
    apply(&args.container, &mut rows, &Change::Trim(args.rows), 1)
}

/// `blosc column`.
pub fn column(args: &Column) -> Result<()> {
    let path = match &args.action {
        ColumnAction::Add { table, .. } | ColumnAction::Rm { table, .. } | ColumnAction::Mv { table, .. } => {
            table
        }
    };
    let Rows::Table(mut table) = require(path)? else {
        return Err(Failure::at(path, "not a bcolz table"));
    };
    match &args.action {
        ColumnAction::Add { name, input, dtype, .. } => {
            let dtype = Dtype::parse(dtype).map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
            let create = Create { expectedlen: table.rows(), ..Create::new(dtype) };
            table.add_column(&mut Pool::new(0), name, &create, &data(input)?)
        }
        ColumnAction::Rm { name, .. } => table.remove_column(name),
        ColumnAction::Mv { name, to, .. } => table.rename_column(name, to),
    }
    .map_err(failure(path))
}
