//! `meta/storage`, `meta/sizes` and `meta/attributes` in both syntaxes (docs/formats/bcolz.md §7).
//!
//! ```text
//! JSON  {"dtype": "float64", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!        "chunklen": 16384, "expectedlen": 10, "dflt": 0.0, "superchunksize": 64}
//! YAML  dtype: {col1: int8, col2: float32}   chunkshape: (16384,)   superchunksize: 64
//!       endianness: little   order: C   compression: {library: lz4, level: 5, filters: [shuffle]}
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::superchunks::is_superchunk;
use crate::bcolz::{CParams, Sizes, numpy_name};
use crate::bloscpack::parse_dtype;
use crate::dtype::{ByteOrder, Dtype, Field, Kind, Struct};
use crate::error::{Error, Structure};
use crate::value::{TextLimits, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// How the files in `meta/` are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MetaSyntax {
    /// As the Blaze document has it.
    #[default]
    Json,
    /// As the bcolz proposal has it.
    Yaml,
}

/// The dtype: one type, or a mapping of columns, which may hold mappings again.
#[derive(Clone, Debug, PartialEq)]
pub enum Names {
    /// A single column.
    One(Dtype),
    /// Named columns in order.
    Columns(Vec<(String, Names)>),
}

impl Names {
    fn read(value: &Value, big: bool, depth: u32) -> Result<Names, Error> {
        let Some(pairs) = value.as_object() else {
            let dtype = parse_dtype(value, Structure::Blaze)?;
            let explicit = value.as_text().is_some_and(|t| t.contains(['<', '>', '|', '=']));
            return Ok(Names::One(if big && !explicit { big_endian(dtype) } else { dtype }));
        };
        let Some(deeper) = depth.checked_sub(1) else { return invalid("dtype (nested too deeply)", 0) };
        let mut columns: Vec<(String, Names)> = Vec::new();
        for (name, value) in pairs {
            crate::bcolz::check_column(name)?;
            if is_superchunk(name) {
                return Err(crate::error::IoKind::Name.into());
            }
            columns.push((name.clone(), Names::read(value, big, deeper)?));
        }
        Ok(Names::Columns(columns))
    }

    fn to_value(&self) -> Value {
        match self {
            Names::One(dtype) => Value::Text(numpy_name(dtype)),
            Names::Columns(columns) => {
                Value::Object(columns.iter().map(|(name, inner)| (name.clone(), inner.to_value())).collect())
            }
        }
    }

    /// The dtype of a packed row.
    ///
    /// # Errors
    /// A row larger than an item may be.
    pub fn dtype(&self) -> Result<Dtype, Error> {
        let columns = match self {
            Names::One(dtype) => return Ok(dtype.clone()),
            Names::Columns(columns) => columns,
        };
        let (mut fields, mut offset) = (Vec::new(), 0u32);
        for (name, inner) in columns {
            let dtype = inner.dtype()?;
            let next = offset.checked_add(dtype.itemsize()).filter(|&n| n <= i32::MAX as u32);
            fields.push(Field { name: name.clone(), title: None, offset, dtype });
            offset = next.ok_or(Error::Unsupported {
                structure: Structure::Blaze,
                what: "a row larger than an item may be",
            })?;
        }
        Ok(Dtype::Struct(Struct { fields, itemsize: offset, aligned: false }))
    }

    /// Every leaf with its path, depth first.
    pub fn leaves(&self) -> Vec<(Vec<String>, Dtype)> {
        match self {
            Names::One(dtype) => alloc::vec![(Vec::new(), dtype.clone())],
            Names::Columns(columns) => columns
                .iter()
                .flat_map(|(name, inner)| {
                    inner
                        .leaves()
                        .into_iter()
                        .map(|(path, dtype)| (core::iter::once(name.clone()).chain(path).collect(), dtype))
                })
                .collect(),
        }
    }

    /// Splits a structured dtype into columns; padding between fields is dropped.
    pub fn columns_of(dtype: &Dtype) -> Names {
        match dtype {
            Dtype::Struct(s) => {
                let column = |f: &Field| (f.name.clone(), Names::columns_of(&f.dtype));
                Names::Columns(s.fields.iter().map(column).collect())
            }
            other => Names::One(other.clone()),
        }
    }
}

fn big_endian(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Scalar(mut s) => {
            if s.order == ByteOrder::Little {
                s.order = ByteOrder::Big;
            }
            Dtype::Scalar(s)
        }
        Dtype::Array { item, shape } => {
            Dtype::Array { item: alloc::boxed::Box::new(big_endian(*item)), shape }
        }
        other => other,
    }
}

/// What `meta/storage` says.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The dtype or dtypes.
    pub names: Names,
    /// Compression of new chunks.
    pub cparams: CParams,
    /// Rows per chunk.
    pub chunklen: u64,
    /// Chunks per super-chunk file; `None` where the files must be asked.
    pub superchunk: Option<u64>,
    /// A hint given at creation.
    pub expectedlen: u64,
    /// What growth is filled with.
    pub dflt: Value,
}

