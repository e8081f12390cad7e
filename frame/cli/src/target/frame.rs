//! Contiguous and sparse frames, from a file or a pipe of unknown length, in bounded memory.

use crate::args::{Compress, Output};
use crate::failure::{Failure, Result, failure};
use crate::output::{check_free, replace, replace_dir, temporary, temporary_dir};
use crate::progress;
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::io::FsDir;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Compresses the input into a contiguous frame.
pub fn write(args: &Compress) -> Result<()> {
    new_file(&args.output, &args.params(1), |frame| fill(frame, args))
}

/// Compresses the input into a sparse frame.
pub fn write_dir(args: &Compress) -> Result<()> {
    new_dir(&args.output, |dir| fill(SuperChunk::create_dir(dir, &args.params(1))?, args))
}

/// Makes a contiguous frame that appears under its name, or on standard output, only when `make` has filled it.
pub fn new_file(
    output: &Output,
    params: &Params,
    make: impl FnOnce(SuperChunk<'static>) -> Result<()>,
) -> Result<()> {
    let path = output.output.as_path();
    if path == Path::new("-") {
        // The header comes last: the frame is made in a temporary file and then copied.
        let mut file = tempfile::tempfile()?;
        make(SuperChunk::create(file.try_clone()?, params)?)?;
        io::Seek::rewind(&mut file)?;
        let mut out = io::stdout().lock();
        io::copy(&mut file, &mut out)?;
        return Ok(out.flush()?);
    }
    let mut temp = temporary(output)?;
    make(SuperChunk::create(temp.file()?.try_clone()?, params)?)?;
    replace(temp)
}

/// Makes a directory that appears under its name only when `make` has filled it.
pub fn new_dir<T>(output: &Output, make: impl FnOnce(FsDir) -> Result<T>) -> Result<T> {
    let path = output.output.as_path();
    if path == Path::new("-") {
        return Err(Failure::Usage("a sparse frame is a directory: name one with -o".into()));
    }
    check_free(output)?;
    let temp = temporary_dir(path)?;
    // Temporary directories are private; the frame is made in an ordinary one inside.
    let frame = temp.path().join("frame");
    let made = make(FsDir::create(&frame)?)?;
    if fs::symlink_metadata(path).is_ok() && !path.join("chunks.b2frame").is_file() {
        return Err(Failure::at(path, "exists and is no sparse frame; it is not replaced"));
    }
    replace_dir(&frame, temp)?;
    Ok(made)
}

fn fill(mut frame: SuperChunk<'_>, args: &Compress) -> Result<()> {
    let output = args.output.output.as_path();
    frame.set_threads(args.run.threads);
    frame.set_checksums(!args.no_checksum);
    args.params(1).check().map_err(crate::failure::params)?;
    if let Some(size) = args.chunksize {
        let size = u32::try_from(size);
        frame
            .set_chunksize(size.map_err(|_| Failure::Usage("--chunksize: at most 2147483615".into()))?)
            .map_err(crate::failure::asked)?;
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
        writer.write_all(&buffer[..n]).map_err(|e| Failure::at(output, e))?;
        bar.inc(n as u64);
    }
    writer.finish().and_then(|()| frame.commit()).map_err(failure(output))
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
