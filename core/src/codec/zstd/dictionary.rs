//! Dictionaries (RFC 8878 §5).
//!
//! ```text
//! formatted := 37 A4 30 EC, id:u32, Huffman code, tables for offsets, match lengths and literal lengths,
//!              3 recent offsets:u32, content
//! plain     := content
//! ```

use super::fse::Kind;
use super::tables::Tables;
use crate::codec::error::CodecErrorKind;

const MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];

/// A dictionary whose tables have been loaded.
pub(super) struct Dictionary<'d> {
    /// 0 if it has none.
    pub id: u32,
    /// History before the first byte of the frame.
    pub content: &'d [u8],
}

impl<'d> Dictionary<'d> {
    /// Takes `bytes` apart, and its tables into `tables`.
    ///
    /// # Errors
    /// `Dictionary` where `bytes` begin as a formatted dictionary and are none.
    pub fn load(bytes: &'d [u8], tables: &mut Tables<'_>) -> Result<Dictionary<'d>, CodecErrorKind> {
        match bytes.split_first_chunk::<4>() {
            Some((&MAGIC, rest)) => Self::formatted(rest, tables).ok_or(CodecErrorKind::Dictionary),
            _ => Ok(Dictionary { id: 0, content: bytes }),
        }
    }

    fn formatted(bytes: &'d [u8], tables: &mut Tables<'_>) -> Option<Dictionary<'d>> {
        let (id, bytes) = bytes.split_first_chunk::<4>()?;
        let bytes = bytes.get(tables.huffman.read(bytes).ok()?..)?;
        let bytes = bytes.get(tables.prepare(2, bytes, Kind::Offset).ok()?..)?;
        let bytes = bytes.get(tables.prepare(2, bytes, Kind::MatchLen).ok()?..)?;
        let bytes = bytes.get(tables.prepare(2, bytes, Kind::LitLen).ok()?..)?;
        let (recent, content) = bytes.split_first_chunk::<12>()?;
        for (slot, word) in tables.recent.iter_mut().zip(recent.as_chunks::<4>().0) {
            *slot = u32::from_le_bytes(*word);
            if *slot == 0 || *slot as usize > content.len() {
                return None;
            }
        }
        Some(Dictionary { id: u32::from_le_bytes(*id), content })
    }
}
