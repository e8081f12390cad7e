//! `meta/storage`, `meta/sizes` and `__attrs__` of a carray (docs/formats/bcolz.md §2.4–2.6).
//!
//! ```text
//! storage {"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!          "chunklen": 300, "expectedlen": 1000, "dflt": 0}
//! sizes   {"shape": [1000], "nbytes": 4000, "cbytes": 2229}
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::tree::{Tree, get, put};
use crate::bloscpack::MAX_BUFFER;
use crate::dtype::{ByteOrder, Dtype, Kind, Scalar};
use crate::error::{Error, Structure};
use crate::value::{TextError, TextLimits, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use blosc_core::{Codec, Params};

/// Compression of a column as bcolz names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CParams {
    /// Level, 0 ..= 9.
    pub clevel: u8,
    /// 0 none, 1 byte, 2 bit.
    pub shuffle: u8,
    /// Name of the codec.
    pub cname: String,
    /// Significant decimal digits kept of floats; 0 keeps all.
    pub quantize: u8,
}

impl Default for CParams {
    /// The defaults of bcolz 1.2.
    fn default() -> Self {
        CParams { clevel: 5, shuffle: 1, cname: "lz4".into(), quantize: 0 }
    }
}

/// A codec by the name every Blosc program knows it by.
pub fn codec_by_name(name: &str) -> Option<Codec> {
    [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Snappy, Codec::Zlib, Codec::Zstd]
        .into_iter()
        .find(|codec| codec.name() == name)
}

impl CParams {
    /// Parameters of the chunks, for items of `typesize` bytes.
    ///
    /// # Errors
    /// A codec or shuffle that cannot be written.
    pub fn params(&self, typesize: u32) -> Result<Params, Error> {
        let refuse = |name, value: u8, allowed| Err(Error::Param { name, value: value.into(), allowed });
        let codec = match codec_by_name(&self.cname) {
            Some(Codec::Snappy) | None => return refuse("cname", 0, "blosclz, lz4, lz4hc, zlib or zstd"),
            Some(codec) => codec,
        };
        if self.clevel > 9 {
            return refuse("clevel", self.clevel, "0 to 9");
        }
        let params = Params::new(typesize).blosc1(true).codec(codec).level(self.clevel);
        match self.shuffle {
            0 => Ok(params.no_filter()),
            1 => Ok(params.shuffle()),
            2 => Ok(params.bitshuffle()),
            other => refuse("shuffle", other, "0, 1 or 2"),
        }
    }

    pub(crate) fn read(storage: &Value) -> CParams {
        // Reading needs none of this: a chunk decodes from its own header. BLZ calls it bparams.
        let params = storage.get("cparams").or_else(|| storage.get("bparams"));
        let field = |name| params.and_then(|p| p.get(name));
        let byte = |name, default| {
            let number = field(name).and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok());
            number.unwrap_or(default)
        };
        let shuffle = field("shuffle").and_then(Value::as_bool).map(u8::from);
        CParams {
            clevel: byte("clevel", 5),
            shuffle: shuffle.unwrap_or_else(|| byte("shuffle", 1)),
            cname: field("cname").and_then(Value::as_text).unwrap_or("blosclz").into(),
            quantize: byte("quantize", 0),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::object([
            ("clevel", Value::int(self.clevel)),
            ("shuffle", Value::int(self.shuffle)),
            ("cname", Value::text(self.cname.clone())),
            ("quantize", Value::int(self.quantize)),
        ])
    }
}

/// What `meta/storage` says.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Type of the items.
    pub dtype: Dtype,
    /// Compression of new chunks.
    pub cparams: CParams,
    /// Rows per chunk.
    pub chunklen: u64,
    /// A hint given at creation.
    pub expectedlen: u64,
    /// What growth is filled with.
    pub dflt: Value,
}

pub(super) fn invalid<T>(field: &'static str, value: i64) -> Result<T, Error> {
    Err(Error::Invalid { structure: Structure::Bcolz, field, offset: 0, value })
}

fn number(of: &Value, field: &'static str) -> Result<u64, Error> {
    match of.get(field) {
        None => invalid(field, 0),
        Some(v) => v.as_u64().map_or_else(|| invalid(field, v.as_i64().unwrap_or(-1)), Ok),
    }
}

