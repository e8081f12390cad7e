//! zlib encoder (RFC 1950 and 1951): of builds without `std`, and for what `zlib_host` has on hosts.
//!
//! ```text
//! matches      levels 1 and 2: the first that one table finds            `greedy`, on hosts `quick`
//!              levels 3 to 5, 6 to 9: the searches of LZ4HC              `parse`
//!              levels 6 to 9: if those find none, three bytes            `threes`
//! tokens       literals and a match; where does what they are made
//!              of change? there a block ends                             `tokens`
//! codes        Huffman codes of at most 15 bits                          `code`
//! block        coded, by the fixed codes, or stored: what is shortest    `block`, `bits`
//! ```
//! Filtered data changes from one plane to the next. A code suits one of them, and so blocks end where that saves bits,
//! not where a buffer is full.
#![allow(clippy::arithmetic_side_effects)] // it counts what the program itself has written; nothing is indexed unchecked

mod bits;
mod block;
mod blocks;
mod code;
mod greedy;
mod levels;
mod parse;
#[cfg(feature = "std")]
mod quick;
mod threes;
mod tokens;

use super::adler32;
use crate::arch::search::words::Words;
use crate::codec::history::History;
use crate::codec::search::chains::{self, Chains};
use crate::codec::search::rows::{self, Rows};
use bits::BitWriter;
use blocks::Blocks;
use levels::Finder;
use threes::Threes;
use tokens::REACH;

/// Bytes of scratch that [`encode`] needs for `src_len` bytes.
///
/// ```
/// use blosc_core::codec::zlib::{self, deflate};
///
/// let src = [7; 5000];
/// let mut work = [0; deflate::work_len(1, 5000)];
/// let mut dst = [0; 100];
/// let len = deflate::encode(&src, &mut dst, 1, &mut work).unwrap();
/// let (mut back, mut work) = ([0; 5000], [0; zlib::DECODE_WORK_LEN]);
/// zlib::decode(&dst[..len], (&mut back).into(), &mut work).unwrap();
/// assert_eq!(back, src);
/// ```
pub const fn work_len(level: u8, src_len: usize) -> usize {
    let search = match levels::of(level) {
        Finder::LastPositions { .. } => greedy::work_len(src_len),
        Finder::Rows(_) => rows::work_len(src_len, 0),
        Finder::Chains(_) => threes::work_len(src_len) + chains::work_len(src_len, 0),
    };
    tokens::work_len(src_len) + search
}

/// Compresses `src` into one zlib stream at the start of `dst` and returns its length; `level` is 1 to 9.
///
/// `None` where the stream does not fit `dst`, or `work` is shorter than [`work_len`] or `src` longer than 2 GiB.
/// What is written depends on `src` and `level` alone. Takes some 11 KiB of stack.
#[inline(never)] // its stack is not the other codecs'
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, work: &mut [u8]) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let (tokens, work) =
        work.get_mut(..work_len(level, src.len()))?.split_at_mut(tokens::work_len(src.len()));
    let body = with_header(dst, level)?;
    let mut blocks = Blocks::new(src, tokens, BitWriter::new(body), level > 2);
    // Less than a word is all literals.
    if let (Some(words), Some(history)) = (Words::new(src), History::<false>::new(src, &[])) {
        match levels::of(level) {
            Finder::LastPositions { patience } => greedy::matches(src, &words, patience, work, &mut blocks)?,
            Finder::Rows(effort) => {
                let rows = Rows::<false, REACH>::new(history, work)?;
                parse::matches(src, rows, None, &effort, &mut blocks)?;
            }
            Finder::Chains(effort) => {
                let (threes, work) = Threes::new(src.len(), work)?;
                let chains = Chains::<false>::new(history, REACH, work)?;
                parse::matches(src, chains, Some(threes), &effort, &mut blocks)?;
            }
        }
    }
    let len = blocks.finish()?;
    with_sum(src, body, len)
}

/// Bytes of scratch that [`encode_quick`] needs for `src_len` bytes.
#[cfg(feature = "std")]
pub const fn quick_work_len(src_len: usize) -> usize {
    quick::work_len(src_len)
}

/// [`encode`] in a single pass, which where matches are many takes half the time and as much room as other encoders' level
/// 1. `None` where the stream does not fit, or `work` is shorter than [`quick_work_len`].
#[cfg(feature = "std")]
#[inline(never)]
pub fn encode_quick(src: &[u8], dst: &mut [u8], work: &mut [u8]) -> Option<usize> {
    let body = with_header(dst, 1)?;
    let mut out = BitWriter::new(body);
    quick::block(src, work, &mut out)?;
    out.align();
    let len = out.len();
    with_sum(src, body, len)
}

/// Writes the header of a stream; returns the rest of `dst`.
fn with_header(dst: &mut [u8], level: u8) -> Option<&mut [u8]> {
    let (to, body) = dst.split_first_chunk_mut::<2>()?;
    *to = levels::header(level);
    Some(body)
}

/// Writes the sum behind `len` bytes; returns the length of the stream.
fn with_sum(src: &[u8], body: &mut [u8], len: usize) -> Option<usize> {
    *body.get_mut(len..)?.first_chunk_mut()? = adler32(src).to_be_bytes();
    Some(2 + len + 4)
}
