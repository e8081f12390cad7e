//! Chunks by libblosc2, judged: right, one of the defects that `docs/formats/chunk.md` lists (appendix B), or wrong.

use super::Case;
use blosc_core::{Chunk, Error};
use blosc_peers::Code;

/// What a read of a chunk that libblosc2 wrote turned out to be.
pub enum Read {
    Right,
    Defect(&'static str),
    Wrong(String),
}

/// Compares what we and libblosc2 make of `bytes`, which libblosc2 wrote for `case`, with the truth.
pub fn judge(case: &Case, bytes: &[u8], ours: Result<Vec<u8>, Error>, c: Result<Vec<u8>, Code>) -> Read {
    let (theirs, c) = match c {
        Ok(bytes) => (bytes, Ok(())),
        Err(code) => (vec![], Err(code)),
    };
    let stored = bytes[2] & 2 != 0;
    let header_blocksize = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let unrounded = header_blocksize > case.typesize && !header_blocksize.is_multiple_of(case.typesize);
    match ours {
        Ok(data) if data == case.data => {
            let c_right = c.is_ok() && theirs == data;
            if c_right {
                Read::Right
            } else if unrounded && !stored {
                Read::Defect("B1, recovered")
            } else if case.params.use_dict && stored {
                Read::Defect("B4, recovered")
            } else if case.delta_is_misread() {
                Read::Defect("DELTA inside a pipeline misread")
            } else {
                Read::Wrong(format!("C misreads its own chunk: {c:?}"))
            }
        }
        Ok(data) => {
            // A chunk with a wrong block size (B1) is read right by us, but C cannot confirm the other defects.
            let b1 = unrounded && !stored;
            let several = Chunk::parse(bytes).is_ok_and(|chunk| chunk.nblocks() > 1);
            if case.active_filters() >= 3 && (stored || (case.has(3) && several) || case.params.use_dict) {
                // What was stored is not what went in; then both must read the same, if C reads it at all.
                let c_fails = case.delta_is_misread() || (stored && case.params.use_dict && c.is_err());
                return if data == theirs || c_fails || b1 {
                    Read::Defect("B7")
                } else {
                    Read::Wrong("B7, but we differ".into())
                };
            }
            // The body of such a chunk is none of a stored chunk; one of the right length is read all the same.
            if case.params.use_dict && case.data.len() < 32 && stored && theirs == data {
                return Read::Defect("B4, lost");
            }
            let tails = differs_in_tails_only(case, bytes, &data);
            if tails && (b1 || (c.is_ok() && theirs == data)) {
                return Read::Defect("B9");
            }
            Read::Wrong(format!("wrong data; C: {c:?}, like ours: {}", theirs == data))
        }
        Err(e) => {
            // Which block size was meant shows in the structure of most such chunks, not of all.
            if unrounded && !stored && c.is_err() {
                Read::Defect("B1, refused")
            } else if case.params.use_dict && case.data.len() < 32 && c.is_err() {
                Read::Defect("B4, lost")
            } else {
                Read::Wrong(format!("refused: {e}; C: {c:?}"))
            }
        }
    }
}

/// Whether `data` differs from the truth only in the last bytes of blocks, which DELTA's words do not reach (B9).
fn differs_in_tails_only(case: &Case, bytes: &[u8], data: &[u8]) -> bool {
    if !case.has(3) {
        return false;
    }
    let blocksize = Chunk::parse(bytes).unwrap().header().blocksize as usize;
    let word = match case.typesize {
        size @ (1 | 2 | 4 | 8) => size,
        size if size.is_multiple_of(8) && size <= 255 => 8,
        _ => 1,
    };
    let mut blocks = case.data.chunks(blocksize).zip(data.chunks(blocksize));
    blocks.all(|(truth, got)| {
        let tail = truth.len() % word;
        truth[..truth.len() - tail] == got[..truth.len() - tail]
    })
}
