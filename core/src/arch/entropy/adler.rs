//! Adler-32 (RFC 1950): two sums modulo 65521, which are taken of runs that cannot overflow 32 bits.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::arch::kernels;
use crate::arch::level::Level;

const MODULUS: u32 = 65521;
/// Bytes per step, one per lane.
const LANES: usize = 32;
/// Steps until the sum of sums could overflow: n = 173 * 32, 255 n (n + 1) / 2 + 65520 (n + 1) < 2^32.
const RUN: usize = 173;
/// Steps until 16-bit lanes of sums of sums could: 255 * (22 * 21 / 2) < 2^16.
const STEPS: usize = 22;

/// The Adler-32 checksum of `data`.
pub fn adler32(data: &[u8], level: Level) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    let (steps, rest) = data.as_chunks::<LANES>();
    for run in steps.chunks(RUN) {
        let [sum, before, own] = sums(run, level);
        b = (b + a * (run.len() * LANES) as u32 + before * LANES as u32 + own) % MODULUS;
        a = (a + sum) % MODULUS;
    }
    for &byte in rest {
        a += u32::from(byte);
        b += a;
    }
    ((b % MODULUS) << 16) | (a % MODULUS)
}

/// [`by_lanes`], as `level` allows.
fn sums(run: &[[u8; LANES]], level: Level) -> [u32; 3] {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if kernels::has_avx2(level) {
        // SAFETY: `has_avx2` says that the level proves AVX2.
        return unsafe { by_avx2(run) };
    }
    let _ = level;
    by_lanes(run)
}

/// The sum of a run's bytes; the sum of what that was before each step, every one of which counts once for each lane;
/// and the sum of the bytes, each times the lanes from its own on.
fn by_lanes(run: &[[u8; LANES]]) -> [u32; 3] {
    let (mut sums, mut befores) = ([0u32; LANES], [0u32; LANES]);
    for part in run.chunks(STEPS) {
        let (mut narrow, mut before) = ([0u16; LANES], [0u16; LANES]);
        for step in part {
            for ((sum, before), &byte) in narrow.iter_mut().zip(&mut before).zip(step) {
                *before = before.wrapping_add(*sum);
                *sum = sum.wrapping_add(byte.into());
            }
        }
        for (lane, sum) in sums.iter_mut().enumerate() {
            befores[lane] += *sum * part.len() as u32 + u32::from(before[lane]);
            *sum += u32::from(narrow[lane]);
        }
    }
    let own = sums.iter().zip((1..=LANES as u32).rev()).map(|(sum, weight)| sum * weight);
    [sums.iter().sum(), befores.iter().sum(), own.sum()]
}

/// [`by_lanes`], a step at once. No pair of products and no sum of two pairs overflows 16 bits: 255 * (32 + 31).
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "avx2")]
fn by_avx2(run: &[[u8; LANES]]) -> [u32; 3] {
    use core::arch::x86_64::*;
    let zero = _mm256_setzero_si256();
    let weights = _mm256_setr_epi8(
        32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,
        6, 5, 4, 3, 2, 1,
    );
    let (mut sum, mut before, mut own) = (zero, zero, zero);
    for step in run {
        // SAFETY: a step has 32 bytes.
        let bytes = unsafe { _mm256_loadu_si256(step.as_ptr().cast()) };
        before = _mm256_add_epi32(before, sum);
        sum = _mm256_add_epi32(sum, _mm256_sad_epu8(bytes, zero));
        let products = _mm256_maddubs_epi16(bytes, weights);
        own = _mm256_add_epi32(own, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
    }
    [sum, before, own].map(|v| {
        // SAFETY: both are 32 bytes of any content.
        let lanes = unsafe { core::mem::transmute::<__m256i, [u32; 8]>(v) };
        lanes.iter().sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    use crate::arch::level::Isa;

    /// [`adler32`] takes one of them, by its level and the CPU.
    #[test]
    fn all_ways_to_sum_a_run_agree() {
        let mut seed = 1u32;
        let mut run = [[0; LANES]; RUN];
        for (noise, len) in [(true, RUN), (true, 1), (true, STEPS + 1), (false, RUN)] {
            for byte in run.as_flattened_mut() {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = if noise { (seed >> 24) as u8 } else { 255 };
            }
            let wanted = by_lanes(&run[..len]);
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            if Level::new(Isa::Avx2).is_some() {
                // SAFETY: the CPU has AVX2, as its level proves.
                assert_eq!(unsafe { by_avx2(&run[..len]) }, wanted);
            }
            assert!(wanted[0] as usize <= 255 * LANES * len);
            let data = run[..len].as_flattened();
            for level in Level::available() {
                assert_eq!(adler32(data, level), adler32(data, Level::SCALAR), "{level:?}");
            }
        }
    }
}
