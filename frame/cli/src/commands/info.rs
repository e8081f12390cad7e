//! What `info` prints: a first screen for a person, or with `--all` every field as `name  value`, nested objects
//! indented.

use crate::json::bytes;
use crate::printable::printable;
use serde_json::Value;
use std::io::{self, Write};

/// Writes the object `report`, all of it.
pub fn write(report: &Value, out: &mut impl Write) -> io::Result<()> {
    fields(report, 0, out)
}

fn fields(value: &Value, indent: usize, out: &mut impl Write) -> io::Result<()> {
    let Value::Object(map) = value else { return writeln!(out, "{value}") };
    let width = map.keys().map(|name| printable(name).chars().count()).max().unwrap_or(0);
    for (name, value) in map {
        let name = printable(name);
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                writeln!(out, "{:indent$}{name}", "")?;
                fields(value, indent + 2, out)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{:indent$}{name}", "")?;
                for item in items {
                    writeln!(out, "{:indent$}  {}", "", line(item))?;
                }
            }
            // Rows below each other.
            Value::Array(items) if name == "preview" => {
                for (n, item) in items.iter().enumerate() {
                    let name = if n == 0 { name.as_str() } else { "" };
                    writeln!(out, "{:indent$}{name:width$}  {}", "", line(item))?;
                }
            }
            _ => writeln!(out, "{:indent$}{name:width$}  {}", "", line(value))?,
        }
    }
    Ok(())
}

fn line(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Null => "-".into(),
        Value::Number(n) if n.is_f64() => format!("{:.3}", n.as_f64().unwrap_or(0.0)),
        Value::Object(map) => {
            map.iter().map(|(k, v)| format!("{} {}", printable(k), line(v))).collect::<Vec<_>>().join("  ")
        }
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A label and what belongs to it.
type Line = (String, String);

/// What matters to a person, in the order in which it does.
pub fn screen(report: &Value) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |label: &str, text: Option<String>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            lines.push((label.into(), text));
        }
    };
    add("", Some(what(report)));
    add("cannot be read", text(report, "problem"));
    add("carries", text(report, "carries"));
    add("not counted", text(report, "uncounted"));
    add("items", items(report));
    add("rows", number(report, "rows").map(grouped));
    add("size", size(report));
    let free = number(report, "free_bytes").filter(|free| *free > 0);
    add("free room", free.map(|free| format!("{}, which blosc compact gives back", bytes(free))));
    add("compressed by", pipeline(report));
    add("chunks", parts(report, "chunks", "chunksize", "nchunks"));
    add("blocks", parts(report, "blocks", "blocksize", "nblocks"));
    add("special chunks", special(report));
    add("checksums", text(report, "checksums").or(text(report, "checksum")));
    add("trailing bytes", number(report, "trailing_bytes").map(grouped));
    for (label, name) in [("metalayer", "metalayers"), ("vlmetalayer", "vlmetalayers")] {
        for (name, layer) in report[name].as_object().into_iter().flatten() {
            add(&format!("{label} {}", printable(name)), Some(metalayer(name, layer, report)));
        }
    }
    // A store has attributes for each of its groups.
    let attributes = if report["entries"].is_array() { report["attributes"].as_object() } else { None };
    for (group, layers) in attributes.into_iter().flatten() {
        add(&format!("attributes of {}", printable(group)), Some(short(&printable(&layers.to_string()))));
    }
    for name in ["metadata", "attributes"] {
        if let Some(value) = report
            .get(name)
            .filter(|_| attributes.is_none())
            .filter(|value| !value.is_null() && **value != serde_json::json!({}))
        {
            add(name, Some(short(&printable(&value.to_string()))));
        }
    }
    for column in report["table"]["columns"].as_array().into_iter().flatten() {
        let nullable = if column["nullable"] == true { ", nullable" } else { "" };
        let of = text(column, "type").unwrap_or_default();
        add(&format!("column {}", text(column, "name").unwrap_or_default()), Some(format!("{of}{nullable}")));
    }
    for (name, column) in report["columns"].as_object().into_iter().flatten() {
        let shape = items(column).unwrap_or_default();
        let parts = [shape, size(column).unwrap_or_default()];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        add(&format!("column {}", printable(name)), Some(parts.join("; ")));
    }
    for (n, row) in report["preview"].as_array().into_iter().flatten().enumerate() {
        add(if n == 0 { "preview" } else { "" }, Some(line(row)));
    }
    lines
}

