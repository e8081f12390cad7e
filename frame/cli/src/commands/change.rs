//! `append`, `set`, `resize`, `insert`, `delete`: what is opened says which module changes it.

use super::{array, frame, rows, table};
use crate::access::Intent;
use crate::args::{Append, Delete, Input, Insert, Resize, Run, Set};
use crate::failure::{Failure, Result};
use crate::items::{NewItems, open_items};
use crate::open::open;
use crate::opened::{Contents, Opened};
use blosc_frame::any::Container;
use std::path::Path;

/// `blosc append`.
pub fn append(args: &Append) -> Result<()> {
    let input = args.access.input(&args.frame, &Run { threads: args.threads, isa: None });
    let mut opened = open(&input, Intent::Change)?;
    of_rows_only(&opened, args.reserve > 0, "--reserve", &args.frame)?;
    let new = || new_items(&args.input, &input, args.plain);
    match &mut opened.what {
        Contents::Rows(rows) => rows::append(&mut rows.opened, new()?, args),
        Contents::Array(array) => array::append(&mut array.nd, new()?, args),
        Contents::Frame(reader) => frame::append(&mut reader.frame, new()?, args),
        Contents::Store(store) if store.store.is_table() => {
            // It takes the lock before it looks.
            drop(opened);
            table::append(args)
        }
        _ => Err(unchangeable(&args.frame)),
    }
}

/// `blosc set`.
pub fn set(args: &Set) -> Result<()> {
    let input = args.access.input(&args.array, &args.run);
    let mut opened = open(&input, Intent::Change)?;
    of_rows_only(&opened, args.reserve > 0, "--reserve", &args.array)?;
    of_rows_only(&opened, args.in_place, "--in-place", &args.array)?;
    let new = || new_items(&args.input, &input, args.plain);
    match &mut opened.what {
        Contents::Rows(rows) => rows::set(&mut rows.opened, new()?, args),
        Contents::Array(array) => array::set(&mut array.nd, new()?, args),
        _ => Err(no_array(&args.array)),
    }
}

/// `blosc resize`.
pub fn resize(args: &Resize) -> Result<()> {
    let mut opened = open(&args.access.input(&args.array, &Run::default()), Intent::Change)?;
    match &mut opened.what {
        Contents::Rows(rows) => rows::resize(&mut rows.opened, args),
        Contents::Array(array) => array::resize(&mut array.nd, args),
        _ => Err(no_array(&args.array)),
    }
}

/// `blosc insert`.
pub fn insert(args: &Insert) -> Result<()> {
    let input = args.access.input(&args.array, &args.run);
    let mut opened = open(&input, Intent::Change)?;
    let new = || new_items(&args.input, &input, args.plain);
    match &mut opened.what {
        Contents::Rows(rows) => rows::insert(&mut rows.opened, new()?, args),
        Contents::Array(array) => array::insert(&mut array.nd, new()?, args),
        _ => Err(no_array(&args.array)),
    }
}

/// `blosc delete`.
pub fn delete(args: &Delete) -> Result<()> {
    let mut opened = open(&args.access.input(&args.array, &Run::default()), Intent::Change)?;
    match &mut opened.what {
        Contents::Rows(rows) => rows::delete(&mut rows.opened, args),
        Contents::Array(array) => array::delete(&mut array.nd, args),
        _ => Err(no_array(&args.array)),
    }
}

/// The items in `path` that go into what `into` names.
fn new_items(path: &Path, into: &Input, plain: bool) -> Result<NewItems> {
    open_items(&Input::whole(path, into.max_output, &into.run), plain)
}

/// Refuses an option that says something of containers of rows where `opened` is none.
fn of_rows_only(opened: &Opened, given: bool, option: &str, path: &Path) -> Result<()> {
    match &opened.what {
        Contents::Rows(rows) if !matches!(rows.opened.data, Container::Other(_)) => Ok(()),
        _ if given => {
            let text = "it applies to bloscpack files, bcolz and Blaze directories only";
            Err(Failure::Usage(format!("{option}: {}: {text}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The answer to `append` to what takes none.
fn unchangeable(path: &Path) -> Failure {
    Failure::at(path, "a chunk or a store cannot be changed: append takes frames, arrays, rows and tables")
}

/// The answer to a change of items of what has none.
fn no_array(path: &Path) -> Failure {
    Failure::at(path, "no array: append and edit change a plain frame, append a table, and nothing a chunk")
}
