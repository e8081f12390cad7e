//! NDLZ (codec id 32, docs/formats/chunk.md §5): one byte plane of a two-dimensional block, cell by cell.
//!
//! ```text
//! stream = 2, i32 rows, i32 columns, then one record per cell of c x c bytes (c = codec meta, 4 or
//! 8), cells in C order; those at the far border are ph x pw. `off` is u16 and counts back from the
//! record's token in the STREAM, not in the output.
//! record = 00, ph*pw literals | 40, v: all v | C0, off: ph*pw bytes from there
//! c = 4:   E0..FF: off, 1 row    three rows from 12 bytes at off    [full cells only]
//!          80..BF: off, 2 rows   two rows from 8 bytes at off
//!          28..3F: off, off      two rows from 8 bytes each
//! c = 8:   A8..AF: off, 5 rows   three neighbouring rows from 24 bytes at off
//!          88..8F: off, 6 rows   two neighbouring rows from 16 bytes at off
//! ```
//! A row record is read as (mask of rows, where those come from, where the others come from).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::out::Out;
use crate::codec::error::CodecError;
use crate::codec::error::CodecErrorKind::{self, Corrupt, Distance, TooLong, TooShort, Truncated};

const LITERAL: u8 = 0x00;
const ALL_EQUAL: u8 = 0x40;
const WHOLE_CELL: u8 = 0xC0;
const HEADER: usize = 9;

/// Expands one stream to exactly `out.len()` bytes. `meta` is the cell side.
///
/// # Errors
/// The stream is corrupt, its shape does not give `out.len()`, or `meta` is not 4 or 8.
#[inline(never)] // its stack is not the other codecs'
pub fn decode(src: &[u8], out: Out<'_>, meta: u8) -> Result<(), CodecError> {
    match meta {
        4 => decode_cells::<4>(src, out),
        8 => decode_cells::<8>(src, out),
        _ => Err(Corrupt.at(0)),
    }
}

/// Compresses `src`, one byte plane of a block of `blockshape`, into the start of `dst`. `meta` is the
/// cell side, `work` at least [`WORK_LEN`] bytes. `None` if the result does not fit `dst`, or if the
/// parameters do not suit NDLZ: a side other than 4 or 8, or a shape that is not two-dimensional with
/// `src.len()` items.
pub fn encode(src: &[u8], dst: &mut [u8], meta: u8, blockshape: &[u32], work: &mut [u8]) -> Option<usize> {
    match meta {
        4 => Encoder::<4>::new(src, dst, blockshape, work)?.run(),
        8 => Encoder::<8>::new(src, dst, blockshape, work)?.run(),
        _ => None,
    }
}

/// The grid of cells of a plane.
#[derive(Clone, Copy)]
struct Grid {
    rows: usize,
    columns: usize,
}

/// One cell: where it starts in the plane, and its size.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    height: usize,
    width: usize,
}

impl Cell {
    /// Bytes in the cell.
    fn len(self) -> usize {
        self.height.saturating_mul(self.width)
    }
}

impl Grid {
    /// The cells of side `side`, in C order. Offsets stay within `rows * columns`.
    fn cells(self, side: usize) -> impl Iterator<Item = Cell> {
        let lefts = move || (0..self.columns).step_by(side);
        (0..self.rows).step_by(side).flat_map(move |top| {
            lefts().map(move |left| Cell {
                start: top.saturating_mul(self.columns).saturating_add(left),
                height: side.min(self.rows.saturating_sub(top)),
                width: side.min(self.columns.saturating_sub(left)),
            })
        })
    }
}

/// The rest of a stream, and where it stands.
struct Reader<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], CodecErrorKind> {
        let piece = self.all.get(self.at..).and_then(|s| s.get(..len)).ok_or(Truncated)?;
        self.at = self.at.saturating_add(len);
        Ok(piece)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecErrorKind> {
        self.take(N)?.try_into().map_err(|_| Truncated)
    }

