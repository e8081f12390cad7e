//! Conveniences that allocate: `Vec` in and out, and a pool of scoped threads.
//!
//! Nothing here adds to the format: the bytes are those of [`Encoder`] and
//! [`Decoder`], whatever the number of threads.

use crate::arch::level::Level;
use crate::arch::out::{Out, written_vec};
#[cfg(not(feature = "std"))]
use crate::chunk::copy_plain;
use crate::chunk::limits::Limits;
use crate::chunk::params::Params;
use crate::chunk::{
    Chunk, ChunkContext, Decoder, Encoder, Plan, context_for, max_encoded_len, max_encoded_vl_len,
};
use crate::codec::Codec;
use crate::codec::context::{DecodeContext, EncodeContext};
use crate::error::Error;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

mod dictionary;
#[cfg(feature = "std")]
mod threads;
#[cfg(feature = "std")]
pub use threads::Runner;
#[cfg(feature = "std")]
use threads::Team;

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
pub struct Pool {
    level: Level,
    threads: usize,
    #[cfg(feature = "std")]
    runner: Option<&'static dyn Runner>,
    decode: Option<DecodeContext>,
    encode: Option<(EncodeContext, Codec, u8)>,
    work: Vec<u8>,
}

/// More threads than this are used only where there are as many cores: each takes memory, and none makes it faster.
#[cfg(feature = "std")]
const MOST_THREADS: usize = 256;

/// Inputs smaller than this stay on the calling thread: starting another costs more.
#[cfg(feature = "std")]
const WORTH_A_THREAD: usize = 256 * 1024;

impl Pool {
    /// A pool that uses up to `threads` threads, the caller's included (0: one per core), and the best kernels of this
    /// machine. At most 256 threads are used, or one per core where there are more cores.
    pub fn new(threads: usize) -> Pool {
        Pool {
            level: Level::best(),
            threads: count_threads(threads),
            #[cfg(feature = "std")]
            runner: None,
            decode: None,
            encode: None,
            work: Vec::new(),
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
        self.runner = runner;
        self
    }

    /// The threads for `len` bytes in more than one block, if several are worth it.
    #[cfg(feature = "std")]
    fn team(&self, len: usize) -> Option<Team> {
        let worth = len >= WORTH_A_THREAD || self.runner.is_some();
        (self.threads > 1 && worth).then_some(Team { threads: self.threads, runner: self.runner })
    }

    /// How many threads this pool uses at most.
    pub fn threads(&self) -> usize {
        self.threads
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
        self.run_plan(params, &plan, data.len(), chunk)
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
        let needed = Plan::work_len_for(&Params { typesize: 1, blocksize, ..one_block }, longest);
        if self.work.len() < needed {
            self.work.resize(needed, 0);
        }
        let mut chunk = vec![0; max_encoded_vl_len(nbytes, blocks.len()) + dictionary.len() + 4];
        let mut encoder = Encoder::for_blocks(self.level, &one_block, longest, &dictionary, &mut self.work)?
            .chunk_context(chunk_context);
        let len = encoder.encode_vl(blocks, &mut chunk)?;
        chunk.truncate(len);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    fn run_plan(
        &mut self,
        params: &Params,
        plan: &Plan<'_>,
        len: usize,
        chunk: &mut [u8],
    ) -> Result<usize, Error> {
        #[cfg(feature = "std")]
        if let Some(team) = self.team(len).filter(|_| plan.nblocks() != 1) {
            return threads::encode(self.level, team, params, plan, chunk);
        }
        let _ = len;
        let mut context = match self.encode.take() {
            Some((context, codec, level))
                if codec == params.codec
                    && level == params.level
                    && context.max_len() >= plan.blocksize() =>
            {
                context
            }
            _ => context_for(params, plan.blocksize())?,
        };
        let needed = plan.work_len();
        if self.work.len() < needed {
            self.work.resize(needed, 0);
        }
        let result = plan.encode(self.level, &mut self.work, &mut context, chunk);
        self.encode = Some((context, params.codec, params.level));
        result
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
            threads::decode_plain(Team { threads: self.threads, runner: self.runner }, chunk, out)?;
            #[cfg(not(feature = "std"))]
            copy_plain(chunk, 0, out)?;
            return Ok(needed);
        }
        #[cfg(feature = "std")]
        if let Some(team) = self.team(needed).filter(|_| chunk.nblocks() > 1) {
            return threads::decode(self.level, team, chunk, chunk_context, out);
        }
        self.with_decoder(chunk, chunk_context, |decoder| decoder.decode(chunk, &mut out))
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
        self.with_decoder(chunk, chunk_context, |decoder| decoder.get_bytes(chunk, range.clone(), &mut *out))
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
        self.with_decoder(chunk, chunk_context, |decoder| decoder.decode_block(chunk, index, &mut *out))
    }

    fn with_decoder<T>(
        &mut self,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        mut run: impl FnMut(&mut Decoder<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let codec = chunk.header().codec;
        // Contexts are large: they are not moved about for codecs that need none.
        let needed = chunk.header().has_streams() && DecodeContext::serves(codec);
        let kept = if needed { self.decode.take() } else { None };
        let mut context = kept.unwrap_or_else(DecodeContext::empty);
        if needed {
            context.prepare(codec);
        }
        loop {
            let mut decoder =
                Decoder::with_context(self.level, &mut self.work, context).chunk_context(chunk_context);
            let result = run(&mut decoder);
            context = decoder.into_context();
            // How much scratch a chunk needs is found out only where the last one's is not enough.
            if matches!(result, Err(Error::WorkTooSmall { .. })) && self.grow(Decoder::work_len(chunk)) {
                continue;
            }
            if needed {
                self.decode = Some(context);
            }
            return result;
        }
    }

    /// Makes the scratch `len` bytes long, if it is not.
    #[cold]
    fn grow(&mut self, len: usize) -> bool {
        let shorter = self.work.len() < len;
        if shorter {
            self.work.resize(len, 0);
        }
        shorter
    }
}

#[cfg(feature = "std")]
fn count_threads(asked: usize) -> usize {
    // The system is asked once: on Linux each answer costs a dozen system calls.
    static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    if asked > 0 { asked.min(cores.max(MOST_THREADS)) } else { cores }
}

#[cfg(not(feature = "std"))]
fn count_threads(_asked: usize) -> usize {
    1
}
