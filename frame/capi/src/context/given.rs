//! Chunks that callers give: as bytes, at a pointer, or lazy ones in place of a chunk in a file.

use crate::error::*;
use crate::lazy;
use crate::memory::bytes;
use blosc_core::{Chunk, Limits};
use core::ffi::c_void;
use std::borrow::Cow;

/// Refuses chunks of later formats that say they use what this library does not know.
pub fn check_version(bytes: &[u8]) -> Result<()> {
    let later = bytes.first().is_some_and(|&version| version > 6);
    let extended = bytes.get(2).is_some_and(|&flags| flags & 5 == 5);
    let unknown = bytes.get(30).is_some_and(|&flags2| flags2 & 0xFE != 0);
    if later && extended && unknown { Err(VERSION_SUPPORT) } else { Ok(()) }
}

/// The chunk in `bytes`.
pub fn parse(bytes: &[u8]) -> Result<Chunk<'_>> {
    if bytes.len() < 16 {
        return Err(READ_BUFFER);
    }
    check_version(bytes)?;
    let header = blosc_core::Header::parse(bytes)?;
    if header.is_lazy() {
        return Err(INVALID_PARAM);
    }
    if header.cbytes as usize > bytes.len() {
        return Err(INVALID_HEADER);
    }
    Ok(Chunk::parse_with(bytes, &Limits::NONE)?)
}

/// The chunk at `src`, of which `srcsize` bytes may be read: no more is looked at than its header says.
///
/// # Safety
/// At `src`, `srcsize` bytes are readable, or the number of bytes that the header says.
pub unsafe fn chunk_at<'a>(src: *const c_void, srcsize: i32) -> Result<&'a [u8]> {
    // SAFETY: as the caller promises.
    let head = unsafe { bytes(src, i64::from(srcsize).min(16)) }?;
    let told = head.last_chunk().map_or(srcsize, |word| i32::from_le_bytes(*word));
    // SAFETY: as the caller promises.
    unsafe { bytes(src, if told < 16 { srcsize.min(32) } else { told.min(srcsize) }.into()) }
}

/// The chunk at `src`, of which `srcsize` bytes may be read; of a lazy one, the chunk in the file
/// of `schunk` that it stands for.
///
/// # Safety
/// As [`chunk_at`]; `schunk` is null or a super-chunk of this library that no other call changes now.
pub unsafe fn chunk_of<'a>(schunk: *const c_void, src: *const c_void, srcsize: i32) -> Result<Cow<'a, [u8]>> {
    // SAFETY: as the caller promises. A lazy chunk is longer or shorter than its header says: `srcsize` tells.
    unsafe {
        if lazy::is_lazy(bytes(src, i64::from(srcsize).min(32))?) {
            let all = bytes(src, srcsize.into())?;
            return Ok(Cow::Owned(lazy::load(schunk, all)?));
        }
        Ok(Cow::Borrowed(chunk_at(src, srcsize)?))
    }
}
