//! LZ4HC: the LZ4 bitstream from an encoder that searches longer.
//!
//! ```text
//! head[hash of four bytes]  the latest position with this hash, modulo 65536
//! prev[p mod 65536]         the position before p with the same hash, modulo 65536
//! ```
//! Every position is entered, but for the middle of long repetitions; the chain from a position is followed for
//! a number of steps that grows with the level (`chains`). Which of the matches found are written is a search
//! for the cheapest way through a stretch of input, at every level (`parse`).

mod chains;
mod parse;

use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::history::History;
use crate::codec::lz4::LAST_MATCH;
use crate::codec::lz4::emit::last_literals;
use chains::Chains;

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, src_len: usize) -> usize {
    Chains::<false, false>::work_len(src_len) + parse::WORK_LEN
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length; `level` is 1 to 9.
///
/// The decoder must be given the same `dict`, of which the last 32 KiB are used. `None` where the block does
/// not fit `dst`, or `work` is shorter than [`work_len`] or `src` longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let dict = dict.get(dict.len().saturating_sub(chains::DICTIONARY)..)?;
    let (nodes, work) = work.split_at_mut_checked(parse::WORK_LEN)?;
    let work = work.get_mut(..Chains::<false, false>::work_len(src.len()))?;
    let mut out = Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if !dict.is_empty() {
        parse::sequences(
            src,
            &mut out,
            Chains::<true, true>::new(History::new(src, dict)?, level, work)?,
            nodes,
        )?
    } else if src.len() < 1 << 16 {
        parse::sequences(
            src,
            &mut out,
            Chains::<false, false>::new(History::new(src, dict)?, level, work)?,
            nodes,
        )?
    } else {
        parse::sequences(
            src,
            &mut out,
            Chains::<true, false>::new(History::new(src, dict)?, level, work)?,
            nodes,
        )?
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}