/// Writes the first screen; labels stand out where `colours` is set.
pub fn write_screen(lines: &[Line], colours: bool, out: &mut impl Write) -> io::Result<()> {
    let (bold, plain) = if colours { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    for (n, (label, text)) in lines.iter().enumerate() {
        match n {
            0 => writeln!(out, "{bold}{text}{plain}")?,
            _ => writeln!(out, "  {bold}{label:width$}{plain}  {text}")?,
        }
    }
    Ok(())
}

/// One line for a list: what it is, its items, its size.
pub fn summary(report: &Value) -> String {
    let problem = text(report, "problem").map(|why| format!("cannot be read: {why}"));
    let parts = [Some(what(report)), items(report), size(report), pipeline(report), problem];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn text(report: &Value, name: &str) -> Option<String> {
    report.get(name).and_then(Value::as_str).map(printable)
}

fn number(report: &Value, name: &str) -> Option<u64> {
    report.get(name).and_then(Value::as_u64)
}

/// The numbers of a shape.
fn sides(report: &Value, name: &str) -> Option<Vec<u64>> {
    report.get(name)?.as_array()?.iter().map(Value::as_u64).collect()
}

/// `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `(3, 4)`, as Python writes it.
fn tuple(sides: &[u64]) -> String {
    let list = sides.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if sides.len() == 1 { format!("({list},)") } else { format!("({list})") }
}

/// What it is.
fn what(report: &Value) -> String {
    let frame = |name: &str| match name {
        "sframe" => "sparse frame (a directory)",
        _ => "contiguous frame",
    };
    let layout = text(report, "layout");
    let kind = text(report, "kind").unwrap_or_default();
    if let (Some(rows), Some(stored)) =
        (number(&report["table"], "rows"), number(&report["table"], "stored_rows"))
    {
        return format!(
            "table of python-blosc2 in a {kind}: {} rows, {} stored",
            grouped(rows),
            grouped(stored)
        );
    }
    match kind.as_str() {
        "array" => {
            let container = report["container"].as_str().unwrap_or("");
            format!(
                "Blosc2 array ({}) in a {}",
                text(report, "metalayer").unwrap_or_default(),
                frame(container)
            )
        }
        "frame" | "sframe" => format!("Blosc2 {}", frame(&kind)),
        "chunk" => format!("Blosc chunk of {}", layout.unwrap_or_default()),
        "bloscpack" => format!("bloscpack file, layout {}", layout.unwrap_or_default()),
        "bcolz" if layout.as_deref() == Some("ctable") => "bcolz table".into(),
        "bcolz" => "bcolz column".into(),
        "blaze" => "Blaze dataset".into(),
        "npy" => "NumPy file, not compressed".into(),
        other => other.to_string(),
    }
}

/// Shape, type and number of the items.
fn items(report: &Value) -> Option<String> {
    let typesize = number(report, "typesize");
    let dtype = text(report, "dtype").map(|dtype| format!("of dtype {dtype}"));
    let size = typesize.map(|n| if n == 1 { "of 1 byte".into() } else { format!("of {n} bytes") });
    let item = dtype.or(size).unwrap_or_default();
    if let Some(shape) = sides(report, "shape") {
        let count = shape.iter().fold(1u64, |n, side| n.saturating_mul(*side));
        return Some(format!("{} {item}, shape {}", grouped(count), tuple(&shape)));
    }
    let count = number(report, "nbytes")?.checked_div(typesize?)?;
    Some(format!("{} {item}", grouped(count)))
}

/// Bytes before and after.
fn size(report: &Value) -> Option<String> {
    // An array's own bytes: those of its frame count the padding of its last chunks.
    let before = number(report, "array_nbytes").or(number(report, "nbytes"))?;
    // A frame inside a larger file takes its own length there; of a sparse one that is the length of its index.
    let sparse = report["container"] == "sframe" || report["kind"] == "sframe";
    let frame = if sparse { "container_bytes" } else { "frame_len" };
    let after = number(report, "stored_bytes").or(number(report, frame)).or(number(report, "cbytes"));
    Some(match after {
        Some(after) if after > 0 => {
            let ratio = before as f64 / after as f64;
            format!("{} → {}, ratio {ratio:.2}", bytes(before), bytes(after))
        }
        _ => bytes(before),
    })
}

/// `shuffle → blosclz, level 5`.
fn pipeline(report: &Value) -> Option<String> {
    let report = report.get("first_chunk").filter(|chunk| chunk.is_object()).unwrap_or(report);
    let codec = text(report, "codec")?;
    let filter = |slot: &Value| {
        let name = slot["name"].as_str().filter(|name| *name != "none")?;
        let meta = slot["meta"].as_u64().filter(|meta| *meta != 0);
        Some(meta.map_or_else(|| printable(name), |meta| format!("{}:{meta}", printable(name))))
    };
    let mut steps: Vec<String> =
        report["filters"].as_array().into_iter().flatten().filter_map(filter).collect();
    steps.extend(match report["shuffle"].as_u64() {
        Some(1) => Some("shuffle".to_string()),
        Some(2) => Some("bitshuffle".to_string()),
        _ => None,
    });
    let level = number(report, "level").map(|level| format!(", level {level}")).unwrap_or_default();
    let dictionary =
        report["dictionary"] == true || number(report, "dictionary_bytes").is_some_and(|n| n > 0);
    steps.push(format!("{codec}{level}{}", if dictionary { ", with a dictionary" } else { "" }));
    Some(steps.join(" → "))
}

/// Shape of chunks or blocks, in items and bytes, and how many there are.
fn parts(report: &Value, shape: &str, size: &str, count: &str) -> Option<String> {
    let bytes_each = number(report, size).filter(|n| *n > 0);
    let typesize = number(report, "typesize").unwrap_or(1).max(1);
    let each = match (sides(report, shape), bytes_each) {
        (Some(sides), _) => {
            let items = sides.iter().fold(1u64, |n, side| n.saturating_mul(*side));
            let size = bytes(items.saturating_mul(typesize));
            format!("{}: {} items, {size} each", tuple(&sides), grouped(items))
        }
        (None, Some(n)) => format!("{} items, {} each", grouped(n / typesize), bytes(n)),
        (None, None) if report["variable_chunks"] == true && shape == "chunks" => "different sizes".into(),
        (None, None) => return number(report, count).map(grouped),
    };
    Some(match number(report, count) {
        Some(n) => format!("{} of {each}", grouped(n)),
        None => each,
    })
}

/// Chunks that are not stored because their items are all the same.
fn special(report: &Value) -> Option<String> {
    let counts = report.get("special_chunks")?.as_object()?;
    let shown = counts.iter().filter(|(_, n)| n.as_u64() != Some(0)).map(|(name, n)| format!("{n} {name}"));
    Some(shown.collect::<Vec<_>>().join(", "))
}

/// A metalayer in one line.
fn metalayer(name: &str, layer: &Value, report: &Value) -> String {
    if matches!(name, "b2nd" | "caterva") && report["kind"] == "array" {
        return "shape, chunks, blocks and dtype, as above".into();
    }
    match layer.get("value") {
        Some(value) => short(&printable(&value.to_string())),
        None => short(layer["hex"].as_str().unwrap_or("")),
    }
}

/// Text that fits into a line.
fn short(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} … ({} characters)", &text[..end], text.chars().count()),
        None => text.to_string(),
    }
}

