//! The codecs of numcodecs that `zarrs` has not, or that it decodes without a limit, for reading.
//!
//! | name | bytes |
//! |---|---|
//! | `lz4` | the decoded size (4 bytes), a block of LZ4 |
//! | `bz2` | bzip2 |
//! | `lzma` | `.xz`, or `.lzma` with `"format": 2` |
//! | `packbits` | unused bits of the last byte (1 byte), bits from the highest on |
//! | `delta` | the first item, then differences, in the dtype `astype` |

use blosc_core::codec::lz4;
use serde_json::{Map, Value};
use std::io::Read;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub enum Numcodec {
    Lz4,
    Bz2,
    Xz,
    Lzma,
    PackBits,
    Delta { items: Number, stored: Number },
}

/// How a number is stored: the `<i4` of NumPy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    little: bool,
    kind: char,
    size: usize,
}

impl Numcodec {
    pub const NAMES: [&'static str; 5] = ["lz4", "bz2", "lzma", "packbits", "delta"];

    /// The codec of this name and configuration.
    ///
    /// # Errors
    /// A configuration that cannot be read, in words.
    pub fn new(name: &str, about: &Map<String, Value>) -> Result<Numcodec, String> {
        Ok(match name {
            "lz4" => Numcodec::Lz4,
            "bz2" => Numcodec::Bz2,
            "lzma" => match about.get("format").map_or(Some(1), Value::as_u64) {
                Some(1) => Numcodec::Xz,
                Some(2) => Numcodec::Lzma,
                _ => return Err("lzma without a header is not read".into()),
            },
            "packbits" => Numcodec::PackBits,
            _ => {
                let items = Number::parse(about.get("dtype").unwrap_or(&Value::Null))?;
                let stored = match about.get("astype").filter(|astype| !astype.is_null()) {
                    Some(astype) => Number::parse(astype)?,
                    None => items,
                };
                if (items.kind == 'f') != (stored.kind == 'f') {
                    return Err("delta between whole numbers and floats is not read".into());
                }
                Numcodec::Delta { items, stored }
            }
        })
    }

    /// The bytes of a chunk, at most `most` of them.
    ///
    /// # Errors
    /// What is damaged or larger, in words.
    pub fn decode(self, encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
        match self {
            Numcodec::Lz4 => {
                let (size, block) = encoded.split_first_chunk().ok_or("an LZ4 chunk without its size")?;
                let size = u32::from_le_bytes(*size);
                if u64::from(size) > most {
                    return Err(format!("an LZ4 chunk of {size} bytes, more than the limit of {most}"));
                }
                let mut out = vec![0; size as usize];
                lz4::decode(block, out.as_mut_slice().into(), &[]).map_err(|e| e.to_string())?;
                Ok(out)
            }
            Numcodec::Bz2 => read(bzip2::read::MultiBzDecoder::new(encoded), most),
            // The dictionary grows with what is decoded, whatever size the header announces.
            Numcodec::Xz => read(lzma_rust2::XzReader::new(encoded, true), most),
            Numcodec::Lzma => {
                let reader = lzma_rust2::LzmaReader::new_mem_limit(encoded, u32::MAX, None);
                read(reader.map_err(|e| e.to_string())?, most)
            }
            Numcodec::PackBits => {
                let (unused, packed) = encoded.split_first().ok_or("packed bits without their first byte")?;
                let bits = (packed.len() as u64 * 8).checked_sub(u64::from(*unused));
                let bits = bits.filter(|bits| *unused < 8 && *bits <= most);
                let bits = bits.ok_or("packed bits of another number than their first byte says")?;
                let bytes = packed.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                Ok(bytes.take(bits as usize).collect())
            }
            Numcodec::Delta { items, stored } => {
                let count = encoded.len() / stored.size;
                if !encoded.len().is_multiple_of(stored.size) || (count * items.size) as u64 > most {
                    return Err("differences of another size than their items".into());
                }
                let mut out = Vec::with_capacity(count * items.size);
                let (mut whole, mut float) = (0_i64, 0_f64);
                for item in encoded.chunks_exact(stored.size) {
                    if items.kind == 'f' {
                        float += stored.float(item);
                        // NumPy adds in the type of the items.
                        float = if items.size == 4 { f64::from(float as f32) } else { float };
                        items.put_float(float, &mut out);
                    } else {
                        whole = whole.wrapping_add(stored.whole(item));
                        items.put(&whole.to_le_bytes(), &mut out);
                    }
                }
                Ok(out)
            }
        }
    }
}

/// What a reader gives, at most `most` bytes.
fn read(reader: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    reader.take(most.saturating_add(1)).read_to_end(&mut out).map_err(|e| e.to_string())?;
    if out.len() as u64 > most {
        return Err(format!("more than the limit of {most} bytes"));
    }
    Ok(out)
}

impl Number {
    fn parse(dtype: &Value) -> Result<Number, String> {
        let text = dtype.as_str().unwrap_or_default();
        let unread = || format!("delta of the dtype {dtype} is not read");
        let mut letters = text.trim_start_matches(['<', '>', '|', '=']).chars();
        let kind = letters.next().filter(|kind| "iuf".contains(*kind)).ok_or_else(unread)?;
        let size =
            letters.as_str().parse().ok().filter(|size| [1, 2, 4, 8].contains(size)).ok_or_else(unread)?;
        if kind == 'f' && size < 4 {
            return Err(unread());
        }
        let little = !text.starts_with('>') && (text.starts_with('<') || cfg!(target_endian = "little"));
        Ok(Number { little, kind, size })
    }

    /// Its bytes, the lowest first, with `fill` above them.
    fn bytes(self, item: &[u8], fill: u8) -> [u8; 8] {
        let mut bytes = [fill; 8];
        for (at, byte) in item.iter().enumerate() {
            bytes[if self.little { at } else { self.size - 1 - at }] = *byte;
        }
        bytes
    }

    fn whole(self, item: &[u8]) -> i64 {
        let top = item[if self.little { self.size - 1 } else { 0 }];
        let fill = if self.kind == 'i' && top >= 0x80 { 0xff } else { 0 };
        i64::from_le_bytes(self.bytes(item, fill))
    }

    fn float(self, item: &[u8]) -> f64 {
        let bits = u64::from_le_bytes(self.bytes(item, 0));
        if self.size == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
    }

    /// Writes a number of which these are the lowest bytes, the lowest first.
    fn put(self, lowest: &[u8], out: &mut Vec<u8>) {
        let bytes = lowest[..self.size].iter();
        if self.little { out.extend(bytes) } else { out.extend(bytes.rev()) }
    }

    fn put_float(self, float: f64, out: &mut Vec<u8>) {
        match self.size {
            4 => self.put(&(float as f32).to_le_bytes(), out),
            _ => self.put(&float.to_le_bytes(), out),
        }
    }
}
