//! The metadata section of v3 (docs/formats/bloscpack.md §4).
//!
//! ```text
//! header (32) | stored text (comp-size) | spare (max-size − comp-size) | digest of the stored text
//!
//! header: 0 "JSON" + 4 NUL   8 options   9 checksum   10 codec   11 level
//!         12 u32 size   16 u32 max-size   20 u32 comp-size   24 user-codec (8 NUL)
//! ```
//! The plain size may exceed the maximum (compressed text); only comp-size ≤ max-size must hold.
//! `max-size` is fixed for the life of a file, so that new metadata never moves the chunks.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksum::Checksum;
use crate::error::{Error, Structure};
use crate::limits::within;
use crate::value::{TextLimits, Value};
use alloc::vec;
use alloc::vec::Vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// Length of the section's own header.
pub const HEADER_LEN: usize = 32;

/// Whether the eight bytes name the JSON serialiser, NULs on both ends put aside.
pub(super) fn is_json(format: [u8; 8]) -> bool {
    let mut rest = format.as_slice();
    while let Some((&0, tail)) = rest.split_first() {
        rest = tail;
    }
    while let Some((&0, head)) = rest.split_last() {
        rest = head;
    }
    rest == b"JSON"
}

/// How the text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaCodec {
    /// As it is.
    None,
    /// A zlib stream.
    Zlib,
}

/// How much room a new section gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaRoom {
    /// So many times the plain text; bloscpack's default is 10.
    Times(u32),
    /// So many bytes; at least what the text takes.
    Bytes(u32),
}

/// How a metadata section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaOptions {
    /// Checksum of the stored text.
    pub checksum: Checksum,
    /// Codec to try; dropped when it does not pay.
    pub codec: MetaCodec,
    /// Level of the codec, 0 ..= 9.
    pub level: u8,
    /// Room for later changes.
    pub room: MetaRoom,
}

impl Default for MetaOptions {
    fn default() -> Self {
        MetaOptions {
            checksum: Checksum::Adler32,
            codec: MetaCodec::Zlib,
            level: 6,
            room: MetaRoom::Times(10),
        }
    }
}

/// The checked header of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaHeader {
    /// Options byte; nothing is defined, written 0.
    pub options: u8,
    /// Checksum of the stored text.
    pub checksum: Checksum,
    /// How the text is stored.
    pub codec: MetaCodec,
    /// The level it was asked to be compressed with.
    pub level: u8,
    /// Bytes of plain text.
    pub size: u32,
    /// Bytes of stored text and spare room.
    pub max_size: u32,
    /// Bytes of stored text.
    pub comp_size: u32,
    /// Reserved.
    pub user_codec: [u8; 8],
}

fn invalid<T>(field: &'static str, offset: u64, value: i64) -> Result<T, Error> {
    Err(Error::Invalid { structure: Structure::BloscpackMetadata, field, offset, value })
}

