//! LZ4 encoder: greedy, with one table of last positions and a step that grows where nothing matches.
//!
//! ```text
//! p = 1, anchor = 0
//! while the word at p may begin a match:
//!   q = table[hash of the string at p];  table[hash] = p
//!   if the strings at p and q differ, or q is too far:  p += step, which grows;  continue
//!   start = p, moved back over equal bytes that are still literals;  p = where the bytes from p and q on begin to differ
//!   write literals anchor..start and the match start..p;  anchor = p
//!   while the string at p has been seen:  write that match without literals;  anchor = p = its end
//!   p += 1, with the smallest step
//! write literals anchor..
//! ```
//! | stream | string, cells of the table | why | row of docs/optimization-notes.md |
//! |---|---|---|---|
//! | up to 2, 4, 64 KiB | 4 bytes, 1024, 4096, 8192 | larger ones take as long to empty as the stream | #lz4-tables |
//! | longer, or with a dictionary | 5 bytes, 4096 of 32 bits | these tell at once what lies too far back | #lz4-tables |
//! | planes of 256 bytes and more | 6 bytes | short matches take the places of long ones, | #lz4-plane-strings |
//! | | | and each costs a wrongly predicted branch, which smaller steps make up for | #lz4-plane-strings |
//! | planes of 4 to 16 KiB | 4096 cells | a block has many, and each time they are emptied | #lz4-small-table |
//! | planes that shrink too little by these | 4 bytes after an eighth | they have many matches of four | #lz4-begun-again |

use super::emit::{bare_match, last_literals, sequence};
use super::format::{DICTIONARY, LAST_LITERALS, LAST_MATCH, REACH};
use super::levels::{self, Pace, PlanePace};
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::arch::search::hash::{hash_low, hash5};
use crate::arch::search::recent::RecentPositions;
use crate::arch::search::words::Words;
use crate::codec::content::Content;
use crate::codec::history::History;
use crate::codec::matcher::WideTable;

/// Longest stream in bytes whose positions take 16 bits.
const NEAR: usize = RecentPositions::<BITS>::LONGEST;
/// Bits of the hashes of strings in such streams (docs/optimization-notes.md#lz4-tables).
const BITS: u32 = 13;
/// Number of cells for longer streams, and for streams with a dictionary, in as many bytes.
const WIDE_CELLS: usize = 1 << (BITS - 1);
/// Distance in bytes of the positions of a dictionary that are entered (docs/optimization-notes.md#lz4-dictionary).
const DICTIONARY_STEP: usize = 3;

/// Bits of the hashes for streams up to [`SHORT`], and that length in bytes (docs/optimization-notes.md#lz4-tables).
const FEW_BITS: u32 = 10;
const SHORT: usize = 2048;
/// Bits of the hashes for longer streams up to [`MEDIUM`], and for planes up to [`MEDIUM_PLANE`], and these lengths in bytes
/// (docs/optimization-notes.md#lz4-tables and docs/optimization-notes.md#lz4-small-table).
const MEDIUM_BITS: u32 = 12;
const MEDIUM: usize = 4096;
const MEDIUM_PLANE: usize = 16 << 10;

/// Bytes of the strings that are looked up in planes (docs/optimization-notes.md#lz4-plane-strings).
const PLANE_STRING: usize = 6;
/// Shortest plane in bytes that is encoded as a plane (docs/optimization-notes.md#lz4-least-plane).
const LEAST_PLANE: usize = 256;

/// Bytes of scratch that [`encode`] needs for a block of `src_len` bytes.
pub const fn work_len(_src_len: usize) -> usize {
    WideTable::<WIDE_CELLS>::BYTES
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length.
///
/// `acceleration` is at least 1; larger is faster and bigger (Blosc: 10 - level). The decoder must be
/// given the same `dict`. `None` where the block does not fit `dst`, or `work` is shorter than
/// [`work_len`] or `src` longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], acceleration: u32, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    encode_content(src, dst, acceleration, dict, Content::Any, work)
}

