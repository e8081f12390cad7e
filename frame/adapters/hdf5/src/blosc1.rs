//! Filter 32001: a stored chunk is a Blosc1 chunk.

use crate::memory::CBuffer;
use blosc_core::{Chunk, ChunkContext, Limits, Params, Pool};
use blosc_frame::hdf5::{BLOSC, CdValues};
use std::cell::RefCell;

thread_local! {
    /// Scratch memory and codec contexts.
    static POOL: RefCell<Pool> = RefCell::new(Pool::new(1));
}

/// Runs `work` with this thread's pool.
pub fn with_pool<T>(work: impl FnOnce(&mut Pool) -> Result<T, blosc_core::Error>) -> Result<T, String> {
    POOL.with_borrow_mut(work).map_err(|error| error.to_string())
}

pub fn decode(values: CdValues<'_>, data: &[u8]) -> Result<CBuffer, String> {
    let limits = Limits::DEFAULT.output(values.limit(data.len()));
    let chunk = Chunk::parse_with(data, &limits).map_err(|error| error.to_string())?;
    values.check(chunk.nbytes() as u64).map_err(|error| error.to_string())?;
    let mut out = CBuffer::zeroed(chunk.nbytes())?;
    with_pool(|pool| pool.decompress_into(&chunk, ChunkContext::default(), out.as_mut()))?;
    Ok(out)
}

/// The parameters that the user asks for.
pub fn params(values: CdValues<'_>) -> Result<Params, String> {
    let (_, item) = values.sizes();
    values.params(BLOSC, if item > 255 { 1 } else { item }).map_err(|error| error.to_string())
}

pub fn encode(values: CdValues<'_>, data: &[u8]) -> Result<CBuffer, String> {
    let params = params(values)?.c_blosc(data.len());
    CBuffer::copy_of(&with_pool(|pool| pool.compress(&params, data))?)
}
