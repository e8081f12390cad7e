//! Changing bloscpack files, bcolz and Blaze directories: rows of equal size.

use crate::access::{Access, max_of};
use crate::args::{Append, Column, ColumnAction, Delete, Insert, Resize, Set, Trim};
use crate::failure::{Failure, Result};
use crate::source::plain::{failure, limits};
use crate::{detect, source};
use blosc_core::Pool;
use blosc_frame::any::{About, Opened, open_any_mut};
use blosc_frame::bcolz::{CTable, Create};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{FsDir, Offset, ReadAt};
use blosc_frame::npy::NpyHeader;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Whether `path` is one of these kinds.
pub fn is(path: &Path) -> Result<bool> {
    Ok(match path.is_dir() {
        true => !path.join("chunks.b2frame").is_file() && detect::directory(path)?.is_some(),
        false => {
            let mut head = [0; 4];
            File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok() && detect::is_rows(&head)
        }
    })
}

/// Opens `path` to change it, when it is one of these kinds.
pub fn open(path: &Path, access: &Access) -> Result<Option<Opened>> {
    crate::output::remember_replacing(path);
    is(path)?.then(|| open_any_mut(path, &access.rows(path)?).map_err(failure(path))).transpose()
}

/// The items of a `.npy` file, which must be what the container has, or plain bytes; standard input is
/// kept in a file meanwhile.
fn data(path: &Path, about: &About) -> Result<Offset<File>> {
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
            let header = NpyHeader::parse(&head).map_err(failure(path))?;
            offset = NpyHeader::length(&head).map_err(failure(path))? as u64;
            check_items(path, &header, about)?;
            let (have, want) = (file.size()?.saturating_sub(offset), header.nbytes().unwrap_or(u64::MAX));
            if have != want {
                return Err(Failure::at(path, format!("has {have} bytes of items, its header says {want}")));
            }
        }
        file
    };
    Offset::new(file, offset).map_err(|e| Failure::at(path, e))
}

/// Refuses items that would be taken for something else.
fn check_items(path: &Path, header: &NpyHeader, about: &About) -> Result<()> {
    if let Some(dtype) = about.dtype.as_ref().filter(|dtype| **dtype != header.dtype) {
        return Err(Failure::at(path, format!("items of {}, but the container has {dtype}", header.dtype)));
    }
    if header.fortran && header.shape.len() > 1 {
        return Err(Failure::at(path, "items in Fortran order; save them in C order"));
    }
    if let Some(shape) = &about.shape
        && header.shape.iter().skip(1).ne(shape.iter().skip(1))
    {
        let text = format!("rows of shape {:?}, but the container has {:?}", &header.shape[1..], &shape[1..]);
        return Err(Failure::at(path, text));
    }
    Ok(())
}

/// `blosc append`.
pub fn append(mut opened: Opened, args: &Append) -> Result<()> {
    let data = data(&args.input, &opened.about)?;
    if args.axis.is_some_and(|axis| axis != 0) {
        return Err(Failure::Usage("--axis: rows are appended here".into()));
    }
    opened.data.set_reserve(args.reserve);
    opened.data.append(&mut Pool::new(args.threads), &data).map_err(failure(&args.frame))
}

/// `blosc set`.
pub fn set(mut opened: Opened, args: &Set) -> Result<()> {
    let data = data(&args.input, &opened.about)?;
    if !args.step.is_empty() {
        return Err(Failure::Usage("--step: only arrays are set with steps".into()));
    }
    let rows = opened.data.rows();
    let start = source::from_end("start", &args.start, Some(&[rows]))?;
    let stop = source::from_end("stop", &args.stop, Some(&[rows]))?;
    let (start, stop) = source::one_dimension(&start, &stop, rows)?;
    let size = data.size()?;
    let asked = stop.saturating_sub(start).saturating_mul(opened.data.row_nbytes());
    if !args.stop.is_empty() && size != asked {
        return Err(Failure::Usage(format!("rows {start}..{stop} take {asked} bytes, the input has {size}")));
    }
    let pool = &mut source::pool(&args.run);
    opened.data.set_reserve(args.reserve);
    match args.in_place {
        true => opened.data.set_in_place(pool, start, &data),
        false => opened.data.set(pool, start, &data),
    }
    .map_err(failure(&args.array))
}

