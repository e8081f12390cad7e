//! Contiguous and sparse frames, from a file or a pipe of unknown length, in bounded memory.

use super::Input;
use crate::args::{Compress, Output};
use crate::failure::{Failure, Result, asked, failure};
use crate::output::{Destination, Shape};
use crate::progress;
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::io::FsDir;
use std::io::{self, Read, Write};

/// Compresses the input into a contiguous frame.
pub fn write(args: &Compress, input: Input) -> Result<()> {
    new_file(&args.output, &args.params(1), |frame| fill(frame, args, input))
}

/// Compresses the input into a sparse frame.
pub fn write_dir(args: &Compress, input: Input) -> Result<()> {
    new_dir(&args.output, |dir| fill(SuperChunk::create_dir(dir, &args.params(1))?, args, input))
}

/// Makes a contiguous frame that appears under its name, or on standard output, only when `make` has filled it.
pub fn new_file<T>(
    output: &Output,
    params: &Params,
    make: impl FnOnce(SuperChunk<'static>) -> Result<T>,
) -> Result<T> {
    // The header is written last.
    Destination::of(output, Shape::File)?.file(|file| make(SuperChunk::create(file, params)?))
}

/// Makes a directory that appears under its name only when `make` has filled it.
pub fn new_dir<T>(output: &Output, make: impl FnOnce(FsDir) -> Result<T>) -> Result<T> {
    Destination::of(output, Shape::Directory)?.made(|path| make(FsDir::create(path)?))
}

fn fill(mut frame: SuperChunk<'_>, args: &Compress, mut input: Input) -> Result<()> {
    let output = args.output.output.as_path();
    frame.set_threads(args.run.threads);
    frame.set_checksums(!args.no_checksum);
    if let Some(size) = args.chunksize {
        let size = u32::try_from(size);
        let size = size.map_err(|_| Failure::Usage("--chunksize: at most 2147483615".into()))?;
        frame.set_chunksize(size).map_err(asked)?;
    }
    let bar = progress::bar("compressing", input.len);
    let mut writer = frame.writer();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = match input.data.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Failure::at(&input.path, e)),
        };
        writer.write_all(&buffer[..n]).map_err(|e| Failure::at(output, e))?;
        bar.inc(n as u64);
    }
    writer.finish().and_then(SuperChunk::commit).map_err(failure(output))
}