pub(super) fn invalid<T>(field: &'static str, value: i64) -> Result<T, Error> {
    Err(Error::Invalid { structure: Structure::Blaze, field, offset: 0, value })
}

fn unsupported<T>(what: &'static str) -> Result<T, Error> {
    Err(Error::Unsupported { structure: Structure::Blaze, what })
}

/// Parses a file of `meta/`: JSON, what Python prints, or YAML.
pub(super) fn parse(text: &[u8], field: &'static str) -> Result<(Value, MetaSyntax), Error> {
    let json = match Value::parse_json(text, &TextLimits::JSON) {
        Ok(value) => return Ok((value, MetaSyntax::Json)),
        Err(error) => error,
    };
    if let Ok(value) = Value::parse_python(text, &TextLimits::JSON) {
        return Ok((value, MetaSyntax::Json));
    }
    // Which error is of use depends on what the text was meant to be.
    let meant_json = text.trim_ascii_start().starts_with(b"{");
    Value::parse_yaml(text, &TextLimits::YAML).map(|value| (value, MetaSyntax::Yaml)).map_err(|yaml| {
        Error::Text {
            structure: Structure::Blaze,
            field,
            offset: 0,
            error: if meant_json { json } else { yaml },
        }
    })
}

/// Writes a file of `meta/`.
pub(super) fn format(value: &Value, syntax: MetaSyntax) -> String {
    match syntax {
        MetaSyntax::Json => alloc::format!("{}\n", value.to_json()),
        MetaSyntax::Yaml => value.to_yaml(),
    }
}

impl Storage {
    /// Reads either syntax; `shape` is that of the dataset.
    ///
    /// # Errors
    /// Tiled chunks of more dimensions than one, whose order no document defines; Fortran order of such.
    pub fn from_value(value: &Value, shape: &[u64]) -> Result<Storage, Error> {
        let text = |name| value.get(name).and_then(Value::as_text);
        let big = match text("endianness") {
            None | Some("little") => false,
            Some("big") => true,
            Some(_) => return invalid("endianness", 0),
        };
        match text("order") {
            None | Some("C") => {}
            Some("F") if shape.len() <= 1 => {}
            Some("F") => return unsupported("Fortran order of more than one dimension"),
            Some(_) => return invalid("order", 0),
        }
        let Some(dtype) = value.get("dtype") else { return invalid("dtype (missing)", 0) };
        let names = Names::read(dtype, big, 16)?;
        let number = |name| value.get(name).and_then(Value::as_u64);
        let chunklen = match (number("chunklen"), value.get("chunkshape")) {
            (Some(n), _) => n,
            (None, Some(chunkshape)) => {
                let dims = match (chunkshape.as_list(), chunkshape.as_u64()) {
                    (Some(dims), _) => dims.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>(),
                    (None, n) => n.map(|n| alloc::vec![n]),
                };
                let Some(dims) = dims else { return invalid("chunkshape", 0) };
                // Whole rows only: where tiles lie within a file is written nowhere.
                if dims.get(1..) != shape.get(1..) {
                    return unsupported("tiled chunks (their order in a file is not defined)");
                }
                dims.first().copied().unwrap_or(0)
            }
            _ => return invalid("chunklen", 0),
        };
        let superchunk = number("superchunksize");
        if superchunk == Some(0) {
            return invalid("superchunksize", 0);
        }
        Ok(Storage {
            names,
            cparams: read_cparams(value),
            chunklen,
            superchunk,
            expectedlen: number("expectedlen").unwrap_or(0),
            dflt: value.get("dflt").cloned().unwrap_or(Value::Null),
        })
    }

    /// The file in one of the syntaxes.
    pub fn to_value(&self, shape: &[u64], syntax: MetaSyntax) -> Value {
        let superchunk = ("superchunksize", self.superchunk.map_or(Value::Null, Value::int));
        let mut value = match syntax {
            MetaSyntax::Json => Value::object([
                ("dtype", self.names.to_value()),
                ("cparams", self.cparams.to_value()),
                ("chunklen", Value::int(self.chunklen)),
                ("expectedlen", Value::int(self.expectedlen)),
                ("dflt", self.dflt.clone()),
                superchunk,
            ]),
            MetaSyntax::Yaml => {
                let inner = shape.get(1..).unwrap_or_default();
                let chunkshape = core::iter::once(&self.chunklen).chain(inner).map(|&n| Value::int(n));
                let filters = match self.cparams.shuffle {
                    1 => alloc::vec![Value::text("shuffle")],
                    2 => alloc::vec![Value::text("bitshuffle")],
                    _ => Vec::new(),
                };
                Value::object([
                    ("dtype", self.names.to_value()),
                    ("chunkshape", Value::Tuple(chunkshape.collect())),
                    superchunk,
                    ("endianness", Value::text("little")),
                    ("order", Value::text("C")),
                    (
                        "compression",
                        Value::object([
                            ("library", Value::text(self.cparams.cname.clone())),
                            ("level", Value::int(self.cparams.clevel)),
                            ("filters", Value::List(filters)),
                        ]),
                    ),
                    ("expectedlen", Value::int(self.expectedlen)),
                    ("dflt", self.dflt.clone()),
                ])
            }
        };
        if let Value::Object(pairs) = &mut value {
            pairs.retain(|(_, v)| *v != Value::Null);
        }
        value
    }
}

