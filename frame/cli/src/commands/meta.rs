//! `blosc meta`: metalayers and vlmetalayers of a frame.

use crate::access::Intent;
use crate::args::Access;
use crate::args::{MetaAction, MetaName, MetaSet, Run};
use crate::failure::{Failure, Result, asked, failure};
use crate::json::{from_hex, metalayer};
use crate::open::open_as_frame;
use crate::output::stdout_failed;
use crate::printable::printable;
use blosc_core::chunk::MAX_NBYTES;
use blosc_frame::cframe::CHECKSUMS_NAME;
use blosc_frame::value::{TextLimits, Value};
use blosc_frame::{SuperChunk, msgpack};
use serde_json::{Map, Value as Json};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Opens the frame that a command is about, and holds its lock.
fn with_frame<T>(
    path: &Path,
    access: &Access,
    intent: Intent,
    f: impl FnOnce(&mut SuperChunk<'static>) -> Result<T>,
) -> Result<T> {
    let (mut frame, _lock) = open_as_frame(&access.input(path, &Run::default()), intent)?;
    f(&mut frame)
}

/// Runs one of the actions.
pub fn run(action: &MetaAction) -> Result<()> {
    match action {
        MetaAction::Get(which) => get(which),
        MetaAction::Set(set) => put(set),
        MetaAction::Rm(which) => remove(which),
        MetaAction::List { frame: path, vl, json, access } => {
            with_frame(path, access, Intent::Inspect, |frame| list(frame, path, *vl, *json))
        }
    }
}

/// Says that there is no such metalayer, and where there is one of that name.
fn missing(frame: &SuperChunk<'_>, which: &MetaName) -> Failure {
    let (kind, hint) = match which.vl {
        true if frame.metalayer(&which.name).is_some() => ("vlmetalayer", "; without --vl there is one"),
        false if frame.vlmetalayer_chunk(&which.name).is_some() => ("metalayer", "; with --vl there is one"),
        true => ("vlmetalayer", ""),
        false => ("metalayer", ""),
    };
    Failure::at(&which.frame, format!("has no {kind} called {:?}{hint}", which.name))
}

fn get(which: &MetaName) -> Result<()> {
    let content = with_frame(&which.frame, &which.access, Intent::Inspect, |frame| {
        let content = match which.vl {
            true => frame.vlmetalayer(&which.name).map_err(failure(&which.frame))?,
            false => frame.metalayer(&which.name).map(<[u8]>::to_vec),
        };
        content.ok_or_else(|| missing(frame, which))
    })?;
    let mut out = std::io::stdout();
    let shown = match out.is_terminal() {
        true => printable(&String::from_utf8_lossy(&content)).into_bytes(),
        false => content,
    };
    out.write_all(&shown).map_err(|e| stdout_failed(&e))
}

/// Refuses the name under which commits keep checksums: they would put their own content there.
fn check_name(which: &MetaName) -> Result<()> {
    match which.vl && which.name == CHECKSUMS_NAME {
        true => {
            Err(Failure::Usage(format!("{CHECKSUMS_NAME}: kept for the checksums, which each change writes")))
        }
        false => Ok(()),
    }
}

fn put(set: &MetaSet) -> Result<()> {
    check_name(&set.which)?;
    let content = match (&set.value.hex, &set.value.json, &set.value.file) {
        (Some(hex), ..) => from_hex(hex)
            .ok_or_else(|| Failure::Usage(format!("--hex: {hex:?}: two hexadecimal digits per byte")))?,
        (_, Some(text), _) => {
            let value = Value::parse_json(text.as_bytes(), &TextLimits::JSON);
            msgpack::from_value(&value.map_err(|e| Failure::Usage(format!("--json: {e}")))?)
        }
        (_, _, Some(file)) => {
            // The content of a vlmetalayer is one chunk.
            crate::streams::read_plain(file, MAX_NBYTES as u64)?
        }
        _ => return Err(Failure::Usage("--hex, --json or --file is needed".into())),
    };
    with_frame(&set.which.frame, &set.which.access, Intent::Maintain, |frame| {
        match set.which.vl {
            true => frame.set_vlmetalayer(&set.which.name, &content).map_err(asked)?,
            false => frame.set_metalayer(&set.which.name, &content).map_err(asked)?,
        }
        super::frame::commit(frame, &set.which.frame)
    })
}

fn remove(which: &MetaName) -> Result<()> {
    with_frame(&which.frame, &which.access, Intent::Maintain, |frame| {
        let there = match which.vl {
            true => frame.remove_vlmetalayer(&which.name),
            false => frame.remove_metalayer(&which.name),
        };
        if !there {
            return Err(missing(frame, which));
        }
        super::frame::commit(frame, &which.frame)
    })
}

fn list(frame: &mut SuperChunk<'_>, path: &Path, vl: bool, json: bool) -> Result<()> {
    let mut all = Map::new();
    if vl {
        for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
            let content = frame.vlmetalayer(&name).map_err(failure(path))?.unwrap_or_default();
            all.insert(name, metalayer(&content));
        }
    } else {
        for name in frame.metalayer_names() {
            let content = metalayer(frame.metalayer(&name).unwrap_or(&[]));
            all.insert(name, content);
        }
    }
    super::print(&Json::Object(all), json)
}
