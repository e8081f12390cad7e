//! Levels 3 to 9: a match gives way to a longer one that begins a byte later, if that saves bits.
//!
//! ```text
//! p = 0
//! while p is not too close to the end:
//!   taken = the longest match at p, or one of three bytes
//!   if there is none, or it takes more bits than its literals:  p += step, which grows;  continue
//!   while taken is shorter than `enough`:
//!     later = the longest match at taken's start + 1 that is longer, out of half as many candidates
//!     unless a literal and `later` take fewer bits:  stop
//!     taken = later
//!   pass on the literals before taken, and taken;  p = its end
//! ```

use super::blocks::Blocks;
use super::threes::Threes;
use super::tokens::{LONGEST, SHORTEST};
use crate::arch::entropy::bit_instructions;
use crate::arch::level::Level;
use crate::codec::search::{Effort, Search};

/// No match begins within this many bytes of the end: words are looked up.
pub(super) const LAST_MATCH: usize = size_of::<u64>();
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
            let mut taken = search.widest::<false>(p, p, blocks.least() - 1, end_of(p), effort.steps);
            if let Some(threes) = &mut threes
                && taken.len == 0
                && blocks.least() <= SHORTEST
            {
                taken = threes.last(search.history(), p);
            }
            if taken.len == 0 || !blocks.worth(&taken) {
                p += 1 + ((p - anchor) >> effort.patience);
                blocks.pass(p)?;
                continue;
            }
            while taken.len < effort.enough && taken.start < last_start {
                let p = taken.start + 1;
                let later = search.widest::<false>(p, p, taken.len, end_of(p), effort.steps / 2);
                if later.len == 0 || !blocks.better(&later, &taken) {
                    break;
                }
                taken = later;
            }
            blocks.push(&taken)?;
            search.leave_out(&taken);
            (p, anchor) = (taken.end(), taken.end());
        }
        Some(())
    }
}
