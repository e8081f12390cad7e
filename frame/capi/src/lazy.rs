//! Lazy chunks: where the blocks of a chunk in a file lie (docs/formats/chunk.md §2.9).
//!
//! ```text
//! 0                  header of the chunk, bit 3 of byte 31 set
//! 32                 where each block starts: 4 * nblocks
//! 32 + 4 * nblocks   nchunk: i32, offset: i64, size of each block: 4 * nblocks
//! ```
//! Decoding one reads the chunk again, by a file handle of its own: several threads may do so, each with its own context,
//! while no other call changes the frame.

use crate::abi::{Schunk, Storage};
use crate::error::*;
use crate::memory::{plain_path, text};
use blosc_core::chunk::lazy::LazyChunk;
use blosc_core::{Header, Limits};
use core::ffi::c_void;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The bit of byte 31 that marks lazy chunks.
const LAZY: u8 = 8;

/// Whether `head`, which starts a chunk, says that the chunk is lazy.
pub fn is_lazy(head: &[u8]) -> bool {
    Header::parse(head).is_ok_and(|header| header.is_lazy())
}

/// A file, from the start of a chunk on.
fn open(storage: &Storage, offset: u64) -> Result<File> {
    // SAFETY: null or a string, which the super-chunk keeps.
    let path = Path::new(plain_path(unsafe { text(storage.urlpath) }?));
    let (path, start) = if storage.contiguous {
        (path.to_owned(), offset)
    } else {
        (path.join(format!("{offset:08X}.chunk")), 0)
    };
    let mut file = File::open(path).map_err(|_| FILE_OPEN)?;
    file.seek(SeekFrom::Start(start)).map_err(|_| FILE_READ)?;
    Ok(file)
}

/// Appends the next `len` bytes of `file` to `out`.
fn read(file: &mut File, len: usize, out: &mut Vec<u8>) -> Result<()> {
    let before = out.len();
    // No memory is reserved by what a file says: `read_to_end` grows the vector as bytes come.
    let got = file.take(len as u64).read_to_end(out);
    got.map_err(|error| if error.kind() == ErrorKind::OutOfMemory { MEMORY_ALLOC } else { FILE_READ })?;
    if out.len() - before == len { Ok(()) } else { Err(FILE_READ) }
}

/// Header and block starts of the chunk at `offset`, and the file behind them. `None` where no lazy chunk can stand for it: its
/// header has 16 bytes, or its items are a special value, so that no block starts follow the header.
pub fn beginning(storage: &Storage, offset: u64) -> Result<Option<(Header, Vec<u8>, File)>> {
    let (mut file, mut bytes) = (open(storage, offset)?, Vec::new());
    read(&mut file, 32, &mut bytes)?;
    let header = Header::parse(&bytes)?;
    if header.is_lazy() {
        return Err(INVALID_HEADER);
    }
    if header.special().is_some() || !header.is_extended() {
        return Ok(None);
    }
    let starts = header.nblocks().checked_mul(4).ok_or(INVALID_HEADER)?;
    if !header.is_stored() {
        if header.header_len().saturating_add(starts) > header.cbytes as usize {
            return Err(INVALID_HEADER);
        }
        read(&mut file, starts, &mut bytes)?;
    }
    Ok(Some((header, bytes, file)))
}

/// The size of each block that starts at `starts`, in a chunk of `cbytes` bytes: as far as the next one.
fn sizes(starts: &[i32], cbytes: i32) -> Vec<i32> {
    let mut sorted = starts.to_vec();
    sorted.sort_unstable();
    let next = |start: i32| sorted.get(sorted.partition_point(|&other| other <= start));
    starts.iter().map(|&start| next(start).copied().unwrap_or(cbytes).saturating_sub(start)).collect()
}

/// The lazy chunk for the chunk that begins with `head`.
pub fn made(header: &Header, head: &[u8], nchunk: i32, offset: u64) -> Result<Vec<u8>> {
    let (nblocks, cbytes) = (header.nblocks(), size(header.cbytes as usize)?);
    let starts: Vec<i32> = if header.is_stored() {
        let at = |k: usize| k.checked_mul(header.blocksize as usize)?.checked_add(header.header_len());
        (0..nblocks).map(|k| size(at(k).ok_or(INVALID_HEADER)?)).collect::<Result<_>>()?
    } else {
        let words = head.get(header.header_len()..).unwrap_or(&[]).chunks_exact(4);
        words.map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    let first = size(header.header_len() + 4 * if header.is_stored() { 0 } else { nblocks })?;
    if starts.iter().any(|&start| start < first || start >= cbytes) {
        return Err(INVALID_HEADER);
    }
    let mut lazy = head.get(..32).ok_or(INVALID_HEADER)?.to_vec();
    lazy[31] |= LAZY;
    lazy.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
    lazy.extend(nchunk.to_le_bytes());
    lazy.extend(i64::try_from(offset).map_err(|_| INVALID_HEADER)?.to_le_bytes());
    lazy.extend(sizes(&starts, cbytes).iter().flat_map(|len| len.to_le_bytes()));
    Ok(lazy)
}

/// The whole chunk that the lazy chunk in `bytes` stands for, from the file of `schunk`. The lazy chunk must be what
/// [`made`] made of it.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library that no other call changes now.
pub unsafe fn load(schunk: *const c_void, bytes: &[u8]) -> Result<Vec<u8>> {
    // SAFETY: as the caller promises. Nothing of it is read that changes while it lives, but by `blosc2_schunk_free`.
    let storage = unsafe { schunk.cast::<Schunk>().as_ref().and_then(|schunk| schunk.storage.as_ref()) };
    let storage = storage.filter(|storage| !storage.urlpath.is_null()).ok_or(INVALID_PARAM)?;
    let lazy = LazyChunk::parse(bytes, &Limits::NONE)?;
    if !storage.contiguous && u64::try_from(lazy.nchunk()) != Ok(lazy.offset()) {
        return Err(INVALID_HEADER);
    }
    let (header, head, mut file) = beginning(storage, lazy.offset())?.ok_or(INVALID_HEADER)?;
    let expected = made(&header, &head, lazy.nchunk(), lazy.offset())?;
    if bytes.get(..expected.len()) != Some(&expected[..]) {
        return Err(INVALID_HEADER);
    }
    let rest = (header.cbytes as usize).saturating_sub(head.len());
    let mut whole = head;
    read(&mut file, rest, &mut whole)?;
    Ok(whole)
}
