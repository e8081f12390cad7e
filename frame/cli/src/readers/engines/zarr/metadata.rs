//! `.zarray`, `.zgroup` and `zarr.json`: what a folder of a store is, and what `info` says of an array.

use super::files::Files;
use blosc_frame::dtype::Dtype;
use serde_json::{Map, Value, json};

/// Bytes of the largest metadata that is read: those of a group may repeat those of all arrays in it.
const LARGEST: u64 = 64 << 20;

/// What a folder is.
pub enum Node {
    /// A group.
    Group,
    /// An array: its metadata.
    Array(Value),
}

/// What metadata say of an array.
pub struct Description {
    pub shape: Vec<u64>,
    /// Items per dimension of what is decoded at once: the inner chunks of shards.
    pub chunks: Vec<u64>,
    pub dtype: Result<Dtype, String>,
    pub info: Value,
}

/// The metadata in the folder `key`; `None` where there are none.
pub fn read(files: &Files, key: &str) -> Result<Option<Node>, String> {
    let file = |name: &str| -> Result<Option<Value>, String> {
        let path = if key.is_empty() { name.to_string() } else { format!("{key}/{name}") };
        let Some(bytes) = files.read(&path, LARGEST)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| format!("{path}: {error}"))
    };
    if let Some(node) = file("zarr.json")? {
        return match node["node_type"].as_str() {
            Some("group") => Ok(Some(Node::Group)),
            Some("array") => Ok(Some(Node::Array(node))),
            _ => Err(format!("zarr.json with the node type {}", node["node_type"])),
        };
    }
    if let Some(mut array) = file(".zarray")? {
        if let (Some(fields), Some(attributes)) = (array.as_object_mut(), file(".zattrs")?) {
            fields.insert("attributes".into(), attributes);
        }
        return Ok(Some(Node::Array(array)));
    }
    Ok(file(".zgroup")?.map(|_| Node::Group))
}

/// The numbers of a shape.
fn sides(value: &Value, name: &str) -> Result<Vec<u64>, String> {
    let sides =
        value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
    sides.ok_or_else(|| format!("its metadata have no {name} of whole numbers"))
}

/// What the metadata of an array say.
pub fn describe(array: &Value) -> Result<Description, String> {
    let shape = sides(&array["shape"], "shape")?;
    let version = array["zarr_format"].as_u64();
    let (dtype, name, outer) = match version {
        Some(2) => {
            let name = array["dtype"].as_str().map_or_else(|| "a record".into(), str::to_string);
            (dtype_v2(&array["dtype"]), name, sides(&array["chunks"], "chunks")?)
        }
        Some(3) => {
            let data_type = &array["data_type"];
            let name = data_type.as_str().or(data_type["name"].as_str()).unwrap_or("unknown").to_string();
            let grid = &array["chunk_grid"];
            match grid["name"].as_str() {
                Some("regular") => {}
                other => return Err(format!("chunk grid {} is not read", other.unwrap_or("without a name"))),
            }
            (dtype_v3(data_type), name, sides(&grid["configuration"]["chunk_shape"], "chunk shape")?)
        }
        _ => return Err(format!("Zarr format {} is not read", array["zarr_format"])),
    };
    if outer.len() != shape.len() {
        return Err(format!("chunks of {} dimensions in an array of {}", outer.len(), shape.len()));
    }
    let mut fields = Map::new();
    fields.insert("kind".into(), "Zarr array".into());
    fields.insert("zarr_format".into(), version.into());
    fields.insert("shape".into(), shape.clone().into());
    fields.insert("dtype".into(), dtype.as_ref().map_or(name, ToString::to_string).into());
    let sharding =
        array["codecs"].as_array().into_iter().flatten().find(|codec| codec["name"] == "sharding_indexed");
    let chunks = match sharding {
        Some(codec) => {
            fields.insert("shards".into(), outer.clone().into());
            sides(&codec["configuration"]["chunk_shape"], "chunk shape in shards")?
        }
        None => outer.clone(),
    };
    if chunks.len() != shape.len() || chunks.contains(&0) || outer.contains(&0) {
        return Err(format!("chunks of shape {chunks:?}"));
    }
    fields.insert("chunks".into(), chunks.clone().into());
    if let Ok(dtype) = &dtype {
        let item = u64::from(dtype.itemsize());
        fields.insert("typesize".into(), item.into());
        let nbytes = shape.iter().fold(item, |n, side| n.saturating_mul(*side));
        fields.insert("nbytes".into(), nbytes.into());
    }
    compression(array, sharding, dtype.as_ref().ok(), &mut fields);
    if let Some(attributes) = array.get("attributes") {
        fields.insert("attributes".into(), attributes.clone());
    }
    Ok(Description { shape, chunks, dtype, info: Value::Object(fields) })
}

