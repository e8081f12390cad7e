//! Who does the work: this library at each of its levels, and the programs it is compared with.

pub mod crates;
pub mod external;
pub mod ours;
pub mod peers;
pub mod spec;

pub use spec::{Engine, Filters, SelfTimed, Spec};

use crate::data::Data;
use blosc_core::filter::{bitshuffle, bytedelta, shuffle};
use blosc_core::{Isa, Level, Out};
use std::rc::Rc;

/// The array after these filters over all of it; `None` where they do not fit its items.
pub fn filtered(data: &Data, filter: Filters) -> Option<Data> {
    let (level, mut out) = (Level::best(), vec![0; data.bytes.len()]);
    match filter {
        Filters::None => out.copy_from_slice(&data.bytes),
        Filters::BitShuffle => {
            bitshuffle::bitshuffle(level, data.typesize, &data.bytes, &mut out[..]).ok()?
        }
        Filters::Shuffle => shuffle::shuffle(level, data.typesize, &data.bytes, &mut out[..]).ok()?,
        Filters::ShuffleByteDelta => {
            let planes = filtered(data, Filters::Shuffle)?.bytes;
            bytedelta::forward(level, data.typesize, &planes, Out::from(&mut out[..])).ok()?;
        }
    }
    Some(Data { bytes: out.into(), ..data.clone() })
}

/// The opponent with this name; see [`peers::open`].
///
/// # Errors
/// One line that says what was not found.
pub fn open(name: &str) -> Result<Rc<dyn Engine>, String> {
    if let Some(command) = name.strip_prefix("exec:") {
        return Ok(Rc::new(external::External::start(command)?));
    }
    peers::open(name).unwrap_or_else(|| {
        Err(format!(
            "--engine {name}: unknown; known are libblosc2[=PATH], libblosc[=PATH], python:blosc2, \
             python:blosc, lz4_flex, zstd, zlib-rs, exec:COMMAND"
        ))
    })
}

/// The levels a user asked for by name, of those this machine runs.
///
/// # Errors
/// A name that no level has, or a level this machine cannot run.
pub fn levels(names: &[String]) -> Result<Vec<Level>, String> {
    let all: Vec<Level> = Level::available().collect();
    if names.is_empty() || names.iter().any(|n| n == "all") {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in names {
        let isa = Isa::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = Isa::ALL.iter().map(|i| i.name()).collect();
            format!("--isa {name}: unknown; known are {} and all", known.join(" "))
        })?;
        let level = Level::new(isa).ok_or_else(|| {
            let here: Vec<&str> = all.iter().map(|l| l.isa().name()).collect();
            format!("--isa {name}: this CPU runs only {}", here.join(" "))
        })?;
        chosen.push(level);
    }
    Ok(chosen)
}