    fn length(&mut self) -> Result<usize, CodecErrorKind> {
        usize::try_from(i32::from_le_bytes(self.array()?)).map_err(|_| Corrupt)
    }

    /// The `len` bytes that the next offset says, counted back from `token`.
    fn referenced(&mut self, token: usize, len: usize) -> Result<&'a [u8], CodecErrorKind> {
        let offset = usize::from(u16::from_le_bytes(self.array()?));
        let from = token.checked_sub(offset).ok_or(Distance)?;
        self.all.get(from..).and_then(|s| s.get(..len)).ok_or(Truncated)
    }
}

fn decode_cells<const C: usize>(src: &[u8], mut out: Out<'_>) -> Result<(), CodecError> {
    let mut reader = Reader { all: src, at: 0 };
    let grid = read_header(&mut reader, out.len()).map_err(|kind| kind.at(0))?;
    for cell in grid.cells(C) {
        let token = reader.at;
        decode_cell::<C>(&mut reader, cell, grid.columns, &mut out).map_err(|kind| kind.at(token))?;
    }
    Ok(())
}

fn read_header(reader: &mut Reader<'_>, len: usize) -> Result<Grid, CodecErrorKind> {
    if reader.array::<1>()? != [2] {
        return Err(Corrupt);
    }
    let grid = Grid { rows: reader.length()?, columns: reader.length()? };
    match grid.rows.checked_mul(grid.columns) {
        // Without bytes there must be no rows either: two thousand million empty ones take a while.
        Some(0) if len == 0 => Ok(Grid { rows: 0, columns: 0 }),
        Some(bytes) if bytes == len => Ok(grid),
        Some(bytes) if bytes < len => Err(TooShort),
        _ => Err(TooLong),
    }
}

fn decode_cell<const C: usize>(
    reader: &mut Reader<'_>,
    cell: Cell,
    columns: usize,
    out: &mut Out<'_>,
) -> Result<(), CodecErrorKind> {
    let token = reader.at;
    let [kind] = reader.array()?;
    let bytes = match kind {
        LITERAL => reader.take(cell.len())?,
        WHOLE_CELL => reader.referenced(token, cell.len())?,
        ALL_EQUAL => {
            let [value] = reader.array()?;
            return put_rows(cell, columns, out, |mut row, _| {
                row.fill(value);
                Ok(())
            });
        }
        _ => {
            let (mask, both_referenced) = row_token::<C>(kind).ok_or(Corrupt)?;
            if cell.height != C || cell.width != C {
                return Err(Corrupt);
            }
            let count = usize::try_from(mask.count_ones()).map_err(|_| Corrupt)?;
            let named_len = count.saturating_mul(C);
            let rest_len = C.saturating_sub(count).saturating_mul(C);
            let mut named = reader.referenced(token, named_len)?;
            let mut rest =
                if both_referenced { reader.referenced(token, rest_len)? } else { reader.take(rest_len)? };
            return put_rows(cell, columns, out, |mut row, number| {
                let from = if mask >> number & 1 == 1 { &mut named } else { &mut rest };
                let (piece, next) = from.split_at_checked(C).ok_or(Truncated)?;
                *from = next;
                row.copy_from(piece);
                Ok(())
            });
        }
    };
    let mut rows = bytes;
    put_rows(cell, columns, out, |mut row, _| {
        let (piece, next) = rows.split_at_checked(cell.width).ok_or(Truncated)?;
        rows = next;
        row.copy_from(piece);
        Ok(())
    })
}