/// What compresses the chunks, and the codecs as the metadata name them.
fn compression(
    array: &Value,
    sharding: Option<&Value>,
    dtype: Option<&Dtype>,
    fields: &mut Map<String, Value>,
) {
    // Each with its name and its configuration, in the order in which they encode.
    let mut codecs: Vec<(&str, &Value)> = Vec::new();
    if array["zarr_format"] == 2 {
        fields
            .insert("codecs".into(), json!({"filters": array["filters"], "compressor": array["compressor"]}));
        let filters = array["filters"].as_array().into_iter().flatten();
        let named = filters.chain([&array["compressor"]]).filter(|codec| !codec.is_null());
        codecs.extend(named.map(|codec| (codec["id"].as_str().unwrap_or("unknown"), codec)));
    } else {
        fields.insert("codecs".into(), array["codecs"].clone());
        let list = sharding.map_or(&array["codecs"], |codec| &codec["configuration"]["codecs"]);
        let named = list.as_array().into_iter().flatten();
        let named = named.map(|codec| {
            (codec.as_str().or(codec["name"].as_str()).unwrap_or("unknown"), &codec["configuration"])
        });
        // How numbers become bytes compresses nothing, and a checksum does not either.
        codecs.extend(named.filter(|(name, _)| !matches!(*name, "bytes" | "crc32c")));
    }
    let Some(((name, configuration), before)) = codecs.split_last() else { return };
    let before: Vec<Value> = before.iter().map(|(name, _)| json!({"name": name})).collect();
    fields.insert("filters".into(), before.into());
    if *name != "blosc" {
        fields.insert("codec".into(), (*name).into());
        if let Some(level) = configuration.get("level") {
            fields.insert("level".into(), level.clone());
        }
        return;
    }
    fields.insert("codec".into(), configuration["cname"].clone());
    fields.insert("level".into(), configuration["clevel"].clone());
    let bytes = dtype.is_some_and(|dtype| dtype.itemsize() == 1);
    let shuffle = match (&configuration["shuffle"], configuration["shuffle"].as_i64()) {
        (Value::String(text), _) if text == "noshuffle" => Some(0),
        (Value::String(text), _) if text == "shuffle" => Some(1),
        (Value::String(text), _) if text == "bitshuffle" => Some(2),
        (_, Some(-1)) => Some(if bytes { 2 } else { 1 }),
        (_, number) => number,
    };
    fields.insert("shuffle".into(), shuffle.into());
    if let Some(size) = configuration["blocksize"].as_u64().filter(|size| *size > 0) {
        fields.insert("blocksize".into(), size.into());
    }
}

/// The dtype that items of version 2 have when they are decoded: in the byte order of this machine.
fn dtype_v2(value: &Value) -> Result<Dtype, String> {
    let Some(text) = value.as_str() else {
        let text = record(value, 0)?;
        return Dtype::parse_descr(&text).map_err(|error| format!("dtype {text}: {error}"));
    };
    match text.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('O') => return Err("Python objects, which are not read".into()),
        Some('b' | 'i' | 'u' | 'f' | 'c' | 'M' | 'm' | 'U' | 'S' | 'V') => {}
        _ => return Err(format!("dtype {text}, which is not read")),
    }
    native(&text.replacen('>', "<", 1))
}

/// A list of fields as Python writes it. Items of records stay as they are stored.
fn record(value: &Value, depth: usize) -> Result<String, String> {
    let unread = || "a record that is not read".to_string();
    let fields = value.as_array().filter(|fields| depth < 16 && !fields.is_empty()).ok_or_else(unread)?;
    let mut texts = Vec::new();
    for field in fields {
        let (name, of, shape) = match field.as_array().map(Vec::as_slice) {
            Some([name, of]) => (name, of, None),
            Some([name, of, shape]) => (name, of, Some(sides(shape, "shape of a field")?)),
            _ => return Err(unread()),
        };
        let quoted = |text: &str| match text.contains(['\'', '\\']) || text.chars().any(char::is_control) {
            true => Err(format!("a field that is called {text:?}")),
            false => Ok(format!("'{text}'")),
        };
        let of = match of.as_str() {
            Some(text) if text.contains('O') => {
                return Err("records of Python objects, which are not read".into());
            }
            Some(text) => quoted(text)?,
            None => record(of, depth + 1)?,
        };
        let name = quoted(name.as_str().ok_or_else(unread)?)?;
        let shape = shape.map(|sides| sides.iter().map(|side| format!("{side},")).collect::<String>());
        texts.push(match shape {
            Some(shape) => format!("({name}, {of}, ({shape}))"),
            None => format!("({name}, {of})"),
        });
    }
    Ok(format!("[{}]", texts.join(", ")))
}

