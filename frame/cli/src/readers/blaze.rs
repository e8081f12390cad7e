//! What `info` and `verify` say of Blaze datasets, whole or in shards.

use super::bcolz::{note, tell, uncounted};
use crate::failure::Findings;
use crate::json::json as value;
use blosc_core::Pool;
use blosc_frame::Error;
use blosc_frame::blaze::{Blaze, Column, MetaSyntax};
use blosc_frame::io::FsDir;
use blosc_frame::plain::Plain;
use serde_json::{Value, json};

/// What the descriptions say, of all columns or of one.
pub fn info(set: &Blaze<FsDir>, only: Option<&str>) -> Result<Value, Error> {
    let storage = set.storage();
    let columns = set.columns().map(|(path, column)| {
        let sizes =
            json!({"nbytes": column.nbytes(), "nchunks": column.nchunks(), "superchunks": column.nfiles()});
        (path.join("."), sizes)
    });
    let columns = columns.filter(|(path, _)| only.is_none_or(|only| only == path));
    let mut info = json!({
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
    });
    tell(&mut info, set.uncounted()?);
    Ok(info)
}

/// The column that is asked for, or the only one of a dataset without names.
pub fn chosen<'s>(set: &'s Blaze<FsDir>, name: Option<&str>) -> Option<&'s Column<FsDir>> {
    match name {
        Some(name) => set.column(name).ok(),
        None => set.columns().next().filter(|(path, _)| path.is_empty()).map(|(_, column)| column),
    }
}

/// Checks every checksum, and with `decode` every chunk, of all columns or of one.
pub fn verify(
    set: &Blaze<FsDir>,
    only: Option<&str>,
    pool: &mut Pool,
    decode: bool,
) -> Result<Findings, Error> {
    let nbytes = only.map_or(Ok(set.nbytes()), |name| set.column(name).map(Plain::nbytes))?;
    let notes = note("dataset", set.sizes().nbytes, set.nbytes());
    let notes: Vec<_> = notes.into_iter().chain(uncounted(set.uncounted()?)).collect();
    let mut found = Findings::new(json!({
        "kind": "blaze", "decoded": decode, "nbytes": nbytes,
        "checksums": "one per chunk in each super-chunk", "notes": notes,
    }));
    let damage = match only {
        Some(name) => {
            let damage = set.column(name)?.verify(pool, decode)?;
            damage.into_iter().map(|(k, error)| (name.to_string(), k, error)).collect()
        }
        None => set.verify(pool, decode)?,
    };
    for (name, k, error) in damage {
        found.add(format_args!("column {name:?}, super-chunk {k}: "), &error);
    }
    Ok(found)
}
