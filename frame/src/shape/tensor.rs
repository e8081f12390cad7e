//! The vlmetalayer of a packed tensor (docs/formats/b2nd.md §7): what `save_tensor` and `pack_array2` of python-blosc2
//! say of the items in a plain frame.
//!
//! ```text
//! ("numpy" or another library, (items per axis, ..), dtype)      MessagePack; a tuple is a list after "__tuple__"
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::dtype::Dtype;
use crate::error::{Error, Structure};
use crate::msgpack;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// Name of the vlmetalayer that makes a frame a tensor.
pub const NAME: &str = "__pack_tensor__";

/// The word before the items of a tuple.
const TUPLE: &str = "__tuple__";

/// What the vlmetalayer says.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMeta {
    library: String,
    shape: Vec<u64>,
    dtype: Dtype,
    /// The value as it was read: an edit changes a number of the shape in it and nothing else.
    stored: Value,
}

fn invalid(field: &'static str, value: i64) -> Error {
    Error::Invalid { structure: Structure::Tensor, field, offset: 0, value }
}

/// A value in which tuples are tuples.
fn untupled(value: &Value) -> Value {
    match value {
        Value::List(items) => match items.split_first() {
            Some((Value::Text(word), rest)) if word == TUPLE => {
                Value::Tuple(rest.iter().map(untupled).collect())
            }
            _ => Value::List(items.iter().map(untupled).collect()),
        },
        other => other.clone(),
    }
}

impl TensorMeta {
    /// Reads the content of the vlmetalayer.
    ///
    /// # Errors
    /// What is no MessagePack or not of this form; a dtype that cannot be read; a shape of more bytes than a frame has.
    pub fn parse(content: &[u8]) -> Result<TensorMeta, Error> {
        let stored = msgpack::to_value(content)?;
        let value = untupled(&stored);
        let parts = value.as_list().unwrap_or_default();
        let [library, shape, dtype] = parts else {
            return Err(invalid("number of parts", parts.len() as i64));
        };
        let library = library.as_text().ok_or(invalid("library", 0))?;
        let shape: Option<Vec<u64>> =
            shape.as_list().and_then(|sides| sides.iter().map(Value::as_u64).collect());
        let mut meta = TensorMeta {
            library: library.into(),
            shape: shape.ok_or(invalid("shape", 0))?,
            dtype: Dtype::from_value(dtype)?,
            stored,
        };
        // What NumPy says of items of plain bytes is a record of nothing but padding.
        if let Dtype::Struct(record) = &meta.dtype
            && record.fields.is_empty()
        {
            meta.dtype = Dtype::opaque(record.itemsize);
        }
        meta.nbytes().ok_or(invalid("shape", i64::MAX)).map(|_| meta)
    }

    /// The content of the vlmetalayer.
    pub fn to_bytes(&self) -> Vec<u8> {
        msgpack::from_value(&self.stored)
    }

    /// The library whose tensor it is, such as `numpy`.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Items per axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Type of the items.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Bytes of all items; `None` when they exceed 63 bits.
    pub fn nbytes(&self) -> Option<u64> {
        let item = u64::from(self.dtype.itemsize());
        let total = self.shape.iter().try_fold(item, |n, &side| n.checked_mul(side))?;
        (total <= i64::MAX as u64).then_some(total)
    }

    /// Bytes of all items with one first index; 0 where there are none, and `None` for a single item without an axis.
    pub fn row_nbytes(&self) -> Option<u64> {
        let (_, rest) = self.shape.split_first()?;
        let item = u64::from(self.dtype.itemsize());
        Some(rest.iter().fold(item, |n, &side| n.saturating_mul(side)))
    }

    /// Refuses a frame that has not the bytes that type and shape tell.
    ///
    /// # Errors
    /// `Invalid` with the number of bytes that the frame has.
    pub fn check(&self, nbytes: u64) -> Result<(), Error> {
        let field = "shape (the frame has another number of bytes)";
        let differs = invalid(field, i64::try_from(nbytes).unwrap_or(i64::MAX));
        if self.nbytes() == Some(nbytes) { Ok(()) } else { Err(differs) }
    }

