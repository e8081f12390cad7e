//! Small structured texts: the JSON and YAML that sits beside the data in bloscpack, bcolz and Blaze.
//!
//! One [`Value`] for both syntaxes. Numbers keep the text they were written with, so that reading and
//! writing a document back changes nothing in them; objects keep their order; of duplicate keys the
//! last value counts, in the place of the first, as Python has it.

#[cfg(feature = "classic")]
mod json;
pub(crate) mod text;
#[cfg(all(feature = "std", feature = "classic"))]
mod yaml;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// What a text may cost before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// Most bytes of text. Default 16 MiB.
    pub bytes: usize,
    /// Deepest nesting. Default 64.
    pub depth: u32,
    /// Most values of any kind. Default 2^20.
    pub values: u32,
}

impl TextLimits {
    /// The defaults for JSON.
    pub const JSON: TextLimits = TextLimits { bytes: 16 << 20, depth: 64, values: 1 << 20 };
    /// The defaults for YAML: 1 MiB, 16 levels.
    pub const YAML: TextLimits = TextLimits { bytes: 1 << 20, depth: 16, values: 1 << 17 };
}

impl Default for TextLimits {
    fn default() -> Self {
        TextLimits::JSON
    }
}

/// Why a text was refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// What is wrong, for people.
    pub what: &'static str,
    /// Byte of the text where it was noticed.
    pub offset: usize,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {} of the text", self.what, self.offset)
    }
}

impl core::error::Error for TextError {}

/// A value of a metadata text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written; also `NaN`, `Infinity` and `-Infinity`.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A Python tuple: `(30, 20)` in YAML, a list in JSON.
    Tuple(Vec<Value>),
    /// Names and values in the order written, no name twice.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Parses a JSON text, with the words `NaN`, `Infinity` and `-Infinity` that Python writes.
    ///
    /// # Errors
    /// [`TextError`] names the first byte that does not fit, or the limit that was exceeded.
    #[cfg(feature = "classic")]
    pub fn parse_json(text: &[u8], limits: &TextLimits) -> Result<Value, TextError> {
        json::parse(text, limits, json::Syntax::Json)
    }

    /// As [`Value::parse_json`], but refuses what would be lost: one of two values of one name in an object, and half of
    /// a surrogate pair, which is no character.
    ///
    /// # Errors
    /// As [`Value::parse_json`].
    #[cfg(feature = "classic")]
    pub fn parse_json_strict(text: &[u8], limits: &TextLimits) -> Result<Value, TextError> {
        json::parse(text, limits, json::Syntax::Strict)
    }

    /// As [`Value::parse_json`], but also takes what Python prints for a dictionary: text in
    /// apostrophes, `True`, `False`, `None`, tuples.
    ///
    /// # Errors
    /// As [`Value::parse_json`].
    #[cfg(feature = "classic")]
    pub fn parse_python(text: &[u8], limits: &TextLimits) -> Result<Value, TextError> {
        json::parse(text, limits, json::Syntax::Python)
    }

    /// Parses the YAML subset of the bcolz proposal: block mappings and lists, flow lists and mappings,
    /// plain and quoted scalars, `(30, 20)` as a tuple. Anchors, aliases, tags, merge keys, block scalars,
    /// tabs and further documents are refused.
    ///
    /// # Errors
    /// As [`Value::parse_json`].
    #[cfg(all(feature = "std", feature = "classic"))]
    pub fn parse_yaml(text: &[u8], limits: &TextLimits) -> Result<Value, TextError> {
        yaml::parse(text, limits)
    }

    /// Writes a block-style YAML document that [`Value::parse_yaml`] reads back.
    #[cfg(all(feature = "std", feature = "classic"))]
    pub fn to_yaml(&self) -> String {
        yaml::write(self)
    }

    /// Compact JSON (`,` and `:`), ASCII only: what bloscpack stores.
    pub fn to_json_compact(&self) -> String {
        text::write(self, ",", ":")
    }

    /// JSON with a blank after `,` and `:`, ASCII only: what bcolz stores.
    pub fn to_json(&self) -> String {
        text::write(self, ", ", ": ")
    }

    /// An integer.
    pub fn int(n: impl Into<i128>) -> Value {
        Value::Number(n.into().to_string())
    }

    /// Text.
    pub fn text(s: impl Into<String>) -> Value {
        Value::Text(s.into())
    }

    /// An object from its pairs.
    pub fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
        Value::Object(pairs.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// The value called `name`, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.iter().find(|(k, _)| k == name).map(|(_, v)| v)
    }

    /// Sets `name` to `value`, in its place or at the end; does nothing unless this is an object.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Value::Object(pairs) = self {
            match pairs.iter_mut().find(|(k, _)| k == name) {
                Some(slot) => slot.1 = value,
                None => pairs.push((name.into(), value)),
            }
        }
    }

    /// The pairs of an object.
    pub fn as_object(&self) -> Option<&[(String, Value)]> {
        match self {
            Value::Object(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The entries of a list or tuple.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }

    /// The number, when it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(s) => s.parse().ok(),
            _ => None,
        }
    }

    /// The number, when it is a non-negative integer that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(s) => s.parse().ok(),
            _ => None,
        }
    }

    /// The number as a float; the words of Python included.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(s) => match s.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                s => s.parse().ok(),
            },
            _ => None,
        }
    }

    /// The truth value; integers 0 and 1 count.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            Value::Number(s) if s == "0" => Some(false),
            Value::Number(s) if s == "1" => Some(true),
            _ => None,
        }
    }
}
