//! One bare chunk.

use super::Input;
use crate::args::Compress;
use crate::failure::{Failure, Result};
use crate::output::Sink;
use crate::{progress, readers};
use blosc_core::chunk::MAX_NBYTES;
use blosc_core::{Filter, Params};
use std::io::{Read, Write};

/// Compresses the input into one chunk.
pub fn write(args: &Compress, input: Input) -> Result<()> {
    if let Some(size) = args.typesize.filter(|size| u8::try_from(*size).is_err()) {
        let text = "a bare chunk says an item size of 255 bytes at most; a frame (--format b2frame) says larger ones";
        return Err(Failure::Usage(format!("--typesize {size}: {text}")));
    }
    let params = self_contained(args.params(1), args.typesize)?;
    let mut data = Vec::new();
    let read = input.data.take(MAX_NBYTES as u64 + 1).read_to_end(&mut data);
    read.map_err(|e| Failure::at(&input.path, e))?;
    if data.len() > MAX_NBYTES {
        return Err(Failure::Usage(format!(
            "a chunk holds at most {MAX_NBYTES} bytes; write a frame (--format b2frame), which has many chunks"
        )));
    }
    let bar = progress::bar("compressing", Some(data.len() as u64));
    let mut sink = Sink::create(&args.output)?;
    let chunk = readers::pool(&args.run).compress(&params, &data).map_err(crate::failure::params)?;
    bar.inc(data.len() as u64);
    sink.write_all(&chunk)?;
    sink.finish()
}

/// The parameters for a chunk without a frame around it that would tell a filter the item size.
fn self_contained(mut params: Params, typesize: Option<u32>) -> Result<Params> {
    for slot in params.filters.iter_mut().filter(|slot| slot.filter == Filter::ByteDelta && slot.meta == 0) {
        let size = typesize.and_then(|size| u8::try_from(size).ok()).ok_or_else(|| {
            Failure::Usage(
                "--filters bytedelta: a bare chunk needs the item size: give --typesize, 1 to 255".into(),
            )
        })?;
        slot.meta = size;
    }
    Ok(params)
}
