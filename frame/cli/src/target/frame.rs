//! Contiguous and sparse frames, from a file or a pipe of unknown length, in bounded memory.

use crate::args::{Compress, Output};
use crate::failure::{Failure, Result};
use crate::output::{check_free, parent, temporary};
use crate::progress;
use blosc_frame::SuperChunk;
use blosc_frame::io::FsDir;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Compresses the input into a contiguous frame.
pub fn write(args: &Compress) -> Result<()> {
    let path = args.output.output.as_path();
    if path == Path::new("-") {
        // The header comes last: the frame is made in a temporary file and then copied.
        let mut file = tempfile::tempfile()?;
        fill(SuperChunk::create(file.try_clone()?, &args.params(1))?, args)?;
        io::Seek::rewind(&mut file)?;
        io::copy(&mut file, &mut io::stdout().lock())?;
        return Ok(());
    }
    let temp = temporary(&args.output)?;
    let file = temp.as_file().try_clone()?;
    fill(SuperChunk::create(file, &args.params(1))?, args)?;
    temp.persist(path).map_err(|e| Failure::at(path, e.error))?;
    Ok(())
}

/// Compresses the input into a sparse frame.
pub fn write_dir(args: &Compress) -> Result<()> {
    new_dir(&args.output, |dir| fill(SuperChunk::create_dir(dir, &args.params(1))?, args))
}

/// Makes a directory that appears under its name only when `make` has filled it.
pub fn new_dir<T>(output: &Output, make: impl FnOnce(FsDir) -> Result<T>) -> Result<T> {
    let path = output.output.as_path();
    if path == Path::new("-") {
        return Err(Failure::Usage("a sparse frame is a directory: name one with -o".into()));
    }
    check_free(output)?;
    let temp = tempfile::Builder::new()
        .prefix(".blosc-")
        .tempdir_in(parent(path))
        .map_err(|e| Failure::at(path, e))?;
    // Temporary directories are private; the frame is made in an ordinary one inside.
    let frame = temp.path().join("frame");
    let made = make(FsDir::create(&frame)?)?;
    if fs::symlink_metadata(path).is_ok() {
        if !path.join("chunks.b2frame").is_file() {
            return Err(Failure::at(path, "exists and is no sparse frame; it is not replaced"));
        }
        fs::rename(path, temp.path().join("old")).map_err(|e| Failure::at(path, e))?;
    }
    fs::rename(&frame, path).map_err(|e| Failure::at(path, e))?;
    Ok(made)
}

fn fill(mut frame: SuperChunk<'_>, args: &Compress) -> Result<()> {
    frame.set_threads(args.run.threads);
    frame.set_checksums(!args.no_checksum)?;
    args.params(1).check()?;
    if let Some(size) = args.chunksize {
        let size = u32::try_from(size);
        frame.set_chunksize(size.map_err(|_| Failure::Usage("--chunksize: at most 2147483615".into()))?)?;
    }
    let (mut input, total) = open(&args.input)?;
    let bar = progress::bar("compressing", total);
    let mut writer = frame.writer();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Failure::at(&args.input, e)),
        };
        writer.write_all(&buffer[..n])?;
        bar.inc(n as u64);
    }
    writer.finish()?;
    frame.commit()?;
    Ok(())
}

/// A file or standard input, and how long it is where that is known.
pub fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path).map_err(|e| Failure::at(path, e))?;
    let len = file.metadata().ok().filter(fs::Metadata::is_file).map(|m| m.len());
    Ok((Box::new(file), len))
}
