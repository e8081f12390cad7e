//! LZ4HC: the LZ4 bitstream from an encoder that searches longer.
//!
//! ```text
//! levels 1 and 2   the first match, out of two tables of last positions              `greedy`
//! levels 3 to 5    the longest match out of the last 16 with the same hash,          [`rows`]
//! levels 6 to 9    or out of all of them, by a chain,                                [`chains`]
//!                  unless one that begins later is longer                            `parse`
//! ```
//! The level says how many are looked at.

mod greedy;
mod levels;
mod parse;

use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::codec::history::History;
use crate::codec::lz4::emit::last_literals;
use crate::codec::lz4::{DICTIONARY, LAST_MATCH, REACH};
use crate::codec::search::chains::{self, Chains};
use crate::codec::search::rows::{self, Rows};
use levels::Finder;

/// Bytes of scratch that [`encode`] needs, whether there is a dictionary or not.
pub const fn work_len(level: u8, src_len: usize) -> usize {
    match levels::of(level) {
        Finder::LastPositions => greedy::WORK_LEN,
        Finder::Rows(_) => rows::work_len(src_len, DICTIONARY),
        Finder::Chains(_) => chains::work_len(src_len, DICTIONARY),
    }
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length; `level` is 1 to 9.
///
/// The decoder must be given the same `dict`, of which the last 32 KiB are used. `None` where the block does
/// not fit `dst`, or `work` is shorter than [`work_len`] or `src` longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
    let work = work.get_mut(..work_len(level, src.len()))?;
    let mut out = Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if !dict.is_empty() {
        sequences::<true, true>(src, &mut out, level, dict, work)?
    } else if src.len() < 1 << 16 {
        sequences::<false, false>(src, &mut out, level, dict, work)?
    } else {
        sequences::<true, false>(src, &mut out, level, dict, work)?
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// Writes every sequence that has a match; returns where the last literals begin.
fn sequences<const WRAP: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    level: u8,
    dict: &[u8],
    work: &mut [u8],
) -> Option<usize> {
    let history = History::<DICT>::new(src, dict)?;
    match levels::of(level) {
        Finder::LastPositions => greedy::sequences::<WRAP, DICT>(src, out, &history, work),
        Finder::Rows(effort) => parse::sequences(src, out, Rows::<DICT, REACH>::new(history, work)?, &effort),
        Finder::Chains(effort) => {
            parse::sequences(src, out, Chains::<DICT>::new(history, REACH, work)?, &effort)
        }
    }
}
