//! Numbers that look random and are the same on every machine.

/// SplitMix64. `Random(seed)` makes one; near seeds give unrelated sequences.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// One that starts at `seed`.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number, of all 64 bits.
    #[allow(clippy::should_implement_trait)] // it never ends
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, or 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// One of `choices`.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// `len` bytes without a pattern.
    pub fn noise(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// `len` bytes that compress, or do not, or are all the same.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        match self.below(4) {
            0 => vec![0; len],
            1 => (0..len).map(|i| (i / 7) as u8).collect(),
            2 => vec![self.next() as u8; len],
            _ => self.noise(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers of SplitMix64 for seed 1234567, as its author published them.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbers_stay_below() {
        let mut random = Random(1);
        assert!((0..1000).all(|n| random.below(n) < n.max(1)));
        assert_eq!(random.pick(&[7]), 7);
    }
}
