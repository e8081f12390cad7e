//! Contiguous and sparse frames.

use super::plain::{check_output, failure, json as meta_json, limits};
use super::{Source, max_output, one_dimension};
use crate::args::Input;
use crate::failure::{Failure, Result};
use blosc_core::Special;
use blosc_frame::b2nd::carrier;
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::io::{FsDir, Offset, ReadAt};
use blosc_frame::schunk::ChecksumState;
use blosc_frame::verify::{Damage, Report, Verdict};
use blosc_frame::{SuperChunk, msgpack};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A frame opened for reading.
pub struct FrameSource {
    pub(super) path: PathBuf,
    pub(super) frame: SuperChunk<'static>,
    pub(super) max_output: u64,
}

impl FrameSource {
    /// Opens the frame at `input.offset` of `source`.
    pub fn open(
        path: &Path,
        source: impl ReadAt + Send + Sync + 'static,
        input: &Input,
    ) -> Result<FrameSource> {
        let open = || {
            let size = source.size()?;
            let max = max_output(input, size);
            Ok((SuperChunk::open_read(Offset::new(source, input.offset)?, &limits(max))?, max))
        };
        FrameSource::new(path, open().map_err(failure(path))?, input)
    }

    /// Opens a sparse frame.
    pub fn open_dir(path: &Path, input: &Input) -> Result<FrameSource> {
        if input.offset != 0 {
            return Err(Failure::Usage("--offset: a sparse frame is a directory and has none".into()));
        }
        let max = max_output(input, super::directory_size(path));
        let open = || SuperChunk::open_dir(FsDir::open(path)?, &limits(max));
        FrameSource::new(path, (open().map_err(failure(path))?, max), input)
    }

    fn new(path: &Path, (mut frame, max_output): (SuperChunk<'static>, u64), input: &Input) -> Result<Self> {
        frame.set_threads(input.run.threads);
        Ok(FrameSource { path: path.to_path_buf(), frame, max_output })
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

impl Source for FrameSource {
    fn info(&mut self) -> Result<Value> {
        let mut value = frame_info(&mut self.frame).map_err(failure(&self.path))?;
        let found = carrier::of(&mut self.frame).map_err(failure(&self.path))?;
        if let (Some(found), Value::Object(map)) = (found, &mut value) {
            map.shift_insert(1, "carries".into(), found.to_string().into());
        }
        Ok(value)
    }

    fn nbytes(&self) -> Option<u64> {
        Some(self.frame.nbytes())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        check_output(&self.path, self.frame.nbytes(), self.max_output)?;
        let done = self.frame.for_each_chunk(|chunk| {
            progress(chunk.len() as u64);
            Ok(out.write_all(chunk)?)
        });
        done.map_err(|error| self.failure(error))
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        let (start, stop) = one_dimension(start, stop, self.frame.nitems())?;
        let typesize = u64::from(self.frame.typesize());
        let (mut at, end) = (start * typesize, stop * typesize);
        check_output(&self.path, end - at, self.max_output)?;
        let mut part = Vec::new();
        while at < end {
            let n = (end - at).min(16 << 20);
            part.resize(usize::try_from(n).unwrap_or(usize::MAX), 0);
            self.frame.read_bytes(at..at + n, &mut part).map_err(|error| self.failure(error))?;
            out.write_all(&part)?;
            at += n;
        }
        Ok(())
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        verify("frame", &mut self.frame, &self.path, progress)
    }
}

/// Verifies a frame; damage is a failure that names the first place.
pub fn verify(kind: &str, frame: &mut SuperChunk<'_>, path: &Path, progress: &dyn Fn(u64)) -> Result<Value> {
    let report = frame.verify(progress).map_err(failure(path))?;
    let place = |damage: &Damage| {
        let block = damage.block.map(|block| format!("block {block}: ")).unwrap_or_default();
        format!("{block}{}", damage.error)
    };
    let damage: Vec<String> = report.damage.iter().map(place).collect();
    Failure::if_damaged(path, report_json(kind, &report), &damage)
}

/// What verifying found, for people and scripts.
pub fn report_json(kind: &str, report: &Report) -> Value {
    let verdict = match report.verdict() {
        Verdict::Intact => "intact",
        Verdict::Readable => "readable; not everything has a checksum",
        Verdict::Foreign => "readable; edited by a writer without checksums",
        Verdict::Damaged => "damaged",
    };
    json!({
        "kind": kind, "ok": report.damage.is_empty(), "verdict": verdict, "chunks": report.chunks,
        "nbytes": report.nbytes, "chunks_covered": report.matched,
        "checksums": checksums(report.checksums), "garbage_bytes": report.garbage,
    })
}

fn checksums(state: ChecksumState) -> String {
    match state {
        ChecksumState::None => "none".into(),
        ChecksumState::Present => "xxh3".into(),
        ChecksumState::Foreign => "out of date: edited by a writer without checksums".into(),
        ChecksumState::Other(kind) => format!("unknown, type {kind}"),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A metalayer's content: its bytes, and its value where it is MessagePack.
pub fn metalayer_json(content: &[u8]) -> Value {
    match msgpack::to_value(content) {
        Ok(value) => json!({"hex": hex(content), "value": meta_json(&value)}),
        Err(_) => json!({"hex": hex(content)}),
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
        metalayers.insert(name, metalayer_json(content));
    }
    let mut vlmetalayers = Map::new();
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        let content = frame.vlmetalayer(&name)?.unwrap_or_default();
        vlmetalayers.insert(name, metalayer_json(&content));
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
    use crate::args::{Args, Command};
    use clap::Parser;

    #[test]
    fn a_frame_changed_while_it_is_read_is_told_from_a_damaged_one() {
        let data: Vec<u8> = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
        let mut frame = SuperChunk::memory(&blosc_core::Params::new(1));
        frame.append(&data).unwrap();
        let bytes = frame.to_bytes().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let args = Args::parse_from(["blosc".as_ref(), "info".as_ref(), file.path().as_os_str()]);
        let Command::Info(info) = args.command else { panic!("another command") };
        let header = usize::try_from(frame.header().header_len).unwrap();
        let read = |also: usize| {
            std::fs::write(file.path(), &bytes).unwrap();
            let opened = std::fs::File::open(file.path()).unwrap();
            let mut source = FrameSource::open(file.path(), opened, &info.input).unwrap();
            // The chunk's header is gone, as after an update in place; the frame's may tell of it.
            let mut other = bytes.clone();
            other[header..header + 16].fill(0xee);
            other[also] ^= 1;
            std::fs::write(file.path(), &other).unwrap();
            source.decompress(&mut Vec::new(), &|_| {}).unwrap_err().to_string()
        };
        assert!(read(0x16).contains("changed meanwhile"), "{}", read(0x16));
        assert!(!read(header + 20).contains("changed meanwhile"), "{}", read(header + 20));
    }
}
