//! [`History`]: what an LZ4 or zlib encoder may refer to: its input and, before that, a dictionary.
//!
//! ```text
//! dictionary          input
//! +------------------+--------------------------+
//! 0                  base                        positions, as tables know them
//!                    0                           offsets in the input
//! ```

use crate::arch::search::lookahead::{Lookahead, PrefetchedWords};
use crate::arch::search::words::Words;

/// Input and dictionary. Without a dictionary (`DICT` false) it costs nothing.
#[derive(Clone, Copy)]
pub(super) struct History<'a, const DICT: bool> {
    src: &'a [u8],
    words: Words<'a>,
    dict: &'a [u8],
    /// Words of the dictionary, if it has any.
    before: Option<Words<'a>>,
}

impl<'a, const DICT: bool> History<'a, DICT> {
    /// `None` where `src` is shorter than a word.
    pub(super) fn new(src: &'a [u8], dict: &'a [u8]) -> Option<Self> {
        let dict = if DICT { dict } else { &[] };
        Some(History { src, words: Words::new(src)?, dict, before: Words::new(dict) })
    }

    /// The position of the input's first byte.
    #[inline(always)]
    pub(super) fn base(&self) -> usize {
        if DICT { self.dict.len() } else { 0 }
    }

    /// The position after the input's last byte.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.base() + self.src.len()
    }

    /// The word at offset `p` of the input.
    #[inline(always)]
    pub(super) fn word(&self, p: usize) -> u64 {
        self.words.load64(p)
    }

    /// The word at a position; `None` where it is not all in the input or all in the dictionary.
    #[inline(always)]
    pub(super) fn word_at(&self, position: usize) -> Option<u64> {
        match position.checked_sub(self.base()) {
            Some(p) => Some(self.words.load64(p)),
            None if position + 8 > self.base() => None,
            None => Some(self.before.as_ref()?.load64(position)),
        }
    }

    /// How many bytes from `position` and from offset `p` on are equal, reading none at or after offset `end`.
    #[inline(always)]
    pub(super) fn common(&self, position: usize, p: usize, end: usize) -> usize {
        match position.checked_sub(self.base()) {
            Some(q) => self.words.common(q, p, end),
            None => self.common_with_dict(position, p, end),
        }
    }

    /// [`common`](Self::common), for strings whose common length is not predictable.
    #[inline(always)]
    pub(super) fn common_any(&self, position: usize, p: usize, end: usize) -> usize {
        match position.checked_sub(self.base()) {
            Some(q) => self.words.common_any(q, p, end),
            None => self.common_with_dict(position, p, end),
        }
    }

    /// [`common`](Self::common) where the words there are known to differ in the bits `differ`.
    #[cfg(feature = "lz4")]
    #[inline(always)]
    pub(super) fn common_from(&self, differ: u64, position: usize, p: usize, end: usize) -> usize {
        match position.checked_sub(self.base()) {
            // Most of these end within the next word.
            Some(q) if differ == 0 => (8 + self.words.common(q + 8, p + 8, end)).min(end - p),
            Some(q) => self.words.common_from(differ, q, p, end),
            None => self.common_with_dict(position, p, end),
        }
    }

    /// What lies around offset `p`, to be compared with many earlier positions: `most` bytes before it count and those
    /// before `end`. `None` too near either end, and where there is a dictionary.
    #[inline(always)]
    pub(super) fn around(&self, p: usize, most: usize, end: usize) -> Option<PrefetchedWords<'a>> {
        if DICT { None } else { self.words.around(p, most, end) }
    }

    /// The words at `p` and after it, loaded ahead.
    #[inline(always)]
    pub(super) fn ahead(&self, p: usize, end: usize) -> Option<Lookahead<'a>> {
        if DICT { None } else { self.words.ahead(p, end) }
    }

    #[inline(never)]
    fn common_with_dict(&self, position: usize, p: usize, end: usize) -> usize {
        let (Some(old), Some(new)) = (self.dict.get(position..), self.src.get(p..end)) else { return 0 };
        let n = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        if n < old.len() { n } else { n + self.words.common(0, p + n, end) }
    }

    /// How many bytes before `position` and before offset `p` are equal, at most `most`.
    #[inline(always)]
    pub(super) fn common_before(&self, position: usize, p: usize, most: usize) -> usize {
        match position.checked_sub(self.base()) {
            Some(q) => self.words.common_before(q, p, most),
            None => {
                let old = self.dict.get(..position).unwrap_or(&[]).iter().rev();
                let new = self.src.get(..p).unwrap_or(&[]).iter().rev().take(most);
                old.zip(new).take_while(|(a, b)| a == b).count()
            }
        }
    }
}
