//! The trailer (docs/formats/cframe.md §6).
//!
//! ```text
//! 94                 array of 4
//! 01                 trailer version
//! 93 ...             vlmetalayers section; each content is a chunk
//! ce u32             trailer_len T      <- found at F-23
//! d8 type            fixext16, fingerprint type
//! 16 bytes           fingerprint
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::Header;
use super::section::Section;
use crate::error::{Error, Structure};

/// Length of the part at the very end that tells the trailer's length.
pub const TAIL_LEN: usize = 23;
/// Length of a trailer without vlmetalayers.
pub const MIN_LEN: u32 = 35;
/// Fingerprint type of the checksums written here: XXH3-128.
pub const FINGERPRINT_XXH3: u8 = 3;

/// The last 23 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// `T`: length of the trailer.
    pub trailer_len: u32,
    /// What the fingerprint is; 0 is none.
    pub fingerprint_type: u8,
    /// The fingerprint.
    pub fingerprint: [u8; 16],
}

impl Tail {
    /// Reads the tail. `at` is where it starts in the frame, for messages; `header_len` bounds `T`.
    ///
    /// # Errors
    /// [`Error::Invalid`] and [`Error::Truncated`] with the offset.
    pub fn parse(bytes: &[u8; TAIL_LEN], at: u64, header_len: u32) -> Result<Tail, Error> {
        let invalid =
            |field, skip, value| Error::invalid(Structure::Trailer, field, at.saturating_add(skip), value);
        let [marker, t0, t1, t2, t3, ext, fingerprint_type, fingerprint @ ..] = *bytes;
        if marker != 0xce {
            return Err(invalid("trailer_len marker", 0, i64::from(marker)));
        }
        let trailer_len = u32::from_be_bytes([t0, t1, t2, t3]);
        let frame_len = at.saturating_add(TAIL_LEN as u64);
        if trailer_len < MIN_LEN || u64::from(trailer_len) > frame_len.saturating_sub(u64::from(header_len)) {
            return Err(invalid("trailer_len", 1, i64::from(trailer_len)));
        }
        if ext != 0xd8 {
            return Err(invalid("fingerprint marker", 5, i64::from(ext)));
        }
        Ok(Tail { trailer_len, fingerprint_type, fingerprint })
    }

    /// Where the index chunk starts and where the trailer, which is the same place where there are no chunks. `header` is
    /// the frame's, which [`Tail::parse`] was given.
    pub(crate) fn index_and_trailer(&self, header: &Header) -> Result<(u64, u64), Error> {
        let trailer_at = header.frame_len.saturating_sub(self.trailer_len.into());
        if header.nbytes == 0 {
            let is_right = trailer_at == u64::from(header.header_len);
            let (field, offset) = ("trailer_len of an empty frame", header.frame_len.saturating_sub(22));
            let error = Error::invalid(Structure::Trailer, field, offset, self.trailer_len.into());
            return is_right.then_some((trailer_at, trailer_at)).ok_or(error);
        }
        let index_at = header.index_at()?;
        match trailer_at.checked_sub(index_at) {
            // The index is a chunk; a file with holes may say it is larger than any.
            Some(16..=0x7fff_ffff) => Ok((index_at, trailer_at)),
            _ => Err(Error::invalid(Structure::FrameHeader, "compressed_size", 0x26, header.cbytes as i64)),
        }
    }
}

/// Checks the first bytes of a trailer.
pub(crate) fn check_start(bytes: &[u8]) -> Result<(), Error> {
    let invalid = |field, offset, value| Error::invalid(Structure::Trailer, field, offset, value);
    match *bytes {
        [0x94] | [0x94, 0 | 1, ..] => Ok(()),
        [0x94, version, ..] => Err(invalid("version", 1, i64::from(version))),
        [marker, ..] => Err(invalid("array of 4", 0, i64::from(marker))),
        [] => Err(invalid("array of 4", 0, -1)),
    }
}

/// Parses a whole trailer: `bytes` runs from its `94` to its end.
///
/// # Errors
/// [`Error::Invalid`] and [`Error::Truncated`] with the offset.
pub fn parse(bytes: &[u8]) -> Result<Section<'_>, Error> {
    check_start(bytes)?;
    let end = bytes.len().saturating_sub(TAIL_LEN);
    Section::parse(bytes.get(..end).unwrap_or(&[]), 2, Structure::VlMetalayers)
}

/// Writes a trailer around an encoded vlmetalayers section, with fingerprint type 0.
///
/// # Errors
/// [`Error::Capacity`] for a trailer longer than its length field says.
#[cfg(feature = "alloc")]
pub fn encode(section: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
    let len = section.len().saturating_add(2).saturating_add(TAIL_LEN);
    let trailer_len = u32::try_from(len)
        .ok()
        .filter(|len| i32::try_from(*len).is_ok())
        .ok_or(Error::Capacity { what: "trailer bytes", asked: len as u64, most: i32::MAX as u64 })?;
    let mut out = alloc::vec![0x94, 1];
    out.extend(section);
    out.push(0xce);
    out.extend(trailer_len.to_be_bytes());
    out.extend([0xd8, 0]);
    out.extend([0; 16]);
    Ok(out)
}
