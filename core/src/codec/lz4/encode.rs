//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.
//!
//! Blocks longer than the window have a table of positions of 32 bits, which tells at once what lies too far back.
//!
//! Before the first match of all the step grows faster, since a stream without one for long is likely to have none.
//!
//! Strings of four bytes are looked up, or of five in long blocks. In planes of bytes or bits it is six: there short
//! matches take the places of long ones, and each costs encoder and decoder a wrongly guessed branch. What that saves
//! pays for smaller steps, which find more. A few planes are the exception: they have few matches of six bytes and
//! many of four. Their first eighth shows it, and the encoder begins again.

use super::emit::{bare_match, last_literals, sequence};
use super::format::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::arch::search::hash::{hash_low, hash5};
use crate::arch::search::recent::RecentPositions;
use crate::arch::search::words::Words;
use crate::codec::dispatch::Content;
use crate::codec::history::History;
use crate::codec::matcher::WideTable;

/// Longest block in bytes whose positions take 16 bits.
const NEAR: usize = RecentPositions::<BITS>::LONGEST;
/// Bits of the hashes of strings in such blocks: 8192 cells.
const BITS: u32 = 13;
/// Number of hash-table cells (power of two) for longer blocks, and for blocks with a dictionary.
const WIDE_CELLS: usize = 1 << 12;
/// Bytes of a dictionary that are used, from its end.
const DICTIONARY: usize = 32 << 10;
/// Distance in bytes of the positions of a dictionary that are entered.
const DICTIONARY_STEP: usize = 3;

/// Bits of the hashes for blocks up to [`SHORT`]: a larger table takes as long to empty as such a block to encode.
const FEW_BITS: u32 = 10;
/// Longest block in bytes for [`FEW_BITS`].
const SHORT: usize = 2048;
/// Bits of the hashes for longer blocks up to [`MEDIUM`], and for planes up to [`MEDIUM_PLANE`]. A block has many planes, and
/// emptying twice the cells for each costs more than the matches they find save.
const MEDIUM_BITS: u32 = 12;
/// Longest block in bytes for [`MEDIUM_BITS`].
const MEDIUM: usize = 4096;
/// Longest plane in bytes for [`MEDIUM_BITS`].
const MEDIUM_PLANE: usize = 16 << 10;

/// Bytes of the strings that are looked up in planes.
const PLANE_STRING: usize = 6;
/// Shortest plane in bytes whose first eighth is long enough to tell that nothing matches.
const BARREN: usize = 8 << 10;
/// How fast the step grows before the first match of a plane whose first eighth had none.
const IN_BARREN: usize = 3;
/// Shortest plane in bytes that is encoded as a plane: in shorter ones every match counts.
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
    let is_plane = dict.is_empty() && src.len() >= LEAST_PLANE;
    let planes = if is_plane { Pace::in_planes(content, acceleration) } else { None };
    encode_paced(src, dst, content, (planes, Pace::anywhere(content, acceleration)), dict, work)
}

/// [`encode`] at the first pace, if there is one, as planes, and at the other.
fn encode_paced(
    src: &[u8],
    dst: &mut [u8],
    content: Content,
    paces: (Option<Pace>, Pace),
    dict: &[u8],
    work: &mut [u8],
) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let mut out = Window::new(Out::from(dst), &[]);
    let mut position = SearchPosition { p: usize::from(dict.is_empty()), anchor: 0 };
    if src.len() > LAST_MATCH {
        let (out, position) = (&mut out, &mut position);
        if dict.is_empty() {
            let bits = bits(src.len(), content.is_planes());
            if src.len() > NEAR {
                // These hold more than a table of four-byte strings can tell apart.
                let mut wide = Wide::<false>::new(src, &[], work)?;
                without::<_, 5, true>(src, out, paces, &mut wide, position)?;
            } else if bits == BITS {
                without::<_, 4, false>(
                    src,
                    out,
                    paces,
                    &mut RecentPositions::<BITS>::new(src, work, bits)?,
                    position,
                )?;
            } else {
                without::<_, 4, false>(
                    src,
                    out,
                    paces,
                    &mut RecentPositions::<0>::new(src, work, bits)?,
                    position,
                )?;
            }
        } else {
            with_dictionary(src, out, paces.1, dict, position, work)?;
        }
    }
    last_literals(&mut out, src, position.anchor).ok()?;
    Some(out.position())
}

