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

use blosc_frame::value::{TextLimits, Value};

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Items of the array's own type: numbers, and texts and bytes of fixed length.
    Items,
    /// Zero or one, in an array of `bool` or `u1`.
    Bool,
    /// Units since 1970.
    Timestamp { unit: String, timezone: Option<String> },
    /// Text.
    Utf8,
    /// Text, each different one stored once. This code stands for null.
    Dictionary { null_code: i64 },
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

/// How nulls are told from values.
#[derive(Clone, Debug, PartialEq)]
pub enum Nulls {
    None,
    /// By an array of their own.
    Mask,
    /// By this value.
    Sentinel(Value),
    /// They are values of their own: a code, or nil.
    Native,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub nulls: Nulls,
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
            (
                Kind::Dictionary { .. } | Kind::VlString | Kind::VlBytes | Kind::Nested(_) | Kind::Object,
                _,
            ) => {
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
    pub fn stem(&self) -> String {
        // As python-blosc2 escapes names in keys.
        let name = self.name.replace('%', "%25").replace('/', "%2F").replace('.', "/");
        format!("/_cols/{name}")
    }

    /// The extension of its values.
    pub fn extension(&self) -> &'static str {
        match self.kind {
            Kind::VlString | Kind::VlBytes | Kind::Nested(_) | Kind::Object => "b2b",
            _ => "b2nd",
        }
    }

    /// Its type, for people.
    pub fn type_name(&self) -> &str {
        self.spec.get("kind").and_then(Value::as_text).unwrap_or("")
    }

    /// Whether rows of it may be null.
    pub fn is_nullable(&self) -> bool {
        self.nulls != Nulls::None
    }
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
    /// Those of them that are out of date.
    pub stale: Vec<String>,
}

impl Schema {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Schema, String> {
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
