//! What a frame remembers from block to block: tables, in the caller's scratch, and recent offsets.

use super::fse::{self, Kind, Raw};
use super::huffman;
use crate::codec::CodecErrorKind;

/// Bytes of the tables: 14 KiB.
pub(super) const TABLES_LEN: usize = 8 * (512 + 512 + 256 + 64) + 2 * huffman::ENTRIES;

/// A table of states, if there is one, and the log2 of its size.
pub(super) struct States<'w, const N: usize> {
    pub table: &'w mut [Raw; N],
    pub log: Option<u32>,
}

/// Tables and offsets of a frame.
pub(super) struct Tables<'w> {
    pub litlen: States<'w, 512>,
    pub matchlen: States<'w, 512>,
    pub offset: States<'w, 256>,
    pub weights: &'w mut [Raw; 64],
    pub huffman: &'w mut huffman::Table,
    /// Whether `huffman` holds a code.
    pub has_huffman: bool,
    /// The three most recent offsets, latest first.
    pub recent: [u32; 3],
}

impl<'w> Tables<'w> {
    /// Lays the tables out at the start of `work`; also returns what is left of it.
    pub fn new(work: &'w mut [u8]) -> Option<(Tables<'w>, &'w mut [u8])> {
        let (states, rest) = work.split_at_mut_checked(8 * (512 + 512 + 256 + 64))?;
        let (pairs, rest) = rest.split_at_mut_checked(2 * huffman::ENTRIES)?;
        let states = states.as_chunks_mut::<8>().0;
        let (litlen, states) = states.split_first_chunk_mut()?;
        let (matchlen, states) = states.split_first_chunk_mut()?;
        let (offset, states) = states.split_first_chunk_mut()?;
        let (weights, _) = states.split_first_chunk_mut()?;
        let (huffman, _) = pairs.as_chunks_mut::<2>().0.split_first_chunk_mut()?;
        let tables = Tables {
            litlen: States { table: litlen, log: None },
            matchlen: States { table: matchlen, log: None },
            offset: States { table: offset, log: None },
            weights,
            huffman,
            has_huffman: false,
            recent: [1, 4, 8],
        };
        Some((tables, rest))
    }

    /// Forgets everything, as at the start of a frame.
    pub fn reset(&mut self) {
        self.litlen.log = None;
        self.matchlen.log = None;
        self.offset.log = None;
        self.has_huffman = false;
        self.recent = [1, 4, 8];
    }

    /// Reads a Huffman code; returns the bytes it takes.
    pub fn read_huffman(&mut self, src: &[u8]) -> Result<usize, CodecErrorKind> {
        self.has_huffman = false;
        let taken = huffman::read_table(src, self.huffman, self.weights)?;
        self.has_huffman = true;
        Ok(taken)
    }
}

impl<const N: usize> States<'_, N> {
    /// Makes the table ready that `mode` (0 predefined, 1 one symbol, 2 described, 3 as before) asks for;
    /// returns the bytes it takes.
    pub fn prepare<const P: usize>(
        &mut self,
        mode: u8,
        src: &[u8],
        kind: Kind,
        predefined: (&[Raw; P], u32),
    ) -> Result<usize, CodecErrorKind> {
        match mode & 3 {
            0 => {
                if let Some(start) = self.table.first_chunk_mut::<P>() {
                    *start = *predefined.0;
                }
                self.log = Some(predefined.1);
                Ok(0)
            }
            1 => {
                let &symbol = src.first().ok_or(CodecErrorKind::Truncated)?;
                if symbol > kind.max_symbol() {
                    return Err(CodecErrorKind::Corrupt);
                }
                fse::single(self.table, kind, symbol);
                self.log = Some(0);
                Ok(1)
            }
            2 => self.read(src, kind),
            _ => self.log.map(|_| 0).ok_or(CodecErrorKind::Corrupt),
        }
    }

    /// Reads a described table; returns the bytes it takes.
    pub fn read(&mut self, src: &[u8], kind: Kind) -> Result<usize, CodecErrorKind> {
        let mut norm = [0; 64];
        let (log, taken) = fse::read_norm(src, kind, &mut norm)?;
        fse::build(self.table, &norm, log, kind);
        self.log = Some(log);
        Ok(taken)
    }
}
