//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.
//!
//! Blocks longer than the window have a table of positions of 32 bits, which tells at once what lies too far back.
//!
//! Strings of four bytes are looked up, or of five in long blocks. In planes of bytes or bits it is six: there short
//! matches take the places of long ones, and each costs encoder and decoder a wrongly guessed branch. What that saves
//! pays for smaller steps, which find more. A few planes are the exception, with hardly a match of six bytes but many of
//! four: they are known by their first eighth and begun again.

use super::emit::{last_literals, sequence};
use super::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::dispatch::{Content, Series};
use crate::codec::history::History;
use crate::codec::matcher::{Positions, Table, WideTable, hash_low, hash4, hash5};

/// Of the table for blocks up to 64 KiB.
const BITS: u32 = 13;
/// Of the table for longer ones, and for those with a dictionary.
const WIDE_BITS: u32 = 12;
/// How much of a dictionary is used, and how far apart its positions are entered.
const DICTIONARY: usize = 32 << 10;
const DICTIONARY_STEP: usize = 3;

/// Emptying the table for a shorter block takes longer than to tell earlier blocks' positions from its own.
const SHORT: usize = 2048;

/// The strings that are looked up in planes.
const PLANE_STRING: usize = 6;
/// Shorter planes are encoded as anything else.
const LEAST_PLANE: usize = 4096;

/// Bytes of scratch that [`encode`] needs for a block of `src_len` bytes.
pub const fn work_len(_src_len: usize) -> usize {
    WideTable::<WIDE_BITS>::BYTES
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length.
///
/// `acceleration` is at least 1; larger is faster and bigger (Blosc: 10 - level). The decoder must be
/// given the same `dict`. `None` where the block does not fit `dst`, or `work` is shorter than
/// [`work_len`] or `src` longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], acceleration: u32, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    encode_next(src, dst, acceleration, dict, &mut Series::default(), work)
}

/// [`encode`] of one of several blocks. With the same `series` and untouched `work`, short ones need no empty table:
/// their positions begin where those of the block before end, which changes no byte. What they are made of may.
pub(crate) fn encode_next(
    src: &[u8],
    dst: &mut [u8],
    acceleration: u32,
    dict: &[u8],
    series: &mut Series,
    work: &mut [u8],
) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let before = core::mem::take(&mut series.used);
    if dict.is_empty()
        && src.len() >= LEAST_PLANE
        && let Some(pace) = Pace::in_planes(series.content, acceleration)
        && let Plane::Encoded(len) = plane(src, dst, pace, work)?
    {
        return Some(len);
    }
    let pace = Pace::anywhere(acceleration);
    let mut out = Window::new(Out::from(dst), &[]);
    let mut place = Place { p: usize::from(dict.is_empty()), anchor: 0 };
    if src.len() > LAST_MATCH {
        let end = last_start(src);
        if src.len() <= 1 << 16 && dict.is_empty() {
            let history = History::new(src, dict)?;
            if src.len() > SHORT {
                let mut table = Table::<BITS>::new(work)?.0;
                matches::<_, 4, false, false, false>(
                    src, &mut out, pace, &mut table, 0, &history, &mut place, end,
                )?;
            } else {
                let is_kept = before > 0 && before + src.len() <= 1 << 16;
                let (mut table, shift) = if is_kept {
                    (Table::<BITS>::kept(work)?, before)
                } else {
                    (Table::<BITS>::new(work)?.0, 0)
                };
                series.used = shift + src.len();
                matches::<_, 4, false, false, true>(
                    src, &mut out, pace, &mut table, shift, &history, &mut place, end,
                )?;
            }
        } else {
            let mut table = WideTable::<WIDE_BITS>::new(work)?;
            if dict.is_empty() {
                let history = History::new(src, dict)?;
                matches::<_, 5, true, false, false>(
                    src, &mut out, pace, &mut table, 0, &history, &mut place, end,
                )?;
            } else {
                let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
                let history = History::<true>::new(src, dict)?;
                for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
                    if let Some(word) = history.word_at(at) {
                        table.swap(hash5(word, WIDE_BITS), at);
                    }
                }
                matches::<_, 5, true, true, false>(
                    src, &mut out, pace, &mut table, 0, &history, &mut place, end,
                )?;
            }
        }
    }
    last_literals(&mut out, src, place.anchor).ok()?;
    Some(out.position())
}

/// What came of a plane.
enum Plane {
    /// A block of this length.
    Encoded(usize),
    /// Nothing: its first eighth hardly shrinks.
    HardlyShrinks,
}