/// How many bits the hashes have for a block so long.
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

/// Writes every sequence that has a match, with an empty table. `MIN` bytes are looked up; where there is a pace of planes,
/// the first, at least until an eighth has shown what these are worth it is [`PLANE_STRING`].
///
/// Inlined, its loops would share their registers with what calls it: 6 to 8 % slower without a filter.
#[inline(never)]
fn without<S: Seen, const MIN: usize, const FAR: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    (planes, mut pace): (Option<Pace>, Pace),
    seen: &mut S,
    position: &mut SearchPosition,
) -> Option<()> {
    let history = History::<false>::new(src, &[])?;
    let (history, end) = (&history, last_start(src));
    if let Some(careful) = planes {
        // Of short planes an eighth tells nothing.
        let tried = if src.len() <= SHORT { end } else { src.len() / 8 };
        seen.enter::<PLANE_STRING>(0);
        for until in [tried, end] {
            matches::<_, PLANE_STRING, FAR, false>(src, out, careful, seen, history, position, until)?;
            if until == end {
                return Some(());
            }
            if position.anchor.saturating_sub(out.position()) < tried / careful.share {
                break;
            }
        }
        // In a long block where six bytes never matched, few strings of four bytes will.
        let is_barren = position.anchor == 0 && src.len() >= BARREN;
        pace.barren = if is_barren { IN_BARREN } else { pace.growth };
        out.rewind();
        seen.empty();
        *position = SearchPosition { p: 1, anchor: 0 };
    }
    seen.enter::<MIN>(0);
    matches::<_, MIN, FAR, false>(src, out, pace, seen, history, position, end)
}

/// The same for matches that may begin in `dict`.
fn with_dictionary(
    src: &[u8],
    out: &mut Window<'_>,
    pace: Pace,
    dict: &[u8],
    position: &mut SearchPosition,
    work: &mut [u8],
) -> Option<()> {
    let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
    let seen = &mut Wide::<true>::new(src, dict, work)?;
    for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
        if let Some(word) = seen.history.word_at(at) {
            seen.table.swap(wide_hash::<5>(word), at);
        }
    }
    let history = seen.history;
    matches::<_, 5, true, true>(src, out, pace, seen, &history, position, last_start(src))
}

/// Where the strings of an input have been seen last.
trait Seen {
    /// Forgets every position.
    fn empty(&mut self);
    /// From now on every word of the first `until` bytes may be looked up. `None` where there are not so many.
    fn extend(&mut self, until: usize) -> Option<()>;
    /// The position where the `MIN` bytes at offset `p` may have been seen last, and the bits in which the words there
    /// differ; now they are seen at `p`. `None` where `p` may not be looked up.
    fn look_up<const MIN: usize>(&mut self, p: usize) -> Option<(usize, u64)>;
    /// Now the `MIN` bytes at offset `p` have been seen there, if it may be looked up.
    fn enter<const MIN: usize>(&mut self, p: usize);
}

impl<const BITS: u32> Seen for RecentPositions<'_, BITS> {
    fn empty(&mut self) {
        self.empty();
    }

    #[inline(always)]
    fn extend(&mut self, until: usize) -> Option<()> {
        self.extend(until)
    }

    #[inline(always)]
    fn look_up<const MIN: usize>(&mut self, p: usize) -> Option<(usize, u64)> {
        self.look_up::<MIN>(p)
    }

    #[inline(always)]
    fn enter<const MIN: usize>(&mut self, p: usize) {
        self.enter::<MIN>(p);
    }
}

