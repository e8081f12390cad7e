//! [`Words`]: what an LZ encoder reads of its input, eight bytes at a time.
//!
//! Words are little-endian whatever the machine, so that the same matches are found, and the same bytes
//! written, everywhere.

/// Input of at least eight bytes; every word is checked against one precomputed bound.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    bytes: &'a [u8],
    /// Where the last whole word begins.
    last: usize,
}

impl<'a> Words<'a> {
    /// Words of `bytes`; `None` where there is not a single one.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Words { bytes, last: bytes.len().checked_sub(8)? })
    }

    /// The eight bytes at `at`, or 0 where they leave the input.
    #[inline(always)]
    pub fn load64(&self, at: usize) -> u64 {
        if at > self.last {
            return 0;
        }
        // SAFETY: `at <= last`, and eight bytes begin there.
        u64::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// The four bytes at `at`, or 0 where the eight of [`Words::load64`] leave the input.
    #[inline(always)]
    pub fn load32(&self, at: usize) -> u32 {
        if at > self.last {
            return 0;
        }
        // SAFETY: `at <= last`, and eight bytes begin there.
        u32::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u32>().read_unaligned() })
    }

    /// How many bytes from `a` and from `b` on are equal, reading none at or after `end`; `a < b`.
    #[inline(always)]
    pub fn common(&self, a: usize, b: usize, end: usize) -> usize {
        if a >= b || b > end || end > self.bytes.len() {
            return 0;
        }
        let most = end - b;
        let mut n = 0;
        // SAFETY: both `a + n` and `b + n` are below `end` by at least what is read.
        unsafe {
            let (x, y) = (self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b));
            let word = |p: *const u8| u64::from_le(p.cast::<u64>().read_unaligned());
            while n + 8 <= most {
                let differ = word(x.add(n)) ^ word(y.add(n));
                if differ != 0 {
                    return n + (differ.trailing_zeros() / 8) as usize;
                }
                n += 8;
                // Long matches are worth wider steps.
                while n >= 16 && n + 32 <= most {
                    let (p, q) = (x.add(n).cast::<[u8; 32]>(), y.add(n).cast::<[u8; 32]>());
                    if *p != *q {
                        break;
                    }
                    n += 32;
                }
            }
            while n < most && *x.add(n) == *y.add(n) {
                n += 1;
            }
        }
        n
    }

    /// How many bytes before `a` and before `b` are equal, at most `most`, `a` and `b`.
    #[inline(always)]
    pub fn common_before(&self, a: usize, b: usize, most: usize) -> usize {
        let most = most.min(a).min(b);
        if a.max(b) > self.bytes.len() {
            return 0;
        }
        let mut n = 0;
        // SAFETY: both indices stay in `0..len`.
        unsafe {
            let bytes = self.bytes.as_ptr();
            while n < most && *bytes.add(a - n - 1) == *bytes.add(b - n - 1) {
                n += 1;
            }
        }
        n
    }
}