/// `src`, at least [`LEAST_PLANE`] bytes, by strings of [`PLANE_STRING`]; `None` where it does not fit `dst`.
fn plane(src: &[u8], dst: &mut [u8], pace: Pace, work: &mut [u8]) -> Option<Plane> {
    if src.len() <= 1 << 16 {
        plane_by::<_, false>(src, dst, pace, &mut Table::<BITS>::new(work)?.0)
    } else {
        plane_by::<_, true>(src, dst, pace, &mut WideTable::<WIDE_BITS>::new(work)?)
    }
}

/// [`plane`] with an empty table.
fn plane_by<T: Positions, const FAR: bool>(
    src: &[u8],
    dst: &mut [u8],
    pace: Pace,
    table: &mut T,
) -> Option<Plane> {
    let mut out = Window::new(Out::from(dst), &[]);
    let history = History::new(src, &[])?;
    let mut place = Place { p: 1, anchor: 0 };
    let eighth = src.len() / 8;
    for until in [eighth, last_start(src)] {
        matches::<_, PLANE_STRING, FAR, false, false>(
            src, &mut out, pace, table, 0, &history, &mut place, until,
        )?;
        if until == eighth && place.anchor.saturating_sub(out.position()) < eighth / pace.share {
            return Some(Plane::HardlyShrinks);
        }
    }
    last_literals(&mut out, src, place.anchor).ok()?;
    Some(Plane::Encoded(out.position()))
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
    /// A plane whose first eighth does not save one byte in so many is begun again.
    share: usize,
}

impl Pace {
    /// The step that gives Blosc's levels the sizes of other LZ4 encoders.
    fn anywhere(acceleration: u32) -> Pace {
        Pace { first: (acceleration.max(1) as usize) << 6, growth: 1, share: usize::MAX }
    }

    /// Smaller steps at first, in sum no more of them where nothing matches. `None`: planes of this kind
    /// come out larger than by shorter strings. Measured on some thirty arrays at levels 1, 3, 5, 7 and 9.
    fn in_planes(content: Content, acceleration: u32) -> Option<Pace> {
        let a = acceleration.max(1) as usize;
        match content {
            Content::Any => None,
            // The more patient the search for short strings, the more it finds.
            Content::BytePlanes if a == 1 => Some(Pace { first: 64, growth: 1, share: 3 }),
            Content::BytePlanes => Some(Pace { first: 32 * (a + 1), growth: 2, share: 8 }),
            // The first eighth of bit planes tells nothing of the others.
            Content::BitPlanes => {
                (a > 4).then_some(Pace { first: 16 * (a + 5), growth: 2, share: usize::MAX })
            }
        }
    }
}

/// How far an encoder has come.
struct Place {
    /// Next string to look up.
    p: usize,
    /// Where the literals begin that have not been written.
    anchor: usize,
}

