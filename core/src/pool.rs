//! Conveniences that allocate: `Vec` in and out, and a pool of scoped threads.
//!
//! Nothing here adds to the format: the bytes are those of [`Encoder`] and
//! [`Decoder`](crate::Decoder), whatever the number of threads.

use crate::arch::level::Level;
use crate::arch::out::{Out, written_vec};
#[cfg(not(feature = "std"))]
use crate::chunk::copy_plain;
use crate::chunk::limits::Limits;
use crate::chunk::params::Params;
use crate::chunk::{Chunk, ChunkContext, Encoder, Plan, max_encoded_len, max_encoded_vl_len};
use crate::error::Error;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use scratch::{Scratch, grow};

mod dictionary;
mod scratch;
#[cfg(feature = "std")]
mod threads;
#[cfg(feature = "std")]
pub use threads::Runner;

/// Compresses `data` into one chunk, on one thread, with the best kernels of this machine.
///
/// # Errors
/// `Param` for parameters that are not allowed, `CodecNotBuiltIn`.
///
/// ```
/// use blosc_core::{Codec, Params};
/// let data: Vec<u8> = (0..4000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = blosc_core::compress(&Params::new(4).codec(Codec::Lz4).level(5), &data).unwrap();
/// assert!(chunk.len() < data.len() / 4);
/// assert_eq!(blosc_core::decompress(&chunk).unwrap(), data);
/// ```
pub fn compress(params: &Params, data: &[u8]) -> Result<Vec<u8>, Error> {
    Pool::new(1).compress(params, data)
}

/// Decompresses one chunk, under the default limits, on one thread.
///
/// # Errors
/// Anything wrong with the chunk, with field and offset.
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>, Error> {
    Pool::new(1).decompress(&Chunk::parse_with(chunk, &Limits::DEFAULT)?)
}

/// Decompresses one chunk into the start of `out`, under the default limits, on one thread; returns the number of bytes
/// written. For many chunks [`Pool::decompress_into`] keeps the scratch memory.
///
/// ```
/// let chunk = blosc_core::compress(&blosc_core::Params::new(4), &[7; 400])?;
/// let mut out = [0; 1000];
/// let n = blosc_core::decompress_into(&chunk, &mut out)?;
/// assert_eq!(out[..n], [7; 400]);
/// assert!(blosc_core::decompress_into(&chunk, &mut out[..399]).is_err());
/// # Ok::<(), blosc_core::Error>(())
/// ```
///
/// # Errors
/// `OutputTooSmall`, and as [`decompress`].
pub fn decompress_into(chunk: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let chunk = Chunk::parse_with(chunk, &Limits::DEFAULT)?;
    Pool::new(1).decompress_into(&chunk, ChunkContext::default(), out)
}

/// Scratch memory, codec contexts and a number of threads: what a host keeps to read and write many
/// chunks. Nothing is shared between pools and nothing is global.
///
/// The pool keeps scratch memory until it is dropped: three to five times the largest block for chunks that one thread works on,
/// and as much for each thread of chunks that several work on, if that is at most 64 MiB.
pub struct Pool {
    level: Level,
    scratch: Scratch,
    #[cfg(feature = "std")]
    team: threads::Team,
}

impl Pool {
    /// A pool that uses up to `threads` threads, the caller's included (0: one per core), and the best kernels of this
    /// machine. At most 256 threads are used, or one per core where there are more cores; for a chunk one is used for each
    /// MiB, with slow codecs one for each 512 KiB, since starting a thread takes as long as less would save.
    pub fn new(threads: usize) -> Pool {
        #[cfg(not(feature = "std"))]
        let _ = threads;
        Pool {
            level: Level::best(),
            scratch: Scratch::default(),
            #[cfg(feature = "std")]
            team: threads::Team::new(threads),
        }
    }

    /// Uses the kernels of `level` instead of the best ones.
    pub fn level(mut self, level: Level) -> Pool {
        self.level = level;
        self
    }

    /// Uses the caller's threads, for chunks of any size, in place of threads that are started for large ones.
    #[cfg(feature = "std")]
    pub fn runner(mut self, runner: Option<&'static dyn Runner>) -> Pool {
        self.team.runner = runner;
        self
    }

    /// How many threads this pool uses at most.
    pub fn threads(&self) -> usize {
        #[cfg(feature = "std")]
        return self.team.threads;
        #[cfg(not(feature = "std"))]
        1
    }

    /// Compresses `data` into one chunk.
    ///
    /// # Errors
    /// `Param` for parameters that are not allowed, `CodecNotBuiltIn`.
    pub fn compress(&mut self, params: &Params, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.compress_in(params, ChunkContext::default(), data)
    }

