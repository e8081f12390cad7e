//! Constructors of special-value chunks (docs/formats/chunk.md §2.7): a header, and the value if there is one.
//!
//! ```text
//! header (32 bytes, flags1 bits 4-6 = kind: 1 zeros, 2 NaN, 3 value, 4 uninitialised) [value]
//! ```
//! ```
//! use blosc_core::{Chunk, chunk::special};
//! let chunk = special::zeros(4, 1 << 20).unwrap();
//! assert_eq!(Chunk::parse(&chunk).unwrap().nbytes(), 1 << 20);
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::block_size;
use super::header::{EXTENDED_HEADER, FLAGS_EXTENDED, Header, MAX_BLOCKSIZE, MAX_NBYTES, Special};
use super::params::Params;
use crate::codec::Codec;
use crate::error::Error;

/// `nbytes` zero bytes of items of `typesize` bytes.
///
/// # Errors
/// `Param` if `typesize` is not allowed or `nbytes` is not a whole number of items.
pub fn zeros(typesize: u32, nbytes: usize) -> Result<[u8; EXTENDED_HEADER], Error> {
    bare(Special::Zeros, typesize, nbytes)
}

/// `nbytes` bytes of quiet NaNs; `typesize` must be 4 or 8.
///
/// # Errors
/// As [`zeros`].
pub fn nans(typesize: u32, nbytes: usize) -> Result<[u8; EXTENDED_HEADER], Error> {
    if !matches!(typesize, 4 | 8) {
        return Err(Error::Param { name: "typesize", value: i64::from(typesize), allowed: "4 or 8 for NaN" });
    }
    bare(Special::Nan, typesize, nbytes)
}

/// `nbytes` bytes without a value; every reader of this library gives zeros.
///
/// # Errors
/// As [`zeros`].
pub fn uninit(typesize: u32, nbytes: usize) -> Result<[u8; EXTENDED_HEADER], Error> {
    bare(Special::Uninit, typesize, nbytes)
}

/// `value` over and over, `nbytes` bytes in all, written to `dst`; the item size is the value's
/// length. Returns the chunk's length, 32 + `value.len()`.
///
/// # Errors
/// As [`zeros`], and `OutputTooSmall`.
pub fn repeated(value: &[u8], nbytes: usize, dst: &mut [u8]) -> Result<usize, Error> {
    let typesize = u32::try_from(value.len()).unwrap_or(0);
    let mut header = header(Special::Value, typesize, nbytes)?;
    let len = EXTENDED_HEADER.saturating_add(value.len());
    if nbytes == 0 {
        return Err(Error::Param { name: "nbytes", value: 0, allowed: "at least one value" });
    }
    header.cbytes = u32::try_from(len).unwrap_or(u32::MAX);
    let given = dst.len();
    let small = Error::OutputTooSmall { needed: len, given };
    let (head, rest) = dst.split_at_mut_checked(EXTENDED_HEADER).ok_or(small)?;
    let body = rest.get_mut(..value.len()).ok_or(small)?;
    for (to, from) in head.iter_mut().zip(header.write()) {
        *to = from;
    }
    for (to, from) in body.iter_mut().zip(value) {
        *to = *from;
    }
    Ok(len)
}

fn bare(kind: Special, typesize: u32, nbytes: usize) -> Result<[u8; EXTENDED_HEADER], Error> {
    Ok(header(kind, typesize, nbytes)?.write())
}

fn header(kind: Special, typesize: u32, nbytes: usize) -> Result<Header, Error> {
    if typesize == 0 || typesize > MAX_BLOCKSIZE {
        return Err(Error::Param {
            name: "typesize",
            value: i64::from(typesize),
            allowed: "1 to 536866816 bytes",
        });
    }
    if nbytes > MAX_NBYTES || nbytes.checked_rem(typesize as usize) != Some(0) {
        return Err(Error::Param {
            name: "nbytes",
            value: nbytes as i64,
            allowed: "a whole number of items, at most 2147483615 bytes",
        });
    }
    let params = Params::new(typesize).no_filter();
    let bits = match kind {
        Special::Zeros => 1,
        Special::Nan => 2,
        Special::Value => 3,
        Special::Uninit => 4,
    };
    Ok(Header {
        version: 5,
        version_lz: 1,
        flags: FLAGS_EXTENDED,
        typesize: u8::try_from(typesize).unwrap_or(1),
        nbytes: u32::try_from(nbytes).unwrap_or(0),
        blocksize: block_size::blocksize(&params, nbytes),
        cbytes: EXTENDED_HEADER as u32,
        filters: params.filters,
        codec: Codec::BloscLz,
        codec_meta: 0,
        flags2: 0,
        flags1: bits << 4,
    })
}
