//! What `info` and `verify` say of bloscpack files.

use super::chunk::chunk_info;
use crate::failure::Findings;
use crate::json::json as value;
use blosc_core::{Chunk, Pool};
use blosc_frame::Error;
use blosc_frame::bloscpack::{Bloscpack, Checksum};
use blosc_frame::io::ReadAt;
use blosc_frame::plain::Plain;
use serde_json::{Value, json};

/// What header, metadata and first chunk say.
pub fn info<R: ReadAt>(pack: &Bloscpack<R>) -> Result<Value, Error> {
    let h = pack.header();
    let numpy = pack.numpy()?;
    let first = match pack.nchunks() {
        0 => Value::Null,
        _ => chunk_info(&Chunk::parse(&pack.chunk_bytes(0)?).map_err(Error::Codec)?),
    };
    let nbytes = pack.nbytes();
    let meta = pack.meta_header().map(|m| {
        json!({
            "checksum": m.checksum.name(), "codec": format!("{:?}", m.codec).to_lowercase(), "level": m.level,
            "size": m.size, "max_size": m.max_size, "stored_size": m.comp_size,
        })
    });
    Ok(json!({
        "kind": "bloscpack",
        "layout": h.layout.name(),
        "nbytes": nbytes,
        "cbytes": pack.file_len(),
        "ratio": nbytes as f64 / pack.file_len().max(1) as f64,
        "typesize": h.typesize,
        "chunksize": h.chunk_size,
        "last_chunk": h.last_chunk,
        "nchunks": pack.nchunks(),
        "checksum": h.checksum.name(),
        "offsets": h.offsets,
        "max_app_chunks": h.max_app,
        "dtype": numpy.as_ref().map(|n| n.dtype.to_string()),
        "shape": numpy.as_ref().map(|n| n.shape.clone()),
        "metadata_section": meta,
        "metadata": pack.metadata().map(value),
        "first_chunk": first,
    }))
}

/// Checks every checksum, and with `decode` every chunk.
pub fn verify<R: ReadAt>(pack: &Bloscpack<R>, pool: &mut Pool, decode: bool) -> Result<Findings, Error> {
    let report = pack.verify(pool, decode)?;
    let checksum = pack.header().checksum;
    let mut found = Findings::new(json!({
        "kind": "bloscpack", "decoded": decode, "chunks": report.chunks, "nbytes": pack.nbytes(),
        "checksums": if checksum == Checksum::None { "the file has none" } else { checksum.name() },
        "trailing_bytes": report.trailing, "gap_bytes": report.gaps,
    }));
    for (i, error) in &report.damaged {
        found.add(format_args!("chunk {i}: "), error);
    }
    if let Some(error) = &report.metadata {
        found.add("", error);
    }
    Ok(found)
}