/// `blosc resize`.
pub fn resize(mut opened: Opened, args: &Resize) -> Result<()> {
    let inner = opened.about.shape.as_deref().and_then(|shape| shape.get(1..)).unwrap_or_default();
    let (rows, rest) = args.shape.split_first().unwrap_or((&0, &[]));
    if !rest.is_empty() && rest != inner {
        return Err(Failure::Usage("--shape: only the number of rows can change here".into()));
    }
    opened.data.resize(&mut Pool::new(0), *rows).map_err(failure(&args.array))
}

/// `blosc insert`.
pub fn insert(mut opened: Opened, args: &Insert) -> Result<()> {
    let data = data(&args.input, &opened.about)?;
    rows_only(args.axis)?;
    opened.data.insert(&mut source::pool(&args.run), args.at, &data).map_err(failure(&args.array))
}

/// `blosc delete`.
pub fn delete(mut opened: Opened, args: &Delete) -> Result<()> {
    rows_only(args.axis)?;
    super::forward(args.start, args.stop)?;
    opened.data.remove(&mut Pool::new(0), args.start..args.stop).map_err(failure(&args.array))
}

fn rows_only(axis: usize) -> Result<()> {
    if axis != 0 {
        return Err(Failure::Usage("--axis: only rows can be inserted and deleted here".into()));
    }
    Ok(())
}

/// `blosc trim`.
pub fn trim(args: &Trim) -> Result<()> {
    let path = args.container.as_path();
    std::fs::metadata(path).map_err(|e| Failure::at(path, e))?;
    let none = || Failure::at(path, "not a bloscpack file, bcolz or Blaze directory");
    let mut pool = Pool::new(0);
    let limits = limits(max_of(args.max_output, path));
    if args.ragged {
        let root = FsDir::open(path).map_err(|e| Failure::at(path, e))?;
        let table = CTable::open_ragged(root, &limits);
        table.and_then(|mut table| table.repair(&mut pool)).map_err(failure(path))?;
    }
    if !is(path)? {
        return Err(none());
    }
    let mut opened = open_any_mut(path, &limits).map_err(failure(path))?;
    opened.data.trim(&mut pool, args.rows).map_err(failure(path))
}

/// `blosc column`.
pub fn column(args: &Column) -> Result<()> {
    let path = match &args.action {
        ColumnAction::Add { table, .. } | ColumnAction::Rm { table, .. } | ColumnAction::Mv { table, .. } => {
            table
        }
    };
    std::fs::metadata(path).map_err(|e| Failure::at(path, e))?;
    if !path.join("__rootdirs__").is_file() {
        return Err(Failure::at(path, "not a bcolz table"));
    }
    let root = FsDir::open(path).map_err(|e| Failure::at(path, e))?;
    let limits = limits(max_of(args.max_output, path));
    let mut table = CTable::open(root, &limits).map_err(failure(path))?;
    match &args.action {
        ColumnAction::Add { name, input, dtype, .. } => {
            let (dtype, row) = column_items(input, dtype.as_deref())?;
            let rows = blosc_frame::Rows::rows(&table);
            let about = About {
                dtype: Some(dtype.clone()),
                shape: Some([rows].iter().chain(&row).copied().collect()),
                ..About::default()
            };
            let create = Create { expectedlen: rows, row, ..Create::new(dtype) };
            table.add_column(&mut Pool::new(0), name, &create, &data(input, &about)?)
        }
        ColumnAction::Rm { name, .. } => table.remove_column(name),
        ColumnAction::Mv { name, to, .. } => table.rename_column(name, to),
    }
    .map_err(failure(path))
}

/// Type of a new column's items and shape of its rows: what the `.npy` file or `--dtype` says.
fn column_items(input: &Path, dtype: Option<&str>) -> Result<(Dtype, Vec<u64>)> {
    let dtype = dtype.map(Dtype::parse).transpose().map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
    if input.extension().is_some_and(|e| e == "npy") {
        let mut head = Vec::new();
        File::open(input)
            .and_then(|f| f.take(66_000).read_to_end(&mut head))
            .map_err(|e| Failure::at(input, e))?;
        let header = NpyHeader::parse(&head).map_err(failure(input))?;
        return Ok((dtype.unwrap_or(header.dtype), header.shape.iter().skip(1).copied().collect()));
    }
    let dtype =
        dtype.ok_or_else(|| Failure::Usage("--dtype: needed unless the items are a .npy file".into()));
    Ok((dtype?, Vec::new()))
}