/// The same for longer blocks, and for those with a dictionary.
struct Wide<'a, const DICT: bool> {
    history: History<'a, DICT>,
    table: WideTable<'a, WIDE_CELLS>,
    src: &'a [u8],
    starts: Words<'a>,
}

impl<'a, const DICT: bool> Wide<'a, DICT> {
    /// `None` where `src` is shorter than a word, or `work` too short.
    fn new(src: &'a [u8], dict: &'a [u8], work: &'a mut [u8]) -> Option<Self> {
        let (history, table) = (History::new(src, dict)?, WideTable::new(work)?);
        Some(Wide { history, table, src, starts: Words::new(src.get(..8)?)? })
    }
}

impl<const DICT: bool> Seen for Wide<'_, DICT> {
    fn empty(&mut self) {
        self.table.empty();
    }

    fn extend(&mut self, until: usize) -> Option<()> {
        self.starts = Words::new(self.src.get(..until)?)?;
        Some(())
    }

    #[inline(always)]
    fn look_up<const MIN: usize>(&mut self, p: usize) -> Option<(usize, u64)> {
        let word = self.starts.get64(p)?;
        let at = self.table.swap(wide_hash::<MIN>(word), self.history.base() + p);
        let there = if DICT { self.history.word_at(at) } else { Some(self.starts.load64(at)) };
        Some((at, there.map_or(u64::MAX, |there| word ^ there)))
    }

    #[inline(always)]
    fn enter<const MIN: usize>(&mut self, p: usize) {
        self.table.swap(wide_hash::<MIN>(self.starts.load64(p)), self.history.base() + p);
    }
}

/// Where the table has the `MIN` low bytes of a word.
#[inline(always)]
fn wide_hash<const MIN: usize>(word: u64) -> usize {
    let bits = WIDE_CELLS.trailing_zeros();
    if MIN == 5 { hash5(word, bits) } else { hash_low(word, MIN, bits) }
}

/// Where the last word ends that may begin a match.
fn last_start(src: &[u8]) -> usize {
    src.len() - (LAST_MATCH - 8)
}

/// How the step between looked-up strings grows while none matches: it is one, then a 64th of `first`, to which `growth`
/// is added each time.
#[derive(Clone, Copy)]
struct Pace {
    first: usize,
    growth: usize,
    /// The growth before the first match of all.
    barren: usize,
    /// A plane whose first eighth does not save one byte in so many is begun again.
    share: usize,
}

impl Pace {
    /// The step that gives Blosc's levels the sizes of other LZ4 encoders.
    fn anywhere(content: Content, acceleration: u32) -> Pace {
        let a = acceleration.max(1) as usize;
        // Many bit planes begin with a stretch that has none; and a patient search would lose what it is for.
        let barren = if content == Content::BitPlanes || a < 5 { 1 } else { a / 2 };
        Pace { first: a << 6, growth: 1, barren, share: usize::MAX }
    }

    /// Smaller steps at first, in sum no more of them where nothing matches. `None`: planes of this kind
    /// come out larger than by shorter strings. Measured on some thirty arrays at levels 1, 3, 5, 7 and 9.
    fn in_planes(content: Content, acceleration: u32) -> Option<Pace> {
        let a = acceleration.max(1) as usize;
        match content {
            Content::Any | Content::Items(_) => None,
            // The more patient the search for short strings, the more it finds.
            Content::BytePlanes(_) if a == 1 => Some(Pace { first: 64, growth: 1, barren: 1, share: 3 }),
            Content::BytePlanes(_) => Some(Pace { first: 32 * (a + 1), growth: 2, barren: 2, share: 8 }),
            // The first eighth of bit planes tells nothing of the others.
            Content::BitPlanes => {
                (a > 4).then_some(Pace { first: 16 * (a + 5), growth: 2, barren: 2, share: usize::MAX })
            }
        }
    }
}

/// How far an encoder has come.
struct SearchPosition {
    /// Next string to look up.
    p: usize,
    /// Where the literals begin that have not been written.
    anchor: usize,
}