/// Writes every sequence whose match begins in strings of `src[..until]`. `MIN` bytes are looked up, at least four.
/// `KEPT`: positions of this block begin at `shift`, and the table may hold earlier ones.
#[allow(clippy::too_many_arguments)] // each is a register, or none, of the loop
fn matches<T: Positions, const MIN: usize, const FAR: bool, const DICT: bool, const KEPT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    pace: Pace,
    table: &mut T,
    shift: usize,
    history: &History<'_, DICT>,
    place: &mut Place,
    until: usize,
) -> Option<()> {
    let shift = if KEPT { shift } else { 0 };
    let hash = |word| match MIN {
        4 => hash4(word, T::BITS),
        // Blocks longer than the window hold more than a table of four-byte strings can tell apart.
        5 => hash5(word, T::BITS),
        _ => hash_low(word, MIN, T::BITS),
    };
    // Only as many bytes must be equal as a match needs, but for planes all that were looked up.
    let needed = if MIN < PLANE_STRING { 4 } else { MIN };
    let base = history.base();
    // Of these every word may begin a match.
    let starts = Words::new(src.get(..until)?)?;
    let match_end = src.len() - LAST_LITERALS;
    let (mut anchor, mut p) = (place.anchor, place.p);
    if !DICT && p == 1 {
        table.swap(hash(starts.load64(0)), shift);
    }
    // The position of a match at `p`, whose word is `word`.
    let find = |table: &mut T, p: usize, word: u64| {
        let position = base + p;
        let at = table.swap(hash(word), position + shift).wrapping_sub(shift);
        // An entry of an earlier block lies nowhere. One of this block with these four bytes would have replaced it.
        let old = if DICT {
            history.word_at(at)?
        } else if KEPT {
            starts.get64(at)?
        } else {
            starts.load64(at)
        };
        // Without a dictionary every entry is below `position`: each was written on the way there. That it is not too
        // far is asked last, as most strings that are were not equal.
        let is_equal = (old ^ word) << (64 - 8 * needed) == 0;
        (is_equal && (!DICT || at < position) && (!FAR || position.wrapping_sub(at) <= REACH)).then_some(at)
    };
    'all: loop {
        let (mut step, mut tries) = (1, pace.first);
        let mut at = loop {
            let Some(word) = starts.get64(p) else { break 'all };
            if let Some(found) = find(table, p, word) {
                break found;
            }
            p += step;
            step = tries >> 6;
            tries += pace.growth;
        };
        let back = history.common_before(at, p, p - anchor);
        let mut len = back + needed + history.common(at + needed, p + needed, match_end);
        (at, p) = (at - back, p - back);
        loop {
            sequence(out, src, anchor, p, base + p - at, len).ok()?;
            p += len;
            anchor = p;
            let Some(word) = starts.get64(p) else { break 'all };
            table.swap(hash(starts.load64(p - 2)), base + p - 2 + shift);
            // The next match often begins at once.
            let Some(found) = find(table, p, word) else { break };
            at = found;
            len = needed + history.common(at + needed, p + needed, match_end);
        }
        p += 1;
    }
    *place = Place { p, anchor };
    Some(())
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::vec;

    /// Encoded as planes of this kind at this acceleration, and decoded again.
    fn planes(block: &[u8], content: Content, acceleration: u32) -> usize {
        let (mut coded, mut decoded) = (vec![0; block.len()], vec![0; block.len()]);
        let mut work = vec![0xa5; work_len(block.len())];
        let series = &mut Series::of(content);
        let len = encode_next(block, &mut coded, acceleration, &[], series, &mut work).expect("it shrinks");
        crate::codec::lz4::decode(&coded[..len], Out::from(&mut decoded[..]), &[]).expect("our own block");
        assert!(decoded == block, "{content:?}, {acceleration}");
        len
    }

    #[test]
    fn planes_are_searched_for_long_strings_and_some_for_short_ones() {
        let mut seed = 1u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        for len in [LEAST_PLANE, 20_000, 1 << 16, 100_000] {
            // Strings of nine bytes: what four of them find hides longer matches.
            let words: vec::Vec<[u8; 9]> = (0..40).map(|_| [0; 9].map(|_| next(40) as u8)).collect();
            let long: vec::Vec<u8> =
                (0..len / 9 + 1).flat_map(|_| words[next(40) as usize]).take(len).collect();
            // Chance matches only: hardly one is longer than five bytes.
            let short: vec::Vec<u8> = (0..len).map(|_| next(8) as u8).collect();
            for acceleration in [1, 5, 9] {
                for content in [Content::Any, Content::BytePlanes, Content::BitPlanes] {
                    planes(&long, content, acceleration);
                }
                let [any, again] =
                    [Content::Any, Content::BytePlanes].map(|c| planes(&short, c, acceleration));
                assert_eq!(any, again, "{len} bytes, {acceleration}: begun again, these are the same");
                // A plane that does not fit is not written past its room.
                let mut room = [0; 200];
                let series = &mut Series::of(Content::BytePlanes);
                let work = &mut vec![0; work_len(len)];
                assert_eq!(encode_next(&long, &mut room[..100], acceleration, &[], series, work), None);
                assert!(room[100..].iter().all(|b| *b == 0));
            }
            assert!(planes(&long, Content::BytePlanes, 5) <= planes(&long, Content::Any, 5), "{len}");
        }
    }

    #[test]
    fn blocks_after_each_other_are_the_same_bytes() {
        let (mut series, mut kept) = (Series::default(), vec![0xa5; work_len(0)]);
        let mut seed = 7u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % n
        };
        // Most fit the table together many times; now and then a longer one empties it.
        for turn in 0..3000 {
            let len = if turn % 500 == 499 { 5000 } else { next(2100) as usize };
            let (kinds, words) = (1 + next(5), next(3));
            let block: vec::Vec<u8> = (0..len)
                .map(|i| if words > 0 && i % 16 > 4 { 0 } else { next(kinds) as u8 * (i % 7) as u8 })
                .collect();
            for acceleration in [1, 5, 9] {
                let (mut a, mut b) = (vec![0; len], vec![0; len]);
                let n = encode(&block, &mut a, acceleration, &[], &mut vec![0; work_len(len)]);
                let m = encode_next(&block, &mut b, acceleration, &[], &mut series, &mut kept);
                assert!(n == m && (n.is_none() || a == b), "block {turn} of {len} bytes, {acceleration}");
            }
        }
    }
}
