//! The schema of a table, which is JSON text in its description.
//!
//! ```text
//! column      files in the folder `_cols`, where `.` in a name stands for a folder
//! utf8        NAME.b2nd (rows + 1 offsets, i64) and NAME.utf8.b2nd (bytes)
//! dictionary  NAME.b2nd (codes, i32) and NAME_dict.b2b (values)
//! vlstring, vlbytes, struct, object, list   NAME.b2b
//! all others  NAME.b2nd
//! nulls       `null_storage` "mask": NAME.notnull.b2nd, absent where no row is null; otherwise `null_value`, or nil
//! ```

use super::error::{Made, Result, TableError};
use super::place::{self, META, Place, vlmeta};
use crate::dtype::{Dtype, Kind as Scalars, Scalar};
use crate::value::{TextLimits, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_schema::{DataType, Field, TimeUnit};

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Items of the array's own type: numbers, and texts and bytes of fixed length.
    Items,
    /// Zero or one, in an array of `bool` or `u1`.
    Bool,
    /// Units since 1970.
    Timestamp {
        /// `s`, `ms`, `us` or `ns`.
        unit: String,
        /// The zone that the times are shown in; they are stored in UTC.
        timezone: Option<String>,
    },
    /// Text.
    Utf8,
    /// Text, each different one stored once.
    Dictionary {
        /// The code that stands for null.
        null_code: i64,
    },
    /// Text as MessagePack.
    VlString,
    /// Bytes as MessagePack.
    VlBytes,
    /// Lists and structs, described by this.
    Nested(Value),
    /// Any MessagePack value.
    Object,
    /// What is not known here, by its name.
    Unknown(String),
}

impl Kind {
    /// Whether its values have their own lengths, and lie one by one or in batches.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self, Kind::VlString | Kind::VlBytes | Kind::Nested(_) | Kind::Object)
    }
}

/// How nulls are told from values.
#[derive(Clone, Debug, PartialEq)]
pub enum Nulls {
    /// No row is null.
    None,
    /// An array of its own says which rows are.
    Mask,
    /// This value stands for null.
    Sentinel(Value),
    /// They are values of their own: a code, or nil.
    Native,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    pub(super) nulls: Nulls,
    /// Its schema, as it is written.
    pub spec: Value,
}

impl Column {
    /// From its schema; `None` without a name or a kind.
    pub fn new(spec: &Value) -> Option<Column> {
        let text = |name: &str| spec.get(name).and_then(Value::as_text);
        let kind = match text("kind")? {
            "bool" => Kind::Bool,
            "timestamp" => Kind::Timestamp {
                unit: text("unit").unwrap_or("us").to_string(),
                timezone: text("timezone").map(str::to_string),
            },
            "utf8" => Kind::Utf8,
            "dictionary" => {
                Kind::Dictionary { null_code: spec.get("null_code").and_then(Value::as_i64).unwrap_or(-1) }
            }
            "vlstring" => Kind::VlString,
            "vlbytes" => Kind::VlBytes,
            "list" | "struct" => Kind::Nested(spec.clone()),
            "object" => Kind::Object,
            "string" | "bytes" | "ndarray" => Kind::Items,
            kind if is_number(kind) => Kind::Items,
            other => Kind::Unknown(other.to_string()),
        };
        let sentinel = spec.get("null_value").filter(|value| **value != Value::Null);
        let nullable = spec.get("nullable").and_then(Value::as_bool).unwrap_or(false);
        let nulls = match (&kind, sentinel) {
            (kind, _) if kind.is_listed() || matches!(kind, Kind::Dictionary { .. }) => {
                if nullable {
                    Nulls::Native
                } else {
                    Nulls::None
                }
            }
            _ if text("null_storage") == Some("mask") => Nulls::Mask,
            (_, Some(value)) => Nulls::Sentinel(value.clone()),
            _ => Nulls::None,
        };
        Some(Column { name: text("name")?.to_string(), kind, nulls, spec: spec.clone() })
    }

    /// Where it lies in the store, without an extension.
    pub(super) fn stem(&self) -> String {
        // As python-blosc2 escapes names in keys.
        let name = self.name.replace('%', "%25").replace('/', "%2F").replace('.', "/");
        format!("/_cols/{name}")
    }

    /// Its type, for people.
    pub fn type_name(&self) -> &str {
        self.spec.get("kind").and_then(Value::as_text).unwrap_or("")
    }

