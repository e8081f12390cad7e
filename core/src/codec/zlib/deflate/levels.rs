//! What each level of our zlib encoder does. How the numbers were chosen: docs/optimization-notes.md, "Encoders".

use super::tokens::LONGEST;
use crate::codec::search::Effort;

/// Where a level's matches come from.
pub(super) enum Finder {
    /// One table of last positions, of which the first match is taken: [`greedy`](super::greedy). Its step grows by one
    /// every `1 << patience` positions without a match.
    LastPositions { patience: u32 },
    /// Rows of the last 16 positions with the same hash.
    Rows(Effort),
    /// Chains of all positions with the same hash, and a table of three-byte strings.
    Chains(Effort),
}

/// The finder of `level`; 0 counts as 1, and what is above 9 as 9.
pub(super) const fn of(level: u8) -> Finder {
    use Finder::{Chains, LastPositions, Rows};
    // Candidates double from level to level and so, nearly, does the time. `enough` and `patience` bound the time that
    // long matches and noise take.
    match level {
        0 | 1 => LastPositions { patience: 6 },
        2 => LastPositions { patience: 7 },
        3 => Rows(Effort { steps: 4, enough: 16, patience: 7 }),
        4 => Rows(Effort { steps: 8, enough: 32, patience: 8 }),
        5 => Rows(Effort { steps: 16, enough: 32, patience: 8 }),
        6 => Chains(Effort { steps: 36, enough: LONGEST, patience: 9 }),
        7 => Chains(Effort { steps: 64, enough: LONGEST, patience: 9 }),
        8 => Chains(Effort { steps: 128, enough: LONGEST, patience: 9 }),
        _ => Chains(Effort { steps: 192, enough: LONGEST, patience: 10 }),
    }
}

/// The two bytes that begin a stream: a window of 32 KiB, no dictionary, and which kind of level it was, which decoders do
/// not read.
pub(super) const fn header(level: u8) -> [u8; 2] {
    match level {
        0 | 1 => [0x78, 0x01],
        2..=5 => [0x78, 0x5e],
        6 => [0x78, 0x9c],
        _ => [0x78, 0xda],
    }
}
