//! What a frame remembers from block to block: tables, in the caller's scratch, and recent offsets.
//!
//! ```text
//! scratch = states of literal lengths | match lengths | offsets | Huffman codes | pairs of codes | literals
//!           4096 bytes                  4096            4096      4096            8192 (64-bit)
//! ```

use super::fse::{self, Kind, Raw};
use super::huffman::{self, PAIRS_LEN};
use crate::arch::level::Level;
use crate::codec::error::CodecErrorKind;

/// Entries kept for each kind of state.
const STATES: usize = 512;
/// All states: lengths of literals, of matches, offsets.
pub(super) const ALL_STATES: usize = 3 * STATES;
/// Where the states of each kind begin.
pub(super) const LITLEN_AT: usize = 0;
pub(super) const MATCHLEN_AT: usize = STATES;
pub(super) const OFFSET_AT: usize = 2 * STATES;

/// Bytes of the tables: 16 KiB, and on 64-bit machines 8 KiB more.
pub(super) const TABLES_LEN: usize = 8 * ALL_STATES + huffman::TABLE_LEN + PAIRS_LEN;

/// Tables and offsets of a frame.
pub(super) struct Tables<'w> {
    /// The kernels that decoding may use.
    pub level: Level,
    pub states: &'w mut [Raw; ALL_STATES],
    /// Log2 of the number of states, where there is a table.
    pub litlen_log: Option<u32>,
    pub matchlen_log: Option<u32>,
    pub offset_log: Option<u32>,
    pub huffman: huffman::Decoder<'w>,
    /// The three most recent offsets, latest first.
    pub recent: [u32; 3],
}

impl<'w> Tables<'w> {
    /// Lays the tables out at the start of `work`; also returns what is left of it.
    pub fn new(work: &'w mut [u8], level: Level) -> Option<(Tables<'w>, &'w mut [u8])> {
        let (states, rest) = work.split_at_mut_checked(8 * ALL_STATES)?;
        let (codes, rest) = rest.split_at_mut_checked(huffman::TABLE_LEN + PAIRS_LEN)?;
        let tables = Tables {
            level,
            states: states.as_chunks_mut::<8>().0.first_chunk_mut()?,
            litlen_log: None,
            matchlen_log: None,
            offset_log: None,
            huffman: huffman::Decoder::new(codes)?,
            recent: [1, 4, 8],
        };
        Some((tables, rest))
    }

    /// Forgets everything, as at the start of a frame.
    pub fn reset(&mut self) {
        self.litlen_log = None;
        self.matchlen_log = None;
        self.offset_log = None;
        self.huffman.forget();
        self.recent = [1, 4, 8];
    }

    /// Makes the table ready that `mode` (0 predefined, 1 one symbol, 2 described, 3 as before) asks for;
    /// returns the bytes it takes.
    ///
    /// # Errors
    /// `Truncated` or `Corrupt` where the table described is none, or `mode` asks for a table that there is not.
    pub fn prepare(&mut self, mode: u8, src: &[u8], kind: Kind) -> Result<usize, CodecErrorKind> {
        let (at, old_log, (predefined, predefined_log)) = match kind {
            Kind::LitLen => (LITLEN_AT, self.litlen_log, fse::LITLEN),
            Kind::MatchLen => (MATCHLEN_AT, self.matchlen_log, fse::MATCHLEN),
            Kind::Offset | Kind::Weight => (OFFSET_AT, self.offset_log, fse::OFFSET),
        };
        let table = self.states.get_mut(at..).and_then(|t| t.first_chunk_mut::<STATES>());
        let table = table.ok_or(CodecErrorKind::Work)?;
        let (log, taken) = match mode & 3 {
            0 => {
                for (to, from) in table.iter_mut().zip(predefined) {
                    *to = *from;
                }
                (predefined_log, 0)
            }
            1 => {
                let &symbol = src.first().ok_or(CodecErrorKind::Truncated)?;
                if symbol > kind.max_symbol() {
                    return Err(CodecErrorKind::Corrupt);
                }
                fse::single(table, kind, symbol);
                (0, 1)
            }
            2 => fse::read(src, kind, table)?,
            _ => (old_log.ok_or(CodecErrorKind::Corrupt)?, 0),
        };
        match kind {
            Kind::LitLen => self.litlen_log = Some(log),
            Kind::MatchLen => self.matchlen_log = Some(log),
            Kind::Offset | Kind::Weight => self.offset_log = Some(log),
        }
        Ok(taken)
    }
}