    /// Its name and type in Arrow. Complex numbers are lists of two floats called `complex`; objects, and lists and structs of
    /// what Arrow has no type for, are JSON text, marked as the extension type `arrow.json`.
    ///
    /// # Errors
    /// Why Arrow has no such type.
    pub fn field(&self) -> core::result::Result<Field, String> {
        let (data_type, json) = match (data_type(&self.spec), &self.kind) {
            (_, Kind::Unknown(kind)) => return Err(format!("its kind {kind} is not known")),
            (Err(_), Kind::Nested(_)) | (_, Kind::Object) => (DataType::Utf8, true),
            (data_type, _) => (data_type?, false),
        };
        let field = Field::new(&self.name, data_type, self.kind.is_listed() || self.is_nullable());
        Ok(if json { as_json(field) } else { field })
    }

    /// Whether rows of it may be null.
    pub fn is_nullable(&self) -> bool {
        self.nulls != Nulls::None
    }
}

/// A field of text, marked as JSON.
pub fn as_json(field: Field) -> Field {
    let marks = [("ARROW:extension:name", "arrow.json"), ("ARROW:extension:metadata", "")];
    field.with_metadata(marks.map(|(name, value)| (name.to_string(), value.to_string())).into())
}

/// Whether the text of a field is JSON.
pub fn is_json(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.json")
}

/// Two floats that are one number.
fn complex(float: DataType) -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new("complex", float, false)), 2)
}

/// Whether a type is that of complex numbers.
pub fn is_complex(data_type: &DataType) -> bool {
    matches!(data_type, DataType::FixedSizeList(field, 2) if field.name() == "complex")
}

/// Whether values of a type are, or hold, complex numbers.
pub fn has_complex(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(field, _) => is_complex(data_type) || has_complex(field.data_type()),
        _ => false,
    }
}

/// The type of a column with this schema, or why there is none.
fn data_type(spec: &Value) -> Made<DataType> {
    let text = |name: &str| spec.get(name).and_then(Value::as_text);
    Ok(match text("kind").unwrap_or("") {
        "bool" => DataType::Boolean,
        "string" | "utf8" | "vlstring" | "object" => DataType::Utf8,
        "bytes" | "vlbytes" => DataType::Binary,
        "dictionary" => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
        "timestamp" => {
            let unit = match text("unit").unwrap_or("us") {
                "s" => TimeUnit::Second,
                "ms" => TimeUnit::Millisecond,
                "us" => TimeUnit::Microsecond,
                "ns" => TimeUnit::Nanosecond,
                other => return Err(format!("Arrow has no times in {other}")),
            };
            DataType::Timestamp(unit, text("timezone").map(Into::into))
        }
        "list" => DataType::List(Arc::new(Field::new("item", inner(spec.get("item"))?, true))),
        "struct" => {
            let fields = spec.get("fields").and_then(Value::as_list).unwrap_or_default();
            let field = |spec: &Value| {
                let name = spec.get("name").and_then(Value::as_text).ok_or("a field without a name")?;
                Ok(Field::new(name, inner(Some(spec))?, true))
            };
            DataType::Struct(fields.iter().map(field).collect::<Made<Vec<Field>>>()?.into())
        }
        "ndarray" => {
            let dtype = Dtype::parse(text("dtype_str").unwrap_or("")).map_err(|e| e.to_string())?;
            let Dtype::Scalar(scalar) = dtype else { return Err("Arrow has no such items".into()) };
            let shape = spec.get("item_shape").and_then(Value::as_list).unwrap_or_default();
            let shape: Option<Vec<u32>> = shape.iter().map(|n| u32::try_from(n.as_u64()?).ok()).collect();
            lists(scalar_type(&scalar)?, &shape.ok_or("a shape of its rows expected")?)?
        }
        number => match Dtype::parse(number) {
            Ok(Dtype::Scalar(scalar)) => scalar_type(&scalar)?,
            _ => return Err(format!("Arrow has no type for {number}")),
        },
    })
}

/// Lists of this shape.
pub fn lists(item: DataType, shape: &[u32]) -> Made<DataType> {
    let mut data_type = item;
    for side in shape.iter().rev() {
        let side = i32::try_from(*side).ok().filter(|n| *n > 0).ok_or("Arrow has no arrays without items")?;
        data_type = DataType::FixedSizeList(Arc::new(Field::new("item", data_type, false)), side);
    }
    Ok(data_type)
}

/// The type of what lies in a list or struct.
fn inner(spec: Option<&Value>) -> Made<DataType> {
    let spec = spec.ok_or("a list without a type")?;
    match spec.get("kind").and_then(Value::as_text) {
        Some(kind @ ("object" | "dictionary" | "ndarray")) => Err(format!("{kind} in a list or struct")),
        _ => data_type(spec),
    }
}