    /// [`compress`](Self::compress), knowing the array around the chunk.
    ///
    /// # Errors
    /// As `compress`.
    pub fn compress_in(
        &mut self,
        params: &Params,
        chunk_context: ChunkContext<'_>,
        data: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut chunk = vec![0; max_encoded_len(data.len())];
        let len = self.compress_into(params, chunk_context, data, &mut chunk)?;
        chunk.truncate(len);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// Compresses `data` into the start of `chunk`; returns the size. [`max_encoded_len`] bytes are always enough.
    ///
    /// # Errors
    /// `OutputTooSmall` where `chunk` cannot hold it; else as `compress`.
    pub fn compress_into(
        &mut self,
        params: &Params,
        chunk_context: ChunkContext<'_>,
        data: &[u8],
        chunk: &mut [u8],
    ) -> Result<usize, Error> {
        params.check()?;
        let dictionary = match params.dictionary {
            true => dictionary::make(self.level, params, chunk_context, data)?,
            false => Vec::new(),
        };
        let plan = Plan::new(params, chunk_context, &dictionary, data)?;
        #[cfg(feature = "std")]
        if let threads @ 2.. = self.team.worth(data.len(), params.codec, true)
            && plan.nblocks() != 1
        {
            return self.team.encode(threads, self.level, params, &plan, chunk);
        }
        let (work, context) = self.scratch.for_plan(params, &plan)?;
        plan.encode(self.level, work, context, chunk)
    }

    /// Compresses `blocks`, each of at least one byte, into one chunk of variable-length blocks.
    ///
    /// # Errors
    /// As [`Encoder::encode_vl`].
    pub fn compress_vl(
        &mut self,
        params: &Params,
        chunk_context: ChunkContext<'_>,
        blocks: &[&[u8]],
    ) -> Result<Vec<u8>, Error> {
        let longest = blocks.iter().map(|b| b.len()).max().unwrap_or(0);
        let nbytes = blocks.iter().fold(0usize, |sum, b| sum.saturating_add(b.len()));
        let dictionary = match params.dictionary && blocks.len() >= 8 {
            true => dictionary::make_vl(params, blocks, nbytes),
            false => Vec::new(),
        };
        let one_block = Params { blocksize: None, ..*params };
        // Blocks of variable length are not cut at items: the item size must not round the longest one down.
        let blocksize = u32::try_from(longest.max(1)).ok();
        let work = &mut self.scratch.work;
        grow(work, Plan::work_len_for(&Params { typesize: 1, blocksize, ..one_block }, longest));
        let mut chunk = vec![0; max_encoded_vl_len(nbytes, blocks.len()) + dictionary.len() + 4];
        let mut encoder = Encoder::for_blocks(self.level, &one_block, longest, &dictionary, work)?
            .chunk_context(chunk_context);
        let len = encoder.encode_vl(blocks, &mut chunk)?;
        chunk.truncate(len);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// Decodes a chunk into a fresh `Vec`, whose memory is not zeroed first.
    ///
    /// # Errors
    /// A codec or filter that is not built in, or a corrupt stream.
    pub fn decompress(&mut self, chunk: &Chunk<'_>) -> Result<Vec<u8>, Error> {
        self.decompress_in(chunk, ChunkContext::default())
    }

    /// [`decompress`](Self::decompress), knowing the array around the chunk.
    ///
    /// # Errors
    /// As `decompress`.
    pub fn decompress_in(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
    ) -> Result<Vec<u8>, Error> {
        written_vec(chunk.nbytes(), |out| self.decompress_out(chunk, chunk_context, out))
    }

    /// Decodes a chunk into `out`, which must hold `chunk.nbytes()` bytes; returns that number.
    ///
    /// # Errors
    /// `OutputTooSmall`, and as [`decompress`](Self::decompress).
    pub fn decompress_into(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.decompress_out(chunk, chunk_context, out.into())
    }

    fn decompress_out(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        mut out: Out<'_>,
    ) -> Result<usize, Error> {
        let (needed, given) = (chunk.nbytes(), out.len());
        let mut out = out.get(0, needed).ok_or(Error::OutputTooSmall { needed, given })?;
        if !chunk.header().has_streams() {
            #[cfg(feature = "std")]
            self.team.decode_plain(chunk, out)?;
            #[cfg(not(feature = "std"))]
            copy_plain(chunk, 0, out)?;
            return Ok(needed);
        }
        #[cfg(feature = "std")]
        if let threads @ 2.. = self.team.worth(needed, chunk.header().codec, false)
            && chunk.nblocks() > 1
        {
            return self.team.decode(threads, self.level, chunk, chunk_context, out);
        }
        self.scratch.with_decoder(self.level, chunk, chunk_context, |decoder| decoder.decode(chunk, &mut out))
    }

    /// Decodes the decoded bytes `range`, touching only the blocks they cross.
    ///
    /// # Errors
    /// `OutOfRange`, and as [`decompress_into`](Self::decompress_into).
    pub fn get_bytes(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.scratch.with_decoder(self.level, chunk, chunk_context, |decoder| {
            decoder.get_bytes(chunk, range.clone(), &mut *out)
        })
    }

    /// Decodes block `index` into `out`; returns its size.
    ///
    /// # Errors
    /// As [`get_bytes`](Self::get_bytes).
    pub fn decode_block(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        index: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.scratch.with_decoder(self.level, chunk, chunk_context, |decoder| {
            decoder.decode_block(chunk, index, &mut *out)
        })
    }
}
