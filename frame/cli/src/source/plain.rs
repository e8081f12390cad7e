//! What bloscpack files, bcolz columns and Blaze datasets have in common: rows of equal size.

use crate::failure::{Failure, Result};
use blosc_core::Pool;
use blosc_frame::plain::Plain;
use blosc_frame::value::Value as Meta;
use blosc_frame::{Error, IoError, IoKind, Limits};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Limits for decoding to at most `max_output` bytes; what `--max-output none` gives lifts the others, too.
pub fn limits(max_output: u64) -> Limits {
    if max_output == u64::MAX {
        return Limits::NONE;
    }
    let mut limits = Limits { output: max_output, ..Limits::default() };
    limits.chunk.output = limits.chunk.output.min(max_output);
    limits
}

/// Names the file an error is about.
pub fn failure(path: &Path) -> impl Fn(blosc_frame::Error) -> Failure + '_ {
    move |error| Failure::from(error).about(path.display())
}

/// Names the file an error of copying is about: `to` if there is no room to write, else `from`.
pub fn copying<'p>(from: &'p Path, to: &'p Path) -> impl Fn(blosc_frame::Error) -> Failure + 'p {
    move |error| match error {
        Error::Io(IoError { kind: IoKind::NoSpace | IoKind::ReadOnly, .. }) => failure(to)(error),
        _ => failure(from)(error),
    }
}

/// Writes decoded bytes `start..stop`, one chunk's worth at a time.
pub fn copy(
    plain: &dyn Plain,
    pool: &mut Pool,
    path: &Path,
    (mut at, stop): (u64, u64),
    out: &mut dyn Write,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let step = plain.chunk_nbytes().max(1);
    // Zeroed by the system when first touched: a header that lies about its chunks costs no memory.
    let mut buffer = vec![0; usize::try_from(step.min(stop.saturating_sub(at))).unwrap_or(usize::MAX)];
    while at < stop {
        // Reads end where chunks end, so that each is read once.
        let n = (step - at % step).min(stop - at);
        let data = &mut buffer[..n as usize];
        plain.read_plain(pool, at, data).map_err(failure(path))?;
        out.write_all(data)?;
        progress(n);
        at += n;
    }
    Ok(())
}

/// Refuses to decode more than `--max-output` allows.
pub fn check_output(path: &Path, nbytes: u64, limit: u64) -> Result<()> {
    if nbytes > limit {
        let text = format!("decodes to {nbytes} bytes, above the limit of {limit} (--max-output BYTES)");
        return Err(Failure::at(path, text));
    }
    Ok(())
}

/// A metadata value as JSON for `info`; the words JSON lacks become text.
pub fn json(value: &Meta) -> Value {
    match value {
        Meta::Null => Value::Null,
        Meta::Bool(b) => (*b).into(),
        Meta::Number(n) => serde_json::from_str(n).unwrap_or_else(|_| n.clone().into()),
        Meta::Text(s) => s.clone().into(),
        Meta::List(items) | Meta::Tuple(items) => items.iter().map(json).collect::<Vec<_>>().into(),
        Meta::Object(pairs) => Value::Object(pairs.iter().map(|(k, v)| (k.clone(), json(v))).collect()),
    }
}
