//! What excuses a difference between libblosc2's decode of some bytes and ours: a defect of libblosc2 that the
//! chunk format lists (docs/formats/chunk.md, appendix B), in the chunks it says, and only in the bytes that the defect can reach.
//!
//! | defect | chunks | bytes |
//! |---|---|---|
//! | kind 4 | uninitialised chunks (section 2.7) | any, if libblosc2 left them unwritten |
//! | B1 | the header's block size is not the one that the streams have | after the first true block; any, if a filter has another width than the items |
//! | B2 | Blosc <= 1.10: short header, version <= 2, S > 16 or blocksize / S < 128, DONT_SPLIT clear | any |
//! | B3 | version 2, bitshuffle of whole groups of eight items | a block's last bsize % S, unwritten or, among other filters, scratch; any of such a block, if another filter is undone later |
//! | B6 | variable-length blocks with DELTA | after the first block |
//! | BYTEDELTA 34 | the first edition of the filter (section 3.7) | blocks that are no multiple of its width |
//! | DELTA | twice among three or more filters, or once after three and before another | any |
//!
//! And what excuses that only one of the two takes a chunk. Where it can be taken out of a chunk (*), what is left
//! must be read by both, and to the same, unless the streams begin in the header that was changed.
//!
//! | refused here | what it is |
//! |---|---|
//! | Negative | nbytes below 0; libblosc2 makes 0 bytes of it (section 1.7) |
//! | BigEndian * | bit 1 of flags1, which libblosc2 ignores (1.5): items would go out in another byte order |
//! | Lazy * | bit 3 of flags1 in stored data, which libblosc2 does not see in special chunks (1.5, 2.9) |
//! | LazyValue | such a chunk of a repeated value that is not all there: libblosc2 reads on behind the buffer |
//! | Understated * | streams behind cbytes; libblosc2 reads to the end of the buffer (1.7) |
//! | EmptyNan | no NaN of items of another size than 4 or 8 (2.7) |
//! | Indivisible | split blocks whose size is no multiple of the number of streams (2.3) |
//! | InDictionary | a first block of variable length that lies in the dictionary, which libblosc2 does not check (2.8) |
//! | NoDistance | an LZ4 match at distance 0, which the LZ4 format forbids and the C library copies |
//! | B1 | as above: read with the block size that such chunks have |
//!
//! | refused there | what it is |
//! |---|---|
//! | Dictionary | the dictionary's bit in a chunk without streams (2.6, B4) |
//! | Pieces | NaN or a repeated value in blocks of no whole number of values (2.7) |
//! | Version3 | bit 0 of flags2 in version 3, whose writers left that byte as it was (1.4) |
//! | Snappy | Snappy (1.2) |
//! | NoFrame | BYTEDELTA that takes its width from the frame (3.7) |
//! | B1, B2 | as above |

use crate::chunks::{LIMITS, decoded};
use crate::support::delta_is_misread;
use blosc_core::chunk::{Header, Stream};
use blosc_core::{Chunk, Codec, Filter, FilterSlot, Special};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What libblosc2 decoded, over zeros and over ones: where the two differ it wrote nothing.
#[derive(Clone, Debug)]
pub struct Theirs {
    pub zeros: Vec<u8>,
    pub ones: Vec<u8>,
}

/// A documented defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    Kind4,
    B1,
    B2,
    B3,
    B6,
    Delta,
    ByteDelta34,
}

const DONT_SPLIT: u8 = 0x10;

impl Defect {
    pub const ALL: [Defect; 7] =
        [Defect::Kind4, Defect::B1, Defect::B2, Defect::B3, Defect::B6, Defect::Delta, Defect::ByteDelta34];

    /// Whether a chunk is one that the defect concerns.
    fn concerns(self, chunk: &Chunk<'_>) -> bool {
        let h = chunk.header();
        if !h.has_streams() {
            return self == Defect::Kind4 && h.special() == Some(Special::Uninit);
        }
        match self {
            Defect::Kind4 => false,
            Defect::B1 => !h.is_vl() && h.blocksize < stored_blocksize(chunk),
            Defect::B2 => is_old_unsplit(h),
            Defect::B3 => h.version == 2 && active(chunk).any(|f| f == Filter::BitShuffle),
            Defect::B6 => h.is_vl() && active(chunk).any(|f| f == Filter::Delta),
            Defect::Delta => delta_is_misread(active(chunk).map(Filter::id)),
            Defect::ByteDelta34 => first_byte_delta(chunk).is_some(),
        }
    }

