//! Element-wise maps and running results over bytes: what delta, trunc_prec, int_trunc and bytedelta are made of.
//!
//! ```text
//! zip  : out[i] = a[i] OP b[i]            OP is ^ or -, byte by byte
//! and  : out[i] = src[i] & mask[i mod 8]  byte by byte
//! scan : out[i] = src[i] OP out[i - 1]    OP is ^ of words, or + of bytes
//! map  : out[i] = f(src[i])               for every whole word, in order; the rest is copied
//! ```
//! All but `map` are written once for registers of any CPU ([`registers`]). A token of `pulp` stands for those of one
//! (`token`): with it at hand intrinsics are safe to call. Bytes that fill no register are done in plain Rust.
//!
//! Long maps begin with as many bytes as lie before the first place for a whole register. Reads may straddle two lines
//! of the cache, stores of 32 bytes that do so cost a fifth of the speed; which is why AVX-512 gains nothing here.

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64;
mod registers;
mod scan;
#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod token;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod x86;

/// No registers to work with in this build.
#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod token {
    pub(super) fn run<W: super::Work>(_: crate::arch::level::Level, work: W) -> W::Output {
        work.plain()
    }
}

pub(crate) use scan::scan;

use crate::arch::level::Level;
use crate::arch::out::Out;
use registers::{Lanes, Plain, Registers, Work, combine, split};

/// Registers from which on it pays to begin with single bytes, so that all are stored at multiples of their size.
const LONG: usize = 32;

/// The number of those bytes.
#[inline(always)]
fn head<const N: usize>(len: usize, out: &Out<'_>) -> usize {
    if len >= LONG * N { out.before_multiple_of(N) } else { 0 }
}

/// `out = a OP b` byte by byte, with `OP` one of `^` and `-`. Stops at the shortest of the three.
#[inline]
pub(crate) fn zip<const OP: char>(level: Level, a: &[u8], b: &[u8], out: Out<'_>) {
    token::run(level, Zip::<'_, OP>(a, b, out));
}

struct Zip<'a, const OP: char>(&'a [u8], &'a [u8], Out<'a>);

impl<const OP: char> Zip<'_, OP> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len().min(self.1.len()).min(self.2.len())
    }

    /// Does at most `most` registers, and gives back the rest.
    #[inline(always)]
    fn registers<const N: usize, R: Registers<N>>(self, with: R, most: usize) -> Self {
        let count = most.min(self.len() / N);
        let Zip(a, b, out) = self;
        let ((a, a_rest), (b, b_rest)) = (split(a, count * N), split(b, count * N));
        let (places, rest) = out.places::<N>(count);
        for ((a, b), place) in a.as_chunks().0.iter().zip(b.as_chunks().0).zip(places) {
            place.write(with.store(combine::<OP, N, R>(with, with.load(*a), with.load(*b))));
        }
        Zip(a_rest, b_rest, rest)
    }
}

impl<const OP: char> Work for Zip<'_, OP> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, L: Lanes<N>>(self, with: L) {
        let head = head::<N>(self.len(), &self.2);
        let body = self.registers::<1, Plain>(Plain, head);
        body.registers::<N, L>(with, usize::MAX).registers::<1, Plain>(Plain, usize::MAX);
    }

    #[inline(always)]
    fn plain(self) {
        // Arrays of a known size, or the compiler does not vectorise this.
        self.registers::<64, Plain>(Plain, usize::MAX).registers::<1, Plain>(Plain, usize::MAX);
    }
}

/// Every byte ANDed with one of `mask`, in turn from the lowest. Stops at the shorter of `src` and `out`.
#[inline]
pub(crate) fn and(level: Level, src: &[u8], mask: u64, out: Out<'_>) {
    token::run(level, And(src, mask, out));
}

struct And<'a>(&'a [u8], u64, Out<'a>);

impl And<'_> {
    /// Does the whole registers, and gives back the rest.
    #[inline(always)]
    fn registers<const N: usize, R: Registers<N>>(self, with: R) -> Self {
        const { assert!(N.is_multiple_of(8)) };
        let And(src, mask, out) = self;
        let count = src.len().min(out.len()) / N;
        let mut masks = [0; N];
        masks.as_chunks_mut().0.fill(mask.to_le_bytes());
        let masks = with.load(masks);
        let (src, src_rest) = split(src, count * N);
        let (places, rest) = out.places::<N>(count);
        for (bytes, place) in src.as_chunks().0.iter().zip(places) {
            place.write(with.store(with.and(with.load(*bytes), masks)));
        }
        And(src_rest, mask, rest)
    }

    /// Does at most `most` bytes, and gives back the rest.
    #[inline(always)]
    fn bytes(self, most: usize) -> Self {
        let And(src, mut mask, out) = self;
        let count = most.min(src.len().min(out.len()));
        let (src, src_rest) = split(src, count);
        let (places, rest) = out.places::<1>(count);
        for (byte, place) in src.iter().zip(places) {
            let [lowest, ..] = mask.to_le_bytes();
            place.write([byte & lowest]);
            mask = mask.rotate_right(8);
        }
        And(src_rest, mask, rest)
    }
}

impl Work for And<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, L: Lanes<N>>(self, with: L) {
        let head = head::<N>(self.0.len(), &self.2);
        self.bytes(head).registers::<N, L>(with).bytes(usize::MAX);
    }

    #[inline(always)]
    fn plain(self) {
        self.registers::<8, Plain>(Plain).bytes(usize::MAX);
    }
}

/// `out = f(src)` word by word in order, so that `f` may carry a value; bytes after the last whole word are copied.
/// Stops at the shorter of the two.
#[inline(always)]
pub(crate) fn map<const N: usize>(src: &[u8], out: Out<'_>, mut f: impl FnMut([u8; N]) -> [u8; N]) {
    let count = src.len().min(out.len()) / N;
    let (places, mut rest) = out.places::<N>(count);
    for (word, place) in src.as_chunks().0.iter().zip(places) {
        place.write(f(*word));
    }
    rest.copy_from(src.get(count * N..).unwrap_or(&[]));
}
