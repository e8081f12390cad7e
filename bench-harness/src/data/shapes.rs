//! Seeded arrays whose items depend on each other: text, records, arithmetic series, random walks, blocks
//! of different kinds; and real arrays repeated verbatim, whose repetitions lie far apart.

use super::generate::random_bytes;
use super::{Data, Origin, corpus};
use std::borrow::Cow;

/// Pseudo-random numbers from a reservoir of bytes.
struct Numbers(std::vec::IntoIter<u8>);

impl Numbers {
    fn new(count: usize) -> Numbers {
        Numbers(random_bytes(4 * count).into_iter())
    }

    /// A number below `n`; 0 once the reservoir is empty.
    fn below(&mut self, n: u32) -> u32 {
        let word = u32::from_le_bytes(std::array::from_fn(|_| self.0.next().unwrap_or(0)));
        word % n.max(1)
    }

    /// A number below `n`, small ones more often.
    fn often_small(&mut self, n: u32) -> u32 {
        let most = self.below(n);
        self.below(most + 1)
    }
}

fn made(name: &str, dtype: &'static str, typesize: usize, bytes: Vec<u8>) -> Data {
    Data { name: name.into(), dtype, typesize, origin: Origin::User, bytes: Cow::Owned(bytes) }
}

/// Lines of words out of a vocabulary, frequent ones more often.
fn text(len: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(2 * len);
    let letters = b"etaoinshrdlucmfwypvbgkjqxz";
    let vocabulary: Vec<Vec<u8>> = (0..900)
        .map(|_| {
            let letter = |n: &mut Numbers| letters.get(n.often_small(26) as usize).copied().unwrap_or(b'e');
            (0..2 + numbers.below(8)).map(|_| letter(&mut numbers)).collect()
        })
        .collect();
    let mut out = Vec::with_capacity(len + 16);
    while out.len() < len {
        out.extend(vocabulary.get(numbers.often_small(900) as usize).into_iter().flatten());
        out.push(if numbers.below(12) == 0 { b'\n' } else { b' ' });
    }
    out.truncate(len);
    out
}

/// Records of 12 bytes: a rising id, a category, a state, padding and a price.
fn records(count: u32) -> Vec<u8> {
    let (mut numbers, mut id) = (Numbers::new(4 * count as usize), 1000);
    let record = |_| {
        id += 1 + numbers.below(3);
        let (category, state, price) = (numbers.below(50), numbers.below(4), numbers.below(10_000));
        [id, category | state << 16, (price as f32 / 128.0).to_bits()].map(u32::to_le_bytes).concat()
    };
    (0..count).flat_map(record).collect()
}

/// All of them, between 256 KiB and 1 MiB each.
pub fn all() -> Vec<Data> {
    let series = 0..131_072u64;
    let mut numbers = Numbers::new(400_000);
    let (mut at, mut noise) = (0i16, Numbers::new(65_536));
    let walk = |_| {
        at = at.wrapping_add(numbers.below(9) as i16 - 4);
        at.to_le_bytes()
    };
    let block = |i: u32| match i / 1024 % 4 {
        0 => i / 7,
        1 => noise.below(u32::MAX),
        2 => 0x0102_0000 | i >> 10,
        _ => noise.below(100),
    };
    let mut sets = vec![
        made("count_i8", "i8", 8, series.clone().flat_map(u64::to_le_bytes).collect()),
        made("linspace_f8", "f8", 8, series.flat_map(|i| (i as f64 / 131_071.0).to_le_bytes()).collect()),
        made("text", "u1", 1, text(400_000)),
        made("records", "u1", 12, records(30_000)),
        made("walk_i2", "i2", 2, (0..200_000).flat_map(walk).collect()),
        made("changing_u4", "u4", 4, (0..65_536).map(block).flat_map(u32::to_le_bytes).collect()),
    ];
    let repeated = ["camera", "elevation", "goes_flux", "lambda_dna", "tz_changes"];
    let real = corpus::REAL.iter().filter(|r| repeated.contains(&r.name));
    sets.extend(real.map(|r| r.array().repeated(512 << 10)));
    sets
}

#[cfg(test)]
mod tests {
    #[test]
    fn whole_items_and_different_names() {
        let all = super::all();
        assert!(all.iter().all(|d| d.bytes.len() % d.typesize == 0 && d.bytes.len() >= 256 << 10));
        let names: std::collections::BTreeSet<_> = all.iter().map(|d| &d.name).collect();
        assert_eq!(names.len(), all.len());
    }
}
