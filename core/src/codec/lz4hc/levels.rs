//! What each level of LZ4HC does. How the numbers were chosen: docs/optimization-notes.md, "Encoders".

use crate::codec::search::Effort;

/// Where a level's matches come from.
pub(super) enum Finder {
    /// Two tables of last positions, of which the first match is taken: [`greedy`](super::greedy).
    LastPositions,
    /// Rows of the last 16 positions with the same hash.
    Rows(Effort),
    /// Chains of all positions with the same hash.
    Chains(Effort),
}

/// The finder of `level`; 0 counts as 1, and what is above 9 as 9.
pub(super) const fn of(level: u8) -> Finder {
    use Finder::{Chains, LastPositions, Rows};
    // Candidates double from level to level and so, nearly, does the time. `enough` and `patience` bound the time that
    // long matches and noise take.
    match level {
        0..=2 => LastPositions,
        3 => Rows(Effort { steps: 4, enough: 256, patience: 8 }),
        4 => Rows(Effort { steps: 9, enough: 512, patience: 8 }),
        5 => Rows(Effort { steps: 16, enough: 1024, patience: 9 }),
        6 => Chains(Effort { steps: 36, enough: 1024, patience: 9 }),
        7 => Chains(Effort { steps: 64, enough: 1024, patience: 9 }),
        8 => Chains(Effort { steps: 128, enough: 1024, patience: 9 }),
        _ => Chains(Effort { steps: 288, enough: 4096, patience: 10 }),
    }
}
