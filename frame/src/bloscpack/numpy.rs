//! The NumPy convention in the metadata of v3 (docs/formats/bloscpack.md §8).
//!
//! ```text
//! {"dtype": D, "shape": [ints], "order": "C" or "F", "container": "numpy"}
//! D = the text of a Python literal: "'<i2'" or "[('a', '<i4'), ('b', '|S6')]"
//!     (before 0.7.2: "<i2" without quotes, or nested JSON lists)
//! ```
//! Nothing is evaluated; object dtypes are refused.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::dtype::{Dtype, DtypeError};
use crate::error::{Error, Structure};
use crate::value::{TextError, Value};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// How the items of an array follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Last index fastest.
    C,
    /// First index fastest.
    F,
}

/// A NumPy array as the metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numpy {
    /// Type of the items.
    pub dtype: Dtype,
    /// The shape; empty for a single item.
    pub shape: Vec<u64>,
    /// Order of the items.
    pub order: Order,
}

fn invalid<T>(field: &'static str, value: i64) -> Result<T, Error> {
    Err(Error::Invalid { structure: Structure::BloscpackMetadata, field, offset: 0, value })
}

/// A dtype text of `structure` that could not be read.
pub(crate) fn dtype_error(structure: Structure, error: DtypeError) -> Error {
    let text = |what, offset| Error::Text {
        structure,
        field: "dtype",
        offset: 0,
        error: TextError { what, offset },
    };
    match error {
        DtypeError::Pointer { .. } => {
            Error::Unsupported { structure, what: "object dtype (pickles are never opened)" }
        }
        DtypeError::TooLong { len } => text("a dtype text longer than the limit", len),
        DtypeError::TooDeep { offset } => text("a dtype nested too deeply", offset),
        DtypeError::Syntax { offset, expected } => text(expected, offset),
        DtypeError::Unknown { offset } => text("no such dtype", offset),
        DtypeError::PlatformDependent { offset } => text("a dtype whose size depends on the machine", offset),
        DtypeError::Size { offset, .. } => text("no dtype of this kind has this size", offset),
        DtypeError::Layout { offset, reason } => text(reason, offset),
    }
}

/// The dtype of a value: the text of a literal, or records as nested lists of JSON.
pub(crate) fn parse_dtype(value: &Value, structure: Structure) -> Result<Dtype, Error> {
    Dtype::from_value(value).map_err(|error| dtype_error(structure, error))
}

impl Numpy {
    /// Reads the convention; `None` when the metadata is about something else.
    ///
    /// # Errors
    /// Metadata that claims to be NumPy's but is malformed, or holds objects.
    pub fn from_metadata(metadata: &Value) -> Result<Option<Numpy>, Error> {
        if metadata.get("container").and_then(Value::as_text) != Some("numpy") {
            return Ok(None);
        }
        let Some(dtype) = metadata.get("dtype") else { return invalid("dtype (missing)", 0) };
        let dtype = parse_dtype(dtype, Structure::BloscpackMetadata)?;
        let dims = metadata.get("shape").and_then(Value::as_list);
        let shape: Option<Vec<u64>> = dims.and_then(|dims| dims.iter().map(Value::as_u64).collect());
        let Some(shape) = shape else { return invalid("shape", 0) };
        let order = match metadata.get("order").and_then(Value::as_text) {
            Some("C") => Order::C,
            Some("F") => Order::F,
            _ => return invalid("order", 0),
        };
        Ok(Some(Numpy { dtype, shape, order }))
    }

    /// The metadata bloscpack stores for this array, keys in its order.
    ///
    /// # Errors
    /// A dtype whose fields overlap or are out of order has no text in this convention.
    pub fn to_metadata(&self) -> Result<Value, Error> {
        let text = match &self.dtype {
            Dtype::Scalar(_) => format!("'{}'", self.dtype),
            dtype => dtype.to_descr().map_err(|e| dtype_error(Structure::BloscpackMetadata, e))?,
        };
        let shape = self.shape.iter().map(|&n| Value::int(n)).collect();
        let order = match self.order {
            Order::C => "C",
            Order::F => "F",
        };
        Ok(Value::object([
            ("dtype", Value::Text(text.to_string())),
            ("shape", Value::List(shape)),
            ("order", Value::text(order)),
            ("container", Value::text("numpy")),
        ]))
    }

    /// Bytes the array takes; `None` when that overflows.
    pub fn nbytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(u64::from(self.dtype.itemsize()), |n, &dim| n.checked_mul(dim))
    }

    /// Checks the shape against the decoded length.
    pub(crate) fn check_len(&self, nbytes: u64) -> Result<(), Error> {
        if self.nbytes() != Some(nbytes) {
            return invalid(
                "shape (it does not give the decoded length)",
                i64::try_from(nbytes).unwrap_or(i64::MAX),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::value::TextLimits;

    fn read(json: &str) -> Result<Option<Numpy>, Error> {
        Numpy::from_metadata(&Value::parse_json(json.as_bytes(), &TextLimits::JSON).unwrap())
    }

    #[test]
    fn texts_come_back() {
        for dtype in ["'<i2'", "[('a', '>i4'), ('b', '<f8'), ('s', '|S6')]", "'<M8[s]'", "'|S255'", "'<U3'"] {
            let json = format!(r#"{{"dtype":"{dtype}","shape":[2,3],"order":"C","container":"numpy"}}"#);
            let numpy = read(&json).unwrap().unwrap();
            assert_eq!(numpy.to_metadata().unwrap().to_json_compact(), json);
        }
    }

    #[test]
    fn older_spellings() {
        let itemsize = |dtype: &str| {
            read(&format!(r#"{{"dtype":{dtype},"shape":[],"order":"F","container":"numpy"}}"#))
                .unwrap()
                .unwrap()
                .dtype
                .itemsize()
        };
        assert_eq!(itemsize(r#""<f8""#), 8);
        assert_eq!(itemsize(r#"[["a","<f8"],["b",[["x","|i1",[2,3]]]]]"#), 14);
        assert_eq!(itemsize(r#""[('a', '<i4'), ('', '|V4')]""#), 8);
    }

    #[test]
    fn lies_are_refused() {
        for json in [
            r#"{"dtype":"'|O'","shape":[1],"order":"C","container":"numpy"}"#,
            r#"{"dtype":"'<i4'","shape":[-1],"order":"C","container":"numpy"}"#,
            r#"{"dtype":"'<i4'","shape":[1],"order":"K","container":"numpy"}"#,
            r#"{"dtype":"__import__('os')","shape":[1],"order":"C","container":"numpy"}"#,
            r#"{"shape":[1],"order":"C","container":"numpy"}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
        let huge = r#"{"dtype":"'<i4'","shape":[4294967296,4294967296],"order":"C","container":"numpy"}"#;
        assert!(read(huge).unwrap().unwrap().check_len(0).is_err());
        assert_eq!(read(r#"{"dtype":1}"#).unwrap(), None);
    }
}