/// Writes every sequence whose match begins in words of `src[..until]`. `MIN` bytes are looked up, at least four.
#[allow(clippy::too_many_arguments)] // each is a register, or none, of the loop
fn matches<S: Seen, const MIN: usize, const FAR: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    pace: Pace,
    seen: &mut S,
    history: &History<'_, DICT>,
    position: &mut SearchPosition,
    until: usize,
) -> Option<()> {
    // Only as many bytes must be equal as a match needs, but for planes all that were looked up.
    let needed = if MIN < PLANE_STRING { 4 } else { MIN };
    let base = history.base();
    // Of these every word may begin a match.
    let starts = Words::new(src.get(..until)?)?;
    let match_end = src.len() - LAST_LITERALS;
    let ends = Words::new(src.get(..match_end)?)?;
    let (mut anchor, mut p) = (position.anchor, position.p);
    seen.extend(until)?;
    // Without a dictionary every position is below `p`: each was entered on the way there. That it is not too far is asked
    // last, as most strings that are were not equal.
    let is_match = |p: usize, (at, differ): (usize, u64)| {
        let is_equal = differ << (64 - 8 * needed) == 0;
        is_equal && (!DICT || at < base + p) && (!FAR || (base + p).wrapping_sub(at) <= REACH)
    };
    // Where a match ends that was found at `p`, the end of another or not.
    let end = |p: usize, (at, differ): (usize, u64), is_bare: bool| {
        // Most matches of short strings end within the word. In planes the length is not predictable.
        let is_short = MIN < PLANE_STRING;
        if is_short && differ != 0 {
            return p + (differ.trailing_zeros() / 8) as usize;
        }
        // Where one match follows the other, lengths often repeat. Elsewhere what follows costs more registers than time.
        if is_short && !DICT && is_bare {
            return ends.end_of_common(at + 8, p + 8);
        }
        let known = if is_short { 8 } else { MIN };
        let (at, p) = (at + known, p + known);
        let more = if DICT { history.common(at, p, match_end) } else { ends.common_to_end(at, p) };
        (p + more).min(match_end)
    };
    let mut growth = if anchor == 0 { pace.barren } else { pace.growth };
    'all: loop {
        let (mut step, mut tries) = (1, pace.first);
        let found = loop {
            let Some(found) = seen.look_up::<MIN>(p) else { break 'all };
            if is_match(p, found) {
                break found;
            }
            p += step;
            step = tries >> 6;
            tries += growth;
        };
        let at = found.0;
        let back = if DICT {
            history.common_before(at, p, p - anchor)
        } else {
            starts.common_before(at, p, p - anchor)
        };
        let (start, distance) = (p - back, base + p - at);
        // Where it ends, and so where the search goes on, does not wait for where it begins.
        p = end(p, found, false);
        sequence(out, src, anchor, start, distance, p - start).ok()?;
        (anchor, growth) = (p, pace.growth);
        // The next match often begins at once.
        loop {
            seen.enter::<MIN>(p - 2);
            let Some(found) = seen.look_up::<MIN>(p) else { break 'all };
            if !is_match(p, found) {
                break;
            }
            let distance = base + p - found.0;
            p = end(p, found, true);
            bare_match(out, distance, p - anchor).ok()?;
            anchor = p;
        }
        p += 1;
    }
    *position = SearchPosition { p, anchor };
    Some(())
}

#[cfg(all(test, feature = "alloc"))]
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

    /// As a plane that is begun again, with this growth before the first match.
    fn begun_again(block: &[u8], acceleration: u32, barren: usize) -> usize {
        let pace = Pace { barren, ..Pace::anywhere(Content::BytePlanes(1), acceleration) };
        read_back(block, |room, work| {
            encode_paced(block, room, Content::BytePlanes(1), (None, pace), &[], work)
        })
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
                let either = [1, IN_BARREN].map(|barren| begun_again(&short, acceleration, barren));
                let same = either.contains(&again) || len <= SHORT;
                assert!(same, "{len} bytes, {acceleration}: begun again, these are the same");
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