/// [`encode`], knowing what `src` is made of.
pub(crate) fn encode_content(
    src: &[u8],
    dst: &mut [u8],
    acceleration: u32,
    dict: &[u8],
    content: Content,
    work: &mut [u8],
) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let acceleration = acceleration.max(1) as usize;
    let pace = levels::anywhere(content, acceleration);
    let out = &mut Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if !dict.is_empty() {
        with_dictionary(src, out, pace, dict, work)?
    } else {
        let is_plane = src.len() >= LEAST_PLANE;
        let planes = if is_plane { levels::in_planes(content, acceleration) } else { None };
        if src.len() > NEAR {
            // These hold more strings of four bytes than the table can tell apart.
            without_dictionary::<_, 5, true>(
                src,
                out,
                planes,
                pace,
                &mut WidePositions::<false>::new(src, &[], work)?,
            )?
        } else {
            let bits = bits(src.len(), content.is_planes());
            if bits == BITS {
                let seen = &mut RecentPositions::<BITS>::new(src, work, bits)?;
                without_dictionary::<_, 4, false>(src, out, planes, pace, seen)?
            } else {
                let seen = &mut RecentPositions::<0>::new(src, work, bits)?;
                without_dictionary::<_, 4, false>(src, out, planes, pace, seen)?
            }
        }
    };
    last_literals(out, src, anchor).ok()?;
    Some(out.position())
}

/// How many bits the hashes have for a stream of `len` bytes.
fn bits(len: usize, is_plane: bool) -> u32 {
    let medium = if is_plane { MEDIUM_PLANE } else { MEDIUM };
    if len <= SHORT {
        FEW_BITS
    } else if len <= medium {
        MEDIUM_BITS
    } else {
        BITS
    }
}

/// Writes every sequence that has a match, with an empty table; returns where the last literals begin. Strings of
/// `STRING` bytes are looked up, but of [`PLANE_STRING`] in planes whose first eighth shrinks by them. `FAR`: positions may
/// lie out of reach.
///
/// Inlined, its loops would share their registers with what calls it: 6 to 8 % slower without a filter.
#[inline(never)]
fn without_dictionary<S: StringPositions, const STRING: usize, const FAR: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    planes: Option<PlanePace>,
    pace: Pace,
    seen: &mut S,
) -> Option<usize> {
    let history = History::<false>::new(src, &[])?;
    let (history, end) = (&history, last_start(src));
    let begin = SearchPosition { p: 1, anchor: 0 };
    if let Some(PlanePace { pace, share }) = planes {
        // An eighth of a short plane tells nothing.
        let tried = if src.len() <= SHORT { end } else { src.len() / 8 };
        seen.enter::<PLANE_STRING>(0);
        let mut position = begin;
        for until in [tried, end] {
            matches::<_, PLANE_STRING, FAR, false>(src, out, pace, seen, history, &mut position, until)?;
            if until == end {
                return Some(position.anchor);
            }
            if share.is_some_and(|share| position.anchor.saturating_sub(out.position()) < tried / share) {
                break;
            }
        }
        out.rewind();
        seen.empty();
    }
    seen.enter::<STRING>(0);
    let mut position = begin;
    matches::<_, STRING, FAR, false>(src, out, pace, seen, history, &mut position, end)?;
    Some(position.anchor)
}

/// Encodes with matches that may begin in `dict`.
fn with_dictionary(
    src: &[u8],
    out: &mut Window<'_>,
    pace: Pace,
    dict: &[u8],
    work: &mut [u8],
) -> Option<usize> {
    let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
    let seen = &mut WidePositions::<true>::new(src, dict, work)?;
    for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
        if let Some(word) = seen.history.word_at(at) {
            seen.table.swap(wide_hash::<5>(word), at);
        }
    }
    let (history, mut position) = (seen.history, SearchPosition { p: 0, anchor: 0 });
    matches::<_, 5, true, true>(src, out, pace, seen, &history, &mut position, last_start(src))?;
    Some(position.anchor)
}

