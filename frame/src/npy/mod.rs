//! The header of a `.npy` file, read and written as NumPy does.
//!
//! ```text
//! 93 'NUMPY' | major | minor | header length (u16 in version 1, u32 in 2 and 3, little-endian)
//! {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }   blanks up to a multiple of 64, '\n'
//! items, in C order or in Fortran order
//! ```
//! The text is a Python literal in Latin-1 (versions 1 and 2) or UTF-8 (3); nothing is evaluated and
//! object arrays, whose data is a pickle, are refused.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::dtype::literal::{self, Value};
use crate::dtype::{Dtype, DtypeError, MAX_TEXT};
use crate::error::{Error, Structure};
use crate::shape::{Dims, MAX_DIM};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The first six bytes of every `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Bytes that tell how long the header is: [`NpyHeader::length`] needs no more.
pub const PREFIX: usize = 12;

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// Type of the items.
    pub dtype: Dtype,
    /// Whether the first axis is the one that moves fastest.
    pub fortran: bool,
    /// Items per axis.
    pub shape: Dims<u64>,
}

fn invalid(field: &'static str, offset: usize, value: i64) -> Error {
    Error::Invalid { structure: Structure::Npy, field, offset: offset as u64, value }
}

fn truncated(field: &'static str, offset: usize, needed: usize) -> Error {
    Error::Truncated { structure: Structure::Npy, field, offset: offset as u64, needed: needed as u64 }
}

/// The start of the header text, and its length.
fn extent(bytes: &[u8]) -> Result<(usize, usize, u8), Error> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(invalid("magic", 0, 0))?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(truncated("version", 6, 2))?;
    let (start, len) = match version {
        [1, 0] => {
            let len = rest.first_chunk::<2>().ok_or(truncated("header length", 8, 2))?;
            (10usize, u32::from(u16::from_le_bytes(*len)))
        }
        [2 | 3, 0] => {
            let len = rest.first_chunk::<4>().ok_or(truncated("header length", 8, 4))?;
            (12, u32::from_le_bytes(*len))
        }
        [major, _] => return Err(invalid("version", 6, (*major).into())),
    };
    let [major, _] = *version;
    if len as usize > MAX_TEXT {
        return Err(invalid("header length", 8, len.into()));
    }
    Ok((start, len as usize, major))
}

impl NpyHeader {
    /// Bytes from the start of the file to the first item. `bytes` is the start of the file, of which
    /// [`PREFIX`] bytes are enough.
    ///
    /// # Errors
    /// `Invalid` if this is no `.npy` file of a known version or the header is above 64 KiB,
    /// `Truncated` with fewer bytes than needed.
    pub fn length(bytes: &[u8]) -> Result<usize, Error> {
        let (start, len, _) = extent(bytes)?;
        Ok(start.saturating_add(len))
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// As [`NpyHeader::length`]; `Dtype` with its reason for a text that is no header or a type that
    /// cannot be read, such as `object`.
    pub fn parse(bytes: &[u8]) -> Result<NpyHeader, Error> {
        let (start, len, major) = extent(bytes)?;
        let text = bytes.get(start..).and_then(|b| b.get(..len)).ok_or(truncated("header", start, len))?;
        let text: String = if major == 3 {
            core::str::from_utf8(text).map_err(|e| invalid("header text", e.valid_up_to(), 0))?.to_string()
        } else {
            text.iter().map(|b| char::from(*b)).collect()
        };
        let node = literal::parse(&text)?;
        let entry = |key: &'static str, expected: &'static str| {
            node.get(key).ok_or(Error::Dtype(DtypeError::Syntax { offset: node.at, expected }))
        };
        let bad =
            |at: usize, expected: &'static str| Error::Dtype(DtypeError::Syntax { offset: at, expected });
        let dtype = Dtype::from_descr(entry("descr", "a dict with descr")?)?;
        let order = entry("fortran_order", "a dict with fortran_order")?;
        let Value::Bool(fortran) = order.value else {
            return Err(bad(order.at, "True or False"));
        };
        let tuple = entry("shape", "a dict with shape")?;
        let sides = tuple.items().ok_or(bad(tuple.at, "a tuple of lengths"))?;
        if sides.len() > MAX_DIM {
            return Err(invalid("number of axes", start.saturating_add(tuple.at), sides.len() as i64));
        }
        let mut shape = Dims::empty();
        for side in sides {
            let n = side.as_u64().ok_or(bad(side.at, "a length"))?;
            let _ = shape.push(n);
        }
        let header = NpyHeader { dtype, fortran, shape };
        header.nbytes().ok_or(invalid("shape", start.saturating_add(tuple.at), i64::MAX))?;
        Ok(header)
    }

    /// Bytes of all items; `None` when they exceed 63 bits.
    pub fn nbytes(&self) -> Option<u64> {
        let mut total = u64::from(self.dtype.itemsize());
        for s in self.shape.iter() {
            total = total.checked_mul(*s)?;
        }
        (total <= i64::MAX as u64).then_some(total)
    }

    /// The header NumPy 2 writes for this, padding and all.
    ///
    /// # Errors
    /// `Dtype` for a type a header cannot say: overlapping fields.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let order = if self.fortran { "True" } else { "False" };
        let mut text = alloc::format!(
            "{{'descr': {}, 'fortran_order': {order}, 'shape': {}, }}",
            self.dtype.to_descr()?,
            self.shape
        );
        // Room for the growing axis to reach 2^64 - 1 without moving the data.
        let growing = if self.fortran { self.shape.last() } else { self.shape.first() };
        if let Some(n) = growing {
            let digits = alloc::format!("{n}").len();
            text.extend(core::iter::repeat_n(' ', 21usize.saturating_sub(digits)));
        }
        let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        let (version, encoded) = match latin {
            Some(latin) => (if latin.len() < 65_000 { 1u8 } else { 2 }, latin),
            None => (3, text.into_bytes()),
        };
        let start = if version == 1 { 10usize } else { 12 };
        let used = start.saturating_add(encoded.len()).saturating_add(1);
        let pad = 64usize.saturating_sub(used & 63);
        let len = encoded.len().saturating_add(pad).saturating_add(1);
        let mut out = Vec::with_capacity(start.saturating_add(len));
        out.extend(MAGIC);
        out.extend([version, 0]);
        let len32 = u32::try_from(len).map_err(|_| invalid("header length", 8, i64::MAX))?;
        let size = len32.to_le_bytes();
        out.extend(size.get(..start.saturating_sub(8)).unwrap_or(&[]));
        out.extend(encoded);
        out.extend(core::iter::repeat_n(b' ', pad));
        out.push(b'\n');
        Ok(out)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::vec;

    fn header(dtype: &str, fortran: bool, shape: &[u64]) -> NpyHeader {
        NpyHeader { dtype: Dtype::parse(dtype).unwrap(), fortran, shape: Dims::new(shape).unwrap() }
    }

    #[test]
    fn numpys_bytes() {
        // numpy.save of zeros((3, 5), '<f4') by NumPy 2.4.
        let mut want =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }".to_vec();
        want.resize(127, b' ');
        want.push(b'\n');
        let h = header("<f4", false, &[3, 5]);
        assert_eq!(h.to_bytes().unwrap(), want);
        assert_eq!(NpyHeader::parse(&want).unwrap(), h);
        assert_eq!(NpyHeader::length(&want[..PREFIX]).unwrap(), 128);
    }

    #[test]
    fn round_trips() {
        for h in [
            header("<i8", true, &[7]),
            header("|b1", false, &[]),
            header("[('a', 'u1'), ('é', '<f8', (2,))]", false, &[0, 4]),
            header("[('€', '<M8[25s]')]", true, &[1 << 40, 2]),
            header("{'names': ['a'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 16}", false, &[2; 16]),
        ] {
            let bytes = h.to_bytes().unwrap();
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(NpyHeader::parse(&bytes).unwrap(), h);
            for n in 0..bytes.len() {
                assert!(NpyHeader::parse(&bytes[..n]).is_err());
            }
        }
    }

    #[test]
    fn hostile_headers_are_refused() {
        let with = |text: &str| {
            let mut b = b"\x93NUMPY\x01\x00".to_vec();
            b.extend((text.len() as u16).to_le_bytes());
            b.extend(text.bytes());
            NpyHeader::parse(&b)
        };
        assert!(with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}").is_ok());
        for text in [
            "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
            "{'descr': '<f4', 'fortran_order': False}",
            "__import__('os').system('true')",
            "",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
        assert!(NpyHeader::parse(b"\x93NUMPY\x04\x00\x00\x00\x00\x00").is_err());
        let mut long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
        long.extend(vec![b'[', 200]);
        assert!(NpyHeader::length(&long).is_err());
    }
}
