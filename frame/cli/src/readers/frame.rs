//! Contiguous and sparse frames.

use super::{Items, Reader};
use crate::cut::Cut;
use crate::failure::{Failure, Findings, Result, failure};
use crate::json::{hex, metalayer};
use crate::limits::check_output;
use blosc_core::Special;
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::carrier;
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::schunk::ChecksumState;
use blosc_frame::tensor::{self, TensorMeta};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A frame that is no array.
pub struct FrameReader {
    path: PathBuf,
    /// The frame, for who changes it.
    pub frame: SuperChunk<'static>,
    /// Type and shape, where it is a tensor.
    tensor: Option<TensorMeta>,
    max_output: u64,
}

impl FrameReader {
    pub fn new(path: &Path, frame: SuperChunk<'static>, max_output: u64) -> FrameReader {
        let tensor = tensor::meta_of(&frame).ok().flatten();
        FrameReader { path: path.to_path_buf(), frame, tensor, max_output }
    }

    /// Why reading failed; a writer may have been at work meanwhile.
    fn failure(&mut self, error: blosc_frame::Error) -> Failure {
        let failure = failure(&self.path)(error);
        match (self.frame.refresh(), failure) {
            (Ok(true) | Err(_), Failure::Data(text)) => Failure::Data(format!(
                "{text}; the frame has been changed meanwhile: try again, or lock it with --lock"
            )),
            (_, failure) => failure,
        }
    }
}

impl Reader for FrameReader {
    fn info(&mut self) -> Result<Value> {
        let mut value = frame_info(&mut self.frame).map_err(failure(&self.path))?;
        let found = carrier::of(&self.frame).map_err(failure(&self.path))?;
        if let (Some(found), Value::Object(map)) = (found, &mut value) {
            map.shift_insert(1, "carries".into(), found.to_string().into());
        }
        if let (Some(meta), Value::Object(map)) = (&self.tensor, &mut value) {
            map.shift_insert(1, "dtype".into(), meta.dtype().to_string().into());
            map.shift_insert(1, "shape".into(), meta.shape().into());
        }
        Ok(value)
    }

    fn items(&self) -> Items {
        if let Some(meta) = &self.tensor {
            let size = meta.dtype().itemsize().into();
            return Items { dtype: Some(meta.dtype().clone()), shape: meta.shape().to_vec(), size };
        }
        let size = u64::from(self.frame.typesize()).max(1);
        Items { dtype: None, shape: vec![self.frame.nbytes() / size], size }
    }

    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let items = self.items();
        let row = items.row();
        let Some(rows) = items.some(cut)? else {
            check_output(&self.path, self.frame.nbytes(), self.max_output)?;
            let done = self.frame.for_each_chunk(|chunk| {
                progress(chunk.len() as u64);
                Ok(out.write_all(chunk)?)
            });
            return done.map_err(|error| self.failure(error));
        };
        let (mut at, end) = (rows.start * row, rows.end * row);
        check_output(&self.path, end - at, self.max_output)?;
        let mut part = Vec::new();
        while at < end {
            let n = (end - at).min(16 << 20);
            part.resize(usize::try_from(n).unwrap_or(usize::MAX), 0);
            self.frame.read_bytes(at..at + n, &mut part).map_err(|error| self.failure(error))?;
            out.write_all(&part)?;
            progress(n);
            at += n;
        }
        Ok(())
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        verify("frame", &mut self.frame, &self.path, progress)
    }
}

/// Verifies a frame.
pub fn verify(
    kind: &str,
    frame: &mut SuperChunk<'_>,
    path: &Path,
    progress: &dyn Fn(u64),
) -> Result<Findings> {
    let report = frame.verify(progress).map_err(failure(path))?;
    let mut json = json!({
        "kind": kind, "chunks": report.chunks, "nbytes": report.nbytes, "chunks_covered": report.matched,
        "checksums": checksums(report.checksums), "garbage_bytes": report.garbage,
    });
    if let (Some(number), Some(json)) = (report.number_too_high, json.as_object_mut()) {
        let note =
            format!("C-Blosc2 does not open it for the number of {number:08X}.chunk; compact gives others");
        json.insert("note".into(), note.into());
    }
    let mut found = Findings::new(json);
    for damage in &report.damage {
        let block = damage.block.map(|block| format!("block {block}: ")).unwrap_or_default();
        found.add(block, &damage.error);
    }
    Ok(found)
}

