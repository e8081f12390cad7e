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

    /// The eight bytes at `at`; `None` where they leave the input.
    #[inline(always)]
    pub fn get64(&self, at: usize) -> Option<u64> {
        (at <= self.last).then(|| self.load64(at))
    }

    /// How many bytes from `a` and from `b` on are equal, reading none at or after `end`; `a < b`.
    #[inline(always)]
    pub fn common(&self, a: usize, b: usize, end: usize) -> usize {
        if a >= b || b > end || end > self.bytes.len() {
            return 0;
        }
        let most = end - b;
        // SAFETY: `a + most` and `b + most` are at most `end`, which is at most the length.
        unsafe {
            let (x, y) = (self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b));
            // Most matches end soon.
            if most >= 8 {
                let differ = difference(x, y, 0);
                if differ != 0 {
                    return (differ.trailing_zeros() / 8) as usize;
                }
                return long_common(x, y, most);
            }
            short_common(x, y, 0, most)
        }
    }

    /// [`common`](Self::common) of `a < b` where the words there are known to differ in the bits `diff`.
    #[inline(always)]
    pub fn common_from(&self, diff: u64, a: usize, b: usize, end: usize) -> usize {
        if diff == 0 {
            return self.common(a, b, end);
        }
        ((diff.trailing_zeros() / 8) as usize).min(end.saturating_sub(b))
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

/// Bits in which the words at `x + n` and `y + n` differ.
///
/// # Safety
/// Eight bytes are readable at both.
#[inline(always)]
unsafe fn difference(x: *const u8, y: *const u8, n: usize) -> u64 {
    // SAFETY: see above.
    let word = |p: *const u8| u64::from_le(unsafe { p.add(n).cast::<u64>().read_unaligned() });
    word(x) ^ word(y)
}

/// The common length of two strings whose first eight bytes are equal.
///
/// # Safety
/// `most` bytes, at least eight, are readable at both.
#[inline(never)]
unsafe fn long_common(x: *const u8, y: *const u8, most: usize) -> usize {
    let mut n = 8;
    // SAFETY: every read ends at or before `most`.
    unsafe {
        while n + 8 <= most {
            let differ = difference(x, y, n);
            if differ != 0 {
                return n + (differ.trailing_zeros() / 8) as usize;
            }
            n += 8;
            // Wide steps pay once it has become likely that they succeed.
            if n == 64 {
                while n + 32 <= most && *x.add(n).cast::<[u8; 32]>() == *y.add(n).cast::<[u8; 32]>() {
                    n += 32;
                }
            }
        }
        short_common(x, y, n, most)
    }
}

/// The common length of two strings that are equal up to `n` and less than eight bytes longer.
///
/// # Safety
/// `most` bytes are readable at both.
#[inline(always)]
unsafe fn short_common(x: *const u8, y: *const u8, mut n: usize, most: usize) -> usize {
    // SAFETY: `n < most`.
    while n < most && unsafe { *x.add(n) == *y.add(n) } {
        n += 1;
    }
    n
}
