//! Zip files as stores use them: the directory is read within limits, members are read in place, new files are written
//! with every member stored.
//!
//! ```text
//! end record    PK 5 6, in the last 65,557 bytes: count, length and offset of the directory; where they do not fit,
//!               a locator before it leads to the record of zip64 (PK 6 6)
//! directory     for each member PK 1 2: method, CRC-32, sizes, name, offset of its own header
//! own header    PK 3 4, 30 bytes, name, extra field; then the data
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Part, ReadAt, Shared, filled, forward_read};
use crate::limits::{Limits, resize, within};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::fs::File;
use std::io::{self, Read};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Most bytes of the directory of a zip file.
const DIRECTORY: u64 = 1 << 26;

/// A member as the directory describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where its own header is in the file.
    pub header: u64,
    /// Bytes of its content.
    pub size: u64,
    /// Bytes that it takes in the file.
    pub stored: u64,
    /// How it is compressed: 0 if it is not, 8 for Deflate.
    pub method: u16,
    /// CRC-32 of its content.
    pub crc: u32,
    /// Whether it is encrypted.
    pub encrypted: bool,
}

fn invalid(field: &'static str, offset: u64, value: u64) -> Error {
    Error::Invalid {
        structure: Structure::Zip,
        field,
        offset,
        value: i64::try_from(value).unwrap_or(i64::MAX),
    }
}

/// Numbers at places of some bytes; beyond their end they are 0, which the callers' lengths exclude.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number<const N: usize>(&self, at: usize) -> u64 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk::<N>());
        bytes.map_or(0, |bytes| bytes.iter().rev().fold(0, |n, byte| (n << 8) | u64::from(*byte)))
    }
    fn u16(&self, at: usize) -> u64 {
        self.number::<2>(at)
    }
    fn u32(&self, at: usize) -> u64 {
        self.number::<4>(at)
    }
    fn u64(&self, at: usize) -> u64 {
        self.number::<8>(at)
    }
}

fn read(file: &dyn ReadAt, at: u64, len: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    resize(&mut bytes, len)?;
    file.read_exact_at(at, &mut bytes)?;
    Ok(bytes)
}

/// Where the directory is, and how many members it has.
struct Directory {
    start: u64,
    len: u64,
    count: u64,
    /// What is added to every offset: bytes before the archive.
    base: u64,
}

fn directory(file: &dyn ReadAt) -> Result<Directory, Error> {
    let size = file.size()?;
    let tail_len = size.min(65_557);
    let tail_at = size.saturating_sub(tail_len);
    let tail = read(file, tail_at, tail_len)?;
    let fits = |at: &usize| {
        let rest = tail.get(*at..).unwrap_or_default();
        rest.starts_with(b"PK\x05\x06") && rest.len() >= 22 && Fields(rest).u16(20) <= rest.len() as u64
    };
    let at = (0..tail.len()).rev().find(fits).ok_or_else(|| invalid("end record", tail_at, 0))?;
    let end = Fields(tail.get(at..).unwrap_or_default());
    let mut place = tail_at.saturating_add(at as u64);
    let (mut count, mut len, mut offset) = (end.u16(10), end.u32(12), end.u32(16));
    // Where a number does not fit, the record of zip64 has it, and a locator of 20 bytes before this one leads there.
    if (count == 0xffff || len == 0xffff_ffff || offset == 0xffff_ffff)
        && let Some(locator) = place.checked_sub(20)
        && let bytes = read(file, locator, 20)?
        && bytes.starts_with(b"PK\x06\x07")
    {
        // It says where the record is; bytes before the archive move that, and then the record ends at its locator.
        let told = Fields(&bytes).u64(8);
        let is_record = |at: &u64| {
            read(file, *at, 4).is_ok_and(|bytes| bytes.starts_with(b"PK\x06\x06")) && *at < locator
        };
        let at = Some(told).filter(is_record).or(locator.checked_sub(56).filter(is_record));
        let at = at.ok_or_else(|| invalid("offset of the zip64 record", locator, told))?;
        let record = read(file, at, 56)?;
        let record = Fields(&record);
        (count, len, offset, place) = (record.u64(32), record.u64(40), record.u64(48), at);
    }
    let start = place.checked_sub(len).ok_or_else(|| invalid("length of the directory", place, len))?;
    let base = start.checked_sub(offset).ok_or_else(|| invalid("offset of the directory", place, offset))?;
    Ok(Directory { start, len, count, base })
}