    /// This tensor with `rows` items along the first axis.
    pub fn rows(mut self, rows: u64) -> TensorMeta {
        let Some(first) = self.shape.first_mut() else { return self };
        *first = rows;
        // In the stored form, both lists may begin with a word.
        let skip = |items: &[Value]| usize::from(items.first().and_then(Value::as_text) == Some(TUPLE));
        if let Value::List(parts) = &mut self.stored
            && let at = skip(parts).saturating_add(1)
            && let Some(Value::List(sides)) = parts.get_mut(at)
            && let at = skip(sides)
            && let Some(side) = sides.get_mut(at)
        {
            *side = Value::int(rows);
        }
        self
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// As python-blosc2 4.14.1 writes it: ("numpy", (3, 4), "<f4").
    const F4: &[u8] = b"\x94\xa9__tuple__\xa5numpy\x93\xa9__tuple__\x03\x04\xa3<f4";
    /// ("numpy", (3,), [("a", "<i4"), (("t", "b"), "<f8", (2,)), ("n", [("x", "|u1")])]).
    const RECORDS: &[u8] = b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x03\x93\
        \x93\xa9__tuple__\xa1a\xa3<i4\
        \x94\xa9__tuple__\x93\xa9__tuple__\xa1t\xa1b\xa3<f8\x92\xa9__tuple__\x02\
        \x93\xa9__tuple__\xa1n\x91\x93\xa9__tuple__\xa1x\xa3|u1";

    #[test]
    fn python_blosc2s_bytes() {
        for (bytes, shape, dtype) in [
            (F4, &[3u64, 4][..], "<f4"),
            (RECORDS, &[3], "[('a', '<i4'), (('t', 'b'), '<f8', (2,)), ('n', [('x', 'u1')])]"),
            (b"\x94\xa9__tuple__\xa5numpy\x91\xa9__tuple__\xa3<f8", &[], "<f8"),
            (
                b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x03\x91\x93\xa9__tuple__\xa0\xa5|V300",
                &[3],
                "|V300",
            ),
        ] {
            let meta = TensorMeta::parse(bytes).unwrap();
            assert_eq!(
                (meta.library(), meta.shape(), meta.dtype().to_string()),
                ("numpy", shape, dtype.into())
            );
            assert_eq!(meta.to_bytes(), bytes);
        }
    }

    #[test]
    fn rows_change_one_number() {
        let meta = TensorMeta::parse(F4).unwrap().rows(9);
        let mut want = F4.to_vec();
        want[28] = 9;
        assert_eq!((meta.to_bytes(), meta.nbytes(), meta.row_nbytes()), (want, Some(144), Some(16)));
        let meta = meta.rows(1 << 40);
        assert_eq!(TensorMeta::parse(&meta.to_bytes()).unwrap(), meta);
    }

    #[test]
    fn lies_are_refused() {
        for n in 0..RECORDS.len() {
            assert!(TensorMeta::parse(&RECORDS[..n]).is_err(), "{n}");
        }
        let object = b"\x93\xa5numpy\x91\x03\xa2|O";
        let huge = b"\x93\xa5numpy\x92\xcf\x7f\xff\xff\xff\xff\xff\xff\xff\x02\xa3<f8";
        let negative = b"\x93\xa5numpy\x91\xff\xa3<f8";
        for bytes in [&object[..], huge, negative, b"\xc0", b"\x93\x01\x02\x03"] {
            assert!(TensorMeta::parse(bytes).is_err(), "{bytes:?}");
        }
        assert!(TensorMeta::parse(F4).unwrap().check(48).is_ok());
        assert!(TensorMeta::parse(F4).unwrap().check(47).is_err());
    }
}