/// Hands each row of `cell` in `out`, and its number, to `fill`.
fn put_rows(
    cell: Cell,
    columns: usize,
    out: &mut Out<'_>,
    mut fill: impl FnMut(Out<'_>, u32) -> Result<(), CodecErrorKind>,
) -> Result<(), CodecErrorKind> {
    let mut start = cell.start;
    for (number, _) in (0u32..).zip(0..cell.height) {
        fill(out.get(start, cell.width).ok_or(TooLong)?, number)?;
        start = start.saturating_add(columns);
    }
    Ok(())
}

/// The rows (as a mask) that a row token takes from its first offset, and whether the other rows have
/// an offset too instead of being literal.
fn row_token<const C: usize>(token: u8) -> Option<(u8, bool)> {
    if C == 4 {
        let (i, j) = (token >> 5 & 1, token >> 3 & 3);
        match token {
            0xE0..=0xE7 => Some((0b1110, false)),
            0xE8..=0xEF => Some((0b0111, false)),
            0xF0..=0xF7 => Some((0b1011, false)),
            0xF8..=0xFF => Some((0b1101, false)),
            0x80 => Some((0b1100, false)),
            0x81..=0xBF if i < j => Some((1 << i | 1 << j, false)),
            0x28..=0x3F => Some((1 | 1 << j, true)),
            _ => None,
        }
    } else {
        match (token >> 3, token & 7) {
            (21, row @ 0..=5) => Some((0b111 << row, false)),
            (17, row @ 0..=6) => Some((0b11 << row, false)),
            _ => None,
        }
    }
}

/// Row tokens in the order an encoder tries them.
const TWO_PAIRS_4: [u8; 3] = [0x28, 0x30, 0x38];
const ROWS_4: [u8; 10] = [0xE0, 0xE8, 0xF0, 0xF8, 0x80, 0x88, 0x90, 0x98, 0xB0, 0xB8];
const ROWS_8: [u8; 13] = [0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x8E];

/// Entries of each table of positions.
const ENTRIES: usize = 4096;
/// Bytes of scratch [`encode`] needs: positions of cells, row triples and row pairs.
pub const WORK_LEN: usize = 3 * 2 * ENTRIES;

struct Encoder<'a, const C: usize> {
    src: &'a [u8],
    grid: Grid,
    dst: &'a mut [u8],
    at: usize,
    /// Low 16 bits of the stream position where bytes of a hash were last stored as literals: one
    /// table each for 2 rows, 3 rows and whole cells. A wrong guess is found by comparing.
    tables: &'a mut [[u8; 2]],
}

impl<'a, const C: usize> Encoder<'a, C> {
    fn new(src: &'a [u8], dst: &'a mut [u8], blockshape: &[u32], work: &'a mut [u8]) -> Option<Self> {
        let &[rows, columns] = blockshape else { return None };
        let grid = Grid { rows: usize::try_from(rows).ok()?, columns: usize::try_from(columns).ok()? };
        if src.is_empty() || grid.rows.checked_mul(grid.columns)? != src.len() {
            return None;
        }
        let tables = work.get_mut(..WORK_LEN)?.as_chunks_mut::<2>().0;
        tables.fill([0; 2]);
        let mut me = Encoder { src, grid, dst, at: 0, tables };
        me.put(&[2])?;
        me.put(&i32::try_from(rows).ok()?.to_le_bytes())?;
        me.put(&i32::try_from(columns).ok()?.to_le_bytes())?;
        debug_assert_eq!(me.at, HEADER);
        Some(me)
    }

    fn run(mut self) -> Option<usize> {
        for cell in self.grid.cells(C) {
            let mut bytes = [[0u8; C]; C];
            let mut start = cell.start;
            for row in bytes.iter_mut().take(cell.height) {
                let from = self.src.get(start..)?.get(..cell.width)?;
                for (to, byte) in row.iter_mut().zip(from) {
                    *to = *byte;
                }
                start = start.saturating_add(self.grid.columns);
            }
            self.cell(cell, &bytes)?;
        }
        Some(self.at)
    }

    fn cell(&mut self, cell: Cell, rows: &[[u8; C]; C]) -> Option<()> {
        let mut items = rows.iter().take(cell.height).flat_map(|row| row.iter().take(cell.width));
        let value = *items.next()?;
        if items.all(|&v| v == value) {
            return self.put(&[ALL_EQUAL, value]);
        }
        if cell.height == C && cell.width == C {
            return self.full_cell(rows);
        }
        self.put(&[LITERAL])?;
        rows.iter().take(cell.height).try_for_each(|row| self.put(row.get(..cell.width)?))
    }