/// Reads a JSON file; an empty or half written one says so.
pub(super) fn read_json<T: Tree>(dir: &T, name: &'static str) -> Result<Option<Value>, Error> {
    let limits = TextLimits::JSON;
    let Some(text) = get(dir, name, limits.bytes as u64)? else { return Ok(None) };
    let error = |error| Error::Text { structure: Structure::Bcolz, field: name, offset: 0, error };
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(error(TextError { what: "the file is empty: its creation was interrupted", offset: 0 }));
    }
    Value::parse_json(&text, &limits).map(Some).map_err(error)
}

/// Writes a JSON file with the line end bcolz writes.
pub(super) fn write_json<T: Tree>(dir: &T, name: &str, value: &Value, durable: bool) -> Result<(), Error> {
    put(dir, name, format!("{}\n", value.to_json()).as_bytes(), durable)
}

impl Storage {
    pub(super) fn read<T: Tree>(meta: &T) -> Result<Storage, Error> {
        match read_json(meta, "storage")? {
            Some(value) => Storage::from_value(&value),
            None => invalid("meta/storage (missing)", 0),
        }
    }

    /// Reads the keys bcolz writes.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the entry that is missing or malformed.
    pub fn from_value(value: &Value) -> Result<Storage, Error> {
        let Some(dtype) = value.get("dtype") else { return invalid("dtype (missing)", 0) };
        Ok(Storage {
            dtype: crate::bloscpack::parse_dtype(dtype, Structure::Bcolz)?,
            cparams: CParams::read(value),
            chunklen: number(value, "chunklen")?,
            expectedlen: value.get("expectedlen").and_then(Value::as_u64).unwrap_or(0),
            dflt: value.get("dflt").cloned().unwrap_or(Value::Null),
        })
    }

    /// The keys bcolz writes, in its order.
    pub fn to_value(&self) -> Value {
        Value::object([
            ("dtype", Value::Text(numpy_name(&self.dtype))),
            ("cparams", self.cparams.to_value()),
            ("chunklen", Value::int(self.chunklen)),
            ("expectedlen", Value::int(self.expectedlen)),
            ("dflt", self.dflt.clone()),
        ])
    }

    /// The typesize bcolz gives Blosc: that of the characters for text, 1 for large records (§2.3).
    pub fn typesize(&self) -> u32 {
        match &self.dtype {
            Dtype::Scalar(Scalar { kind: Kind::Bytes, .. }) => 1,
            Dtype::Scalar(Scalar { kind: Kind::Unicode, .. }) => 4,
            dtype => match dtype.itemsize() {
                n @ 1..=255 => n,
                _ => 1,
            },
        }
    }
}

/// `numpy.str(dtype)` as bcolz stores it: a plain name for native numbers, the type string otherwise.
pub fn numpy_name(dtype: &Dtype) -> String {
    let Dtype::Scalar(s) = dtype else { return dtype.to_string() };
    if s.order == ByteOrder::Big {
        return dtype.to_string();
    }
    let bits = s.size.saturating_mul(8);
    match s.kind {
        Kind::Bool => "bool".into(),
        Kind::Int => format!("int{bits}"),
        Kind::Uint => format!("uint{bits}"),
        Kind::Float if bits <= 64 => format!("float{bits}"),
        Kind::Complex if bits <= 128 => format!("complex{bits}"),
        Kind::Datetime { .. } | Kind::Timedelta { .. } => {
            let text = dtype.to_string();
            let unit = text.find('[').and_then(|at| text.get(at..)).unwrap_or("");
            let name = if matches!(s.kind, Kind::Datetime { .. }) { "datetime64" } else { "timedelta64" };
            format!("{name}{unit}")
        }
        _ => dtype.to_string(),
    }
}

/// What `meta/sizes` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows, then the shape of a row.
    pub shape: Vec<u64>,
    /// Decoded bytes; informational.
    pub nbytes: u64,
    /// Compressed bytes; informational.
    pub cbytes: u64,
}

impl Sizes {
    pub(super) fn read<T: Tree>(meta: &T) -> Result<Sizes, Error> {
        match read_json(meta, "sizes")? {
            Some(value) => Sizes::from_value(&value),
            None => invalid("meta/sizes (missing)", 0),
        }
    }

