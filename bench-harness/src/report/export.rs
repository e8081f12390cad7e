//! Results as CSV, as Markdown, and as the table of the project's README.

use super::cases::distinct;
use super::console::chunk_table;
use super::table::{Table, maybe, size, speed};
use crate::data::generate;
use crate::result::file::Results;
use crate::result::{Row, lean};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One line for each row, with every field of the schema that a row of the file has.
pub fn csv(file: &Results) -> String {
    let rows: Vec<_> = file.rows.iter().filter_map(|r| lean(r).ok()?.as_object().cloned()).collect();
    let head: Vec<&String> = distinct(rows.iter().flat_map(|r| r.keys()));
    let cell = |value: Option<&serde_json::Value>| match value {
        None => String::new(),
        Some(serde_json::Value::String(text)) => quoted(text),
        Some(other) => quoted(&other.to_string()),
    };
    let mut out = head.iter().map(|field| field.as_str()).collect::<Vec<_>>().join(",") + "\n";
    for row in &rows {
        let cells: Vec<String> = head.iter().map(|field| cell(row.get(*field))).collect();
        out.push_str(&(cells.join(",") + "\n"));
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// The short table that stands in the project's README: kernels of the best level at 256 KiB, and chunks at
/// level 5.
pub fn readme(file: &Results) -> String {
    let best = file.machine.best_level();
    let mut out = format!(
        "Measured on {}, {}, commit {}, by `{}`; GB/s, and the fraction of a copy of the same size.\n\n",
        file.machine.name,
        file.machine.rustc.split(' ').take(2).collect::<Vec<_>>().join(" "),
        file.machine.commit,
        file.command.trim()
    );
    let typesizes = [1, 2, 4, 8, 16];
    let mut head = vec![format!("{best}, {}", size(256 << 10))];
    head.extend(typesizes.iter().map(|t| format!("{t} bytes")));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for op in ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"] {
        let cell = |t: usize| {
            let fits = |r: &&Row| {
                r.suite == "kernels" && r.op == op && r.typesize == t && r.isa == best && r.bytes == 256 << 10
            };
            let row = file.rows.iter().find(fits);
            row.map_or("-".into(), |r| format!("{} ({})", r.gbps.map_or("-".into(), speed), maybe(r.vs_copy)))
        };
        table.row([vec![op.to_string()], typesizes.iter().map(|t| cell(*t)).collect()].concat());
    }
    out.push_str(&table.markdown());
    out.push('\n');
    let chunks = chunk_table(&file.rows);
    if !chunks.is_empty() {
        let _ = writeln!(out, "{}\n", chunks_are(&file.rows));
        out.push_str(&chunks.markdown());
    }
    out
}

/// What the table of chunks is about: how many arrays of what size, and that they are met again and again.
fn chunks_are(rows: &[Row]) -> String {
    let real = |r: &&Row| r.suite == "chunks" && generate::find(&r.data).is_none();
    let arrays: BTreeMap<&str, usize> =
        rows.iter().filter(real).map(|r| (r.data.as_str(), r.bytes)).collect();
    let kib = |bytes: Option<&usize>| bytes.unwrap_or(&0).div_ceil(1024);
    let (least, most) = (kib(arrays.values().min()), kib(arrays.values().max()));
    let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let again = match rows.iter().filter(real).all(|r| r.once) {
        true => "each met for the first time",
        false => "each met again and again, which flatters whoever branches most (`--once` does not)",
    };
    format!(
        "Chunks: geometric means over {} real arrays of {sizes} KiB, {again}. GB/s of uncompressed bytes (M: MB/s); ± says where \
         another run lies.",
        arrays.len()
    )
}
