//! What `compress` can write: one file per kind.

pub mod array;
mod chunk;
mod frame;

use crate::args::{Compress, Format};
use crate::failure::{Failure, Result};
use std::path::Path;

pub use frame::{new_dir, open as open_plain};

/// Writes `args.input` in the format asked for.
pub fn write(args: &Compress) -> Result<()> {
    match format(args)? {
        Format::Chunk => chunk::write(args),
        Format::B2nd => array::write(args),
        Format::B2frame => frame::write(args),
        Format::Sframe => frame::write_dir(args),
        other => Err(Failure::Usage(format!("--format {other:?} cannot be written yet"))),
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
        Some("blp") => Ok(Format::Bloscpack),
        _ if args.shape.is_some() || args.dtype.is_some() => Ok(Format::B2nd),
        _ => Ok(Format::B2frame),
    }
}
