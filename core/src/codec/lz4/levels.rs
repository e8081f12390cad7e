//! What each level of LZ4 does. How the numbers were chosen: docs/optimization-notes.md, "Encoders".
//!
//! LZ4's `acceleration` is at least 1, and 10 - level in chunks. What a level does is how fast the step between two
//! look-ups grows while none matches.

use crate::codec::content::Content;

/// The step is one byte, then a 64th of `first`, to which `growth` is added at each look-up without a match.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) first: usize,
    pub(super) growth: usize,
    /// `growth` before the first match of a stream, since one without a match for long is likely to have none.
    pub(super) initial_growth: usize,
}

/// How a plane of bytes or bits is searched for strings of six bytes.
#[derive(Clone, Copy)]
pub(super) struct PlanePace {
    pub(super) pace: Pace,
    /// A plane whose first eighth does not shrink by one byte in `share` is begun again with strings of four bytes. `None`: it
    /// is not asked, because the first eighth of bit planes tells nothing of the others.
    pub(super) share: Option<usize>,
}

/// The step that gives Blosc's levels the sizes of other LZ4 encoders.
pub(super) fn anywhere(content: Content, acceleration: usize) -> Pace {
    // Without a filter levels 1 to 5 are a tenth faster by it. Bit planes are not: many begin with a stretch that has no
    // match. Nor are higher levels, since a patient search would lose what it is for.
    let initial_growth = if content == Content::BitPlanes || acceleration < 5 { 1 } else { acceleration / 2 };
    Pace { first: 64 * acceleration, growth: 1, initial_growth }
}

/// Smaller steps at first, in sum no more of them where nothing matches. `None`: by strings of six bytes planes of this
/// kind become larger than by shorter ones, as bit planes do from level 6 on.
pub(super) fn in_planes(content: Content, acceleration: usize) -> Option<PlanePace> {
    let (first, growth, share) = match (content, acceleration) {
        (Content::Any, _) | (Content::BitPlanes, ..=4) => return None,
        // The more patient the search for short strings, the more it finds, so long ones must find more.
        (Content::BytePlanes(_), 1) => (64, 1, Some(3)),
        (Content::BytePlanes(_), a) => (32 * (a + 1), 2, Some(8)),
        (Content::BitPlanes, a) => (16 * (a + 5), 2, None),
    };
    Some(PlanePace { pace: Pace { first, growth, initial_growth: growth }, share })
}
