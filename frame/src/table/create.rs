//! A new table, without rows.

use super::error::{Made, Result, TableError};
use super::place::{Folder, META, VALID};
use super::schema::{Column, is_complex, is_json};
use super::write::{ROOM, packed};
use crate::b2nd::{NdArray, Spec};
use crate::dtype::Dtype;
use crate::msgpack;
use crate::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use std::path::Path;

/// Writes the files of a table without rows, whose columns are those of `schema`, into a folder.
///
/// # Errors
/// Columns of types that tables do not have, by their names; those of the files.
pub fn create(folder: &Path, schema: &Schema) -> Result<()> {
    let specs = schema.fields().iter().map(|field| {
        // A dot in a name stands for a folder.
        let named = !field.name().split('.').any(str::is_empty);
        let spec = if named { spec(field) } else { Err("its name cannot be that of a file".into()) };
        spec.map_err(|why| TableError::Unable(format!("column {}: {why}", field.name())))
    });
    let specs: Vec<Value> = specs.collect::<Result<_>>()?;
    if specs.is_empty() {
        return Err(TableError::data("a table without columns is not made"));
    }
    let folder = Folder::private(folder);
    array(&folder, VALID, "|b1", &[])?;
    for spec in &specs {
        let column = Column::new(spec).ok_or_else(|| TableError::data("a column without a name"))?;
        files(&folder, &column).map_err(|error| error.about(format!("column {}", column.name)))?;
    }
    let description = Value::object([
        ("version", Value::int(3)),
        ("columns", Value::List(specs)),
        ("n_rows", Value::int(0)),
    ]);
    let mut frame = folder.create(META, "b2f", &packed(1))?;
    let set = [
        ("kind", Value::text("ctable")),
        ("version", Value::int(1)),
        ("schema", Value::text(description.to_json())),
    ];
    for (name, value) in set {
        frame.set_vlmetalayer(name, &msgpack::from_value(&value)).map_err(TableError::of(META))?;
    }
    frame.commit().map_err(TableError::of(META))
}

/// The schema of a column, or of an entry of lists.
fn spec(field: &Field) -> Made<Value> {
    let (name, null) = (("name", Value::text(field.name())), ("nullable", Value::Bool(true)));
    let kind = |kind: &str| ("kind", Value::text(kind));
    let listed = [("serializer", Value::text("msgpack")), ("batch_rows", Value::int(2048))];
    let mut spec = Value::object([name]);
    let mut put =
        |pairs: &[(&str, Value)]| pairs.iter().for_each(|(name, value)| spec.set(name, value.clone()));
    // How nulls are told from values.
    let mask = ("null_storage", Value::text("mask"));
    let nulls = |masked: bool| match (field.is_nullable(), masked) {
        (false, _) => Vec::new(),
        (true, false) => Vec::from([null.clone()]),
        (true, true) => Vec::from([null.clone(), mask.clone()]),
    };
    match field.data_type() {
        _ if is_json(field) => put(&[&[kind("object")], &nulls(false)[..], &listed].concat()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            put(&[&[kind("utf8")], &nulls(true)[..]].concat())
        }
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => {
            put(&[&[kind("vlbytes")], &nulls(false)[..], &listed].concat());
        }
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            put(&[kind("timestamp"), ("unit", Value::text(unit))]);
            if let Some(zone) = zone {
                put(&[("timezone", Value::text(&**zone))]);
            }
            put(&nulls(true));
        }
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8 | DataType::LargeUtf8) => {
            let texts = [&[kind("vlstring"), ("nullable", Value::Bool(false))], &listed[..]].concat();
            let texts = Value::Object(texts.into_iter().map(|(name, value)| (name.into(), value)).collect());
            put(&[kind("dictionary"), ("index_type", Value::object([kind("int32")])), ("value_type", texts)]);
            put(&[("ordered", Value::Bool(false))]);
            put(&nulls(false));
            put(&[("null_code", Value::int(-1))]);
        }
        DataType::List(inner) | DataType::LargeList(inner) => {
            let mut item = self::spec(inner)?;
            if let Value::Object(pairs) = &mut item {
                pairs.retain(|(name, _)| !matches!(name.as_str(), "name" | "default" | "null_storage"));
            }
            match item.get("kind").and_then(Value::as_text) {
                Some("timestamp" | "dictionary" | "object" | "ndarray") => {
                    return Err(format!("lists of {} are not stored in tables", inner.data_type()));
                }
                _ => put(&[kind("list"), ("item", item)]),
            }
            put(&nulls(false));
            put(&[&[("storage", Value::text("batch"))], &listed[..]].concat());
        }
        DataType::FixedSizeList(..) if !is_complex(field.data_type()) && !field.is_nullable() => {
            let (mut inner, mut shape) = (field.data_type(), Vec::new());
            while let DataType::FixedSizeList(item, count) = inner {
                shape.push(Value::int(*count));
                inner = item.data_type();
            }
            let dtype = number(inner).and_then(|name| Dtype::parse(&name).ok());
            let dtype = dtype.ok_or_else(|| format!("{} is not stored in tables", field.data_type()))?;
            put(&[
                kind("ndarray"),
                ("item_shape", Value::List(shape)),
                ("dtype_str", Value::text(dtype.to_string())),
            ]);
        }
        other => match number(other) {
            Some(name) => put(&[&[kind(&name)], &nulls(true)[..]].concat()),
            None => return Err(format!("{other} is not stored in tables")),
        },
    }
    if field.is_nullable() {
        put(&[("default", Value::Null)]);
    }
    Ok(spec)
}