    /// Whether the defect can change this byte of the output.
    fn reaches(self, chunk: &Chunk<'_>, at: usize, written: bool) -> bool {
        let (h, nbytes) = (chunk.header(), chunk.nbytes());
        let (size, typesize) = ((h.blocksize as usize).max(1), usize::from(h.typesize).max(1));
        match self {
            Defect::Kind4 => !written,
            Defect::B2 | Defect::Delta => true,
            Defect::B1 => at >= size || has_other_width(h),
            Defect::ByteDelta34 => {
                let bsize = size.min(nbytes - at / size * size);
                h.is_vl() || first_byte_delta(chunk).is_some_and(|width| !bsize.is_multiple_of(width))
            }
            Defect::B3 => {
                let bsize = size.min(nbytes - at / size * size);
                let tail = bsize % typesize;
                let undone_last = active(chunk).next() == Some(Filter::BitShuffle);
                let within = if undone_last { at % size >= bsize - tail } else { tail > 0 };
                // Among other filters what is left unwritten may be scratch, which they take for data.
                let free = !written || active(chunk).count() > 1;
                within && free && (bsize / typesize).is_multiple_of(8)
            }
            Defect::B6 => chunk.block_range(0).is_ok_and(|first| at >= first.end),
        }
    }
}

/// Whether Blosc up to 1.10 wrote such blocks without a split.
fn is_old_unsplit(h: &Header) -> bool {
    let typesize = u32::from(h.typesize).max(1);
    let unsplit = typesize > 16 || h.blocksize / typesize < 128;
    !h.is_extended() && h.version <= 2 && h.flags & DONT_SPLIT == 0 && typesize > 1 && unsplit
}

/// The width of the first edition of BYTEDELTA, if it is there.
fn first_byte_delta(chunk: &Chunk<'_>) -> Option<usize> {
    let slot = chunk.header().filters.into_iter().find(|slot| slot.filter.id() == 34)?;
    Some(usize::from(if slot.meta == 0 { chunk.header().typesize } else { slot.meta }).max(1))
}

/// Whether a filter takes items of another width than the chunk's: what it does depends on where the block ends.
fn has_other_width(h: &Header) -> bool {
    let other = |slot: &FilterSlot| {
        matches!(slot.filter.id(), 1 | 34 | 35) && slot.meta != 0 && slot.meta != h.typesize
    };
    h.filters.iter().any(other)
}

fn active(chunk: &Chunk<'_>) -> impl Iterator<Item = Filter> {
    chunk.header().filters.into_iter().map(|slot| slot.filter).filter(|f| *f != Filter::None)
}

/// The block size as the header has it; a parsed chunk has the one its streams have (B1).
fn stored_blocksize(chunk: &Chunk<'_>) -> u32 {
    let stored = chunk.bytes().get(8..12).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
    stored.min(chunk.header().nbytes)
}

/// The defects that explain every byte in which the two differ; none where they do not.
///
/// # Errors
/// The first byte that no defect explains.
pub fn explain(chunk: &Chunk<'_>, ours: &[u8], theirs: &Theirs) -> Result<Vec<Defect>, usize> {
    let Theirs { zeros, ones } = theirs;
    let common = zeros.len().min(ones.len());
    if zeros.len() != ones.len() || ours.len() < common {
        return Err(ours.len().min(common));
    }
    let concerned: Vec<Defect> = Defect::ALL.into_iter().filter(|d| d.concerns(chunk)).collect();
    let mut found = Vec::new();
    for (at, our) in ours.iter().enumerate() {
        // What is missing at the end differs too.
        let (zero, one) = (zeros.get(at), ones.get(at));
        if Some(our) == zero && Some(our) == one {
            continue;
        }
        let written = zero == one && zero.is_some();
        let defect = concerned.iter().find(|d| d.reaches(chunk, at, written)).ok_or(at)?;
        if !found.contains(defect) {
            found.push(*defect);
        }
    }
    Ok(found)
}

