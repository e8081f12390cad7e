//! [`Spec`]: how chunks are written. [`Engine`]: a program or library that writes and reads them.
//!
//! An engine turns a [`Spec`] into closures that hold their contexts and scratch memory, so that set-up
//! is never timed; a run is what a user's loop over many chunks pays.

use crate::measure::candidate::{Check, Timer, Work};
use blosc_core::{Codec, Params};
pub use blosc_frame::advise::Filters;
use std::ops::Range;
use std::rc::Rc;

/// How chunks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Codec of the streams.
    pub codec: Codec,
    /// Filters.
    pub filter: Filters,
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
    /// With the usual filter, in blocks of the automatic size.
    pub fn new(codec: Codec, level: u8, typesize: usize, threads: usize) -> Spec {
        let filter = if typesize > 1 { Filters::Shuffle } else { Filters::None };
        Spec { codec, filter, level, typesize, threads, blocksize: None }
    }

    /// As this library's parameters.
    pub fn params(&self) -> Params {
        let typesize = u32::try_from(self.typesize).unwrap_or(1).max(1);
        let params = Params::new(typesize).codec(self.codec).level(self.level).blocksize(self.blocksize);
        params.filters(self.filter.slots(self.typesize))
    }
}

/// A case of an engine that has its own clock.
pub struct SelfTimed {
    /// One run, for the judge.
    pub work: Work<'static>,
    /// Nanoseconds of this many runs together.
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
    /// A chunk by this engine, if its chunks have a format of its own.
    fn own_chunk(&self, spec: &Spec, data: &[u8]) -> Option<Result<Rc<[u8]>, String>> {
        let _ = (spec, data);
        None
    }
    /// Judges such chunks of `source`.
    fn judge<'a>(&self, spec: &Spec, source: &'a [u8]) -> Option<Check<'a>> {
        let _ = (spec, source);
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
