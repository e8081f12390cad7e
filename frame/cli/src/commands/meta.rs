//! `blosc meta`: metalayers and vlmetalayers of a frame.

use crate::args::{MetaAction, MetaName, MetaSet};
use crate::failure::{Failure, Result};
use crate::source::frame::metalayer_json;
use crate::source::plain::failure;
use crate::target;
use blosc_frame::value::{TextLimits, Value};
use blosc_frame::{SuperChunk, msgpack};
use serde_json::{Map, Value as Json};
use std::io::{Read, Write};
use std::path::Path;

/// Runs one of the actions.
pub fn run(action: &MetaAction) -> Result<()> {
    match action {
        MetaAction::Get(which) => get(which),
        MetaAction::Set(set) => put(set),
        MetaAction::Rm(which) => remove(which),
        MetaAction::List { frame, vl, json, access } => {
            let mut lock = access.lock(frame)?;
            let _held = lock.hold_shared()?;
            list(&mut access.open_read(frame)?, frame, *vl, *json)
        }
    }
}

fn missing(which: &MetaName) -> Failure {
    let kind = if which.vl { "vlmetalayer" } else { "metalayer" };
    Failure::at(&which.frame, format!("has no {kind} called {:?}", which.name))
}

fn get(which: &MetaName) -> Result<()> {
    let mut lock = which.access.lock(&which.frame)?;
    let _held = lock.hold_shared()?;
    let mut frame = which.access.open_read(&which.frame)?;
    let content = match which.vl {
        true => frame.vlmetalayer(&which.name).map_err(failure(&which.frame))?,
        false => frame.metalayer(&which.name).map(<[u8]>::to_vec),
    };
    Ok(std::io::stdout().write_all(&content.ok_or_else(|| missing(which))?)?)
}

fn put(set: &MetaSet) -> Result<()> {
    let content = match (&set.value.hex, &set.value.json, &set.value.file) {
        (Some(hex), ..) => from_hex(hex)
            .ok_or_else(|| Failure::Usage(format!("--hex: {hex:?}: two hexadecimal digits per byte")))?,
        (_, Some(text), _) => {
            let value = Value::parse_json(text.as_bytes(), &TextLimits::JSON);
            msgpack::from_value(&value.map_err(|e| Failure::Usage(format!("--json: {e}")))?)
        }
        (_, _, Some(file)) => {
            let mut content = Vec::new();
            target::open_plain(file)?.0.read_to_end(&mut content)?;
            content
        }
        _ => return Err(Failure::Usage("--hex, --json or --file is needed".into())),
    };
    let mut lock = set.which.access.lock(&set.which.frame)?;
    let _held = lock.hold()?;
    let mut frame = set.which.access.open(&set.which.frame)?;
    match set.which.vl {
        true => frame.set_vlmetalayer(&set.which.name, &content)?,
        false => frame.set_metalayer(&set.which.name, &content)?,
    }
    set.which.access.commit(&mut frame, &set.which.frame)
}

fn remove(which: &MetaName) -> Result<()> {
    let mut lock = which.access.lock(&which.frame)?;
    let _held = lock.hold()?;
    let mut frame = which.access.open(&which.frame)?;
    let there = match which.vl {
        true => frame.remove_vlmetalayer(&which.name),
        false => frame.remove_metalayer(&which.name),
    };
    if !there {
        return Err(missing(which));
    }
    which.access.commit(&mut frame, &which.frame)
}

fn list(frame: &mut SuperChunk<'_>, path: &Path, vl: bool, json: bool) -> Result<()> {
    let mut all = Map::new();
    if vl {
        for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
            let content = frame.vlmetalayer(&name).map_err(failure(path))?.unwrap_or_default();
            all.insert(name, metalayer_json(&content));
        }
    } else {
        for name in frame.metalayer_names() {
            let content = metalayer_json(frame.metalayer(&name).unwrap_or(&[]));
            all.insert(name, content);
        }
    }
    super::print(&Json::Object(all), json)
}

/// Hexadecimal digits as bytes.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}
