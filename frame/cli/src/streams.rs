//! Inputs that are no files, and files without a name that the bytes of streams are kept in. What lies behind a URL is read
//! where it is.

use crate::failure::{Failure, Result, failure};
use crate::output::spool_named;
use crate::paths::is_stream;
#[cfg(feature = "remote")]
use crate::{output::notice, paths::is_directory};
use blosc_frame::io::PathFile;
use blosc_frame::{Error, any::Found};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
#[cfg(feature = "remote")]
use {
    blosc_frame::any::Source,
    blosc_object_store::{Remote, RemoteDir},
};

/// Opens such a stream.
pub fn stream(path: &Path) -> Result<Box<dyn Read>> {
    match path == Path::new("-") {
        true => Ok(Box::new(io::stdin())),
        false => Ok(Box::new(File::open(path).map_err(Failure::io(path))?)),
    }
}

/// A file or a stream, and how long it is where that is known.
pub fn open_plain(path: &Path) -> Result<(Box<dyn Read>, Option<u64>)> {
    if is_stream(path)? {
        return Ok((stream(path)?, None));
    }
    if path.is_dir() {
        return Err(Failure::at(
            path,
            "is a directory; a file is taken here (`blosc convert DIRECTORY -o STORE.b2z` makes a store of a directory of arrays)",
        ));
    }
    let file = File::open(path).map_err(Failure::io(path))?;
    let len = file.metadata().map_err(Failure::io(path))?.len();
    Ok((Box::new(file), Some(len)))
}

/// All bytes of a file or a stream, no more than `most`.
pub fn read_plain(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open_plain(path)?.0.take(most.saturating_add(1)).read_to_end(&mut bytes);
    match read.map_err(Failure::io(path))? as u64 > most {
        true => Err(Failure::at(path, format!("more than {most} bytes"))),
        false => Ok(bytes),
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

/// Finds what lies behind a URL; what the server says to reads that fail goes to standard error.
///
/// # Errors
/// What the server says; without the feature `remote` every URL. What `failed` makes of a source that cannot be read.
#[cfg(feature = "remote")]
pub fn remote(url: &Path, offset: u64, failed: impl Fn(Error) -> Failure) -> Result<Found> {
    let (text, tell) = (url.to_string_lossy(), |error: &blosc_object_store::Error| notice(error));
    let unable = |error| Failure::Unable(format!("{}: {error}", url.display()));
    if is_directory(url) {
        return Ok(Found::in_directory(url, RemoteDir::open(&text).map_err(unable)?.telling(tell)));
    }
    let remote = Remote::open(&text).map_err(unable)?.telling(tell);
    Found::of(url, Source::Other(std::sync::Arc::new(remote)), offset).map_err(failed)
}

#[cfg(not(feature = "remote"))]
pub fn remote(url: &Path, _: u64, _: impl Fn(Error) -> Failure) -> Result<Found> {
    Err(Failure::Unable(format!("{}: `blosc` built with `--features remote` reads URLs", url.display())))
}
