//! What `compress` can write: one file per kind.

pub mod array;
mod chunk;
pub mod containers;
mod frame;
pub mod npz;

use crate::args::{Compress, Convert, Format, Output};
use crate::failure::{Failure, Result};
use std::path::{Path, PathBuf};

pub use frame::{new_dir, new_file, open as open_plain};

/// Writes `args.input` in the format asked for.
pub fn write(mut args: Compress) -> Result<()> {
    args.output = Output { output: place(&args)?, force: args.force };
    let args = &args;
    match format(args)? {
        Format::Chunk => chunk::write(args),
        Format::B2nd if is(&args.input, "npz") => npz::compress(args),
        Format::B2nd => array::write(args),
        Format::B2frame => frame::write(args),
        Format::Sframe => frame::write_dir(args),
        Format::Npy => Err(Failure::Usage("a .npy file is not compressed; use convert".into())),
        format @ (Format::Bloscpack | Format::Bcolz | Format::Blaze) => containers::write(args, format),
    }
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// The output asked for, or the one a NumPy file's name stands for.
fn place(args: &Compress) -> Result<PathBuf> {
    match &args.named {
        Some(path) => Ok(path.clone()),
        None if is(&args.input, "npy") => Ok(args.input.with_extension("b2nd")),
        None if is(&args.input, "npz") => Ok(args.input.with_extension("")),
        None => Err(Failure::Usage("-o: name the file to write (only .npy and .npz files need none)".into())),
    }
}

/// The format asked for, or the one the output's name stands for.
fn format(args: &Compress) -> Result<Format> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let name = Path::new(&args.output.output);
    match name.extension().and_then(|e| e.to_str()) {
        Some("chunk" | "cdata") => Ok(Format::Chunk),
        Some("b2nd") => Ok(Format::B2nd),
        Some("b2frame") => Ok(Format::B2frame),
        Some("blp") => Ok(Format::Bloscpack),
        Some(plain @ ("npy" | "npz")) => Err(Failure::Usage(format!(
            "-o: .{plain} files are not compressed; decompress and convert write them, and --format says what else it is"
        ))),
        _ if is(&args.input, "npz") => Ok(Format::B2nd),
        _ if args.shape.is_some() || args.dtype.is_some() => Ok(Format::B2nd),
        _ => Ok(Format::B2frame),
    }
}

/// The container `convert` shall write; `None` when an array is copied to an array.
pub fn convert_format(args: &Convert, from_array: bool) -> Option<Format> {
    let name = args.output.output.as_path();
    let by_name = match name.extension().and_then(|e| e.to_str()) {
        Some("blp") => Some(Format::Bloscpack),
        Some("npy") => Some(Format::Npy),
        Some("b2frame") => Some(Format::B2frame),
        _ => None,
    };
    let format = args.format.or(by_name);
    match format {
        None | Some(Format::B2nd) if from_array => None,
        None if name.extension().is_some_and(|e| e == "b2nd") => Some(Format::B2nd),
        None => None,
        format => format,
    }
}