/// The `N` bytes at `at`, which lie inside the header.
fn field<const N: usize>(header: &[u8; HEADER_LEN], at: usize) -> [u8; N] {
    header.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

impl MetaHeader {
    /// Reads a header that lies at byte `at` of the file.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field.
    pub fn parse(bytes: &[u8; HEADER_LEN], at: u64) -> Result<MetaHeader, Error> {
        let offset = |field: u64| at.saturating_add(field);
        let format = field::<8>(bytes, 0);
        if !is_json(format) {
            return invalid("magic-format", at, i64::from_le_bytes(format));
        }
        let [options, checksum, codec, level] = field(bytes, 8);
        let size = u32::from_le_bytes(field(bytes, 12));
        let max_size = u32::from_le_bytes(field(bytes, 16));
        let comp_size = u32::from_le_bytes(field(bytes, 20));
        let Some(checksum) = Checksum::from_id(checksum) else {
            return invalid("meta-checksum", offset(9), checksum.into());
        };
        let codec = match codec {
            0 => MetaCodec::None,
            1 => MetaCodec::Zlib,
            other => return invalid("meta-codec", offset(10), other.into()),
        };
        if level > 9 {
            return invalid("meta-level", offset(11), level.into());
        }
        if comp_size > max_size {
            return invalid("meta-comp-size", offset(20), comp_size.into());
        }
        if codec == MetaCodec::None && size != comp_size {
            return invalid("meta-size", offset(12), size.into());
        }
        let user_codec = field(bytes, 24);
        Ok(MetaHeader { options, checksum, codec, level, size, max_size, comp_size, user_codec })
    }

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        let fields = [
            b"JSON\0\0\0\0".as_slice(),
            &[self.options, self.checksum.id(), self.codec as u8, self.level],
            &self.size.to_le_bytes(),
            &self.max_size.to_le_bytes(),
            &self.comp_size.to_le_bytes(),
            &self.user_codec,
        ];
        for (to, from) in out.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        out
    }

    /// Length of the whole section.
    pub fn section_len(&self) -> u64 {
        (HEADER_LEN as u64)
            .saturating_add(self.max_size.into())
            .saturating_add(self.checksum.digest_len() as u64)
    }

    /// The value of a stored text that lies at byte `at` of the file, with its digest checked.
    ///
    /// # Errors
    /// A digest that does not match, a stream or a text that is malformed, a text above the limits.
    pub fn read(&self, stored: &[u8], digest: &[u8], at: u64, limits: &TextLimits) -> Result<Value, Error> {
        if self.checksum.digest(stored).as_ref() != digest {
            return Err(Error::Checksum { structure: Structure::BloscpackMetadata, chunk: None, offset: at });
        }
        let plain;
        let text = match self.codec {
            MetaCodec::None => stored,
            MetaCodec::Zlib => {
                plain = self.inflate(stored, at, limits)?;
                &plain
            }
        };
        parse(text, at, limits)
    }

    /// Inflates into exactly `size` bytes, and refuses anything after the stream's end.
    fn inflate(&self, stored: &[u8], at: u64, limits: &TextLimits) -> Result<Vec<u8>, Error> {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        within("bytes of metadata", self.size.into(), limits.bytes as u64)?;
        // One byte more than announced, to notice a stream that goes on.
        let mut plain = vec![0; size.saturating_add(1)];
        let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
            | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF
            | inflate_flags::TINFL_FLAG_COMPUTE_ADLER32;
        let (status, read, written) = decompress(&mut DecompressorOxide::new(), stored, &mut plain, 0, flags);
        if status != TINFLStatus::Done || written != size || read != stored.len() {
            return invalid("zlib stream", at, i64::try_from(read).unwrap_or(i64::MAX));
        }
        plain.truncate(size);
        Ok(plain)
    }
}

/// Parses JSON, or what Python prints for a dictionary, as the proposals show it.
pub(super) fn parse(text: &[u8], at: u64, limits: &TextLimits) -> Result<Value, Error> {
    Value::parse_json(text, limits)
        .or_else(|error| Value::parse_python(text, limits).map_err(|_| error))
        .map_err(|error| Error::Text {
            structure: Structure::BloscpackMetadata,
            field: "JSON",
            offset: at,
            error,
        })
}

/// A new section for `value`: its header and all its bytes.
pub(super) fn build(value: &Value, options: &MetaOptions) -> Result<(MetaHeader, Vec<u8>), Error> {
    let text = value.to_json_compact().into_bytes();
    let room = match options.room {
        MetaRoom::Times(n) => u64::from(n).saturating_mul(text.len() as u64),
        MetaRoom::Bytes(n) => u64::from(n),
    };
    let (codec, stored) = store(&text, options);
    let room = room.max(stored.len() as u64);
    fill(text.len(), codec, &stored, options, room, &[0; 8])
}

/// The section that replaces `old` in place (§4.1): same maximum, same digest length.
pub(super) fn rebuild(old: &MetaHeader, value: &Value, options: &MetaOptions) -> Result<Vec<u8>, Error> {
    if options.checksum.digest_len() != old.checksum.digest_len() {
        let value = options.checksum.id().into();
        return Err(Error::Param {
            name: "meta-checksum",
            value,
            allowed: "one with a digest of the same length",
        });
    }
    let text = value.to_json_compact().into_bytes();
    let (codec, stored) = store(&text, options);
    if stored.len() as u64 > u64::from(old.max_size) {
        let (asked, limit) = (stored.len() as u64, old.max_size.into());
        return Err(Error::Capacity { what: "bytes of metadata in the room reserved", asked, most: limit });
    }
    Ok(fill(text.len(), codec, &stored, options, old.max_size.into(), &old.user_codec)?.1)
}

fn store(text: &[u8], options: &MetaOptions) -> (MetaCodec, Vec<u8>) {
    if options.codec == MetaCodec::Zlib {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(text, options.level.min(9));
        if packed.len() <= text.len() {
            return (MetaCodec::Zlib, packed);
        }
    }
    (MetaCodec::None, text.to_vec())
}

