//! Values of their own lengths, as MessagePack keeps them: whether they are what the schema of their column says.

use blosc_frame::value::Value;

/// What the schema of an item may say; anything else may be a constraint that is not checked here.
const KNOWN: [&str; 6] = ["kind", "nullable", "max_length", "item", "storage", "serializer"];

/// What of an item's schema is not known here, if anything.
pub fn unknown(spec: &Value) -> Option<String> {
    let fields = spec.as_object().unwrap_or_default();
    if let Some((name, _)) =
        fields.iter().find(|(name, _)| !KNOWN.contains(&name.as_str()) && name != "batch_rows")
    {
        return Some(format!("{name:?}, which is not checked here"));
    }
    match (kind(spec), spec.get("item")) {
        ("list", Some(item)) => unknown(item),
        ("bool" | "string" | "utf8" | "vlstring" | "bytes" | "vlbytes", None) => None,
        (kind, None) if bits(kind).is_some() => None,
        (kind, _) => Some(format!("items of kind {kind}")),
    }
}

fn kind(spec: &Value) -> &str {
    spec.get("kind").and_then(Value::as_text).unwrap_or("")
}

/// The kind of a number without its size, and the size in bits.
fn bits(kind: &str) -> Option<(&str, u32)> {
    let digits = kind.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let bits = digits.parse().ok()?;
    let number = kind.strip_suffix(digits)?;
    let known = matches!((number, bits), ("int" | "uint", 8 | 16 | 32 | 64) | ("float", 32 | 64));
    known.then_some((number, bits))
}

/// The value as it is stored under this schema.
///
/// # Errors
/// What is wrong with it.
pub fn fitted(spec: &Value, value: &Value) -> Result<Value, String> {
    let kind = kind(spec);
    let no = || format!("{} is no {kind}", value.to_json_compact());
    let allowed = spec.get("nullable").and_then(Value::as_bool) == Some(true);
    let max = spec.get("max_length").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let long = || format!("{} is longer than {max}", value.to_json_compact());
    match (kind, value) {
        (_, Value::Null) if allowed => Ok(Value::Null),
        ("list", Value::List(items)) => {
            let item = spec.get("item").ok_or_else(no)?;
            items.iter().map(|value| fitted(item, value)).collect::<Result<_, _>>().map(Value::List)
        }
        ("bool", Value::Bool(b)) => Ok(Value::Bool(*b)),
        ("string" | "utf8" | "vlstring", Value::Text(text)) => {
            if text.chars().count() as u64 > max {
                Err(long())
            } else {
                Ok(value.clone())
            }
        }
        ("bytes" | "vlbytes", value) => {
            let bytes = match value {
                Value::Text(hex) => crate::readers::table::cells::unhex(hex),
                value => crate::readers::table::cells::bytes_of(value),
            };
            let bytes = bytes.ok_or_else(no)?;
            if bytes.len() as u64 > max { Err(long()) } else { Ok(binary(&bytes)) }
        }
        (_, Value::Number(text)) => {
            let (number, bits) = bits(kind).ok_or_else(no)?;
            match number {
                // As many digits as a double needs, with a point: MessagePack tells floats from integers.
                "float" if bits == 32 => text.parse().map(|x: f32| float(x.into())).map_err(|_| no()),
                "float" => text.parse().map(float).map_err(|_| no()),
                _ => {
                    let n: i128 = text.parse().map_err(|_| no())?;
                    let (least, most) = match number {
                        "int" => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                        _ => (0, (1i128 << bits) - 1),
                    };
                    if (least..=most).contains(&n) { Ok(Value::int(n)) } else { Err(no()) }
                }
            }
        }
        _ => Err(no()),
    }
}

fn float(x: f64) -> Value {
    Value::Number(format!("{x:?}").replace("inf", "Infinity"))
}

/// Bytes, which MessagePack tells from text.
pub fn binary(bytes: &[u8]) -> Value {
    Value::object([("bin", Value::text(crate::readers::table::cells::hex(bytes)))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_frame::value::TextLimits;

    fn json(text: &str) -> Value {
        Value::parse_json(text.as_bytes(), &TextLimits::JSON).unwrap()
    }

    #[test]
    fn items_are_what_their_schema_says() {
        let fit =
            |spec: &str, value: &str| fitted(&json(spec), &json(value)).map(|value| value.to_json_compact());
        let list = |item: &str| format!(r#"{{"kind":"list","item":{item}}}"#);
        let int = list(r#"{"kind":"int8"}"#);
        assert_eq!(fit(&int, "[-128,127]").as_deref(), Ok("[-128,127]"));
        for bad in ["[128]", "[1.5]", "[null]", "[\"1\"]", "1", "[[1]]", "{}"] {
            assert!(fit(&int, bad).is_err(), "{bad}");
        }
        assert_eq!(
            fit(&list(r#"{"kind":"uint64"}"#), "[18446744073709551615]").as_deref(),
            Ok("[18446744073709551615]")
        );
        assert_eq!(
            fit(&list(r#"{"kind":"float64","nullable":true}"#), "[1,null]").as_deref(),
            Ok("[1.0,null]")
        );
        assert_eq!(fit(&list(r#"{"kind":"float32"}"#), "[0.1]").as_deref(), Ok("[0.10000000149011612]"));
        let text = list(r#"{"kind":"string","max_length":2}"#);
        assert!(fit(&text, "[\"üü\"]").is_ok());
        assert!(fit(&text, "[\"abc\"]").is_err());
        assert_eq!(fit(&list(r#"{"kind":"bytes"}"#), "[\"00ff\"]").as_deref(), Ok(r#"[{"bin":"00ff"}]"#));
        assert_eq!(fit(&list(&int), "[[1],[]]").as_deref(), Ok("[[1],[]]"));
        for (spec, known) in
            [(int.as_str(), true), (r#"{"kind":"int8","ge":0}"#, false), (r#"{"kind":"struct"}"#, false)]
        {
            assert_eq!(unknown(&json(spec)).is_none(), known, "{spec}");
        }
    }
}