/// Why only one of the two takes a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Negative,
    BigEndian,
    Lazy,
    LazyValue,
    Understated,
    EmptyNan,
    Indivisible,
    InDictionary,
    NoDistance,
    Dictionary,
    Pieces,
    Version3,
    Snappy,
    NoFrame,
    B1,
    B2,
}

fn word(bytes: &[u8], at: usize) -> i32 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| i32::from_le_bytes(*b))
}

/// How many bytes a chunk says it decodes to.
pub fn claimed(bytes: &[u8]) -> usize {
    usize::try_from(word(bytes, 4)).unwrap_or(0)
}

impl Refusal {
    /// Takes what the reason is about out of a chunk, if it is there.
    fn mend(self, chunk: &mut [u8]) -> bool {
        let len = chunk.len() as i32;
        let extended = chunk.len() >= 32 && chunk[2] & 5 == 5;
        match self {
            Refusal::BigEndian if extended && chunk[31] & 2 != 0 => chunk[31] &= !2,
            Refusal::Lazy if extended && chunk[31] & 8 != 0 => {
                // A lazy chunk need not have everything there.
                chunk[31] &= !8;
                let there = word(chunk, 12).min(len);
                chunk[12..16].copy_from_slice(&there.to_le_bytes());
                // A special kind wins over data that is stored, of which nothing is then needed.
                if chunk[31] & 0x70 != 0 {
                    chunk[2] &= !2;
                }
            }
            Refusal::Understated if (16..len).contains(&word(chunk, 12)) => {
                chunk[12..16].copy_from_slice(&len.to_le_bytes());
            }
            _ => return false,
        }
        true
    }
}

/// Why a chunk of which libblosc2 makes `theirs` is refused here, if there is a reason.
pub fn refused_here(bytes: &[u8], theirs: &Theirs) -> Option<Refusal> {
    use Refusal::{
        B1, BigEndian, EmptyNan, InDictionary, Indivisible, Lazy, LazyValue, Negative, NoDistance,
        Understated,
    };
    if word(bytes, 4) < 0 {
        return (theirs.zeros.is_empty() && theirs.ones.is_empty()).then_some(Negative);
    }
    let lazy_value = bytes.len() >= 32 && bytes[2] & 5 == 5 && bytes[31] & 0x78 == 0x38;
    if lazy_value && i64::from(word(bytes, 12)) > bytes.len() as i64 {
        return (theirs.zeros.len() == claimed(bytes)).then_some(LazyValue);
    }
    let mut mended = bytes.to_vec();
    for reason in [BigEndian, Lazy, Understated] {
        if reason.mend(&mut mended)
            && let Ok(ours) = decoded(&mended)
        {
            let chunk = Chunk::parse_with(&mended, &LIMITS).ok()?;
            return (explain(&chunk, &ours, theirs).is_ok() || lies_in_header(&chunk)).then_some(reason);
        }
    }
    let nan = mended.len() >= 32 && mended[2] & 5 == 5 && mended[31] >> 4 & 7 == 2;
    if nan && claimed(&mended) == 0 && !matches!(mended[3], 4 | 8) {
        return Some(EmptyNan);
    }
    let Ok(chunk) = Chunk::parse_with(&mended, &LIMITS) else {
        let h = Header::parse(&mended).ok()?;
        if h.is_vl() && h.has_dictionary() {
            let table_end = 32 + 4 * h.nblocks();
            let within =
                i64::from(word(&mended, 32)) < table_end as i64 + 4 + i64::from(word(&mended, table_end));
            return within.then_some(InDictionary);
        }
        let split = h.has_streams() && !h.is_vl() && h.flags & DONT_SPLIT == 0;
        let whole = h.blocksize.is_multiple_of(u32::from(h.typesize));
        return (split && !whole && !is_old_unsplit(&h)).then_some(Indivisible);
    };
    if Defect::B1.concerns(&chunk) {
        return Some(B1);
    }
    let lz4 = matches!(chunk.header().codec, Codec::Lz4 | Codec::Lz4Hc);
    (lz4 && coded(&chunk).iter().any(|stream| has_no_distance(stream))).then_some(NoDistance)
}