fn read_cparams(value: &Value) -> CParams {
    let Some(compression) = value.get("compression") else { return CParams::read(value) };
    let filters = compression.get("filters").and_then(Value::as_list).unwrap_or_default();
    let has = |name: &str| filters.iter().any(|f| f.as_text() == Some(name));
    let shuffle = if has("bitshuffle") { 2 } else { u8::from(has("shuffle")) };
    let level = compression.get("level").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok());
    let library = compression.get("library").and_then(Value::as_text).unwrap_or("blosclz");
    CParams { clevel: level.unwrap_or(5), shuffle, cname: library.into(), quantize: 0 }
}

/// `meta/sizes` in one of the syntaxes: YAML writes the shape as a tuple.
pub(super) fn sizes_value(sizes: &Sizes, syntax: MetaSyntax) -> Value {
    let mut value = sizes.to_value();
    if syntax == MetaSyntax::Yaml {
        value.set("shape", Value::Tuple(sizes.shape.iter().map(|&n| Value::int(n)).collect()));
    }
    value
}

/// Attributes as the bcolz proposal types them: `{value, type: scalar or array, dtype}`.
pub(super) fn typed_attributes(attrs: &Value) -> Value {
    let dtype = |v: &Value| match v {
        Value::Number(_) if v.as_i64().is_some() => Value::text("int64"),
        Value::Number(_) => Value::text("float64"),
        Value::Bool(_) => Value::text("bool"),
        _ => Value::text("str"),
    };
    let typed = |v: &Value| {
        let is_typed = typed_value(v).is_some();
        let flat = |items: &[Value]| items.iter().all(|i| matches!(i, Value::Number(_) | Value::Text(_)));
        match v {
            v if is_typed => v.clone(),
            Value::List(items) if flat(items) => {
                let text = items.iter().any(|i| i.as_text().is_some());
                let whole = items.iter().all(|i| i.as_i64().is_some());
                let inner = if text {
                    "str"
                } else if whole {
                    "int64"
                } else {
                    "float64"
                };
                Value::object([
                    ("value", v.clone()),
                    ("type", Value::text("array")),
                    ("dtype", Value::text(inner)),
                ])
            }
            v => Value::object([("value", v.clone()), ("type", Value::text("scalar")), ("dtype", dtype(v))]),
        }
    };
    match attrs.as_object() {
        Some(pairs) => Value::Object(pairs.iter().map(|(name, v)| (name.clone(), typed(v))).collect()),
        None => attrs.clone(),
    }
}

/// The value of an entry that has the keys of the proposal and no others.
fn typed_value(entry: &Value) -> Option<&Value> {
    let known = |name: &str| matches!(name, "value" | "type" | "dtype");
    let typed = matches!(entry.get("type").and_then(Value::as_text), Some("scalar" | "array"));
    let only = entry.as_object()?.iter().all(|(name, _)| known(name));
    entry.get("value").filter(|_| typed && only)
}

/// The plain values of attributes, typed or not.
pub(super) fn plain_attributes(attrs: &Value) -> Value {
    let plain = |v: &Value| typed_value(v).unwrap_or(v).clone();
    match attrs.as_object() {
        Some(pairs) => Value::Object(pairs.iter().map(|(name, v)| (name.clone(), plain(v))).collect()),
        None => attrs.clone(),
    }
}

/// The fill value of the leaf at `path`: a list or mapping follows the columns, a single value serves all.
pub(super) fn dflt_of<'v>(names: &Names, dflt: &'v Value, path: &[String]) -> &'v Value {
    let (Names::Columns(columns), Some((first, rest))) = (names, path.split_first()) else { return dflt };
    let Some((i, (_, inner))) = columns.iter().enumerate().find(|(_, (name, _))| name == first) else {
        return dflt;
    };
    let next = dflt.get(first).or_else(|| dflt.as_list().and_then(|l| l.get(i))).unwrap_or(dflt);
    dflt_of(inner, next, rest)
}

/// Whether items of this type can be told apart from padding; only used to choose a typesize.
pub(super) fn typesize(dtype: &Dtype) -> u32 {
    match dtype {
        Dtype::Scalar(s) if s.kind == Kind::Bytes => 1,
        Dtype::Scalar(s) if s.kind == Kind::Unicode => 4,
        dtype => match dtype.itemsize() {
            n @ 1..=255 => n,
            _ => 1,
        },
    }
}
