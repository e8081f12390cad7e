//! Levels 3 to 9: a match gives way to a longer one that begins a byte later, if that saves bits.

use super::blocks::Blocks;
use super::threes::Threes;
use super::tokens::LONGEST;
use super::tokens::SHORTEST;
use crate::arch::entropy::bit_instructions;
use crate::arch::level::Level;
use crate::codec::search::{ANY_RUN, Effort, Search};

/// No match begins within this many bytes of the end.
const LAST_MATCH: usize = 8;

/// The largest step, less one.
const LARGEST: usize = 64;

/// Level 9 looks at more positions in longer inputs: for most of them the window is full.
const LONG: usize = 1 << 16;

/// How level `level` searches `len` bytes.
pub(super) fn effort(level: u8, len: usize) -> Effort {
    let (steps, enough, patience) = match level {
        0..=3 => (4, 16, 7),
        4 => (8, 32, 8),
        5 => (16, 32, 8),
        6 => (36, LONGEST, 9),
        7 => (64, LONGEST, 9),
        8 => (128, LONGEST, 9),
        _ => (if len > LONG { 384 } else { 192 }, LONGEST, 10),
    };
    Effort { steps, thorough: level >= 8, enough, patience }
}

/// Passes on every match; `None` where the stream does not fit.
#[inline(never)]
pub(super) fn matches<'a>(
    src: &[u8],
    search: impl Search<'a, false>,
    threes: Option<Threes<'_>>,
    effort: &Effort,
    blocks: &mut Blocks<'_>,
) -> Option<()> {
    bit_instructions::run(Level::usual(), Parse { src, search, threes, effort, blocks })
}

struct Parse<'p, 'o, 't, S> {
    src: &'p [u8],
    search: S,
    threes: Option<Threes<'t>>,
    effort: &'p Effort,
    blocks: &'p mut Blocks<'o>,
}

impl<'a, S: Search<'a, false>> bit_instructions::Kernel for Parse<'_, '_, '_, S> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> Option<()> {
        let Parse { src, mut search, mut threes, effort, blocks } = self;
        let Some(last_start) = src.len().checked_sub(LAST_MATCH) else { return Some(()) };
        let end_of = |p: usize| (p + LONGEST).min(src.len());
        let (mut p, mut anchor) = (0, 0);
        while p <= last_start {
            search.look_for(blocks.least());
            let mut taken =
                search.widest::<false, ANY_RUN>(p, p, blocks.least() - 1, end_of(p), effort.steps);
            if let Some(threes) = &mut threes
                && taken.len == 0
                && blocks.least() <= SHORTEST
            {
                taken = threes.last(search.history(), p);
            }
            if taken.len == 0 || !blocks.worth(&taken) {
                p += 1 + ((p - anchor) >> effort.patience).min(LARGEST);
                blocks.pass(p)?;
                continue;
            }
            while taken.len < effort.enough && taken.start < last_start {
                let p = taken.start + 1;
                let later = search.widest::<false, ANY_RUN>(p, p, taken.len, end_of(p), effort.steps / 2);
                if later.len == 0 || !blocks.better(&later, &taken) {
                    break;
                }
                taken = later;
            }
            blocks.push(&taken)?;
            search.leave_out(taken);
            (p, anchor) = (taken.end(), taken.end());
        }
        Some(())
    }
}
