//! Who does the work: this library at each of its levels, and everybody it is compared with.
//!
//! An engine turns a [`Spec`] into closures that hold their contexts and scratch memory, so that set-up
//! is never timed; a run is what a user's loop over many chunks pays.

pub mod crates;
pub mod external;
pub mod ours;
pub mod peers;

use crate::measure::{Timer, Work};
use blosc_core::{Codec, Filter, Isa, Level, Params};
use std::ops::Range;
use std::rc::Rc;

/// How chunks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Codec of the streams.
    pub codec: Codec,
    /// One filter, in the last slot.
    pub filter: Filter,
    /// 0 ..= 9.
    pub level: u8,
    /// Bytes of one item.
    pub typesize: usize,
    /// Threads.
    pub threads: usize,
    /// Block size, or automatic.
    pub blocksize: Option<u32>,
}

impl Spec {
    /// As this library's parameters.
    pub fn params(&self) -> Params {
        let typesize = u32::try_from(self.typesize).unwrap_or(1).max(1);
        let params = Params::new(typesize).codec(self.codec).level(self.level).blocksize(self.blocksize);
        match self.filter {
            Filter::Shuffle => params.shuffle(),
            Filter::BitShuffle => params.bitshuffle(),
            _ => params.no_filter(),
        }
    }
}

/// A case of an engine that has its own clock.
pub struct SelfTimed {
    /// One run, for the judge.
    pub work: Work<'static>,
    /// Nanoseconds of so many runs together.
    pub timer: Timer<'static>,
}

/// Somebody who can write and read chunks.
pub trait Engine {
    /// Name and version, such as `libblosc2 3.3.5`.
    fn name(&self) -> String;
    /// Instruction set, where it is ours to choose.
    fn isa(&self) -> String {
        String::new()
    }
    /// The library behind it, if it reads and writes files too.
    fn library(&self) -> Option<blosc_peers::Libblosc2> {
        None
    }
    /// `compress` or `decompress` of `input`, if this engine has its own clock.
    fn self_timed(&self, op: &str, spec: &Spec, input: Rc<[u8]>) -> Option<Result<SelfTimed, String>> {
        let _ = (op, spec, input);
        None
    }
    /// One of the kernels by itself (`shuffle`, `unshuffle`, `bitshuffle`, `bitunshuffle`), if it has them.
    fn kernel(&self, name: &str, typesize: usize) -> Option<Work<'static>> {
        let _ = (name, typesize);
        None
    }
    /// Whether it understands the format of this chunk.
    fn reads(&self, chunk: &[u8]) -> bool {
        let _ = chunk;
        true
    }
    /// Compresses its source, of `len` bytes, into its destination.
    fn compressor(&self, spec: &Spec, len: usize) -> Result<Work<'static>, String>;
    /// Decompresses the chunk that is its source into its destination.
    fn decompress_any(&self, spec: &Spec) -> Result<Work<'static>, String>;
    /// Decompresses `chunk` into its destination.
    fn decompressor(&self, spec: &Spec, chunk: Rc<[u8]>) -> Result<Work<'static>, String> {
        let mut work = self.decompress_any(spec)?;
        Ok(Box::new(move |_, dst| work(&chunk, dst)))
    }
    /// Decodes some items of `chunk`.
    fn getitem(&self, spec: &Spec, chunk: Rc<[u8]>, items: Range<usize>) -> Result<Work<'static>, String>;
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
        let name = if name == "gfni" { "avx2-gfni" } else { name.as_str() };
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
