//! Seeded arrays: the same bytes on every machine, made by integer arithmetic only.
//!
//! Floating-point series are built from sums of integers and scaled by powers of two, so no libm is
//! involved and results do not depend on the platform.

use super::{Data, Origin, typesize};
use std::borrow::Cow;

/// A recipe for an array of any length.
pub struct Seeded {
    /// Name in results.
    pub name: &'static str,
    /// What it imitates.
    pub what: &'static str,
    /// NumPy short type name.
    pub dtype: &'static str,
    item: fn(&mut State, usize) -> u64,
}

/// Xorshift64*.
pub struct Xorshift(u64);

impl Xorshift {
    /// `seed` is not 0.
    pub const fn new(seed: u64) -> Xorshift {
        Xorshift(seed)
    }

    fn random(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`, which is below 2^32.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.random() >> 32) % n
    }

    /// Fisher-Yates: any order is as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Random numbers, and two accumulators for recipes that have memory.
struct State {
    numbers: Xorshift,
    level: i64,
    slope: i64,
}

impl State {
    fn random(&mut self) -> u64 {
        self.numbers.random()
    }

    /// A value in `-half ..= half`.
    fn around(&mut self, half: i64) -> i64 {
        (self.random() >> 33).cast_signed() % (2 * half + 1) - half
    }

    /// A random walk of the slope, held near zero: smooth to the eye.
    fn smooth(&mut self, step: i64) -> i64 {
        self.slope += self.around(step) - self.slope / 16 - self.level / 4096;
        self.level += self.slope;
        self.level
    }
}

/// All recipes.
pub static SEEDED: [Seeded; 9] = [
    Seeded {
        name: "smooth_f4",
        what: "a smooth field with sensor noise in the last bits",
        dtype: "f4",
        item: |s, _| u64::from((s.smooth(64) as f32 / 1024.0 + 280.0).to_bits()),
    },
    Seeded {
        name: "smooth_f8",
        what: "the same in double precision",
        dtype: "f8",
        item: |s, _| (s.smooth(64) as f64 / 1024.0 + 280.0).to_bits(),
    },
    Seeded {
        name: "noise_f4",
        what: "uniform floats in [1, 2): sign and exponent constant, mantissa random",
        dtype: "f4",
        item: |s, _| 0x3F80_0000 | s.random() >> 41,
    },
    Seeded { name: "ramp_i4", what: "an index column: 0, 1, 2 …", dtype: "i4", item: |_, i| i as u64 },
    Seeded {
        name: "stamps_i8",
        what: "event times in microseconds, bursts and gaps",
        dtype: "i8",
        item: |s, _| {
            let gap = if s.random() >> 58 == 0 { 1_000_000 } else { 40 };
            s.level += 1 + s.around(gap / 2) + gap / 2;
            (1_600_000_000_000_000 + s.level).cast_unsigned()
        },
    },
    Seeded {
        name: "sparse_i4",
        what: "counts: one item in 16 is not zero",
        dtype: "i4",
        item: |s, _| if s.random() >> 60 == 0 { 1 + (s.random() >> 56) } else { 0 },
    },
    Seeded {
        name: "narrow_i8",
        what: "small counts kept in 64 bits: six of eight byte planes are constant",
        dtype: "i8",
        item: |s, _| s.random() >> 48 & 0x3FFF,
    },
    Seeded { name: "zeros_u1", what: "nothing", dtype: "u1", item: |_, _| 0 },
    Seeded {
        name: "random_u1",
        what: "bytes that do not compress",
        dtype: "u1",
        item: |s, _| s.random() >> 56,
    },
];

impl Seeded {
    /// `len` bytes of it, rounded down to whole items.
    pub fn array(&self, len: usize) -> Data {
        let mut state = State { numbers: Xorshift::new(0x9E37_79B9_7F4A_7C15), level: 0, slope: 0 };
        let (typesize, mut bytes) = (typesize(self.dtype), Vec::with_capacity(len));
        for i in 0..len / typesize {
            bytes.extend_from_slice(&(self.item)(&mut state, i).to_le_bytes()[..typesize]);
        }
        Data {
            name: self.name.into(),
            dtype: self.dtype,
            typesize,
            origin: Origin::Seeded,
            bytes: Cow::Owned(bytes),
        }
    }
}

/// The recipe with this name.
pub fn find(name: &str) -> Option<&'static Seeded> {
    SEEDED.iter().find(|s| s.name == name)
}

/// `len` pseudo-random bytes: what kernels are timed on, since their speed does not depend on the data.
pub fn random_bytes(len: usize) -> Vec<u8> {
    let mut numbers = Xorshift::new(0xD1B5_4A32_D192_ED03);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&numbers.random().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::corpus::sha256_hex;

    /// Every platform makes the same bytes: one hash over all recipes.
    #[test]
    fn bytes_do_not_depend_on_the_platform() {
        let mut all: Vec<u8> = SEEDED.iter().flat_map(|s| s.array(8192).bytes.into_owned()).collect();
        all.extend(random_bytes(1001));
        assert_eq!(sha256_hex(&all), "ee89252e491c436ccf2c0b73b6e585cc7b671d33ba8c047498761cbb76c30bb5");
    }
}
