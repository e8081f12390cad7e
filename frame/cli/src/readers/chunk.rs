//! One bare chunk in a file.

use super::{Items, Reader, pool};
use crate::args::Run;
use crate::cut::Cut;
use crate::failure::{Failure, Findings, Result};
use blosc_core::{Chunk, ChunkContext, Limits, Pool, Special};
use blosc_frame::io::ReadAt;
use serde_json::{Value, json};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A chunk read whole.
pub struct ChunkReader {
    path: PathBuf,
    bytes: Vec<u8>,
    limits: Limits,
    pool: Pool,
    typesize: u32,
    nbytes: usize,
}

impl ChunkReader {
    /// Reads the chunk at byte `offset` of a file and checks every offset in it. No byte behind it is read.
    pub fn new(path: &Path, file: &dyn ReadAt, offset: u64, max_output: u64, run: &Run) -> Result<Self> {
        let limits = match max_output {
            u64::MAX => Limits::NONE,
            output => Limits::DEFAULT.output(output),
        };
        let mut head = [0; blosc_core::chunk::EXTENDED_HEADER];
        let n = file.read_at(offset, &mut head)?;
        let head = blosc_core::Header::parse(head.get(..n).unwrap_or_default());
        let left = file.size()?.saturating_sub(offset);
        let cbytes = head.map_or(left, |header| left.min(header.cbytes.into()));
        let mut bytes = vec![0; usize::try_from(cbytes).unwrap_or(usize::MAX)];
        file.read_exact_at(offset, &mut bytes)?;
        let chunk = Chunk::parse_with(&bytes, &limits).map_err(|e| Failure::from(e).about(path.display()))?;
        // The header's typesize is the super-chunk's, unless that was above 255.
        let (typesize, nbytes) = (u32::from(chunk.header().typesize), chunk.nbytes());
        Ok(ChunkReader { path: path.to_path_buf(), bytes, limits, pool: pool(run), typesize, nbytes })
    }

    /// Bytes the chunk takes in the file.
    pub fn stored(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// All decoded bytes.
    pub fn decode(&mut self) -> Result<Vec<u8>> {
        self.get(0..self.nbytes)
    }

    fn get(&mut self, range: Range<usize>) -> Result<Vec<u8>> {
        let failed = |e| Failure::from(e).about(self.path.display());
        let chunk = Chunk::parse_with(&self.bytes, &self.limits).map_err(failed)?;
        let around = ChunkContext { typesize: self.typesize, ..ChunkContext::default() };
        if range == (0..self.nbytes) {
            return self.pool.decompress_in(&chunk, around).map_err(failed);
        }
        let mut part = vec![0; range.len()];
        self.pool.get_bytes(&chunk, around, range, &mut part).map_err(failed)?;
        Ok(part)
    }
}

impl Reader for ChunkReader {
    fn info(&mut self) -> Result<Value> {
        Ok(chunk_info(&Chunk::parse_with(&self.bytes, &self.limits)?))
    }

    fn items(&self) -> Items {
        let size = u64::from(self.typesize);
        Items { dtype: None, shape: vec![self.nbytes as u64 / size], size }
    }

    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let (size, rows) = (self.typesize as usize, self.items().some(cut)?);
        let data = self
            .get(rows.map_or(0..self.nbytes, |rows| rows.start as usize * size..rows.end as usize * size))?;
        out.write_all(&data)?;
        progress(data.len() as u64);
        Ok(())
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        progress(self.decode()?.len() as u64);
        let chunk = Chunk::parse_with(&self.bytes, &self.limits)?;
        Ok(Findings::new(json!({
            "kind": "chunk", "nbytes": chunk.nbytes(), "blocks": chunk.nblocks(),
            "checksums": "a chunk carries none of its own",
        })))
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
        Some(_) => "special",
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