/// Where the strings of an input have been seen last.
trait StringPositions {
    /// Forgets every position.
    fn empty(&mut self);
    /// From now on every word of the first `until` bytes may be looked up. `None` where there are fewer bytes.
    fn extend(&mut self, until: usize) -> Option<()>;
    /// The position where the `STRING` bytes at offset `p` may have been seen last, and the bits in which the words there
    /// differ; now they are seen at `p`. `None` where `p` may not be looked up.
    fn look_up<const STRING: usize>(&mut self, p: usize) -> Option<(usize, u64)>;
    /// Now the `STRING` bytes at offset `p` have been seen there, if it may be looked up.
    fn enter<const STRING: usize>(&mut self, p: usize);
}

impl<const BITS: u32> StringPositions for RecentPositions<'_, BITS> {
    fn empty(&mut self) {
        self.empty();
    }

    #[inline(always)]
    fn extend(&mut self, until: usize) -> Option<()> {
        self.extend(until)
    }

    #[inline(always)]
    fn look_up<const STRING: usize>(&mut self, p: usize) -> Option<(usize, u64)> {
        self.look_up::<STRING>(p)
    }

    #[inline(always)]
    fn enter<const STRING: usize>(&mut self, p: usize) {
        self.enter::<STRING>(p);
    }
}

/// The positions of strings in longer streams, and in those with a dictionary.
struct WidePositions<'a, const DICT: bool> {
    history: History<'a, DICT>,
    table: WideTable<'a, WIDE_CELLS>,
    src: &'a [u8],
    starts: Words<'a>,
}

impl<'a, const DICT: bool> WidePositions<'a, DICT> {
    /// `None` where `src` is shorter than a word, or `work` too short.
    fn new(src: &'a [u8], dict: &'a [u8], work: &'a mut [u8]) -> Option<Self> {
        let (history, table) = (History::new(src, dict)?, WideTable::new(work)?);
        Some(WidePositions { history, table, src, starts: Words::new(src.get(..8)?)? })
    }
}

impl<const DICT: bool> StringPositions for WidePositions<'_, DICT> {
    fn empty(&mut self) {
        self.table.empty();
    }

    fn extend(&mut self, until: usize) -> Option<()> {
        self.starts = Words::new(self.src.get(..until)?)?;
        Some(())
    }

    #[inline(always)]
    fn look_up<const STRING: usize>(&mut self, p: usize) -> Option<(usize, u64)> {
        let word = self.starts.get64(p)?;
        let at = self.table.swap(wide_hash::<STRING>(word), self.history.base() + p);
        let there = if DICT { self.history.word_at(at) } else { Some(self.starts.load64(at)) };
        Some((at, there.map_or(u64::MAX, |there| word ^ there)))
    }

    #[inline(always)]
    fn enter<const STRING: usize>(&mut self, p: usize) {
        self.table.swap(wide_hash::<STRING>(self.starts.load64(p)), self.history.base() + p);
    }
}

/// The cell of the `STRING` low bytes of a word.
#[inline(always)]
fn wide_hash<const STRING: usize>(word: u64) -> usize {
    let bits = WIDE_CELLS.trailing_zeros();
    if STRING == 5 { hash5(word, bits) } else { hash_low(word, STRING, bits) }
}

/// Where the last word ends that may begin a match.
fn last_start(src: &[u8]) -> usize {
    src.len() - (LAST_MATCH - 8)
}

/// How far an encoder has come.
#[derive(Clone, Copy)]
struct SearchPosition {
    /// Next string to look up.
    p: usize,
    /// Where the literals begin that have not been written.
    anchor: usize,
}

