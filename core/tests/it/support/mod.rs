//! What the test programs share: manifests of vectors, hashes, decoding in every way, user plugins.
#![allow(dead_code)]

use blosc_core::chunk::plugin::{UserCodec, UserFilter};
use blosc_core::codec::{CodecError, CodecErrorKind};
use blosc_core::filter::FilterError;
use blosc_core::{Chunk, ChunkContext, Decoder, Error, Level};
pub use blosc_testkit::{guarded, sha256};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder of vectors and the records of its manifest.
pub struct Vectors {
    pub root: PathBuf,
    pub records: Vec<Value>,
}

impl Vectors {
    pub fn load(root: &Path) -> Vectors {
        let text = std::fs::read_to_string(root.join("manifest.json")).expect("manifest.json");
        let records: Vec<Value> = serde_json::from_str(&text).expect("a JSON array of records");
        Vectors { root: root.to_owned(), records }
    }

    /// The subset beside the tests, and the full set if `BLOSC_VECTORS` names it.
    pub fn all() -> Vec<Vectors> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut sets = vec![Vectors::load(&fixtures)];
        match std::env::var_os("BLOSC_VECTORS") {
            Some(path) => sets.push(Vectors::load(Path::new(&path))),
            None => eprintln!("skipped: the full set of vectors, since BLOSC_VECTORS does not name it"),
        }
        sets
    }

    pub fn of_kind<'s>(&'s self, kinds: &'s [&str]) -> impl Iterator<Item = &'s Value> {
        self.records.iter().filter(|r| kinds.contains(&text(r, "kind")))
    }

    /// The file of a record, checked against its hash.
    pub fn read(&self, record: &Value) -> Vec<u8> {
        let name = text(record, "file");
        let bytes = std::fs::read(self.root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(sha256(&bytes), text(record, "file_sha256"), "{name} is not the file it was");
        bytes
    }
}

pub fn text<'r>(record: &'r Value, key: &str) -> &'r str {
    record[key].as_str().unwrap_or("")
}

pub fn number(record: &Value, key: &str) -> usize {
    record[key].as_u64().unwrap_or_else(|| panic!("{record}: no {key}")) as usize
}

/// What the chunks of the vectors have around them.
pub fn chunk_context(record: &Value) -> ChunkContext<'static> {
    ChunkContext {
        typesize: record["typesize"].as_u64().unwrap_or(0) as u32,
        codecs: &[&Pairs],
        filters: &[&AddMeta, &Reverse],
        ..ChunkContext::default()
    }
}

/// Decodes `chunk` whole with `level`'s kernels.
pub fn decode(level: Level, chunk: &Chunk<'_>, around: ChunkContext<'_>) -> Result<Vec<u8>, Error> {
    let mut work = vec![0xDD; Decoder::work_len(chunk)];
    let mut decoder = Decoder::new(level, &mut work).chunk_context(around);
    guarded(chunk.nbytes(), |out| decoder.decode(chunk, out))
}

/// Codec 160 of the vectors: pairs (count, byte XOR meta).
pub struct Pairs;

impl UserCodec for Pairs {
    fn id(&self) -> u8 {
        160
    }

    fn encode(&self, meta: u8, _level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let mut at = 0;
        for run in src.chunk_by(|a, b| a == b) {
            for piece in run.chunks(255) {
                dst.get_mut(at..at + 2)?.copy_from_slice(&[piece.len() as u8, piece[0] ^ meta]);
                at += 2;
            }
        }
        Some(at)
    }

    fn decode(&self, meta: u8, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let mut at = 0;
        for (i, pair) in src.chunks(2).enumerate() {
            let &[count, byte] = pair else { return Err(CodecErrorKind::Truncated.at(2 * i)) };
            let run = dst.get_mut(at..at + usize::from(count)).ok_or(CodecErrorKind::TooLong.at(2 * i))?;
            run.fill(byte ^ meta);
            at += run.len();
        }
        if at == dst.len() { Ok(()) } else { Err(CodecErrorKind::TooShort.at(src.len())) }
    }
}

/// Filter 160 of the vectors: adds its meta byte to every byte.
pub struct AddMeta;

impl UserFilter for AddMeta {
    fn id(&self) -> u8 {
        160
    }

    fn forward(&self, meta: u8, _typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_add(meta));
        Ok(())
    }

    fn backward(&self, meta: u8, _typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_sub(meta));
        Ok(())
    }
}

/// Filter 161 of the vectors: reverses the bytes of the block.
pub struct Reverse;

impl UserFilter for Reverse {
    fn id(&self) -> u8 {
        161
    }

    fn forward(&self, _meta: u8, _typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        dst.copy_from_slice(src);
        dst.reverse();
        Ok(())
    }

    fn backward(&self, meta: u8, typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        self.forward(meta, typesize, src, dst)
    }
}
