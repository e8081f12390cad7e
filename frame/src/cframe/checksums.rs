//! The checksums that frames of this library carry (`frame/src/schunk/checksum.rs` has their layout and what they mean): hashes and table,
//! without an allocator.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use core::hash::Hasher;
use twox_hash::{xxhash3_64, xxhash3_128};

/// Name of the vlmetalayer that holds the checksums of the chunks.
pub const CHECKSUMS_NAME: &str = ".checksums";
/// Kind of checksums, and the form of the table.
pub(crate) const KIND: [u8; 4] = *b"XXH3";
pub(crate) const FORM: u32 = 2;
const EARLIER_FORM: u32 = 1;
/// The table's value for a chunk whose checksum is not known.
pub(crate) const UNKNOWN: u64 = 0;

/// XXH3-64 of bytes that come one after the other.
#[derive(Clone)]
pub(crate) struct Sum(xxhash3_64::RawHasher<&'static [u8; xxhash3_64::DEFAULT_SECRET_LENGTH]>);

impl Sum {
    pub(crate) fn new() -> Sum {
        Sum(xxhash3_64::RawHasher::new(xxhash3_64::SecretBuffer::default()))
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum so far; never [`UNKNOWN`].
    pub(crate) fn get(&self) -> u64 {
        self.0.finish().max(1)
    }
}

/// The checksum of stored bytes; never [`UNKNOWN`].
pub(crate) fn of(bytes: &[u8]) -> u64 {
    xxhash3_64::Hasher::oneshot(bytes).max(1)
}

/// The frame's fingerprint: `head` is the header, `trailer` runs to its very end.
pub(crate) fn fingerprint(head: &[u8], index: &[u8], trailer: &[u8]) -> [u8; 16] {
    let mut hash = xxhash3_128::RawHasher::new(xxhash3_128::SecretBuffer::default());
    hash.write(head.get(..0x3e).unwrap_or(&[]));
    hash.write(head.get(0x44..0x57).unwrap_or(&[]));
    hash.write(index);
    hash.write(trailer.get(..trailer.len().saturating_sub(16)).unwrap_or(&[]));
    hash.finish_128().to_be_bytes()
}

/// A table as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    /// The checksum of header bytes 57..H.
    pub(crate) metalayers: u64,
    /// Stored bytes of all chunks, where the form has them.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))]
    pub(crate) live: Option<u64>,
    sums: &'a [[u8; 8]],
}

/// What the content of the metalayer is.
pub(crate) enum Parsed<'a> {
    Table(Table<'a>),
    /// A later version's.
    UnknownForm,
}

impl<'a> Table<'a> {
    /// Reads a table, if it is one.
    pub(crate) fn parse(table: &'a [u8]) -> Option<Parsed<'a>> {
        let (bin, table) = table.split_at_checked(5)?;
        let (words, []) = table.as_chunks::<8>() else { return None };
        let [magic, words @ ..] = words else { return None };
        let form = u32::from_le_bytes(*magic.strip_prefix(&KIND)?.first_chunk()?);
        let (metalayers, count, live, sums) = match (form, words) {
            (FORM, [metalayers, count, live, sums @ ..]) => (metalayers, count, Some(live), sums),
            (EARLIER_FORM, [metalayers, count, sums @ ..]) => (metalayers, count, None, sums),
            (3..=0xff, _) => return Some(Parsed::UnknownForm),
            _ => return None,
        };
        let &[0xc6, len @ ..] = bin.first_chunk::<5>()? else { return None };
        let fits = u32::from_be_bytes(len) as usize == table.len();
        if !fits || u64::from_le_bytes(*count) != sums.len() as u64 {
            return None;
        }
        let live = live.map(|live| u64::from_le_bytes(*live));
        Some(Parsed::Table(Table { metalayers: u64::from_le_bytes(*metalayers), live, sums }))
    }

    /// The checksums of the stored chunks in logical order.
    #[cfg(feature = "alloc")]
    pub(crate) fn sums(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.sums.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// The checksum of stored chunk `n`, if it is known.
    pub(crate) fn sum(&self, n: u64) -> Option<u64> {
        let word = self.sums.get(usize::try_from(n).ok()?)?;
        Some(u64::from_le_bytes(*word)).filter(|sum| *sum != UNKNOWN)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.sums.len() as u64
    }
}
