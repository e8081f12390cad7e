//! DELTA (id 3, docs/formats/chunk.md §3.4): XOR with the previous word, or with the first block.
//!
//! ```text
//! W = S if S in {1, 2, 4, 8}; 8 if S is another multiple of 8; else 1      n = len / W words
//! first block (and any VL block):  forward  y[0] = x[0], y[i] = x[i] ^ x[i-1]
//!                                  backward x[0] = y[0], x[i] = y[i] ^ x[i-1]
//! other blocks, both directions:   y[i] = x[i] ^ first[i]
//! the len - n*W bytes after the last word are copied
//! ```
//! `first` is the decoded data of block 0, whatever other filters there are.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, check_lengths, split_words};
use crate::arch::elementwise;
use crate::arch::{level::Level, out::Out};

const SHORT_REFERENCE: FilterError = FilterError("the reference block is shorter than the block");

/// Width in bytes of the words that are XORed, for items of `typesize` bytes.
pub const fn word(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        t if t != 0 && t & 7 == 0 => 8,
        _ => 1,
    }
}

/// Encodes one block. `reference` is `None` where this block is its own reference (block 0 of a
/// chunk, every VL block), otherwise the decoded data of block 0.
///
/// # Errors
/// `src` and `out` differ in length, or the reference is shorter than the words of `src`.
pub fn forward(
    level: Level,
    typesize: usize,
    src: &[u8],
    reference: Option<&[u8]>,
    out: Out<'_>,
) -> Result<(), FilterError> {
    check_lengths(src, &out)?;
    let w = word(typesize);
    let (words, tail) = split_words(src, w);
    match reference {
        Some(first) => xor(level, words, tail, first, out),
        None => {
            let (head, next) = words.split_at_checked(w).unwrap_or((words, &[]));
            let (mut start, rest) = out.split_at(head.len());
            start.copy_from(head);
            xor(level, next, tail, words, rest)
        }
    }
}

/// Decodes one block; see [`forward`].
///
/// # Errors
/// As [`forward`].
pub fn backward(
    level: Level,
    typesize: usize,
    src: &[u8],
    reference: Option<&[u8]>,
    out: Out<'_>,
) -> Result<(), FilterError> {
    if reference.is_some() {
        return forward(level, typesize, src, reference, out);
    }
    check_lengths(src, &out)?;
    match word(typesize) {
        2 => scan::<2>(level, src, out),
        4 => scan::<4>(level, src, out),
        8 => running([0; 8], src, out),
        _ => scan::<1>(level, src, out),
    }
    Ok(())
}

/// `out = words ^ with`, then `tail`.
fn xor(level: Level, words: &[u8], tail: &[u8], with: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    let with = with.get(..words.len()).ok_or(SHORT_REFERENCE)?;
    let (body, mut rest) = out.split_at(words.len());
    elementwise::zip::<'^'>(level, words, with, body);
    rest.copy_from(tail);
    Ok(())
}

/// Running XOR of `W`-byte words, whole registers first where `level` has them.
fn scan<const W: usize>(level: Level, src: &[u8], mut out: Out<'_>) {
    let (done, last) = elementwise::scan::<W, '^'>(level, src, &mut out);
    running::<W>(last, src.get(done..).unwrap_or(&[]), out.split_at(done).1);
}

/// Running XOR of words that goes on after `last`; the tail is copied.
fn running<const W: usize>(mut last: [u8; W], src: &[u8], out: Out<'_>) {
    elementwise::map(src, out, |word: [u8; W]| {
        for (a, b) in last.iter_mut().zip(word) {
            *a ^= b;
        }
        last
    });
}
