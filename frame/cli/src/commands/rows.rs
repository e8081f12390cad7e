//! Changing bloscpack files, bcolz and Blaze directories: rows of equal size.

use crate::access::Intent;
use crate::args::{
    Append, Column, ColumnAction, Compact, Delete, Input, Insert, Resize, Run, Set, Strays, Trim,
};
use crate::failure::{Failure, Result, failure, sized};
use crate::items::{NewItems, open_items};
use crate::limits::limits_of;
use crate::open::open;
use crate::opened::Contents;
use crate::readers::pool;
use blosc_core::Pool;
use blosc_frame::any::{About, AnyRows, Container};
use blosc_frame::bcolz::{CTable, Create, Uncounted};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{FsDir, ReadAt};
use blosc_frame::{Error, IoError, IoKind, Rows};
use serde_json::{Value, json};
use std::path::Path;

/// The bytes of new rows.
fn data(new: NewItems, path: &Path, about: &About) -> Result<Box<dyn ReadAt>> {
    let size = about.dtype.as_ref().map_or(about.typesize, Dtype::itemsize);
    new.check(about.dtype.as_ref(), size.into())?;
    let shapes = new.items.as_ref().filter(|items| items.dtype.is_some()).zip(about.shape.as_ref());
    if let Some((items, shape)) = shapes
        && items.shape.iter().skip(1).ne(shape.iter().skip(1))
    {
        let of = |shape: &[u64]| format!("{:?}", shape.get(1..).unwrap_or_default());
        let text = format!("rows of shape {}, but the container has {}", of(&items.shape), of(shape));
        return Err(Failure::at(path, text));
    }
    new.at(u64::MAX)
}

/// What a change of the container at `path` came to.
fn changed(path: &Path) -> impl Fn(Error) -> Failure + '_ {
    move |error| sized(error).about(path.display())
}

/// `blosc append`.
pub fn append(opened: &mut AnyRows, new: NewItems, args: &Append) -> Result<()> {
    rows_only(args.axis.unwrap_or(0))?;
    let data = data(new, &args.input, &opened.about)?;
    opened.data.set_reserve(args.reserve);
    opened.data.append(&mut Pool::new(args.threads), &data).map_err(changed(&args.frame))
}

/// `blosc set`.
pub fn set(opened: &mut AnyRows, new: NewItems, args: &Set) -> Result<()> {
    let data = data(new, &args.input, &opened.about)?;
    let cut = args.part.cut();
    let rows = cut.rows(opened.data.rows())?;
    let size = data.size()?;
    let wanted = (rows.end - rows.start).saturating_mul(opened.data.row_nbytes());
    if !args.part.stop.is_empty() && size != wanted {
        let text = format!("rows {}..{} take {wanted} bytes, the input has {size}", rows.start, rows.end);
        return Err(Failure::Usage(text));
    }
    let end = rows.start.saturating_add(size.checked_div(opened.data.row_nbytes()).unwrap_or(0));
    if end > opened.data.rows() {
        let text = format!("rows {}..{end} would be set, but there are {}", rows.start, opened.data.rows());
        // Without a range, the input has more rows than the container.
        return Err(match cut.is_all() {
            true => Failure::at(&args.array, text),
            false => Failure::Usage(format!("{}: {text}", args.array.display())),
        });
    }
    let pool = &mut pool(&args.run);
    opened.data.set_reserve(args.reserve);
    match args.in_place {
        true => opened.data.set_in_place(pool, rows.start, &data),
        false => opened.data.set(pool, rows.start, &data),
    }
    .map_err(changed(&args.array))
}

/// `blosc resize`.
pub fn resize(opened: &mut AnyRows, args: &Resize) -> Result<()> {
    let inner = opened.about.shape.as_deref().and_then(|shape| shape.get(1..)).unwrap_or_default();
    let (rows, rest) = args.shape.split_first().unwrap_or((&0, &[]));
    if !rest.is_empty() && rest != inner {
        return Err(Failure::Usage("--shape: only the number of rows can change here".into()));
    }
    opened.data.resize(&mut Pool::new(0), *rows).map_err(changed(&args.array))
}

/// `blosc insert`.
pub fn insert(opened: &mut AnyRows, new: NewItems, args: &Insert) -> Result<()> {
    rows_only(args.axis)?;
    let data = data(new, &args.input, &opened.about)?;
    opened.data.insert(&mut pool(&args.run), args.at, &data).map_err(changed(&args.array))
}

