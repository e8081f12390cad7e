//! NumPy dtypes as typed values: parsed from the text NumPy writes, printed as NumPy prints them.
//!
//! ```text
//! scalar   <i4  >f8  |b1  |S5  <U3  <M8[25s]  |V7        byte order, kind, size (U: characters)
//! list     [('a', '<i4'), ('b', '<f8', (2,))]            fields one after the other
//! dict     {'names': [..], 'formats': [..], 'offsets': [..], 'itemsize': 16, 'aligned': True}
//! array    ('<i4', (2, 3))                               a fixed number of items in one
//! ```
//!
//! The texts are Python literals and nothing is evaluated: [`literal`] reads strings, integers,
//! lists, tuples, dicts, `True`, `False` and `None`, to a fixed depth and length. Without a byte
//! order a text means little-endian on every machine.
//!
//! `object` and NumPy's `StringDType` hold pointers into the process that wrote them; their bytes
//! mean nothing to anyone else, so they are refused with an explanation and never unpickled.

mod display;
pub mod literal;
mod repack;
mod scalar;
mod structured;
mod types;
mod value;

pub use repack::Repack;
pub use types::{
    ByteOrder, Dtype, DtypeError, Field, Kind, MAX_DEPTH, MAX_ITEMSIZE, MAX_TEXT, Scalar, Struct, Unit,
};

use alloc::string::String;

impl Dtype {
    /// Reads the text NumPy writes for a dtype: `dtype.str`, `str(dtype)`, or a plain name such as
    /// `float32`.
    ///
    /// # Errors
    /// See [`DtypeError`]; the text is never evaluated, and takes time linear in its length.
    pub fn parse(text: &str) -> Result<Dtype, DtypeError> {
        Dtype::parse_with(text, structured::Padding::Named)
    }

    /// Reads the `descr` of a `.npy` header, where `('', '|V4')` is padding and not a field.
    ///
    /// # Errors
    /// As [`Dtype::parse`].
    pub fn parse_descr(text: &str) -> Result<Dtype, DtypeError> {
        Dtype::parse_with(text, structured::Padding::Unnamed)
    }

    fn parse_with(text: &str, padding: structured::Padding) -> Result<Dtype, DtypeError> {
        if text.len() > MAX_TEXT {
            return Err(DtypeError::TooLong { len: text.len() });
        }
        match text.trim_start().bytes().next() {
            Some(b'[' | b'(' | b'{' | b'\'' | b'"') => {
                structured::from_literal(&literal::parse(text)?, padding)
            }
            _ => Ok(Dtype::Scalar(scalar::parse(text.trim(), 0)?)),
        }
    }

    /// As [`Dtype::parse_descr`], from a literal that has been read already.
    ///
    /// # Errors
    /// As [`Dtype::parse`].
    pub fn from_descr(node: &literal::Node) -> Result<Dtype, DtypeError> {
        structured::from_literal(node, structured::Padding::Unnamed)
    }

    /// The text for the `descr` of a `.npy` header: as NumPy writes it, padding as `('', '|V4')`.
    ///
    /// # Errors
    /// `Layout` where fields overlap or are out of order, which NumPy cannot write either, and where one
    /// has an empty name, which would be read back as padding or as `f<index>`.
    pub fn to_descr(&self) -> Result<String, DtypeError> {
        display::descr(self)
    }
}
