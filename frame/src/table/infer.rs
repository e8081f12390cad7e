//! Which types the columns of a file of text have: those that `arrow-csv` and `arrow-json` find, where nothing is lost by them.

use super::error::Result;
use super::lines::TextReader;
use super::rows::Rows;
use super::schema::as_json;
use super::time;
use super::values::{Form, float_of};
use crate::value::Value;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_schema::{DataType, Field, Schema, TimeUnit};

/// What the values of a column have in common.
#[derive(Clone, Debug, PartialEq)]
enum Common {
    /// There was none yet.
    Nothing,
    Bool,
    /// Whether one is negative, and whether one is above what 63 bits hold.
    Int {
        negative: bool,
        large: bool,
    },
    Float,
    /// Digits of the fraction of a second, and whether there is a time zone.
    Time {
        digits: usize,
        zone: bool,
    },
    Text,
    List(Box<Common>),
    Anything,
}

use Common::{Anything, Bool, Float, Int, List, Nothing, Text, Time};

impl Common {
    fn of_text(text: &str) -> Common {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // A code such as 007 is no number: its zeros would be lost.
        let code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            Bool
        } else if !code
            && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok())
            && !text.starts_with('+')
        {
            Common::of_number(text)
        } else if !code && float_of(text).is_some() && !text.starts_with('+') {
            // Digits that a double has no room for are text.
            if digits.bytes().all(|c| c.is_ascii_digit()) { Text } else { Float }
        } else if let Some(read) = time::read(text) {
            Time { digits: read.digits, zone: read.zone }
        } else {
            Text
        }
    }

    fn of_number(text: &str) -> Common {
        match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(n), _) => Int { negative: n < 0, large: false },
            (_, Ok(_)) => Int { negative: false, large: true },
            _ if text.bytes().all(|c| c.is_ascii_digit() || c == b'-') => Anything,
            _ => Float,
        }
    }

    fn of(value: &Value, form: Form) -> Common {
        match value {
            Value::Null => Nothing,
            Value::Text(text) if form == Form::Csv => Common::of_text(text),
            Value::Bool(_) => Bool,
            Value::Number(text) => Common::of_number(text),
            Value::Text(_) => Text,
            Value::List(entries) | Value::Tuple(entries) => List(Box::new(
                entries.iter().fold(Nothing, |all, entry| all.with(Common::of(entry, form), form)),
            )),
            Value::Object(_) => Anything,
        }
    }

    /// What it has in common with another.
    fn with(self, other: Common, form: Form) -> Common {
        match (self, other) {
            (a, b) if a == b => a,
            (Nothing, other) | (other, Nothing) => other,
            (Int { negative: a, large: b }, Int { negative: c, large: d }) => {
                Int { negative: a || c, large: b || d }
            }
            (Int { .. }, Float) | (Float, Int { .. }) => Float,
            (Time { digits: a, zone: b }, Time { digits: c, zone: d }) if b == d => {
                Time { digits: a.max(c), zone: b }
            }
            (List(a), List(b)) => List(Box::new(a.with(*b, form))),
            _ if form == Form::Csv => Text,
            _ => Anything,
        }
    }

    /// The type; `None` where only JSON holds them all.
    fn data_type(&self, form: Form) -> Option<DataType> {
        Some(match self {
            Bool => DataType::Boolean,
            Int { negative: true, large: true } if form == Form::Csv => DataType::Utf8,
            Int { negative: true, large: true } | Anything => return None,
            Int { large: true, .. } => DataType::UInt64,
            Int { .. } => DataType::Int64,
            Float => DataType::Float64,
            Time { digits, zone } => {
                let unit = match digits {
                    0 => TimeUnit::Second,
                    1..=3 => TimeUnit::Millisecond,
                    4..=6 => TimeUnit::Microsecond,
                    _ => TimeUnit::Nanosecond,
                };
                DataType::Timestamp(unit, zone.then(|| "UTC".into()))
            }
            List(inner) => DataType::List(Arc::new(Field::new("item", inner.data_type(form)?, true))),
            Nothing | Text => DataType::Utf8,
        })
    }
}

/// Reads all rows, and finds the types of their columns. All columns may have nulls; what has no type in common is JSON.
///
/// # Errors
/// What reading gives.
pub fn infer(rows: &mut TextReader) -> Result<Schema> {
    let (names, form): (Vec<String>, Form) = (rows.names().to_vec(), rows.form());
    let mut all: Vec<Common> = names.iter().map(|_| Nothing).collect();
    loop {
        let columns = rows.values()?;
        if columns.first().is_none_or(Vec::is_empty) {
            break;
        }
        for (common, column) in all.iter_mut().zip(columns) {
            let found = core::mem::replace(common, Nothing);
            *common = column.iter().fold(found, |all, value| all.with(Common::of(value, form), form));
        }
    }
    let field = |(name, common): (&String, &Common)| match common.data_type(form) {
        Some(data_type) => Field::new(name, data_type, true),
        None => as_json(Field::new(name, DataType::Utf8, true)),
    };
    Ok(Schema::new(names.iter().zip(&all).map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_columns() {
        let found = |csv: bool, values: &[&str]| {
            let mut file = if csv { String::from("x,y\n") } else { String::new() };
            for value in values {
                file +=
                    &if csv { alloc::format!("{value},\n") } else { alloc::format!("{{\"x\":{value}}}\n") };
            }
            let mut reader = TextReader::new(Box::new(std::io::Cursor::new(file)), csv, 1 << 20).unwrap();
            infer(&mut reader).unwrap().field(0).data_type().clone()
        };
        use DataType::{Boolean, Float64, Int64, Timestamp, UInt64, Utf8};
        let utc = Some("UTC".into());
        for (values, wanted) in [
            (&["true", "False"][..], Boolean),
            (&["1", "", "-2"], Int64),
            (&["1", "18446744073709551615"], UInt64),
            (&["-1", "18446744073709551615"], Utf8),
            (&["1", "2.5", "nan"], Float64),
            (&["123456789012345678901234567890"], Utf8),
            (&["007"], Utf8),
            (&["0", "0.5", "-0.5"], Float64),
            (&["2001-02-03", "2001-02-03 04:05:06.7"], Timestamp(TimeUnit::Millisecond, None)),
            (&["2001-02-03T04:05:06Z"], Timestamp(TimeUnit::Second, utc)),
            (&["2001-02-03T04:05:06Z", "2001-02-03"], Utf8),
            (&["1", "x"], Utf8),
            (&["", ""], Utf8),
        ] {
            assert_eq!(found(true, values), wanted, "{values:?}");
        }
        let ints = DataType::List(Arc::new(Field::new("item", Int64, true)));
        for (values, wanted) in [
            (&["1", "null"][..], Int64),
            (&["1", "0.5"], Float64),
            (&["\"1\""], Utf8),
            (&["[1, null]", "[]"], ints),
            (&["1", "\"x\""], Utf8),
            (&["{\"a\": 1}"], Utf8),
        ] {
            assert_eq!(found(false, values), wanted, "{values:?}");
        }
    }
}
