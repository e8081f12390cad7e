//! `blosc append` to a table of python-blosc2: rows from CSV, JSON lines, Arrow or `.npz` files.
//!
//! ```text
//! lock the store → look at the table and the first rows, or refuse them by name → copy the table → append to the copy
//! exchange: a directory with its copy, a zip file with one that has the copy's files
//! ```
//! A table is never seen with columns of different lengths, and a failure leaves it as it was.

use crate::access::{self, Intent};
use crate::args::{Append, Input, Run};
use crate::failure::{Failure, Result, failure};
use crate::limits::limits_of;
use crate::open::open;
use crate::opened::Contents;
use crate::output::Destination;
use crate::paths::leaf;
use crate::readers::rows_of_files;
use crate::readers::table::of_table;
use blosc_frame::io::{FsDir, PathFile};
use blosc_frame::store::{Form, Store};
use blosc_frame::table::{Appending, Rows};
use std::fs;
use std::path::Path;

/// `blosc append` to a table.
///
/// # Errors
/// A table that is not appended to, and rows that do not fit, by their names; nothing has been changed then.
pub fn append(args: &Append) -> Result<()> {
    let given = args.frame.as_path();
    if args.plain || args.axis.is_some() || args.reserve != 0 {
        return Err(Failure::Usage(
            "--plain, --axis, --reserve: say nothing about the rows of a table".into(),
        ));
    }
    let (path, key) = leaf(given).unwrap_or_else(|| (given.to_path_buf(), String::new()));
    let input = args.access.input(&path, &Run { threads: args.threads, isa: None });
    // Other writers wait until the new state is in its place, and then read that.
    let _sidecar = access::lock(&path, input.lock, true)?;
    let locked = |e: blosc_frame::IoError| failure(&path)(e.into());
    let folder = path.join(key.trim_start_matches('/'));
    let (mut _dir, mut _file) = (None, None);
    match path.is_dir() {
        true => _dir = Some(FsDir::open_rw_with(&path, input.locking()).map_err(locked)?),
        false => _file = Some(PathFile::open_rw_with(&path, input.locking()).map_err(|e| locked(e.into()))?),
    }
    let mut source = None;
    let appending = look(args, given, &mut source)?;
    if appending.is_empty() {
        return Ok(());
    }
    let run = |appending: Appending<'_>, copy: &Path| appending.run(copy).map(drop).map_err(of_table(given));
    if path.is_dir() {
        return Destination::replacing(&folder)?.made(|copy| {
            copy_tree(&folder, copy)?;
            run(appending, copy)
        });
    }
    let destination = Destination::replacing(&path)?;
    let temp = destination.folder()?;
    let folder = temp.path().join("table");
    // The files of the table are unpacked, and the store is written anew with those that came of them.
    let store = Store::open_with(&path, &limits_of(args.access.max_output, &path))?;
    let left_out = store.left_out(Form::B2z);
    if !left_out.is_empty() {
        let text = format!("cannot be written anew: {}", left_out.join("; "));
        return Err(Failure::at(&path, text));
    }
    let table = store.group(&key).ok_or_else(|| Failure::at(given, "is no table any more"))?;
    table.save(&folder, Form::Folder)?;
    run(appending, &folder).map_err(Failure::of_a_part)?;
    let store = store.with_group(&key, &folder)?;
    destination.made(|new| Ok(store.save(new, Form::B2z)?))
}

/// Looks at the table and at the first of the rows.
fn look<'r>(args: &Append, given: &Path, source: &'r mut Option<Box<dyn Rows>>) -> Result<Appending<'r>> {
    let opened = open(&Input::whole(given, args.access.max_output, &Run::default()), Intent::Read)?;
    let Contents::Store(store) = &opened.what else {
        return Err(Failure::Unable(format!("{}: is no table any more", given.display())));
    };
    if !store.lies_in_files() {
        let text =
            "only tables whose columns are files of their own, in .b2d and .b2z stores, are appended to";
        return Err(Failure::Unable(format!("{}: {text}", given.display())));
    }
    let table = store.store.table("").map_err(of_table(given))?;
    let names: Vec<String> = table.schema.columns.iter().map(|column| column.name.clone()).collect();
    let rows = source.insert(rows_of_files::open(&args.input, &names, table.max_output)?);
    Appending::new(table, &mut **rows).map_err(of_table(given))
}

/// Copies a directory. Links are not followed.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(|e| Failure::at(to, e))?;
    for entry in fs::read_dir(from).map_err(|e| Failure::at(from, e))? {
        let entry = entry.map_err(|e| Failure::at(from, e))?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| Failure::at(&path, e))?;
        if kind.is_dir() {
            copy_tree(&path, &to)?;
        } else if kind.is_file() {
            fs::copy(&path, &to).map_err(|e| Failure::at(&path, e))?;
        } else {
            return Err(Failure::at(&path, "is no file and no directory, and is not copied"));
        }
    }
    Ok(())
}
