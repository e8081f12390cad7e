//! One bare chunk.

use crate::args::Compress;
use crate::failure::{Failure, Result};
use crate::output::Sink;
use crate::{progress, readers};
use blosc_core::chunk::MAX_NBYTES;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Compresses the input into one chunk.
pub fn write(args: &Compress) -> Result<()> {
    if args.chunksize.is_some() {
        return Err(Failure::Usage("--chunksize: a bare chunk is as large as its input; use a frame".into()));
    }
    let data = read(&args.input)?;
    let params = args.params(1);
    let bar = progress::bar("compressing", Some(data.len() as u64));
    let mut sink = Sink::create(&args.output)?;
    let chunk = readers::pool(&args.run).compress(&params, &data).map_err(crate::failure::params)?;
    bar.inc(data.len() as u64);
    sink.write_all(&chunk)?;
    sink.finish()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let most = MAX_NBYTES as u64 + 1;
    let mut data = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut data)?;
    } else {
        let file = File::open(path).map_err(|e| Failure::at(path, e))?;
        file.take(most).read_to_end(&mut data).map_err(|e| Failure::at(path, e))?;
    }
    if data.len() > MAX_NBYTES {
        return Err(Failure::Usage(format!(
            "a chunk holds at most {MAX_NBYTES} bytes; write a frame (--format b2frame), which has many chunks"
        )));
    }
    Ok(data)
}
