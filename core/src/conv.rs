//! Conveniences that allocate: `Vec` in and out, and a pool of scoped threads.
//!
//! STUB while the workspace is being raised: signatures are final in shape.

use crate::chunk::limits::Limits;
use crate::chunk::params::Params;
use crate::chunk::{Chunk, Surroundings};
use crate::error::Error;
use alloc::vec::Vec;
use core::ops::Range;

/// Compresses `data` into one chunk, on one thread, with the best kernels of this machine.
pub fn compress(params: &Params, data: &[u8]) -> Result<Vec<u8>, Error> {
    Pool::new(1).compress(params, data)
}

/// Decompresses one chunk under the default limits.
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>, Error> {
    Pool::new(1).decompress(&Chunk::parse_with(chunk, &Limits::DEFAULT)?)
}

/// Reusable scratch memory, codec contexts and a number of threads: what a host keeps around to
/// read and write many chunks.
pub struct Pool {
    threads: usize,
}

impl Pool {
    /// A pool that uses up to `threads` threads, the caller's included (0 = one per core).
    pub fn new(threads: usize) -> Pool {
        Pool { threads }
    }
    /// Compresses `data` into one chunk.
    pub fn compress(&mut self, params: &Params, data: &[u8]) -> Result<Vec<u8>, Error> {
        let _ = (params, data, self.threads);
        unimplemented!()
    }
    /// As [`Pool::compress`], knowing typesize and block shape of the array around it.
    pub fn compress_in(
        &mut self,
        params: &Params,
        around: Surroundings<'_>,
        data: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let _ = (params, around, data);
        unimplemented!()
    }
    /// Decodes a chunk into a fresh `Vec` (its memory is not zeroed first).
    pub fn decompress(&mut self, chunk: &Chunk<'_>) -> Result<Vec<u8>, Error> {
        let _ = chunk;
        unimplemented!()
    }
    /// Decodes a chunk into `out`, which must hold `chunk.nbytes()` bytes.
    pub fn decompress_into(
        &mut self,
        chunk: &Chunk<'_>,
        around: Surroundings<'_>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let _ = (chunk, around, out);
        unimplemented!()
    }
    /// Decodes decoded bytes `range`, touching only the blocks it crosses.
    pub fn get_bytes(
        &mut self,
        chunk: &Chunk<'_>,
        around: Surroundings<'_>,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let _ = (chunk, around, range, out);
        unimplemented!()
    }
    /// Decodes one block into `out`; returns its size.
    pub fn decode_block(
        &mut self,
        chunk: &Chunk<'_>,
        around: Surroundings<'_>,
        index: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let _ = (chunk, around, index, out);
        unimplemented!()
    }
}