/// What matches of an input are compared with. `STRING` bytes are looked up, at least four. `FAR`: positions may lie out of
/// reach; `DICT`: or in a dictionary.
struct Comparison<'a, const STRING: usize, const FAR: bool, const DICT: bool> {
    history: &'a History<'a, DICT>,
    /// The words that may begin a match.
    starts: Words<'a>,
    /// The bytes that may be in a match, and where they end.
    ends: Words<'a>,
    match_end: usize,
}

impl<'a, const STRING: usize, const FAR: bool, const DICT: bool> Comparison<'a, STRING, FAR, DICT> {
    /// Whether matches of strings are taken that are shorter than planes need.
    const SHORT_STRINGS: bool = STRING < PLANE_STRING;
    /// Bytes that must be equal: as a match needs, but in planes all that were looked up.
    const NEEDED: usize = if Self::SHORT_STRINGS { 4 } else { STRING };

    /// For matches that begin in words of `src[..until]`.
    #[inline(always)]
    fn new(src: &'a [u8], history: &'a History<'a, DICT>, until: usize) -> Option<Self> {
        let match_end = src.len() - LAST_LITERALS;
        let (starts, ends) = (Words::new(src.get(..until)?)?, Words::new(src.get(..match_end)?)?);
        Some(Comparison { history, starts, ends, match_end })
    }

    /// Whether a match begins at `p` with the position and the differing bits that were looked up there.
    ///
    /// Without a dictionary every position is below `p`: each was entered on the way there. The distance is compared
    /// last, since most strings out of reach differ anyway.
    #[inline(always)]
    fn is_match(&self, p: usize, (at, differ): (usize, u64)) -> bool {
        let here = self.history.base() + p;
        let is_equal = differ << (64 - 8 * Self::NEEDED) == 0;
        is_equal && (!DICT || at < here) && (!FAR || here.wrapping_sub(at) <= REACH)
    }

    /// Where the match ends that begins at `p`. `is_bare`: it follows another one without literals.
    #[inline(always)]
    fn end(&self, p: usize, (at, differ): (usize, u64), is_bare: bool) -> usize {
        // Most matches of short strings end within the word. In planes the length is not predictable.
        if Self::SHORT_STRINGS && differ != 0 {
            return p + (differ.trailing_zeros() / 8) as usize;
        }
        // Where one match follows the other, lengths often repeat. Elsewhere `end_of_common` costs more registers than time.
        if Self::SHORT_STRINGS && !DICT && is_bare {
            return self.ends.end_of_common(at + 8, p + 8);
        }
        let known = if Self::SHORT_STRINGS { 8 } else { STRING };
        let (at, p) = (at + known, p + known);
        let more =
            if DICT { self.history.common(at, p, self.match_end) } else { self.ends.common_to_end(at, p) };
        (p + more).min(self.match_end)
    }

    /// How many bytes before position `at` and before `p` are equal, at most `most`.
    #[inline(always)]
    fn common_before(&self, at: usize, p: usize, most: usize) -> usize {
        if DICT { self.history.common_before(at, p, most) } else { self.starts.common_before(at, p, most) }
    }
}

