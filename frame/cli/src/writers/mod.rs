//! What can be written: one file per kind, and [`choice`], which decides among them.

pub mod array;
pub mod choice;
mod chunk;
pub mod containers;
pub mod frame;
mod guess;
pub mod names;
pub mod npy;
mod npz;
pub mod store;
pub mod table;
pub mod text;

use crate::args::{Compress, Format, Output};
use crate::failure::{Failure, Result};
use crate::opened::Holds;
use crate::output::{Destination, Shape, notice, spool_named};
use crate::streams::open_plain;
use blosc_frame::any::{HEAD, Kind};
use choice::{Request, Verb};
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::NamedTempFile;

/// What `compress` is given.
pub struct Input {
    /// Its name, for messages.
    pub path: PathBuf,
    pub holds: Holds,
    /// All of its bytes.
    pub data: Box<dyn Read>,
    /// How many there are, where that is known.
    pub len: Option<u64>,
    /// Whether it is a `.npy` file.
    pub npy: bool,
    /// The copy of a stream that is not read from first to last byte.
    copy: Option<NamedTempFile>,
}

impl Input {
    /// Opens it and looks what it is.
    fn open(args: &Compress) -> Result<Input> {
        let path = args.input.clone();
        let (mut data, len) = open_plain(&path)?;
        let mut head = Vec::new();
        data.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(|e| Failure::at(&path, e))?;
        let kind = Kind::of_head(&head, None);
        let npy = !args.plain && kind == Kind::Npy;
        let made = args.dtype.is_some() || args.shape.is_some();
        if npy && made {
            let text =
                "--dtype, --shape: a .npy file says them itself (--plain takes all of its bytes as items)";
            return Err(Failure::Usage(text.into()));
        }
        let holds = match npy || made {
            true => Holds::Array,
            false if is(&path, "npz") && !args.plain => Holds::Arrays,
            false if !args.plain && is_table(args) => Holds::Table,
            false if is(&path, "npy") && !args.plain => {
                return Err(Failure::at(
                    &path,
                    "is called .npy and is no NumPy file (--plain takes its bytes)",
                ));
            }
            false => Holds::Bytes,
        };
        let data = Box::new(io::Cursor::new(head).chain(data));
        let mut input = Input { path, holds, data, len, npy, copy: None };
        match kind {
            _ if args.plain || holds != Holds::Bytes => {}
            // The arrays of NumPy under another name, or without one.
            Kind::Zip => {
                let file = input.file()?;
                if npz::has_arrays(&file) {
                    input.holds = Holds::Arrays;
                } else {
                    input.data = Box::new(File::open(&file).map_err(Failure::io(&input.path))?);
                }
            }
            Kind::Frame | Kind::Bloscpack => {
                let what =
                    "compressed by Blosc already; its bytes are taken as they are (convert takes its items)";
                notice(format_args!("{}: {what}", input.path.display()));
            }
            _ => {}
        }
        Ok(input)
    }

    /// A file that holds it, for what is not read from first to last byte: itself, or a copy of a stream.
    fn file(&mut self) -> Result<PathBuf> {
        if self.len.is_some() {
            return Ok(self.path.clone());
        }
        if self.copy.is_none() {
            let mut copy = spool_named()?;
            io::copy(&mut self.data, copy.as_file_mut()).map_err(|e| Failure::at(&self.path, e))?;
            self.copy = Some(copy);
        }
        Ok(self.copy.as_ref().map(|copy| copy.path().to_path_buf()).unwrap_or_default())
    }
}

/// `blosc compress`.
pub fn write(mut args: Compress) -> Result<()> {
    args.output = args.named.output(|| names::compressed(&args))?;
    let started = Instant::now();
    let mut input = Input::open(&args)?;
    let request =
        Request { verb: Verb::Compress, holds: input.holds, name: &args.output.output, format: args.format };
    let format = request.format()?;
    choice::check_options(&args.given, input.holds, format)?;
    choice::check_chunksize(args.chunksize, format)?;
    // Frames and arrays hold all there is in a file that is not compressed.
    if !matches!(format, Format::Bloscpack | Format::Bcolz | Format::Blaze) {
        choice::nothing_left_out(args.partial, format)?;
    }
    destination(&args.output, if args.parts.sparse { Format::Arrays } else { format })?;
    if args.typesize.is_none()
        && input.holds == Holds::Bytes
        && matches!(format, Format::Chunk | Format::B2frame | Format::Sframe | Format::Bloscpack)
    {
        args.typesize = guess::typesize(&args, &mut input)?;
    }
    if input.holds == Holds::Bytes {
        args.params(1).check().map_err(crate::failure::params)?;
    }
    let len = input.len;
    match format {
        Format::Chunk => chunk::write(&args, input),
        Format::B2nd => array::write(&args, input),
        Format::B2frame => frame::write(&args, input),
        Format::Sframe => frame::write_dir(&args, input),
        Format::B2z | Format::B2d | Format::B2e | Format::Arrays if input.holds == Holds::Arrays => {
            let file = input.file()?;
            npz::compress(&args, &file, format)
        }
        Format::B2z | Format::B2d | Format::B2e if input.holds == Holds::Table => {
            table::create(&args, format)
        }
        Format::B2z | Format::B2d | Format::B2e => store::compress(&args, input, format),
        _ => containers::write(&args, input, format),
    }?;
    summary(&args, len, started);
    Ok(())
}

/// Says what came of it, on a terminal.
fn summary(args: &Compress, len: Option<u64>, started: Instant) {
    let output = &args.output.output;
    let Some(before) = len.filter(|_| io::stderr().is_terminal()) else { return };
    let Ok(meta) = fs::metadata(output) else { return };
    if !(meta.is_file() || meta.is_dir()) {
        return;
    }
    let after = if meta.is_dir() { crate::limits::size(output) } else { meta.len() };
    eprintln!(
        "{}: {} -> {}, ratio {:.2}, in {:.2} s",
        crate::printable::printable(&output.to_string_lossy()),
        crate::json::bytes(before),
        crate::json::bytes(after),
        before as f64 / after.max(1) as f64,
        started.elapsed().as_secs_f64()
    );
}

/// Whether the rows of a file are to become a table: a store is asked for, and bytes are none.
fn is_table(args: &Compress) -> bool {
    let store = match args.format {
        Some(format) => matches!(format, Format::B2d | Format::B2z | Format::B2e),
        None => is(&args.output.output, "b2d") || is(&args.output.output, "b2z"),
    };
    store && crate::readers::rows_of_files::kind(&args.input).is_some()
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Where a result of this format goes.
pub fn destination(output: &Output, format: Format) -> Result<Destination> {
    let directory =
        matches!(format, Format::Sframe | Format::Bcolz | Format::Blaze | Format::B2d | Format::Arrays);
    Destination::of(output, if directory { Shape::Directory } else { Shape::File })
}
