//! Bloscpack files, from disk or from a pipe.

use super::plain::{check_output, copy, failure, json, limits};
use super::{Source, chunk::chunk_info, one_dimension, pool};
use crate::args::Run;
use crate::failure::{Failure, Result};
use blosc_core::{Chunk, Pool};
use blosc_frame::bloscpack::{Bloscpack, Checksum, StreamReader};
use blosc_frame::io::{Offset, ReadAt};
use blosc_frame::plain::Plain;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A file that can be read anywhere.
pub struct BloscpackSource<R> {
    path: PathBuf,
    pack: Bloscpack<Offset<R>>,
    max_output: u64,
    pool: Pool,
}

/// Opens a file, the data starting at `offset`.
pub fn open(
    path: &Path,
    file: File,
    offset: u64,
    max_output: u64,
    run: &Run,
) -> Result<BloscpackSource<File>> {
    BloscpackSource::new(path, file, offset, max_output, run)
}

impl<R: ReadAt> BloscpackSource<R> {
    /// Opens `source`, the data starting at `offset`.
    pub fn new(path: &Path, source: R, offset: u64, max_output: u64, run: &Run) -> Result<Self> {
        let open = || Bloscpack::open(Offset::new(source, offset)?, &limits(max_output));
        let pack = open().map_err(failure(path))?;
        Ok(BloscpackSource { path: path.to_path_buf(), pack, max_output, pool: pool(run) })
    }

    /// Bytes of what `slice` counts: an item, or a row of an array of more than one dimension.
    fn item(&self) -> Result<u64> {
        let numpy = self.pack.numpy().map_err(failure(&self.path))?;
        Ok(match numpy {
            Some(numpy) => {
                let row = numpy.shape.iter().skip(1).fold(1u64, |n, &dim| n.saturating_mul(dim));
                row.saturating_mul(numpy.dtype.itemsize().into())
            }
            None => self.pack.header().typesize.into(),
        }
        .max(1))
    }
}

impl<R: ReadAt> Source for BloscpackSource<R> {
    fn info(&mut self) -> Result<Value> {
        let h = self.pack.header();
        let fail = failure(&self.path);
        let numpy = self.pack.numpy().map_err(&fail)?;
        let first = match self.pack.nchunks() {
            0 => Value::Null,
            _ => {
                let bytes = self.pack.chunk_bytes(0).map_err(&fail)?;
                chunk_info(&Chunk::parse(&bytes)?)
            }
        };
        let nbytes = self.pack.nbytes();
        let meta = self.pack.meta_header().map(|m| {
            json!({
                "checksum": m.checksum.name(), "codec": format!("{:?}", m.codec).to_lowercase(), "level": m.level,
                "size": m.size, "max_size": m.max_size, "stored_size": m.comp_size,
            })
        });
        Ok(json!({
            "kind": "bloscpack",
            "layout": h.layout.name(),
            "nbytes": nbytes,
            "cbytes": self.pack.file_len(),
            "ratio": nbytes as f64 / self.pack.file_len().max(1) as f64,
            "typesize": h.typesize,
            "chunksize": h.chunk_size,
            "last_chunk": h.last_chunk,
            "nchunks": self.pack.nchunks(),
            "checksum": h.checksum.name(),
            "offsets": h.offsets,
            "max_app_chunks": h.max_app,
            "dtype": numpy.as_ref().map(|n| n.dtype.to_string()),
            "shape": numpy.as_ref().map(|n| n.shape.clone()),
            "metadata_section": meta,
            "metadata": self.pack.metadata().map(json),
            "first_chunk": first,
        }))
    }

    fn nbytes(&self) -> Option<u64> {
        Some(self.pack.nbytes())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let nbytes = self.pack.nbytes();
        check_output(&self.path, nbytes, self.max_output)?;
        copy(&self.pack, &mut self.pool, &self.path, (0, nbytes), out, progress)
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        let item = self.item()?;
        let (start, stop) = one_dimension(start, stop, self.pack.nbytes() / item)?;
        check_output(&self.path, (stop - start) * item, self.max_output)?;
        copy(&self.pack, &mut self.pool, &self.path, (start * item, stop * item), out, &|_| {})
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        self.check(true, progress)
    }

