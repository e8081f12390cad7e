//! Inputs that are no files, and files without a name that their bytes are kept in.

use crate::failure::{Failure, Result, failure};
use crate::output::spool_named;
use blosc_frame::io::PathFile;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Whether `path` names no file or directory but standard input, a FIFO, a device.
pub fn is_stream(path: &Path) -> Result<bool> {
    if path == Path::new("-") {
        return Ok(true);
    }
    let kind = std::fs::metadata(path).map_err(Failure::io(path))?.file_type();
    Ok(!kind.is_file() && !kind.is_dir())
}

/// Opens such a stream.
pub fn stream(path: &Path) -> Result<Box<dyn Read>> {
    match path == Path::new("-") {
        true => Ok(Box::new(io::stdin())),
        false => Ok(Box::new(File::open(path).map_err(Failure::io(path))?)),
    }
}

/// A file without a name that holds what `data` gives.
pub fn unnamed(data: &mut dyn Read, path: &Path) -> Result<PathFile> {
    unnamed_of(path, &mut |file| io::copy(data, file).map(drop).map_err(Failure::io(path)))
}

/// A file without a name that holds what `fill` writes. The name goes before anything is written, the data when the
/// file is closed: nothing is left behind, however the program ends.
pub fn unnamed_of(path: &Path, fill: &mut dyn FnMut(&mut File) -> Result<()>) -> Result<PathFile> {
    let (mut file, name) = spool_named()?.into_parts();
    let handle = PathFile::open(&*name).map_err(|e| failure(path)(e.into()))?;
    drop(name);
    fill(&mut file)?;
    Ok(handle)
}