fn checksums(state: ChecksumState) -> String {
    match state {
        ChecksumState::None => "none".into(),
        ChecksumState::Present => "xxh3".into(),
        ChecksumState::Foreign => "out of date: edited by a writer without checksums".into(),
        ChecksumState::Other(kind) => format!("unknown, type {kind}"),
        ChecksumState::UnknownForm => "a table of a form that is not known".into(),
        ChecksumState::Damaged => "damaged".into(),
        _ => "unknown".into(),
    }
}

/// Everything a frame says about itself.
pub fn frame_info(frame: &mut SuperChunk<'_>) -> std::result::Result<Value, blosc_frame::Error> {
    let h = *frame.header();
    let params = frame.params();
    let filters: Vec<Value> = params
        .filters
        .iter()
        .take(usize::from(h.filter_slots))
        .map(|s| json!({"id": s.filter.id(), "name": s.filter.name(), "meta": s.meta}))
        .collect();
    let (mut zeros, mut nans, mut uninit) = (0u64, 0u64, 0u64);
    for k in 0..frame.nchunks() {
        match frame.special(k) {
            Some(Special::Nan) => nans += 1,
            Some(Special::Uninit) => uninit += 1,
            Some(_) => zeros += 1,
            None => {}
        }
    }
    let mut metalayers = Map::new();
    for name in frame.metalayer_names() {
        let content = frame.metalayer(&name).unwrap_or(&[]);
        metalayers.insert(name, metalayer(content));
    }
    let mut vlmetalayers = Map::new();
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        let content = frame.vlmetalayer(&name)?.unwrap_or_default();
        vlmetalayers.insert(name, metalayer(&content));
    }
    let (fingerprint_type, fingerprint) = frame.fingerprint();
    Ok(json!({
        "kind": if frame.is_sparse() { "sframe" } else { "frame" },
        "format_version": h.general_flags & 0x0f,
        "nbytes": frame.nbytes(),
        "cbytes": h.cbytes,
        "ratio": frame.nbytes() as f64 / h.cbytes.max(1) as f64,
        "typesize": h.typesize,
        "chunksize": match h.chunksize {
            ChunkSize::Fixed(c) => i64::from(c),
            ChunkSize::Variable => 0,
            ChunkSize::Unknown => -1,
        },
        "blocksize": h.blocksize,
        "nchunks": frame.nchunks(),
        "special_chunks": {"zeros": zeros, "nan": nans, "uninit": uninit},
        "variable_chunks": h.chunksize == ChunkSize::Variable,
        "vl_blocks": h.general_flags & 0x80 != 0,
        "codec": params.codec.name(),
        "codec_id": params.codec.id(),
        "codec_meta": params.codec_meta,
        "level": h.level(),
        "filters": filters,
        "split": format!("{:?}", params.split).to_lowercase(),
        "dictionary": params.dictionary,
        "header_len": h.header_len,
        "frame_len": h.frame_len,
        "container_bytes": frame.container_bytes()?,
        "free_bytes": frame.free_bytes(),
        "general_flags": h.general_flags,
        "other_flags": h.other_flags,
        "other_flags2": h.other_flags2,
        "reserved": h.reserved,
        "threads": h.threads,
        "checksums": checksums(frame.checksum_state()),
        "fingerprint": {"type": fingerprint_type, "hex": hex(&fingerprint)},
        "metalayers": metalayers,
        "vlmetalayers": vlmetalayers,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_frame::Limits;

    #[test]
    fn a_frame_changed_while_it_is_read_is_told_from_a_damaged_one() {
        let data: Vec<u8> = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
        let mut frame = SuperChunk::memory(&blosc_core::Params::new(1)).unwrap();
        frame.append(&data).unwrap();
        let bytes = frame.to_bytes().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let header = usize::try_from(frame.header().header_len).unwrap();
        let read = |also: usize| {
            std::fs::write(file.path(), &bytes).unwrap();
            let opened = std::fs::File::open(file.path()).unwrap();
            let frame = SuperChunk::open_read(opened, &Limits::DEFAULT).unwrap();
            let mut reader = FrameReader::new(file.path(), frame, u64::MAX);
            // The chunk's header is gone, as after an update in place; the frame's may tell of it.
            let mut other = bytes.clone();
            other[header..header + 16].fill(0xee);
            other[also] ^= 1;
            std::fs::write(file.path(), &other).unwrap();
            reader.read(&Cut::ALL, &mut Vec::new(), &|_| {}).unwrap_err().to_string()
        };
        assert!(read(0x16).contains("changed meanwhile"), "{}", read(0x16));
        assert!(!read(header + 20).contains("changed meanwhile"), "{}", read(header + 20));
    }
}
