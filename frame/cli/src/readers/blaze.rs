//! What `info` and `verify` say of Blaze datasets, whole or in shards.

use crate::failure::Findings;
use crate::json::json as value;
use blosc_core::Pool;
use blosc_frame::Error;
use blosc_frame::blaze::{Blaze, Column, MetaSyntax};
use blosc_frame::io::FsDir;
use blosc_frame::plain::Plain;
use serde_json::{Value, json};

/// What the descriptions say.
pub fn info(set: &Blaze<FsDir>) -> Result<Value, Error> {
    let storage = set.storage();
    let columns = set.columns().map(|(path, column)| {
        let sizes =
            json!({"nbytes": column.nbytes(), "nchunks": column.nchunks(), "superchunks": column.nfiles()});
        (path.join("."), sizes)
    });
    Ok(json!({
        "kind": "blaze",
        "meta": if set.syntax() == MetaSyntax::Yaml { "yaml" } else { "json" },
        "dtype": storage.names.dtype()?.to_string(),
        "shape": set.shape(),
        "nbytes": set.nbytes(),
        "cbytes": set.sizes().cbytes,
        "chunklen": storage.chunklen,
        "superchunksize": storage.superchunk,
        "rows_per_superchunk": storage.superchunk.map(|n| n.saturating_mul(storage.chunklen)),
        "codec": storage.cparams.cname,
        "level": storage.cparams.clevel,
        "shuffle": storage.cparams.shuffle,
        "dflt": value(&storage.dflt),
        "attributes": value(&set.attrs()),
        "columns": Value::Object(columns.collect()),
    }))
}

/// The column that is asked for, or the only one of a dataset without names.
pub fn chosen<'s>(set: &'s Blaze<FsDir>, name: Option<&str>) -> Option<&'s Column<FsDir>> {
    match name {
        Some(name) => set.column(name).ok(),
        None => set.columns().next().filter(|(path, _)| path.is_empty()).map(|(_, column)| column),
    }
}

/// Checks every checksum, and with `decode` every chunk.
pub fn verify(set: &Blaze<FsDir>, pool: &mut Pool, decode: bool) -> Result<Findings, Error> {
    let mut found = Findings::new(json!({
        "kind": "blaze", "decoded": decode, "nbytes": set.nbytes(),
        "checksums": "one per chunk in each super-chunk",
    }));
    for (name, k, error) in set.verify(pool, decode)? {
        found.add(format_args!("column {name:?}, super-chunk {k}: "), &error);
    }
    Ok(found)
}
