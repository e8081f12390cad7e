//! Copy, read and write speed of this machine, with its widest registers, in safe code.
//!
//! `pulp` runs a closure-like type with the widest vectors the CPU has. The exclusive-or with a value the
//! compiler cannot see keeps LLVM from turning the copy loop into a call of libc's memcpy, which is
//! measured beside it as a row of its own; it costs one register operation a vector.

use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Copies `src` to the start of `dst` with our widest loop.
pub fn copy(arch: Arch, src: &[u8], dst: &mut [u8]) -> usize {
    let n = src.len().min(dst.len());
    arch.dispatch(Copy { src: &src[..n], dst: &mut dst[..n], key: black_box(0) });
    n
}

/// Reads every byte of `src`.
pub fn read(arch: Arch, src: &[u8]) -> u64 {
    arch.dispatch(Read { src })
}

/// Writes every byte of `dst`.
pub fn write(arch: Arch, dst: &mut [u8]) {
    arch.dispatch(Write { dst, value: black_box(7) });
}

struct Copy<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    key: u8,
}

impl WithSimd for Copy<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let key = simd.splat_u8s(self.key);
        let (src, src_tail) = S::as_simd_u8s(self.src);
        let (dst, dst_tail) = S::as_mut_simd_u8s(self.dst);
        let ((src, src_rest), (dst, dst_rest)) = (src.as_chunks::<4>(), dst.as_chunks_mut::<4>());
        for (d, s) in dst.iter_mut().zip(src) {
            let [a, b, c, e] = *s;
            *d = [simd.xor_u8s(a, key), simd.xor_u8s(b, key), simd.xor_u8s(c, key), simd.xor_u8s(e, key)];
        }
        for (d, s) in dst_rest.iter_mut().zip(src_rest) {
            *d = simd.xor_u8s(*s, key);
        }
        for (d, s) in dst_tail.iter_mut().zip(src_tail) {
            *d = *s ^ self.key;
        }
    }
}

struct Read<'a> {
    src: &'a [u8],
}

impl WithSimd for Read<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let (src, tail) = S::as_simd_u8s(self.src);
        let (src, rest) = src.as_chunks::<4>();
        let mut sum = [simd.splat_u8s(0); 4];
        for s in src {
            let [a, b, c, e] = *s;
            let [w, x, y, z] = sum;
            sum = [simd.xor_u8s(a, w), simd.xor_u8s(b, x), simd.xor_u8s(c, y), simd.xor_u8s(e, z)];
        }
        for s in rest {
            sum[0] = simd.xor_u8s(sum[0], *s);
        }
        black_box(sum);
        tail.iter().map(|b| u64::from(*b)).sum()
    }
}

struct Write<'a> {
    dst: &'a mut [u8],
    value: u8,
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let value = simd.splat_u8s(self.value);
        // Not one byte pattern all over, or the loop becomes a call of memset.
        let other = simd.splat_u8s(self.value ^ black_box(1));
        let (dst, tail) = S::as_mut_simd_u8s(self.dst);
        let (dst, rest) = dst.as_chunks_mut::<4>();
        for d in dst {
            *d = [value, other, value, other];
        }
        rest.fill(value);
        tail.fill(self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_every_byte() {
        for n in [0, 1, 63, 64, 255, 256, 257, 5000] {
            let src = crate::data::generate::random_bytes(n);
            let mut dst = vec![0; n];
            assert_eq!(copy(Arch::new(), &src, &mut dst), n);
            assert_eq!(src, dst);
            read(Arch::new(), &src);
            write(Arch::new(), &mut dst);
            assert!(n == 0 || dst != src);
        }
    }
}
