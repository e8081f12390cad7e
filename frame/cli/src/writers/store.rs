//! Stores, as the library writes them: of new arrays, and of other stores.

use super::array::{items, write_items};
use super::choice::{self, Request, Verb, check_partial};
use super::{Input, destination};
use crate::args::{Compress, Convert, Format, Output};
use crate::failure::{Failure, Result};
use crate::opened::Holds;
use crate::output::Destination;
use crate::paths::plain_name;
use crate::readers::store::StoreReader;
use blosc_frame::store::{Form, Store};
use std::path::{Path, PathBuf};

/// One array as a store of one leaf, which is called as the file is.
pub fn compress(args: &Compress, input: Input, format: Format) -> Result<()> {
    let destination = destination(&args.output, format)?;
    let items = items(&input.path, input.data, args.dtype.as_deref(), args.shape.as_deref())?;
    write(&destination, format, |folder| {
        let output = Output { output: folder.join(leaf(&input.path)), force: false };
        write_items(items, &input.path, &output, args)
    })
}

/// What the leaf of an array is called that comes from `path`.
pub fn leaf(path: &Path) -> PathBuf {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // What NumPy calls the first array without a name.
    let name = plain_name(&stem).filter(|stem| *stem != "-" && !stem.starts_with('_')).unwrap_or("arr_0");
    PathBuf::from(format!("{name}.b2nd"))
}

/// The form of a store that a format is.
fn form(format: Format) -> Option<Form> {
    Some(match format {
        Format::B2d => Form::B2d,
        Format::B2z => Form::B2z,
        Format::B2e => Form::B2e,
        Format::Arrays => Form::Folder,
        _ => return None,
    })
}

/// Has `fill` put arrays into an empty directory and makes a store of it.
pub fn write(
    destination: &Destination,
    format: Format,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    // What is made lies under another name until it is complete.
    let named =
        |error: blosc_frame::FileError| Failure::from(error.error).about(destination.name().display());
    let made = |folder: &Path| -> Result<()> {
        Store::create(folder, Form::B2d).map_err(named)?;
        fill(folder)
    };
    if format == Format::B2d {
        return destination.made(made);
    }
    let temp = destination.folder()?;
    let folder = temp.path().join("store");
    made(&folder).map_err(Failure::of_a_part)?;
    let form = form(format).unwrap_or(Form::B2z);
    destination.made(|new| Store::open(&folder).and_then(|store| store.save(new, form)).map_err(named))
}

/// `blosc convert` of a store to another form of store; `false` if something else is asked for.
pub fn convert(found: &StoreReader, holds: Holds, args: &Convert) -> Result<bool> {
    let request = Request { verb: Verb::Convert, holds, name: &args.output.output, format: args.format };
    let format = request.format()?;
    let Some(form) = form(format) else { return Ok(false) };
    if args.input.kind.is_some() || !args.input.column.is_empty() {
        return Err(Failure::Usage("--as, --column: a store is copied as it is".into()));
    }
    choice::none_apply(&args.given)?;
    let left_out = found.store.left_out(form);
    if left_out.is_empty() {
        choice::nothing_left_out(args.partial, format)?;
    }
    check_partial(&args.output.output, &left_out, args.partial)?;
    let destination = destination(&args.output, format)?;
    destination.made(|new| {
        found.store.save(new, form).map_err(|error| match error.path == *new {
            true => Failure::from(error.error).about(destination.name().display()),
            false => error.into(),
        })
    })?;
    Ok(true)
}
