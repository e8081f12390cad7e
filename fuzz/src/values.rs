//! Texts and MessagePack values of metadata.

use crate::resources::allow;
use blosc_frame::msgpack::{from_value, to_value};
use blosc_frame::value::{TextLimits, Value};

/// MessagePack: what is read is written in a form that reads the same.
pub fn msgpack(data: &[u8]) {
    allow(512 * data.len());
    let Ok(value) = to_value(data) else { return };
    let again = from_value(&value);
    assert_eq!(to_value(&again).map(|value| value.to_json()), Ok(value.to_json()));
    assert!(to_value(&[&again[..], &[0]].concat()).is_err(), "bytes after the value");
}

/// JSON, Python literals and YAML: what is read is printed in a form that reads the same.
pub fn text(data: &[u8]) {
    allow(512 * data.len());
    let limits = TextLimits { bytes: 1 << 16, depth: 20, values: 10_000 };
    if let Ok(value) = Value::parse_json(data, &limits) {
        same(&value, &value.to_json());
        same(&value, &value.to_json_compact());
        let yaml = value.to_yaml();
        let again = Value::parse_yaml(yaml.as_bytes(), &TextLimits::JSON);
        assert_eq!(again.as_ref(), Ok(&value), "{yaml}");
    }
    for value in [Value::parse_python(data, &limits), Value::parse_yaml(data, &limits)].into_iter().flatten()
    {
        let _ = (value.to_yaml(), value.to_json());
        let _ = (value.as_i64(), value.as_u64(), value.as_f64(), value.as_bool(), value.as_text());
    }
}

fn same(value: &Value, text: &str) {
    let again = Value::parse_json(text.as_bytes(), &TextLimits::JSON);
    assert_eq!(again.as_ref(), Ok(value), "{text}");
}