/// Writes every sequence whose match begins in words of `src[..until]`.
fn matches<S: StringPositions, const STRING: usize, const FAR: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    pace: Pace,
    seen: &mut S,
    history: &History<'_, DICT>,
    position: &mut SearchPosition,
    until: usize,
) -> Option<()> {
    let comparison = Comparison::<STRING, FAR, DICT>::new(src, history, until)?;
    let base = history.base();
    let (mut anchor, mut p) = (position.anchor, position.p);
    seen.extend(until)?;
    let mut growth = if anchor == 0 { pace.initial_growth } else { pace.growth };
    'all: loop {
        let (mut step, mut tries) = (1, pace.first);
        let found = loop {
            let Some(found) = seen.look_up::<STRING>(p) else { break 'all };
            if comparison.is_match(p, found) {
                break found;
            }
            p += step;
            step = tries >> 6;
            tries += growth;
        };
        let back = comparison.common_before(found.0, p, p - anchor);
        let (start, distance) = (p - back, base + p - found.0);
        // Where it ends, and so where the search goes on, does not wait for where it begins.
        p = comparison.end(p, found, false);
        sequence(out, src, anchor, start, distance, p - start).ok()?;
        (anchor, growth) = (p, pace.growth);
        // The next match often begins at once.
        loop {
            seen.enter::<STRING>(p - 2);
            let Some(found) = seen.look_up::<STRING>(p) else { break 'all };
            if !comparison.is_match(p, found) {
                break;
            }
            let distance = base + p - found.0;
            p = comparison.end(p, found, true);
            bare_match(out, distance, p - anchor).ok()?;
            anchor = p;
        }
        p += 1;
    }
    *position = SearchPosition { p, anchor };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Encoded by `encode` to a room with that scratch, and decoded again.
    fn read_back(block: &[u8], encode: impl FnOnce(&mut [u8], &mut [u8]) -> Option<usize>) -> usize {
        // Short planes with chance matches only do not shrink.
        let (mut coded, mut decoded) = (vec![0; block.len() * 2], vec![0; block.len()]);
        let len = encode(&mut coded, &mut vec![0xa5; work_len(block.len())]).expect("there is room");
        crate::codec::lz4::decode(&coded[..len], Out::from(&mut decoded[..]), &[]).expect("our own block");
        assert!(decoded == block);
        len
    }

    /// As planes of this kind at this acceleration.
    fn planes(block: &[u8], content: Content, acceleration: u32) -> usize {
        read_back(block, |room, work| encode_content(block, room, acceleration, &[], content, work))
    }

    /// As a plane that is begun again.
    fn short_strings(block: &[u8], room: &mut [u8], pace: Pace, work: &mut [u8]) -> Option<usize> {
        let out = &mut Window::new(Out::from(room), &[]);
        let anchor = if block.len() > NEAR {
            let seen = &mut WidePositions::<false>::new(block, &[], work)?;
            without_dictionary::<_, 5, true>(block, out, None, pace, seen)?
        } else {
            let seen = &mut RecentPositions::<0>::new(block, work, bits(block.len(), true))?;
            without_dictionary::<_, 4, false>(block, out, None, pace, seen)?
        };
        last_literals(out, block, anchor).ok()?;
        Some(out.position())
    }

    #[test]
    fn planes_are_searched_for_long_strings_and_some_for_short_ones() {
        let mut seed = 1u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        for len in [SHORT, 3000, 20_000, 1 << 16, 100_000] {
            // Strings of nine bytes: what four of them find hides longer matches.
            let words: vec::Vec<[u8; 9]> = (0..40).map(|_| [0; 9].map(|_| next(40) as u8)).collect();
            let long: vec::Vec<u8> =
                (0..len / 9 + 1).flat_map(|_| words[next(40) as usize]).take(len).collect();
            // Chance matches only: few are longer than five bytes.
            let short: vec::Vec<u8> = (0..len).map(|_| next(8) as u8).collect();
            for acceleration in [1, 5, 9] {
                for content in [Content::Any, Content::BytePlanes(1), Content::BitPlanes] {
                    planes(&long, content, acceleration);
                }
                let again = planes(&short, Content::BytePlanes(1), acceleration);
                let pace = levels::anywhere(Content::BytePlanes(1), acceleration as usize);
                let begun_again = read_back(&short, |room, work| short_strings(&short, room, pace, work));
                assert!(
                    again == begun_again || len <= SHORT,
                    "{len} bytes, {acceleration}: begun again, these are the same"
                );
                // A plane that does not fit is not written past its room.
                let mut room = [0; 200];
                let work = &mut vec![0; work_len(len)];
                let planes = Content::BytePlanes(1);
                assert_eq!(encode_content(&long, &mut room[..100], acceleration, &[], planes, work), None);
                assert!(room[100..].iter().all(|b| *b == 0));
            }
            assert!(planes(&long, Content::BytePlanes(1), 5) <= planes(&long, Content::Any, 5), "{len}");
        }
    }
}