/// The type of items.
pub fn scalar_type(scalar: &Scalar) -> Made<DataType> {
    Ok(match (scalar.kind, scalar.size) {
        (Scalars::Bool, _) => DataType::Boolean,
        (Scalars::Int, 1) => DataType::Int8,
        (Scalars::Int, 2) => DataType::Int16,
        (Scalars::Int, 4) => DataType::Int32,
        (Scalars::Int, 8) => DataType::Int64,
        (Scalars::Uint, 1) => DataType::UInt8,
        (Scalars::Uint, 2) => DataType::UInt16,
        (Scalars::Uint, 4) => DataType::UInt32,
        (Scalars::Uint, 8) => DataType::UInt64,
        (Scalars::Float, 2) => DataType::Float16,
        (Scalars::Float, 4) => DataType::Float32,
        (Scalars::Float, 8) => DataType::Float64,
        (Scalars::Complex, 8) => complex(DataType::Float32),
        (Scalars::Complex, 16) => complex(DataType::Float64),
        (Scalars::Unicode, _) => DataType::Utf8,
        (Scalars::Bytes, _) => DataType::Binary,
        _ => return Err("Arrow has no such items".into()),
    })
}

/// Whether a kind of the schema is a number, as NumPy calls it.
fn is_number(kind: &str) -> bool {
    let bits = kind.trim_start_matches(|c: char| c.is_ascii_lowercase());
    matches!(
        (&kind[..kind.len() - bits.len()], bits),
        ("int" | "uint", "8" | "16" | "32" | "64")
            | ("float", "16" | "32" | "64")
            | ("complex", "64" | "128")
    )
}

/// The schema of a table.
#[derive(Clone, Debug)]
pub struct Schema {
    /// What is stored, in order.
    pub columns: Vec<Column>,
    /// The names of the columns whose items are computed from others whenever they are read.
    pub computed: Vec<String>,
    /// The names of the columns whose stored items were computed from others.
    pub generated: Vec<String>,
    /// Indexes that are out of date.
    pub stale: Vec<String>,
}

impl Schema {
    /// Reads it from the description of a table.
    ///
    /// # Errors
    /// A description that is missing, damaged, or of a later version.
    pub fn open(place: &dyn Place) -> Result<Schema> {
        let frame = place::frame(place, META, "b2f")?;
        let text = |name: &str| -> Result<Option<String>> {
            Ok(vlmeta(&frame, name, META)?.map(|value| match value {
                Value::Text(text) => text,
                other => other.to_json_compact(),
            }))
        };
        match (text("kind")?.as_deref(), text("version")?.as_deref()) {
            (Some("ctable"), Some("1")) => {}
            (kind, version) => {
                let [kind, version] = [kind, version].map(|text| text.unwrap_or("nothing"));
                return Err(TableError::Unable(format!(
                    "{META}: its kind is {kind}, version {version}, but a ctable of version 1 is known"
                )));
            }
        }
        let schema = text("schema")?.ok_or_else(|| TableError::data(format!("{META}: has no schema")))?;
        Schema::parse(&schema).map_err(|what| TableError::data(format!("{META}: schema: {what}")))
    }

    /// Reads it from its JSON.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> core::result::Result<Schema, String> {
        let value = Value::parse_json(text.as_bytes(), &TextLimits::JSON).map_err(|e| e.to_string())?;
        let version = value.get("version").and_then(Value::as_u64).unwrap_or(0);
        if !(1..=3).contains(&version) {
            return Err(format!("version {version} is not known"));
        }
        let list = |name: &str| value.get(name).and_then(Value::as_list).unwrap_or_default();
        let name = |entry: &Value| entry.get("name").and_then(Value::as_text).map(str::to_string);
        let columns: Option<Vec<Column>> = list("columns").iter().map(Column::new).collect();
        let columns = columns.ok_or("a column without a name or a kind")?;
        for (k, column) in columns.iter().enumerate() {
            if columns.iter().take(k).any(|other| other.name == column.name) {
                return Err(format!("two columns are called {:?}", column.name));
            }
        }
        let stale = |entry: &&Value| entry.get("stale").and_then(Value::as_bool) == Some(true);
        Ok(Schema {
            columns,
            computed: list("computed_columns").iter().filter_map(name).collect(),
            generated: list("materialized_columns").iter().filter_map(name).collect(),
            stale: list("materialized_columns").iter().filter(stale).filter_map(name).collect(),
        })
    }
}