    /// Reads the three keys; a bare number is a shape of one dimension.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the entry that is missing or malformed.
    pub fn from_value(value: &Value) -> Result<Sizes, Error> {
        let shape = value.get("shape");
        let shape = match (shape.and_then(Value::as_list), shape.and_then(Value::as_u64)) {
            (Some(dims), _) => dims.iter().map(Value::as_u64).collect(),
            (None, Some(rows)) => Some([rows].into()),
            _ => None,
        };
        let Some(shape) = shape.filter(|dims: &Vec<u64>| (1..=32).contains(&dims.len())) else {
            return invalid("shape", 0);
        };
        let informal = |name| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        Ok(Sizes { shape, nbytes: informal("nbytes"), cbytes: informal("cbytes") })
    }

    /// The three keys.
    pub fn to_value(&self) -> Value {
        Value::object([
            ("shape", Value::List(self.shape.iter().map(|&n| Value::int(n)).collect())),
            ("nbytes", Value::int(self.nbytes)),
            ("cbytes", Value::int(self.cbytes)),
        ])
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }
}

/// Sizes that follow from a dtype, a shape and a chunk length, all checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Bytes of a row.
    pub atom: u64,
    /// Bytes of a chunk.
    pub chunk: u64,
}

impl Geometry {
    pub fn new(dtype: &Dtype, shape: &[u64], chunklen: u64) -> Result<Geometry, Error> {
        let rows = shape.first().copied().unwrap_or(0);
        let inner = shape.get(1..).unwrap_or_default();
        let atom = inner.iter().try_fold(u64::from(dtype.itemsize()), |n, &dim| n.checked_mul(dim));
        let Some(atom) = atom.filter(|&atom| atom > 0) else { return invalid("shape (size of a row)", 0) };
        if rows.checked_mul(atom).is_none_or(|n| n > i64::MAX as u64) {
            return invalid("shape", i64::try_from(rows).unwrap_or(i64::MAX));
        }
        let chunk = chunklen.checked_mul(atom).filter(|&n| n > 0 && n <= u64::from(MAX_BUFFER));
        match chunk {
            Some(chunk) => Ok(Geometry { atom, chunk }),
            None => invalid("chunklen", i64::try_from(chunklen).unwrap_or(i64::MAX)),
        }
    }
}

/// The chunk length bcolz chooses for `expected` rows of `atom` bytes (§4).
pub fn default_chunklen(expected: u64, atom: u64) -> u64 {
    let mb = (expected as f64 * atom as f64 / 1_048_576.0).clamp(1e-4, 1e4);
    // Truncated toward zero: −4 ..= 4, so the shift is 2 ..= 10.
    let shift = (mb.log10() as i32).saturating_add(6).clamp(2, 10);
    (4096u64 << shift).checked_div(atom).unwrap_or(1).max(1)
}

/// The bytes of one item holding the default value; zeros where it has no obvious form.
pub(crate) fn default_item(dtype: &Dtype, dflt: &Value) -> Vec<u8> {
    let size = usize::try_from(dtype.itemsize()).unwrap_or(0);
    let mut item = alloc::vec![0u8; size];
    let put = |item: &mut Vec<u8>, bytes: &[u8]| {
        for (to, from) in item.iter_mut().zip(bytes) {
            *to = *from;
        }
    };
    match dtype {
        Dtype::Struct(s) => {
            for (field, value) in s.fields.iter().zip(dflt.as_list().unwrap_or_default()) {
                let bytes = default_item(&field.dtype, value);
                let at = usize::try_from(field.offset).unwrap_or(size);
                if let Some(room) = item.get_mut(at..) {
                    room.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
                }
            }
        }
        Dtype::Array { item: inner, .. } => {
            let bytes = default_item(inner, dflt);
            item.iter_mut().zip(bytes.iter().cycle()).for_each(|(to, from)| *to = *from);
        }
        Dtype::Scalar(s) => {
            let mut number = None;
            match s.kind {
                Kind::Bool => put(&mut item, &[u8::from(dflt.as_bool().unwrap_or(false))]),
                Kind::Int | Kind::Datetime { .. } | Kind::Timedelta { .. } => {
                    number = dflt.as_i64().map(|n| n.to_le_bytes().to_vec());
                }
                Kind::Uint => number = dflt.as_u64().map(|n| n.to_le_bytes().to_vec()),
                Kind::Float if size == 4 => number = dflt.as_f64().map(|n| (n as f32).to_le_bytes().to_vec()),
                Kind::Float if size == 8 => number = dflt.as_f64().map(|n| n.to_le_bytes().to_vec()),
                Kind::Bytes => put(&mut item, dflt.as_text().unwrap_or("").as_bytes()),
                Kind::Unicode => {
                    let order = |c: char| match s.order {
                        ByteOrder::Big => u32::from(c).to_be_bytes(),
                        _ => u32::from(c).to_le_bytes(),
                    };
                    let text: Vec<u8> = dflt.as_text().unwrap_or("").chars().flat_map(order).collect();
                    put(&mut item, &text);
                }
                _ => {}
            }
            if let Some(mut bytes) = number {
                bytes.truncate(size);
                if s.order == ByteOrder::Big {
                    bytes.reverse();
                }
                put(&mut item, &bytes);
            }
        }
    }
    item
}

