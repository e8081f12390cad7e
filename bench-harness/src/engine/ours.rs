//! This library.

use super::spec::{Engine, Spec};
use crate::measure::candidate::{Check, Work};
use crate::measure::check::{expect, spoilt};
use blosc_core::chunk::Plan;
use blosc_core::codec::context::EncodeContext;
use blosc_core::{Chunk, ChunkContext, Level, Limits, Pool};
use std::ops::Range;
use std::rc::Rc;

/// This library at one level.
#[derive(Clone, Copy, Debug)]
pub struct Ours {
    /// Its kernels.
    pub level: Level,
    /// Test only: flip a byte of every result.
    pub corrupt: bool,
}

impl Engine for Ours {
    fn name(&self) -> String {
        "ours".into()
    }

    fn isa(&self) -> String {
        self.level.isa().name().into()
    }

    fn compressor(&self, spec: &Spec, len: usize) -> Result<Work<'static>, String> {
        let Ours { level, corrupt } = *self;
        let params = spec.params();
        if spec.threads > 1 {
            let mut pool = Pool::new(spec.threads).level(level);
            let work: Work<'static> = Box::new(move |src, dst| {
                pool.compress_into(&params, ChunkContext::default(), src, dst).map_err(|e| e.to_string())
            });
            return Ok(spoilt(work, corrupt));
        }
        let mut work = vec![0; Plan::work_len_for(&params, len)];
        let mut context = EncodeContext::for_codec(params.codec, params.level.max(1), len)
            .ok_or_else(|| format!("codec {} is not built in", params.codec))?;
        let work: Work<'static> = Box::new(move |src, dst| {
            let plan = Plan::new(&params, ChunkContext::default(), &[], src).map_err(|e| e.to_string())?;
            plan.encode(level, &mut work, &mut context, dst).map_err(|e| e.to_string())
        });
        Ok(spoilt(work, corrupt))
    }

    fn decompress_any(&self, spec: &Spec) -> Result<Work<'static>, String> {
        let Ours { level, corrupt } = *self;
        let mut pool = Pool::new(spec.threads.max(1)).level(level);
        let work: Work<'static> = Box::new(move |chunk, dst| {
            // Read where it has been parsed to: a `map_err` would copy it.
            let parsed = Chunk::parse_with(chunk, &Limits::NONE);
            let chunk = parsed.as_ref().map_err(|e| e.to_string())?;
            pool.decompress_into(chunk, ChunkContext::default(), dst).map_err(|e| e.to_string())
        });
        Ok(spoilt(work, corrupt))
    }

    fn getitem(&self, spec: &Spec, chunk: Rc<[u8]>, items: Range<usize>) -> Result<Work<'static>, String> {
        let Ours { level, corrupt } = *self;
        let mut pool = Pool::new(1).level(level);
        let range = items.start * spec.typesize..items.end * spec.typesize;
        let work: Work<'static> = Box::new(move |_, dst| {
            // Only what the items touch is checked: the form of a reader that wants ten items of many.
            let parsed = Chunk::parse_partial(&chunk, &Limits::NONE);
            let chunk = parsed.as_ref().map_err(|e| e.to_string())?;
            pool.get_bytes(chunk, ChunkContext::default(), range.clone(), dst).map_err(|e| e.to_string())
        });
        Ok(spoilt(work, corrupt))
    }
}

/// One chunk by our best level.
pub fn compress(spec: &Spec, data: &[u8]) -> Result<Rc<[u8]>, String> {
    Ok(Pool::new(1).compress(&spec.params(), data).map_err(|e| e.to_string())?.into())
}

/// Judges a chunk: our scalar decoder must give back `source`.
pub fn decodes_to(source: &[u8]) -> Check<'_> {
    Box::new(move |got| {
        let chunk = Chunk::parse_with(got, &Limits::NONE).map_err(|e| format!("wrong chunk: {e}"))?;
        let back = Pool::new(1).level(Level::SCALAR).decompress(&chunk);
        expect(source)(&back.map_err(|e| format!("wrong chunk: {e}"))?)
    })
}