    fn verify_stored(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        self.check(false, progress)
    }
}

impl<R: ReadAt> BloscpackSource<R> {
    fn check(&mut self, decode: bool, progress: &dyn Fn(u64)) -> Result<Value> {
        let report = self.pack.verify(&mut self.pool, decode).map_err(failure(&self.path))?;
        progress(self.pack.nbytes());
        let metadata = report.metadata.iter().map(ToString::to_string);
        let chunks = report.damaged.iter().map(|(i, error)| format!("chunk {i}: {error}"));
        let damage: Vec<String> = chunks.chain(metadata).collect();
        let checksum = self.pack.header().checksum;
        let report = json!({
            "kind": "bloscpack", "ok": true, "decoded": decode, "chunks": report.chunks, "nbytes": self.pack.nbytes(),
            "checksums": if checksum == Checksum::None { "the file has none" } else { checksum.name() },
            "trailing_bytes": report.trailing, "gap_bytes": report.gaps,
        });
        Failure::if_damaged(&self.path, report, &damage)
    }
}

/// A file that arrives through a pipe.
pub struct PipeSource<I> {
    path: PathBuf,
    stream: StreamReader<I>,
    max_output: u64,
    pool: Pool,
}

impl<I: Read> PipeSource<I> {
    /// Reads header and metadata.
    pub fn new(path: &Path, input: I, max_output: u64, run: &Run) -> Result<Self> {
        let stream = StreamReader::open(input, &limits(max_output)).map_err(failure(path))?;
        Ok(PipeSource { path: path.to_path_buf(), stream, max_output, pool: pool(run) })
    }

    fn each(&mut self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let (mut chunk, mut total) = (Vec::new(), 0u64);
        while self.stream.next_chunk(&mut self.pool, &mut chunk).map_err(failure(&self.path))? {
            total += chunk.len() as u64;
            check_output(&self.path, total, self.max_output)?;
            take(&chunk)?;
        }
        Ok(total)
    }
}

impl<I: Read> Source for PipeSource<I> {
    fn info(&mut self) -> Result<Value> {
        let h = *self.stream.header();
        Ok(json!({
            "kind": "bloscpack", "layout": h.layout.name(), "typesize": h.typesize, "chunksize": h.chunk_size,
            "last_chunk": h.last_chunk, "nchunks": h.nchunks, "checksum": h.checksum.name(), "offsets": h.offsets,
            "max_app_chunks": h.max_app, "metadata": self.stream.metadata().map(json),
        }))
    }

    fn nbytes(&self) -> Option<u64> {
        let h = self.stream.header();
        let full = h.nchunks?.saturating_sub(1).checked_mul(h.chunk_size?.into())?;
        full.checked_add(h.last_chunk?.into())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        self.each(&mut |chunk| {
            progress(chunk.len() as u64);
            Ok(out.write_all(chunk)?)
        })?;
        Ok(())
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        let item = u64::from(self.stream.header().typesize).max(1);
        let items = self.nbytes().map_or(u64::MAX / item, |n| n / item);
        let (start, stop) = one_dimension(start, stop, items)?;
        let (start, stop) = (start * item, stop * item);
        let mut at = 0u64;
        self.each(&mut |chunk| {
            let end = at + chunk.len() as u64;
            let (from, to) = (start.clamp(at, end) - at, stop.clamp(at, end) - at);
            at = end;
            let part =
                usize::try_from(from).ok().zip(usize::try_from(to).ok()).and_then(|(a, b)| chunk.get(a..b));
            Ok(out.write_all(part.unwrap_or_default())?)
        })?;
        Ok(())
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        let nbytes = self.each(&mut |chunk| {
            progress(chunk.len() as u64);
            Ok(())
        })?;
        Ok(
            json!({"kind": "bloscpack", "ok": true, "nbytes": nbytes, "checksums": self.stream.header().checksum.name()}),
        )
    }
}
