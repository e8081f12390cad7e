//! One bare chunk in a file.

use super::{Source, pool};
use crate::args::Run;
use crate::failure::{Failure, Result};
use blosc_core::{Chunk, Limits, Pool, Special, Surroundings};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A chunk read whole.
pub struct ChunkSource {
    path: PathBuf,
    bytes: Vec<u8>,
    limits: Limits,
    pool: Pool,
}

impl ChunkSource {
    /// Checks every offset of the chunk in `bytes`.
    pub fn new(path: &Path, bytes: Vec<u8>, max_output: u64, run: &Run) -> Result<ChunkSource> {
        let limits = if max_output == u64::MAX {
            Limits::NONE
        } else {
            Limits { output: max_output, ..Limits::DEFAULT }
        };
        let source = ChunkSource { path: path.to_path_buf(), bytes, limits, pool: pool(run) };
        source.chunk()?;
        Ok(source)
    }

    fn chunk(&self) -> Result<Chunk<'_>> {
        Chunk::parse_with(&self.bytes, &self.limits).map_err(|e| self.failure(e))
    }

    fn failure(&self, error: blosc_core::Error) -> Failure {
        match Failure::from(error) {
            Failure::Data(text) => Failure::at(&self.path, text),
            usage => usage,
        }
    }

    fn decode(&mut self) -> Result<Vec<u8>> {
        let chunk = Chunk::parse_with(&self.bytes, &self.limits).map_err(|e| self.failure(e))?;
        // The header's typesize is the super-chunk's, unless that was above 255.
        let typesize = u32::from(chunk.header().typesize);
        let around = Surroundings { typesize, ..Surroundings::default() };
        let data = self.pool.decompress_in(&chunk, around);
        data.map_err(|e| self.failure(e))
    }
}

impl Source for ChunkSource {
    fn info(&mut self) -> Result<Value> {
        let chunk = self.chunk()?;
        Ok(chunk_info(&chunk))
    }

    fn nbytes(&self) -> Option<u64> {
        self.chunk().ok().map(|c| c.nbytes() as u64)
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let data = self.decode()?;
        out.write_all(&data)?;
        progress(data.len() as u64);
        Ok(())
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        let chunk = Chunk::parse_with(&self.bytes, &self.limits).map_err(|e| self.failure(e))?;
        let size = usize::from(chunk.header().typesize);
        let items = (chunk.nbytes() / size) as u64;
        let (start, stop) = super::one_dimension(start, stop, items)?;
        let around = Surroundings { typesize: size as u32, ..Surroundings::default() };
        let range = start as usize * size..stop as usize * size;
        let mut part = vec![0; range.len()];
        let done = self.pool.get_bytes(&chunk, around, range, &mut part);
        done.map_err(|e| self.failure(e))?;
        Ok(out.write_all(&part)?)
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        let data = self.decode()?;
        progress(data.len() as u64);
        let chunk = self.chunk()?;
        Ok(json!({
            "kind": "chunk", "ok": true, "nbytes": chunk.nbytes(), "blocks": chunk.nblocks(),
            "checksums": "a chunk carries none of its own",
        }))
    }
}

/// What a chunk's header says.
pub fn chunk_info(chunk: &Chunk<'_>) -> Value {
    let h = chunk.header();
    let filters: Vec<Value> = h
        .filters
        .iter()
        .map(|s| json!({"id": s.filter.id(), "name": s.filter.name(), "meta": s.meta}))
        .collect();
    let layout = match h.special() {
        Some(Special::Zeros) => "zeros",
        Some(Special::Nan) => "nan",
        Some(Special::Value) => "repeated value",
        Some(Special::Uninit) => "uninitialised",
        None if h.is_stored() => "stored",
        None if h.is_vl() => "variable-length blocks",
        None => "blocks",
    };
    json!({
        "kind": "chunk",
        "format_version": h.version,
        "header_len": h.header_len(),
        "layout": layout,
        "nbytes": h.nbytes,
        "cbytes": h.cbytes,
        "ratio": f64::from(h.nbytes) / f64::from(h.cbytes.max(1)),
        "typesize": h.typesize,
        "blocksize": if h.is_vl() { Value::Null } else { h.blocksize.into() },
        "nblocks": h.nblocks(),
        "codec": h.codec.name(),
        "codec_id": h.codec.id(),
        "codec_meta": h.codec_meta,
        "filters": filters,
        "split": h.has_streams() && !h.is_vl() && chunk.streams(0).is_ok_and(|s| s.remaining() > 1),
        "dictionary_bytes": chunk.dictionary().map_or(0, <[u8]>::len),
        "flags": h.flags,
        "flags1": h.flags1,
        "flags2": h.flags2,
    })
}