/// Why libblosc2 refuses a chunk that is read here, if there is a reason.
pub fn refused_there(bytes: &[u8]) -> Option<Refusal> {
    let chunk = Chunk::parse_with(bytes, &LIMITS).ok()?;
    let h = chunk.header();
    if !h.has_streams() {
        let width = match h.special() {
            Some(Special::Nan) => u32::from(h.typesize),
            Some(Special::Value) => h.cbytes - 32,
            _ => 1,
        };
        if is_version_3(bytes) {
            return Some(Refusal::Version3);
        }
        return if h.flags1 & 1 != 0 {
            Some(Refusal::Dictionary)
        } else {
            (!h.blocksize.is_multiple_of(width)).then_some(Refusal::Pieces)
        };
    }
    let byte_delta = |id| id == 34 || id == 35;
    let no_frame = h.filters.iter().any(|slot| byte_delta(slot.filter.id()) && slot.meta == 0);
    let reasons = [
        (Refusal::Version3, is_version_3(bytes)),
        (Refusal::Snappy, h.codec == Codec::Snappy),
        (Refusal::NoFrame, no_frame),
        (Refusal::B1, Defect::B1.concerns(&chunk)),
        (Refusal::B2, Defect::B2.concerns(&chunk)),
    ];
    reasons.into_iter().find(|(_, so)| *so).map(|(reason, _)| reason)
}

/// Whether streams begin in the header: then what was mended there is part of the data too.
fn lies_in_header(chunk: &Chunk<'_>) -> bool {
    let within = |index| chunk.block_extent(index).is_ok_and(|extent| extent.start < 32);
    chunk.header().has_streams() && (0..chunk.nblocks()).any(within)
}

/// Whether libblosc2 takes a chunk of version 3 for one of variable-length blocks.
fn is_version_3(bytes: &[u8]) -> bool {
    bytes.len() >= 32 && bytes[0] == 3 && bytes[2] & 5 == 5 && bytes[30] & 1 != 0
}

/// The streams of a chunk that its codec has to expand.
fn coded<'c>(chunk: &Chunk<'c>) -> Vec<&'c [u8]> {
    let mut all = Vec::new();
    for index in 0..chunk.nblocks() {
        if chunk.header().is_vl() {
            // The size of the block stands before it.
            let extent = chunk.block_extent(index).unwrap_or(0..0);
            all.extend(chunk.bytes().get(extent.start + 4..extent.end));
        } else if let Ok(mut streams) = chunk.streams(index) {
            while let Ok(Some(stream)) = streams.next_stream() {
                if let Stream::Coded(bytes) = stream {
                    all.push(bytes);
                }
            }
        }
    }
    all
}

/// Whether an LZ4 stream has a match at distance 0.
fn has_no_distance(mut stream: &[u8]) -> bool {
    // A length that is 15 in the token goes on in bytes, up to the first that is not 255.
    let length = |stream: &mut &[u8], nibble: u8| {
        let mut n = usize::from(nibble);
        while nibble == 15
            && let Some((byte, rest)) = stream.split_first()
        {
            (n, *stream) = (n + usize::from(*byte), rest);
            if *byte != 255 {
                break;
            }
        }
        n
    };
    while let Some((token, rest)) = stream.split_first() {
        stream = rest;
        let literals = length(&mut stream, token >> 4);
        let Some(([low, high], rest)) = stream.get(literals..).and_then(|s| s.split_first_chunk()) else {
            break;
        };
        if (*low, *high) == (0, 0) {
            return true;
        }
        stream = rest;
        length(&mut stream, token & 15);
    }
    false
}

thread_local! {
    static COUNTS: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Counts what was excused; printed whenever a count doubles, so that the log of a run shows it.
pub fn count(what: String) {
    COUNTS.with_borrow_mut(|counts| {
        let n = counts.entry(what.clone()).or_default();
        *n += 1;
        if n.is_power_of_two() {
            eprintln!("libblosc2: {what}: {n}");
        }
    });
}
