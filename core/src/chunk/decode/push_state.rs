//! [`PushState`]: what a [`PushDecoder`](crate::PushDecoder) stores between blocks, so that another one goes on after a power failure.
//!
//! ```text
//! 0..4 position in the chunk   4..8 blocks   8..12 decoded bytes   12..16 sum of block positions   16..20 sum of the prefix
//! 20..24 sum of these bytes
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Where a [`PushDecoder`](crate::PushDecoder) has got to: 24 bytes to be stored after each block, or after each erase block of flash.
///
/// ```
/// use blosc_core::{Level, PushDecoder, PushState};
/// # #[cfg(feature = "alloc")] {
/// # let data = vec![7; 20_000];
/// # let params = blosc_core::Params::new(1).blocksize(Some(4096));
/// # let chunk = blosc_core::compress(&params, &(0..20_000u32).map(|n| (n * n >> 7) as u8).collect::<Vec<_>>()).unwrap();
/// # let mut memory = [0; PushDecoder::memory_max(4096, 1, 0)];
/// let mut decoder = PushDecoder::new(Level::SCALAR, &mut memory);
/// let mut bytes = &chunk[..];
/// decoder.push(&mut bytes)?;                                       // the first block; then the power fails
/// let stored = decoder.state().unwrap().to_bytes();
///
/// let mut decoder = PushDecoder::new(Level::SCALAR, &mut memory);
/// while decoder.state().is_none() {                                // header, block starts and dictionary again
///     decoder.push(&mut &chunk[decoder.position()..][..decoder.needs()])?;
/// }
/// decoder.resume(PushState::from_bytes(&stored).unwrap())?;
/// let mut rest = &chunk[decoder.position()..];
/// assert_eq!(decoder.push(&mut rest)?.unwrap().index, 1);
/// # }
/// # Ok::<(), blosc_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushState {
    /// Where the next block's bytes begin at the earliest, from the start of the chunk.
    pub(super) at: u32,
    /// Blocks that have come out.
    pub(super) blocks: u32,
    /// Their decoded bytes.
    pub(super) offset: u32,
    /// Header and positions of the blocks, by [`mix`].
    pub(super) seen: u32,
    /// Header and block starts.
    pub(super) check: u32,
}

impl PushState {
    /// Length of the stored form.
    pub const LEN: usize = 24;

    /// Offset in the chunk at which it goes on.
    pub fn position(&self) -> usize {
        self.at as usize
    }

    /// Decoded bytes that have come out.
    pub fn decoded(&self) -> usize {
        self.offset as usize
    }

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; PushState::LEN] {
        let fields = [self.at, self.blocks, self.offset, self.seen, self.check];
        let sum = fields.into_iter().fold(1, mix);
        let mut bytes = [0; PushState::LEN];
        let (words, _) = bytes.as_chunks_mut();
        words.iter_mut().zip(fields.into_iter().chain([sum])).for_each(|(to, from)| *to = from.to_le_bytes());
        bytes
    }

    /// Reads the stored form; `None` if it was not written whole. The sum finds accidents, not attackers.
    pub fn from_bytes(bytes: &[u8; PushState::LEN]) -> Option<PushState> {
        let [at, blocks, offset, seen, check, sum] = *bytes.as_chunks::<4>().0 else { return None };
        let [at, blocks, offset, seen, check, sum] =
            [at, blocks, offset, seen, check, sum].map(u32::from_le_bytes);
        let whole = [at, blocks, offset, seen, check].into_iter().fold(1, mix) == sum;
        whole.then_some(PushState { at, blocks, offset, seen, check })
    }
}

/// Adds a word to a sum that depends on the order of its words.
pub(super) fn mix(sum: u32, word: u32) -> u32 {
    (sum ^ word).wrapping_mul(0x9E37_79B1).rotate_left(15)
}
