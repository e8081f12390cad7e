//! A metalayers section: the same grammar in header and trailer (docs/formats/cframe.md §4, §6).
//!
//! ```text
//! 93                       array of 3
//! cd u16                   index size: in the header from the 93, in the trailer from the cd
//! de u16 n                 map: { a0|len name, d2 i32 offset of the entry's c6 }
//! dc u16 n                 array of c6 u32 len content
//! ```
//! Offsets count from the frame's first byte in the header, from the `94` byte in the trailer.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Structure};

/// Most metalayers in a header, and most vlmetalayers a writer may leave.
pub const MAX_WRITTEN: usize = 16;
/// Most vlmetalayers a reader accepts.
pub const MAX_READ: u16 = 8192;
/// Longest name.
pub const MAX_NAME: usize = 31;

/// One entry of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name, 0 to 31 bytes, no NUL.
    pub name: &'a [u8],
    /// The content as stored.
    pub content: &'a [u8],
    /// Where the content starts, in the bytes the section was parsed from.
    pub offset: usize,
}

/// A section that has been checked from end to end.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    bytes: &'a [u8],
    map: usize,
    count: u16,
    structure: Structure,
}

fn field<const N: usize>(
    bytes: &[u8],
    at: usize,
    structure: Structure,
    field: &'static str,
) -> Result<[u8; N], Error> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(Error::Truncated { structure, field, offset: at as u64, needed: N as u64 })
}

fn marked<const N: usize>(
    bytes: &[u8],
    at: usize,
    marker: u8,
    structure: Structure,
    name: &'static str,
) -> Result<[u8; N], Error> {
    let [found] = field(bytes, at, structure, name)?;
    if found != marker {
        return Err(Error::invalid(structure, name, at as u64, i64::from(found)));
    }
    field(bytes, at.saturating_add(1), structure, name)
}

impl<'a> Section<'a> {
    /// Parses the section that starts at `start`. `bytes` is all its offsets may reach: the header, or
    /// the trailer up to its length field.
    ///
    /// # Errors
    /// [`Error::Invalid`] and [`Error::Truncated`] with the offset.
    pub fn parse(bytes: &'a [u8], start: usize, structure: Structure) -> Result<Section<'a>, Error> {
        let _: [u8; 0] = marked(bytes, start, 0x93, structure, "array of 3")?;
        let _: [u8; 2] = marked(bytes, start.saturating_add(1), 0xcd, structure, "index size")?;
        let count = marked(bytes, start.saturating_add(4), 0xde, structure, "map")?;
        let count = u16::from_be_bytes(count);
        let most = if structure == Structure::Metalayers { MAX_WRITTEN as u16 } else { MAX_READ };
        if count > most {
            let (offset, value) = (start.saturating_add(5) as u64, i64::from(count));
            return Err(Error::Invalid { structure, field: "number of entries", offset, value });
        }
        let section = Section { bytes, map: start.saturating_add(7), count, structure };
        let mut at = section.map;
        for _ in 0..count {
            at = section.entry(at)?.1;
        }
        let _: [u8; 2] = marked(bytes, at, 0xdc, structure, "array of contents")?;
        Ok(section)
    }

    /// The entry whose map item starts at `at`, and where the next item starts.
    fn entry(&self, at: usize) -> Result<(Entry<'a>, usize), Error> {
        let structure = self.structure;
        let invalid = |field, at: usize, value| Error::invalid(structure, field, at as u64, value);
        let truncated =
            |field, at: usize, needed: u32| Error::truncated(structure, field, at as u64, needed.into());
        let [marker] = field(self.bytes, at, structure, "name")?;
        if marker & 0xe0 != 0xa0 {
            return Err(invalid("name", at, i64::from(marker)));
        }
        let start = at.saturating_add(1);
        let end = start.saturating_add(usize::from(marker & 0x1f));
        let name = self.bytes.get(start..end);
        let name = name.ok_or(truncated("name", at, u32::from(marker & 0x1f)))?;
        if name.contains(&0) {
            return Err(invalid("name", at, 0));
        }
        let offset = i32::from_be_bytes(marked(self.bytes, end, 0xd2, structure, "offset")?);
        let bin = usize::try_from(offset).map_err(|_| invalid("offset", end, i64::from(offset)))?;
        let len = u32::from_be_bytes(marked(self.bytes, bin, 0xc6, structure, "content")?);
        let offset = bin.saturating_add(5);
        let content =
            usize::try_from(len).ok().and_then(|len| self.bytes.get(offset..offset.checked_add(len)?));
        let content = content.ok_or(truncated("content", bin, len))?;
        Ok((Entry { name, content, offset }, end.saturating_add(5)))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The entries in map order. A name may occur twice; the first one counts.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let section = *self;
        let mut at = section.map;
        (0..section.count).map_while(move |_| {
            let (entry, next) = section.entry(at).ok()?;
            at = next;
            Some(entry)
        })
    }

    /// The content of the first entry called `name`.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|entry| entry.name == name.as_bytes()).map(|entry| entry.content)
    }
}