/// `blosc delete`.
pub fn delete(opened: &mut AnyRows, args: &Delete) -> Result<()> {
    rows_only(args.axis)?;
    crate::cut::forward(args.start, args.stop)?;
    opened.data.remove(&mut Pool::new(0), args.start..args.stop).map_err(changed(&args.array))
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
    let mut pool = Pool::new(0);
    if args.ragged {
        let locking = args.access.input(path, &Run::default()).locking();
        let root = FsDir::open_rw_with(path, locking).map_err(|e| failure(path)(e.into()))?;
        let table = CTable::open_ragged(root, &limits_of(args.access.max_output, path));
        table.and_then(|mut table| table.repair(&mut pool)).map_err(failure(path))?;
    }
    match open(&args.access.input(path, &Run::default()), Intent::Change)?.what {
        Contents::Rows(mut rows) => rows.opened.data.trim(&mut pool, args.rows).map_err(changed(path)),
        _ => Err(Failure::at(path, "not a bloscpack file, bcolz or Blaze directory")),
    }
}

/// `blosc compact --strays` of a bcolz or Blaze directory.
pub fn strays(args: &Compact, how: Strays) -> Result<Value> {
    let path = args.frame.as_path();
    let Contents::Rows(mut reader) = open(&args.access.input(path, &Run::default()), Intent::Change)?.what
    else {
        return Err(Failure::at(path, "not a bcolz or Blaze directory"));
    };
    let data = &mut reader.opened.data;
    let before = data.rows();
    let found = match data {
        Container::Column(column) => column.uncounted(),
        Container::Table(table) => table.uncounted(),
        Container::Blaze(set) => set.uncounted(),
        _ => Ok(Uncounted::default()),
    };
    let found = found.map_err(failure(path))?;
    let rows = match how {
        Strays::Take => before.saturating_add(found.rows),
        Strays::Drop => before,
    };
    let pool = &mut Pool::new(0);
    match data {
        _ if !found.any() => Ok(()),
        Container::Column(column) => column.settle(pool, rows),
        Container::Table(table) => table.settle(pool, rows),
        Container::Blaze(set) => set.settle(pool, rows),
        _ => Ok(()),
    }
    .map_err(changed(path))?;
    Ok(json!({"rows_before": before, "rows": rows, "found_rows": found.rows, "found_files": found.files}))
}

/// `blosc column`.
pub fn column(args: &Column) -> Result<()> {
    let (ColumnAction::Add { table: path, access, .. }
    | ColumnAction::Rm { table: path, access, .. }
    | ColumnAction::Mv { table: path, access, .. }) = &args.action;
    let opened = open(&access.input(path, &Run::default()), Intent::Change)?;
    let Contents::Rows(mut rows) = opened.what else { return Err(Failure::at(path, "not a bcolz table")) };
    let Container::Table(table) = &mut rows.opened.data else {
        return Err(Failure::at(path, "not a bcolz table"));
    };
    match &args.action {
        ColumnAction::Add { name, input: from, dtype, plain, .. } => {
            let new = open_items(&Input::whole(from, access.max_output, &Run::default()), *plain)?;
            let given = dtype.as_deref().map(Dtype::parse).transpose();
            let given = given.map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
            let known = new.items.as_ref().and_then(|items| items.dtype.clone());
            let Some(dtype) = given.or(known) else {
                return Err(Failure::Usage("--dtype: needed where the input does not say it".into()));
            };
            if let Some(rows) = new.shape().and_then(|shape| shape.first()).filter(|n| **n != table.rows()) {
                return Err(Failure::at(from, format!("{rows} rows, but the table has {}", table.rows())));
            }
            let row = new.shape().and_then(|shape| shape.get(1..)).unwrap_or_default().to_vec();
            let rows = table.rows();
            let mut about = About::default();
            about.dtype = Some(dtype.clone());
            about.shape = Some([rows].iter().chain(&row).copied().collect());
            let create = Create { expectedlen: rows, row, ..Create::new(dtype) };
            table.add_column(&mut Pool::new(0), name, &create, &data(new, from, &about)?)
        }
        ColumnAction::Rm { name, .. } => table.remove_column(name),
        ColumnAction::Mv { name, to, .. } => table.rename_column(name, to),
    }
    .map_err(|error| {
        let (ColumnAction::Add { name, .. }
        | ColumnAction::Rm { name, .. }
        | ColumnAction::Mv { to: name, .. }) = &args.action;
        match error {
            Error::Io(IoError { kind: IoKind::Name, .. }) => {
                Failure::Usage(format!("{name:?}: no column can be called so"))
            }
            Error::Io(IoError { kind: IoKind::AlreadyExists, .. }) => {
                Failure::Usage(format!("{name:?}: the table has a column that is called so"))
            }
            error => changed(path)(error),
        }
    })
}
