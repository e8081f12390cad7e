//! Adler-32 (RFC 1950): two sums modulo 65521.

const MODULUS: u32 = 65521;
/// Bytes per step; the largest sum of one run of steps stays below 2^32.
const STEP: usize = 32;
const STEPS_PER_RUN: usize = 5552 / STEP;

/// The Adler-32 checksum of `data`.
pub fn adler32(data: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    let (steps, rest) = data.as_chunks::<STEP>();
    for run in steps.chunks(STEPS_PER_RUN) {
        // b grows by `a` once per byte: 32 times the a before the step, and by byte i 32 - i times.
        let (mut sum, mut weighted, mut before) = (0u32, 0u32, 0u32);
        for step in run {
            before = before.wrapping_add(sum);
            let (mut s, mut w) = (0u32, 0u32);
            for (i, &byte) in step.iter().enumerate() {
                s = s.wrapping_add(byte.into());
                w = w.wrapping_add(u32::from(byte).wrapping_mul((STEP as u32).wrapping_sub(i as u32)));
            }
            sum = sum.wrapping_add(s);
            weighted = weighted.wrapping_add(w);
        }
        let len = (run.len() as u32).wrapping_mul(STEP as u32);
        let before = (before % MODULUS).wrapping_mul(STEP as u32);
        b = (b
            .wrapping_add(a.wrapping_mul(len) % MODULUS)
            .wrapping_add(before)
            .wrapping_add(weighted % MODULUS))
            % MODULUS;
        a = a.wrapping_add(sum) % MODULUS;
    }
    for &byte in rest {
        a = a.wrapping_add(byte.into());
        b = b.wrapping_add(a);
    }
    ((b % MODULUS) << 16) | (a % MODULUS)
}
