//! Adler-32 (RFC 1950): two sums modulo 65521.

const MODULUS: u32 = 65521;
/// Bytes per step, one per lane.
const LANES: usize = 16;
/// Steps until 16-bit lanes of sums of sums could overflow: 255 * (22 * 21 / 2) < 2^16.
const STEPS: usize = 22;

/// The Adler-32 checksum of `data`.
pub fn adler32(data: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    let (steps, rest) = data.as_chunks::<LANES>();
    for run in steps.chunks(STEPS) {
        // `sums` adds up the bytes of each lane, `before` what was in `sums` before each step: a byte
        // counts 16 times in b for every step after its own, and 16 - lane times for its own.
        let (mut sums, mut before) = ([0u16; LANES], [0u16; LANES]);
        for step in run {
            for ((sum, before), &byte) in sums.iter_mut().zip(&mut before).zip(step) {
                *before = before.wrapping_add(*sum);
                *sum = sum.wrapping_add(byte.into());
            }
        }
        let (mut sum, mut weighted) = (0u32, 0u32);
        for (lane, (&s, &x)) in sums.iter().zip(&before).enumerate() {
            let own = u32::from(s).wrapping_mul((LANES as u32).wrapping_sub(lane as u32));
            sum = sum.wrapping_add(s.into());
            weighted = weighted.wrapping_add(own).wrapping_add(u32::from(x).wrapping_mul(LANES as u32));
        }
        let len = (run.len() as u32).wrapping_mul(LANES as u32);
        b = b.wrapping_add(a.wrapping_mul(len)).wrapping_add(weighted) % MODULUS;
        a = a.wrapping_add(sum) % MODULUS;
    }
    for &byte in rest {
        a = a.wrapping_add(byte.into());
        b = b.wrapping_add(a);
    }
    ((b % MODULUS) << 16) | (a % MODULUS)
}