/// All members by their names; directories have a `/` at the end. Names that are no UTF-8 get replacement characters.
///
/// # Errors
/// A directory that contradicts the file, or is larger than the limits; errors of reading `file`.
pub fn members(file: &dyn ReadAt, limits: &Limits) -> Result<Vec<(String, Member)>, Error> {
    let Directory { start, len, count, base } = directory(file)?;
    within("members of a zip file", count, limits.entries)?;
    within("bytes of the directory of a zip file", len, DIRECTORY.min(limits.metalayers))?;
    let bytes = read(file, start, len)?;
    let mut rest = bytes.as_slice();
    let mut members = Vec::new();
    for _ in 0..count {
        let at = start.saturating_add((bytes.len() as u64).saturating_sub(rest.len() as u64));
        let header = Fields(rest);
        if !rest.starts_with(b"PK\x01\x02") {
            return Err(invalid("header in the directory", at, header.u32(0)));
        }
        let lengths = [header.u16(28), header.u16(30), header.u16(32)];
        let [name_len, extra_len, _] = lengths.map(|n| usize::try_from(n).unwrap_or(0));
        let whole = usize::try_from(lengths.iter().sum::<u64>()).unwrap_or(usize::MAX).saturating_add(46);
        let (Some((own, next)), Some(tail)) = (rest.split_at_checked(whole), rest.get(46..)) else {
            return Err(invalid("length of a header in the directory", at, whole as u64));
        };
        let name = tail.get(..name_len).unwrap_or_default();
        let extra = tail.get(name_len..name_len.saturating_add(extra_len)).unwrap_or_default();
        let own = Fields(own);
        let [size, stored, header] = zip64([own.u32(24), own.u32(20), own.u32(42)], extra);
        let member = Member {
            header: header.checked_add(base).ok_or_else(|| invalid("offset of a member", at, header))?,
            size,
            stored,
            method: u16::try_from(own.u16(10)).unwrap_or(u16::MAX),
            crc: u32::try_from(own.u32(16)).unwrap_or(0),
            encrypted: own.u16(8) & 1 != 0,
        };
        members.push((String::from_utf8_lossy(name).to_string(), member));
        rest = next;
    }
    Ok(members)
}

/// Sizes and offset, of which those of all ones are in the extra field of zip64.
fn zip64(mut numbers: [u64; 3], mut extra: &[u8]) -> [u64; 3] {
    while extra.len() >= 4 {
        let (id, len) = (Fields(extra).u16(0), usize::try_from(Fields(extra).u16(2)).unwrap_or(0));
        let field = extra.get(4..len.saturating_add(4)).unwrap_or_default();
        if id == 1 {
            let mut values = field.chunks_exact(8).map(|value| Fields(value).u64(0));
            for number in numbers.iter_mut().filter(|number| **number == 0xffff_ffff) {
                *number = values.next().unwrap_or(*number);
            }
        }
        extra = extra.get(len.saturating_add(4)..).unwrap_or_default();
    }
    numbers
}

/// Bytes `base..base + len` of a file that others read, too.
#[derive(Clone)]
pub struct Window {
    file: Shared,
    base: u64,
    len: u64,
}

impl ReadAt for Window {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.len)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let at = self.base.checked_add(offset).ok_or(IoKind::UnexpectedEnd)?;
        self.file.read_at(at, filled(buf, self.len, offset))
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        for (offset, buf) in parts.iter_mut() {
            let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.len);
            let within = end.and(self.base.checked_add(*offset));
            *offset = within.ok_or(IoKind::UnexpectedEnd)?;
        }
        self.file.read_ranges(parts)
    }
    fn is_far(&self) -> bool {
        self.file.is_far()
    }
}

impl Member {
    /// The bytes that it takes in the file.
    fn window(&self, file: &Shared) -> Result<Window, Error> {
        let mut own = [0; 30];
        file.read_exact_at(self.header, &mut own)?;
        let header = Fields(&own);
        if !own.starts_with(b"PK\x03\x04") {
            return Err(invalid("header of a member", self.header, header.u32(0)));
        }
        let before = header.u16(26).saturating_add(header.u16(28)).saturating_add(30);
        let base = self.header.saturating_add(before);
        if base.checked_add(self.stored).is_none_or(|end| file.size().map_or(true, |size| end > size)) {
            let (field, needed) = ("data of a member", self.stored);
            return Err(Error::Truncated { structure: Structure::Zip, field, offset: base, needed });
        }
        Ok(Window { file: file.clone(), base, len: self.stored })
    }

    /// Where its content begins in the file, if it lies there as it is.
    pub(super) fn offset(&self, file: &Shared) -> Option<u64> {
        self.window(file).ok().filter(|_| self.method == 0 && !self.encrypted).map(|window| window.base)
    }