/// The metadata with data types that `zarrs` knows in place of those that it does not, and that have the same bytes.
pub fn known_to_zarrs(mut array: Value, dtype: &Dtype) -> Value {
    let size = dtype.itemsize();
    let Some(fields) = array.as_object_mut() else { return array };
    let empty = fields.get("fill_value").is_none_or(|fill| fill == "" || fill.is_null());
    let zeros = || Value::from(vec![0; usize::try_from(size).unwrap_or(0)]);
    codecs_to_read(fields);
    if fields.get("zarr_format") == Some(&json!(2)) {
        let text = fields.get("dtype").and_then(Value::as_str).map(str::to_string);
        match text.as_deref().map(|text| (text, text.get(..2).unwrap_or_default())) {
            // Dates count from 1970 in integers, the least of which is "not a time".
            Some((_, order @ ("<M" | "<m" | ">M" | ">m"))) => {
                fields.insert("dtype".into(), format!("{}i8", order.get(..1).unwrap_or("<")).into());
                if fields.get("fill_value").is_some_and(|fill| fill == "NaT") {
                    fields.insert("fill_value".into(), i64::MIN.into());
                }
            }
            Some((_, "|S")) | None => {
                fields.insert("dtype".into(), format!("|V{size}").into());
                if empty {
                    fields.insert("fill_value".into(), zeros());
                }
            }
            Some((_, "<U" | ">U")) if empty => {
                fields.insert("fill_value".into(), "".into());
            }
            Some(_) => {}
        }
        return array;
    }
    if fields
        .get("data_type")
        .is_some_and(|of| of["name"] == "null_terminated_bytes" || of["name"] == "raw_bytes")
    {
        fields.insert("data_type".into(), format!("r{}", u64::from(size) * 8).into());
        if empty {
            fields.insert("fill_value".into(), zeros());
        }
    }
    array
}

/// Leaves out what changes nothing when it is read: filters that round numbers before they are compressed. What numcodecs
/// takes for granted of the others is said, as `zarrs` wants to know it.
fn codecs_to_read(fields: &mut Map<String, Value>) {
    for list in ["filters", "codecs"] {
        let Some(codecs) = fields.get_mut(list).and_then(Value::as_array_mut) else { continue };
        codecs.retain_mut(|codec| {
            let name = codec["id"].as_str().or(codec["name"].as_str()).unwrap_or_default();
            let name = name.strip_prefix("numcodecs.").unwrap_or(name).to_string();
            let about = match codec.get_mut("configuration") {
                Some(about) => about,
                None => codec,
            };
            if let ("zlib" | "gzip", Some(about)) = (name.as_str(), about.as_object_mut()) {
                about.entry("level").or_insert(1.into());
            }
            let as_it_is = about.get("astype").is_none_or(|stored| *stored == about["dtype"]);
            !(name == "bitround" || (name == "quantize" && as_it_is))
        });
        if list == "filters" && codecs.is_empty() {
            fields.insert(list.into(), Value::Null);
        }
    }
}

/// The dtype of version 3, as [`dtype_v2`] gives it.
fn dtype_v3(value: &Value) -> Result<Dtype, String> {
    let name = value.as_str().or(value["name"].as_str()).unwrap_or("unknown");
    let configuration = &value["configuration"];
    let length = || {
        let length = configuration["length_bytes"].as_u64();
        length.ok_or_else(|| format!("data type {name} without a length"))
    };
    let text = match name {
        "bool" => "|b1".to_string(),
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" | "float16"
        | "float32" | "float64" | "complex64" | "complex128" => name.to_string(),
        "fixed_length_utf32" => format!("<U{}", length()? / 4),
        "null_terminated_bytes" => format!("|S{}", length()?),
        "raw_bytes" => format!("|V{}", length()?),
        "numpy.datetime64" | "numpy.timedelta64" => {
            let unit = configuration["unit"].as_str().unwrap_or("generic");
            let count = configuration["scale_factor"].as_u64().unwrap_or(1);
            let letter = if name == "numpy.datetime64" { 'M' } else { 'm' };
            match (unit, count) {
                ("generic", _) => format!("<{letter}8"),
                (unit, 1) => format!("<{letter}8[{unit}]"),
                (unit, count) => format!("<{letter}8[{count}{unit}]"),
            }
        }
        _ => match name.strip_prefix('r').and_then(|bits| bits.parse::<u64>().ok()) {
            Some(bits) if bits % 8 == 0 => format!("|V{}", bits / 8),
            _ => return Err(format!("data type {name}, which is not read")),
        },
    };
    native(&text)
}

/// A dtype of this machine's byte order.
fn native(text: &str) -> Result<Dtype, String> {
    let text = if cfg!(target_endian = "big") { text.replacen('<', ">", 1) } else { text.to_string() };
    Dtype::parse(&text).map_err(|error| format!("dtype {text}: {error}"))
}
