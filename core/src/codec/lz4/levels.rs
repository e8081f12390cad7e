//! What each level of LZ4 does. How the numbers were chosen: docs/optimization-notes.md, "Encoders".
//!
//! LZ4's `acceleration` is at least 1, and 10 - level in chunks. What a level does is how fast the step between two
//! look-ups grows while none matches.
//!
//! | content | levels | pace | why | row of docs/optimization-notes.md |
//! |---|---|---|---|---|
//! | not bits | 1 to 5 | grows faster before a match | a tenth faster without a filter | #lz4-initial-growth |
//! | bits | all | does not | many begin with a stretch without a match | #lz4-initial-growth |
//! | planes | all | by six bytes smaller steps grow twice as fast | in sum no more of them | #lz4-plane-strings |
//! | bits | 6 to 9 | none by six bytes | these would be larger | #lz4-plane-strings |
//! | bytes | 9, others | again by four unless a 3rd, an 8th is saved | patience finds more short ones | #lz4-begun-again |
//! | bits | all | not again | the first eighth tells nothing of the others | #lz4-begun-again |

use crate::codec::content::Content;

/// The step is one byte, then a 64th of `first`, to which `growth` is added at each look-up without a match.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) first: usize,
    pub(super) growth: usize,
    /// `growth` before the first match of a stream.
    pub(super) initial_growth: usize,
}

/// How a plane of bytes or bits is searched for strings of six bytes.
#[derive(Clone, Copy)]
pub(super) struct PlanePace {
    pub(super) pace: Pace,
    /// A plane whose first eighth does not shrink by one byte in `share` is begun again with strings of four bytes.
    pub(super) share: Option<usize>,
}

/// The step that gives Blosc's levels the sizes of other LZ4 encoders.
pub(super) fn anywhere(content: Content, acceleration: usize) -> Pace {
    let initial_growth = if content == Content::BitPlanes || acceleration < 5 { 1 } else { acceleration / 2 };
    Pace { first: 64 * acceleration, growth: 1, initial_growth }
}

/// How planes are searched for strings of six bytes; `None` where they are not.
pub(super) fn in_planes(content: Content, acceleration: usize) -> Option<PlanePace> {
    let (first, growth, share) = match (content, acceleration) {
        (Content::Any, _) | (Content::BitPlanes, ..=4) => return None,
        (Content::BytePlanes(_), 1) => (64, 1, Some(3)),
        (Content::BytePlanes(_), a) => (32 * (a + 1), 2, Some(8)),
        (Content::BitPlanes, a) => (16 * (a + 5), 2, None),
    };
    Some(PlanePace { pace: Pace { first, growth, initial_growth: growth }, share })
}