/// The kind of a column of numbers or truth values.
fn number(data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Boolean => Some("bool".into()),
        DataType::Float32 | DataType::Float64 => Some(data_type.to_string().to_lowercase()),
        other if other.is_integer() => Some(other.to_string().to_lowercase()),
        _ => None,
    }
}

/// An array of zeros without rows.
fn array(folder: &Folder, key: &str, dtype: &str, inner: &[u64]) -> Result<()> {
    let made = || {
        let dtype = Dtype::parse(dtype)?;
        let params = packed(dtype.itemsize());
        let shape: Vec<u64> = [ROOM].iter().chain(inner).copied().collect();
        Ok(Spec::new(&shape, dtype)?.params_from(&params))
    };
    let spec = made().map_err(TableError::of(key))?;
    let frame = folder.create(key, "b2nd", &spec.params())?;
    NdArray::zeros(frame, &spec).and_then(|mut nd| nd.commit()).map_err(TableError::of(key))
}

/// Batches of values of their own lengths, none so far; `about` says of what.
fn batches(folder: &Folder, key: &str, name: &str, about: &Value) -> Result<()> {
    let mut frame = folder.create(key, "b2b", &packed(1))?;
    let none = [("items_per_block", Value::Null), ("arrow_schema", Value::Null)];
    let mut meta = Value::object([("version", Value::int(1)), ("serializer", Value::text("msgpack"))]);
    none.into_iter().for_each(|(name, value)| meta.set(name, value));
    frame.set_metalayer(name, &msgpack::from_value(about)).map_err(TableError::of(key))?;
    frame.set_metalayer("batcharray", &msgpack::from_value(&meta)).map_err(TableError::of(key))?;
    frame.commit().map_err(TableError::of(key))
}

/// The files of a column.
fn files(folder: &Folder, column: &Column) -> Result<()> {
    let (stem, spec) = (column.stem(), &column.spec);
    let scalars = |of: &str, nullable: bool| {
        Value::object([
            ("version", Value::int(1)),
            ("py_type", Value::text(of)),
            ("nullable", Value::Bool(nullable)),
            ("batch_rows", Value::int(2048)),
        ])
    };
    let name = "ctable_varlen_scalar";
    match column.type_name() {
        "utf8" => {
            array(folder, &stem, "<i8", &[])?;
            array(folder, &format!("{stem}.utf8"), "|u1", &[])
        }
        "dictionary" => {
            array(folder, &stem, "<i4", &[])?;
            batches(folder, &format!("{stem}_dict"), name, &scalars("str", false))
        }
        "vlbytes" => batches(folder, &stem, name, &scalars("bytes", column.is_nullable())),
        "object" => batches(folder, &stem, name, &scalars("object", column.is_nullable())),
        "list" => {
            let mut about = Value::object([("version", Value::int(1))]);
            about.set("nullable", Value::Bool(false));
            for name in ["kind", "item", "nullable", "serializer", "batch_rows"] {
                spec.get(name).into_iter().for_each(|value| about.set(name, value.clone()));
            }
            about.set("backend", Value::text("batch"));
            batches(folder, &stem, "listarray", &about)
        }
        "timestamp" => array(folder, &stem, "<i8", &[]),
        "bool" => array(folder, &stem, "|b1", &[]),
        "ndarray" => {
            let shape = spec.get("item_shape").and_then(Value::as_list).unwrap_or_default();
            let shape: Vec<u64> = shape.iter().filter_map(Value::as_u64).collect();
            array(folder, &stem, spec.get("dtype_str").and_then(Value::as_text).unwrap_or(""), &shape)
        }
        number => array(folder, &stem, number, &[]),
    }
}