fn fill(
    plain: usize,
    codec: MetaCodec,
    stored: &[u8],
    options: &MetaOptions,
    room: u64,
    user_codec: &[u8; 8],
) -> Result<(MetaHeader, Vec<u8>), Error> {
    let word = |n: u64| {
        u32::try_from(n).map_err(|_| Error::Capacity {
            what: "bytes of metadata",
            asked: n,
            most: u32::MAX.into(),
        })
    };
    let header = MetaHeader {
        options: 0,
        checksum: options.checksum,
        codec,
        level: options.level,
        size: word(plain as u64)?,
        max_size: word(room)?,
        comp_size: word(stored.len() as u64)?,
        user_codec: *user_codec,
    };
    let spare = header.max_size.saturating_sub(header.comp_size);
    let mut section = header.encode().to_vec();
    section.extend_from_slice(stored);
    section.resize(section.len().saturating_add(usize::try_from(spare).unwrap_or(usize::MAX)), 0);
    section.extend_from_slice(options.checksum.digest(stored).as_ref());
    Ok((header, section))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    /// Format document §13.2: header, text, nine spare bytes, adler32.
    const EXAMPLE: &str = "4a534f4e00000000000100060700000010000000070000000000000000000000\
                           7b2261223a317d00000000000000000009022a08";

    fn example() -> Vec<u8> {
        let nibbles: Vec<u8> =
            EXAMPLE.bytes().filter_map(|c| char::from(c).to_digit(16)).map(|d| d as u8).collect();
        nibbles.chunks(2).map(|p| p[0] << 4 | p[1]).collect()
    }

    #[test]
    fn section_of_the_document() {
        let value = Value::object([("a", Value::int(1))]);
        let options = MetaOptions { room: MetaRoom::Bytes(16), ..MetaOptions::default() };
        let (header, section) = build(&value, &options).unwrap();
        assert_eq!(section, example());
        let bytes = section.first_chunk::<32>().unwrap();
        assert_eq!(MetaHeader::parse(bytes, 32).unwrap(), header);
        let read = header.read(&section[32..39], &section[48..], 64, &TextLimits::JSON).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn zlib_text_comes_back_and_lies_are_refused() {
        let value = Value::object([("k", Value::text("x".repeat(1000)))]);
        let (header, section) = build(&value, &MetaOptions::default()).unwrap();
        assert_eq!(header.codec, MetaCodec::Zlib);
        let stored = &section[32..32 + header.comp_size as usize];
        let digest = &section[section.len() - 4..];
        let limits = TextLimits::JSON;
        assert_eq!(header.read(stored, digest, 64, &limits).unwrap(), value);
        for size in [0, 1, header.size - 1, header.size + 1, u32::MAX] {
            assert!(MetaHeader { size, ..header }.read(stored, digest, 64, &limits).is_err(), "{size}");
        }
        let mut longer = stored.to_vec();
        longer.push(0);
        assert!(header.read(&longer, Checksum::Adler32.digest(&longer).as_ref(), 64, &limits).is_err());
        assert!(header.read(stored, &[0; 4], 64, &limits).is_err());
    }

    #[test]
    fn header_fields_are_checked() {
        let good = *example().first_chunk::<32>().unwrap();
        for (at, byte) in [(0, b'j'), (9, 9), (10, 2), (11, 10), (16, 6), (12, 8)] {
            let mut bad = good;
            bad[at] = byte;
            assert!(MetaHeader::parse(&bad, 32).is_err(), "byte {at}");
        }
    }

    #[test]
    fn rewriting_keeps_the_room() {
        let (old, section) =
            build(&Value::Object(vec![]), &MetaOptions { room: MetaRoom::Bytes(40), ..Default::default() })
                .unwrap();
        let new = rebuild(&old, &Value::object([("b", Value::int(2))]), &MetaOptions::default()).unwrap();
        assert_eq!(new.len(), section.len());
        let big = Value::text((0..60).map(|i| char::from(40 + i)).collect::<alloc::string::String>());
        assert!(matches!(rebuild(&old, &big, &MetaOptions::default()), Err(Error::Capacity { .. })));
        let sha = MetaOptions { checksum: Checksum::Sha1, ..Default::default() };
        assert!(rebuild(&old, &Value::Null, &sha).is_err());
    }
}