/// A picture of how the blocks of an array tile its chunks: its last two axes, a character cell per block.
pub fn tiles(report: &Value) -> Vec<String> {
    const MOST: usize = 24;
    let sides = |name: &str| -> Vec<u64> {
        let list = report.get(name).and_then(Value::as_array);
        list.map_or_else(Vec::new, |v| v.iter().filter_map(Value::as_u64).collect())
    };
    let (shape, chunks, blocks) = (sides("shape"), sides("chunks"), sides("blocks"));
    let last = |v: &[u64], n: usize| v.len().checked_sub(n).and_then(|k| v.get(k).copied()).unwrap_or(1);
    if shape.is_empty() || shape.contains(&0) || chunks.contains(&0) || blocks.contains(&0) {
        return Vec::new();
    }
    // Where blocks begin along an axis, and whether a chunk begins there too.
    let cells = |n: usize| -> Vec<bool> {
        let (s, c, b) = (last(&shape, n), last(&chunks, n), last(&blocks, n));
        let per_chunk = c.div_ceil(b);
        (0..s.div_ceil(c).saturating_mul(per_chunk)).take(MOST + 1).map(|k| k % per_chunk == 0).collect()
    };
    let (rows, columns) = (cells(2), cells(1));
    let line = |cross: &dyn Fn(bool) -> char, bar: char| -> String {
        let mut text: String =
            columns.iter().take(MOST).flat_map(|chunk| [cross(*chunk), bar, bar]).collect();
        text.push(if columns.len() > MOST { '…' } else { cross(true) });
        text
    };
    let mut lines = vec![String::from("blocks (─│) in chunks (═║), last two axes")];
    for chunk in rows.iter().take(MOST) {
        let bar = if *chunk { '═' } else { '─' };
        lines.push(line(&|edge| if edge || *chunk { '╬' } else { '┼' }, bar));
        lines.push(line(&|edge| if edge { '║' } else { '│' }, ' '));
    }
    lines.push(if rows.len() > MOST { "…".into() } else { line(&|_| '╬', '═') });
    lines
}
