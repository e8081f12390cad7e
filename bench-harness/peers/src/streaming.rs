//! A copy whose stores pass the caches: the yardstick for work on buffers that no cache holds.

/// Copies `src` to the start of `dst` past the caches; the number of bytes, or `None` on CPUs without such stores.
///
/// ```
/// let mut copy = [0; 100];
/// assert!(blosc_peers::copy_past_caches(&[7; 100], &mut copy).is_none_or(|n| n == 100 && copy == [7; 100]));
/// ```
#[must_use]
pub fn copy_past_caches(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let n = src.len().min(dst.len());
    let (src, dst) = (src.get(..n)?, dst.get_mut(..n)?);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        // Such stores need whole vectors at their own addresses.
        let head = dst.as_ptr().align_offset(16).min(n);
        let (first, rest) = dst.split_at_mut(head);
        first.copy_from_slice(&src[..head]);
        let (lines, tail) = rest.as_chunks_mut::<64>();
        let (from, from_tail) = src[head..].as_chunks::<64>();
        for (to, from) in lines.iter_mut().zip(from) {
            let (to, from) = (to.as_mut_ptr().cast::<__m128i>(), from.as_ptr().cast::<__m128i>());
            for part in 0..4 {
                // SAFETY: both arrays hold 64 bytes, four parts of 16; `to` is a multiple of 16 since `head` is where the
                // destination becomes one, and every x86-64 CPU has SSE2.
                unsafe { _mm_stream_si128(to.add(part), _mm_loadu_si128(from.add(part))) };
            }
        }
        tail.copy_from_slice(from_tail);
        // SAFETY: every x86-64 CPU has it. Whoever reads the destination after this sees the stores.
        unsafe { _mm_sfence() };
        Some(n)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (src, dst);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::copy_past_caches;

    #[test]
    fn every_byte_arrives_at_any_offset() {
        let src: Vec<u8> = (0..1000u32).map(|n| n as u8).collect();
        for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))) {
            let mut dst = vec![0xA5; 1100];
            let Some(n) = copy_past_caches(&src[from..], &mut dst[to..to + 900]) else { return };
            assert_eq!((n, &dst[to..to + 900]), (900, &src[from..from + 900]));
            assert!(dst[..to].iter().chain(&dst[to + 900..]).all(|b| *b == 0xA5));
        }
    }
}