/// The default value bcolz gives a dtype.
pub(crate) fn zero_of(dtype: &Dtype) -> Value {
    match dtype {
        Dtype::Scalar(s) => match s.kind {
            Kind::Bool => Value::Bool(false),
            Kind::Float => Value::Number("0.0".into()),
            Kind::Bytes | Kind::Unicode => Value::text(""),
            Kind::Int | Kind::Uint | Kind::Datetime { .. } | Kind::Timedelta { .. } => Value::int(0),
            _ => Value::Null,
        },
        Dtype::Struct(s) => Value::List(s.fields.iter().map(|f| zero_of(&f.dtype)).collect()),
        Dtype::Array { item, .. } => zero_of(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunklens_of_bcolz() {
        for (expected, atom, want) in
            [(27, 8, 4096), (27, 1, 16384), (27, 12, 2730), (0, 4, 4096), (3, 2, 8192)]
        {
            assert_eq!(default_chunklen(expected, atom), want, "{expected} x {atom}");
        }
        assert_eq!(default_chunklen(1 << 40, 8) * 8, 4 << 20);
        assert_eq!(default_chunklen(1, 1 << 40), 1);
    }

    #[test]
    fn names_numpy_prints() {
        for (text, name) in [
            ("<i4", "int32"),
            (">f8", ">f8"),
            ("|b1", "bool"),
            ("|S5", "|S5"),
            ("<U3", "<U3"),
            ("<M8[D]", "datetime64[D]"),
            ("<M8[25s]", "datetime64[25s]"),
            ("|u1", "uint8"),
            ("[('a', '<i4'), ('b', '<f8')]", "[('a', '<i4'), ('b', '<f8')]"),
        ] {
            let dtype = Dtype::parse(text).unwrap();
            assert_eq!(numpy_name(&dtype), name);
            assert_eq!(Dtype::parse(name).unwrap(), dtype);
        }
    }

    #[test]
    fn default_values() {
        let item = |dtype: &str, dflt: Value| default_item(&Dtype::parse(dtype).unwrap(), &dflt);
        assert_eq!(item(">i2", Value::int(-2)), [0xff, 0xfe]);
        assert_eq!(item("<f4", Value::Number("NaN".into())), f32::NAN.to_le_bytes());
        assert_eq!(item("|S3", Value::text("ab")), b"ab\0");
        let record = Value::List(alloc::vec![Value::int(1), Value::text("z")]);
        assert_eq!(item("[('a', '<i2'), ('b', '|S1')]", record), [1, 0, b'z']);
        assert_eq!(item("<i4", Value::text("x")), [0; 4]);
    }

    #[test]
    fn absurd_geometry_is_refused() {
        let g = |shape: &[u64], chunklen| Geometry::new(&Dtype::parse("<i4").unwrap(), shape, chunklen);
        assert_eq!(g(&[7, 2], 4).unwrap(), Geometry { atom: 8, chunk: 32 });
        for (shape, chunklen) in [
            (&[1u64][..], 0),
            (&[1], 1 << 40),
            (&[1, 0], 1),
            (&[1, 1 << 62, 8], 1),
            (&[1 << 62], 1),
            (&[1, 1 << 31], 1),
        ] {
            assert!(g(shape, chunklen).is_err(), "{shape:?} {chunklen}");
        }
    }
}
