//! Arrays at other sizes than their own.
//!
//! A CPU learns by heart where the branches of verbatim copies go, however many: each of them is the same work again. A
//! larger array is therefore made of the pieces of the real one, in a new order for every repetition.

use super::generate::{self, Xorshift};
use super::{Data, Origin};
use std::borrow::Cow;

/// Items of a piece: a cache line in each plane of shuffled bytes, so that neighbourhoods stay what they were. Longer pieces
/// bring longer stretches of the same branches back, which a CPU recognises.
const PIECE: usize = 64;

/// Between an array's name and the number of its repetitions in new orders. Not the mark of verbatim ones, which all large
/// arrays of older records are: rows on other bytes must not compare.
const REORDERED: char = '~';
const VERBATIM: char = '*';

impl Data {
    /// This array at `len` bytes (rounded down to whole items): cut, or continued by its pieces in new orders, which its
    /// name then says (`camera~16`). Seeded arrays are generated at that size instead.
    pub fn sized(&self, len: usize) -> Data {
        if self.origin == Origin::Seeded
            && let Some(seeded) = generate::find(&self.name)
        {
            return seeded.array(len);
        }
        self.resized(len, REORDERED, |out| {
            let mut pieces: Vec<&[u8]> = self.bytes.chunks(PIECE * self.typesize.max(1)).collect();
            let mut numbers = Xorshift::new(0x5851_F42D_4C95_7F2D);
            while out.len() < len {
                pieces.iter().for_each(|piece| out.extend_from_slice(piece));
                numbers.shuffle(&mut pieces);
            }
        })
    }

    /// This array at `len` bytes (rounded down to whole items): cut, or repeated verbatim, which its name then says
    /// (`camera*16`). For sizes and bytes of chunks whose matches lie far apart, not for times.
    pub fn repeated(&self, len: usize) -> Data {
        self.resized(len, VERBATIM, |out| {
            while out.len() < len {
                out.extend_from_slice(&self.bytes);
            }
        })
    }

    /// Name of the array that this one was made from.
    pub fn original(&self) -> &str {
        self.name.split([REORDERED, VERBATIM]).next().unwrap_or_default()
    }

    /// Cut, or filled by `fill` with whole repetitions until there are `len` bytes.
    fn resized(&self, len: usize, mark: char, fill: impl FnOnce(&mut Vec<u8>)) -> Data {
        let own = self.bytes.len();
        let len = len - len % self.typesize.max(1);
        let (mut bytes, mut name) = (Vec::with_capacity(len + own), self.name.clone());
        if len > own && own > 0 {
            fill(&mut bytes);
            name = format!("{name}{mark}{}", len.div_ceil(own));
        } else {
            bytes.extend_from_slice(&self.bytes);
        }
        bytes.truncate(len);
        Data { name, bytes: Cow::Owned(bytes), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items that say where they were: pieces stay whole, the shorter one too, and each comes once a repetition.
    #[test]
    fn repetitions_are_permutations_of_pieces() {
        let count = 20 * PIECE + 7;
        let bytes: Vec<u8> = (0..count as u32).flat_map(u32::to_le_bytes).collect();
        let own = bytes.len();
        let data = Data {
            name: "count".into(),
            dtype: "u4",
            typesize: 4,
            origin: Origin::User,
            bytes: bytes.into(),
        };
        for repetition in data.sized(4 * own).bytes.chunks(own) {
            let items: Vec<usize> =
                repetition.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()) as usize).collect();
            let mut starts: Vec<usize> = Vec::new();
            let mut rest = &items[..];
            while let Some(&start) = rest.first() {
                let piece: Vec<usize> = (start..count.min(start + PIECE)).collect();
                assert!(start % PIECE == 0 && rest.starts_with(&piece), "{start}");
                starts.push(start);
                rest = &rest[piece.len()..];
            }
            starts.sort_unstable();
            assert_eq!(starts, (0..count).step_by(PIECE).collect::<Vec<_>>());
        }
    }
}