    /// What it holds: in place where it is stored, else unpacked, which takes the memory that it says.
    ///
    /// # Errors
    /// A header that contradicts the directory, a method other than Deflate, more bytes than the limits.
    pub fn open(&self, file: &Shared, limits: &Limits) -> Result<Content, Error> {
        let unsupported = |what| Error::Unsupported { structure: Structure::Zip, what };
        if self.encrypted {
            return Err(unsupported("an encrypted member"));
        }
        let window = self.window(file)?;
        match self.method {
            0 if self.size == self.stored => Ok(Content::File(window)),
            0 => Err(invalid("size of a stored member", self.header, self.size)),
            8 => {
                within("bytes of output", self.size, limits.output)?;
                let packed = read(&window, 0, self.stored)?;
                let most = usize::try_from(self.size).map_err(|_| Error::OutOfMemory)?;
                let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, most);
                let bytes = bytes.map_err(|_| invalid("deflated member", self.header, self.stored))?;
                match bytes.len() == most {
                    true => Ok(Content::Memory(bytes)),
                    false => Err(invalid("size of a member", self.header, self.size)),
                }
            }
            _ => Err(unsupported("a member that is neither stored nor deflated")),
        }
    }
}

/// The content of a member.
pub enum Content {
    /// A part of the file.
    File(Window),
    /// Unpacked bytes.
    Memory(Vec<u8>),
}

impl Content {
    fn bytes(&self) -> &dyn ReadAt {
        match self {
            Content::File(window) => window,
            Content::Memory(bytes) => bytes,
        }
    }
}

impl ReadAt for Content {
    forward_read!(this => this.bytes());
}

/// A source of bytes as a stream, whose CRC-32 is counted.
pub(super) struct Stream<'a> {
    source: &'a dyn ReadAt,
    at: u64,
    pub crc: crc32fast::Hasher,
}

impl<'a> Stream<'a> {
    pub fn new(source: &'a dyn ReadAt) -> Stream<'a> {
        Stream { source, at: 0, crc: crc32fast::Hasher::new() }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read_at(self.at, buf).map_err(Error::from)?;
        self.crc.update(buf.get(..n).unwrap_or_default());
        self.at = self.at.saturating_add(n as u64);
        Ok(n)
    }
}

/// A new zip file whose members are stored.
pub(super) struct NewZip(ZipWriter<File>);

fn failed(error: zip::result::ZipError) -> Error {
    match error {
        zip::result::ZipError::Io(error) => error.into(),
        // A name that is there twice, too many members: what was written is not used.
        _ => IoKind::AlreadyExists.into(),
    }
}

impl NewZip {
    pub fn new(file: File) -> NewZip {
        NewZip(ZipWriter::new(file))
    }

    /// An empty directory.
    pub fn directory(&mut self, name: &str) -> Result<(), Error> {
        self.0.add_directory(name, SimpleFileOptions::default()).map_err(failed)
    }

    /// A member of `len` bytes, which `fill` writes.
    pub fn member(
        &mut self,
        name: &str,
        len: u64,
        fill: &mut dyn FnMut(&mut dyn io::Write) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let large = len > u64::from(u32::MAX).saturating_sub(1 << 20);
        self.0.start_file(name, options.large_file(large)).map_err(failed)?;
        fill(&mut self.0)
    }

    pub fn finish(self) -> Result<File, Error> {
        self.0.finish().map_err(failed)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::sync::Arc;

    fn sample() -> Vec<u8> {
        let path = std::env::temp_dir().join(alloc::format!(
            "blosc-zip-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut zip = NewZip::new(file);
        for (name, content) in [("a.b2nd", &b"first"[..]), ("g/b.b2nd", b""), ("dataset.json", b"{}")] {
            zip.member(name, content.len() as u64, &mut |out| Ok(out.write_all(content)?)).unwrap();
        }
        zip.directory("empty/").unwrap();
        let file = zip.finish().unwrap();
        read(&file, 0, file.size().unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample();
        // Bytes before the archive move every offset.
        for before in [0, 100] {
            let file: Shared = Arc::new([alloc::vec![7; before], bytes.clone()].concat());
            let members = members(&*file, &Limits::DEFAULT).unwrap();
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["a.b2nd", "g/b.b2nd", "dataset.json", "empty/"]);
            let content = members[0].1.open(&file, &Limits::DEFAULT).unwrap();
            let mut first = Vec::new();
            let mut stream = Stream::new(&content);
            stream.read_to_end(&mut first).unwrap();
            assert_eq!((first.as_slice(), stream.crc.finalize()), (&b"first"[..], members[0].1.crc));
        }
    }

    #[test]
    fn no_byte_of_a_zip_file_makes_it_panic() {
        let bytes = sample();
        for len in 0..bytes.len() {
            let _ = members(&&bytes[..len], &Limits::DEFAULT);
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let found = members(&changed.as_slice(), &Limits::DEFAULT);
                let file: Shared = Arc::new(changed);
                for (_, member) in found.unwrap_or_default() {
                    let _ = member.open(&file, &Limits::DEFAULT);
                }
            }
        }
        let limits = Limits::DEFAULT.entries(3);
        assert!(matches!(members(&bytes.as_slice(), &limits), Err(Error::Limit { asked: 4, .. })));
    }
}