/// Writes a section of `entries` (name, content): the [`Structure::VlMetalayers`] of a trailer at its byte 2, those of
/// any other structure at byte 87 of the header. The caller has checked names, count and sizes with
/// [`check_entry`]; a map part of 64 KiB cannot be reached with them.
///
/// # Errors
/// [`Error::Capacity`] for more than offsets of the format reach.
#[cfg(feature = "alloc")]
pub fn encode<'a, I>(structure: Structure, entries: I) -> Result<alloc::vec::Vec<u8>, Error>
where
    I: Iterator<Item = (&'a [u8], &'a [u8])> + Clone,
{
    let too_long = Error::Capacity { what: structure.name(), asked: u64::MAX, most: i32::MAX as u64 };
    let count = u16::try_from(entries.clone().count()).map_err(|_| too_long)?;
    let map: usize = entries.clone().map(|(name, _)| name.len().saturating_add(6)).sum();
    let (start, uncounted) = match structure {
        Structure::VlMetalayers => (2, 1),
        _ => (super::header::FIXED_LEN, 0),
    };
    let index_size = u16::try_from(map.saturating_add(7).saturating_sub(uncounted)).map_err(|_| too_long)?;
    let mut out = alloc::vec![0x93, 0xcd];
    out.extend(index_size.to_be_bytes());
    out.push(0xde);
    out.extend(count.to_be_bytes());
    // 7 bytes, the map, and 3 bytes of the array's marker come before the first content.
    let mut offset = start.saturating_add(map).saturating_add(10);
    for (name, content) in entries.clone() {
        out.push(0xa0 | (name.len() & 0x1f) as u8);
        out.extend(name);
        out.push(0xd2);
        out.extend(i32::try_from(offset).map_err(|_| too_long)?.to_be_bytes());
        offset = offset.saturating_add(content.len()).saturating_add(5);
    }
    out.push(0xdc);
    out.extend(count.to_be_bytes());
    for (_, content) in entries {
        out.push(0xc6);
        out.extend(u32::try_from(content.len()).map_err(|_| too_long)?.to_be_bytes());
        out.extend(content);
    }
    i32::try_from(start.saturating_add(out.len())).map_err(|_| too_long)?;
    Ok(out)
}

/// Checks a name and content against what the format can hold, before anything is written.
///
/// # Errors
/// [`Error::Param`] for a name of more than 31 bytes or with NUL, [`Error::Capacity`] for a content that is too long.
pub fn check_entry(name: &str, content: &[u8]) -> Result<(), Error> {
    if name.len() > MAX_NAME || name.contains('\0') {
        return Err(Error::param("metalayer name length", name.len() as i64, "at most 31 bytes, no NUL"));
    }
    if content.len() >= 1 << 30 {
        return Err(Error::Capacity { what: "metalayer bytes", asked: content.len() as u64, most: 1 << 30 });
    }
    Ok(())
}