    fn full_cell(&mut self, rows: &[[u8; C]; C]) -> Option<()> {
        if let Some(offset) = self.find(rows.as_flattened()) {
            self.put(&[WHOLE_CELL])?;
            return self.put(&offset);
        }
        let mut kept = [[0u8; C]; C];
        let two_pairs: &[u8] = if C == 4 { &TWO_PAIRS_4 } else { &[] };
        for &token in two_pairs {
            let (mask, _) = row_token::<C>(token)?;
            let Some(first) = self.find(select(rows, mask, &mut kept)) else { continue };
            if let Some(second) = self.find(select(rows, mask ^ 0b1111, &mut kept)) {
                self.put(&[token])?;
                self.put(&first)?;
                return self.put(&second);
            }
        }
        let row_tokens: &[u8] = if C == 4 { &ROWS_4 } else { &ROWS_8 };
        for &token in row_tokens {
            let (mask, _) = row_token::<C>(token)?;
            if let Some(offset) = self.find(select(rows, mask, &mut kept)) {
                self.put(&[token])?;
                self.put(&offset)?;
                return self.put(select(rows, !mask, &mut kept));
            }
        }
        self.put(&[LITERAL])?;
        let literals = self.at;
        self.put(rows.as_flattened())?;
        self.remember(rows.as_flattened(), literals);
        for count in [3, 2] {
            for (at, window) in (literals..).step_by(C).zip(rows.windows(count)) {
                self.remember(window.as_flattened(), at);
            }
        }
        Some(())
    }

    /// The table slot for `bytes`, which are 2, 3 or C rows.
    fn slot(&mut self, bytes: &[u8]) -> Option<&mut [u8; 2]> {
        let table = match bytes.len().checked_div(C)? {
            2 => 0,
            3 => ENTRIES,
            _ => ENTRIES.saturating_mul(2),
        };
        let mut hash = 0u32;
        for word in bytes.as_chunks::<4>().0 {
            hash = (hash.rotate_left(5) ^ u32::from_le_bytes(*word)).wrapping_mul(0x9E37_79B1);
        }
        self.tables.get_mut(table.saturating_add(usize::try_from(hash >> 20).ok()?))
    }

    fn remember(&mut self, bytes: &[u8], at: usize) {
        let [low, high, ..] = at.to_le_bytes();
        if let Some(slot) = self.slot(bytes) {
            *slot = [low, high];
        }
    }

    /// The offset from the next token back to an earlier copy of `bytes` in the stream.
    fn find(&mut self, bytes: &[u8]) -> Option<[u8; 2]> {
        let stored = u16::from_le_bytes(*self.slot(bytes)?);
        let [low, high, ..] = self.at.to_le_bytes();
        let offset = u16::from_le_bytes([low, high]).wrapping_sub(stored);
        let from = self.at.checked_sub(usize::from(offset))?;
        let end = from.checked_add(bytes.len()).filter(|&end| end <= self.at && offset != u16::MAX)?;
        (self.dst.get(from..end)? == bytes).then(|| offset.to_le_bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let room = self.dst.get_mut(self.at..)?.get_mut(..bytes.len())?;
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.at = self.at.saturating_add(bytes.len());
        Some(())
    }
}

/// The rows whose bit is set in `mask`, one after the other, at the start of `kept`.
fn select<'k, const C: usize>(rows: &[[u8; C]; C], mask: u8, kept: &'k mut [[u8; C]; C]) -> &'k [u8] {
    let chosen = (0u32..).zip(rows).filter(|(number, _)| mask >> number & 1 == 1);
    let mut count = 0usize;
    for (to, (_, row)) in kept.iter_mut().zip(chosen) {
        *to = *row;
        count = count.saturating_add(1);
    }
    kept.get(..count).unwrap_or(&[]).as_flattened()
}
