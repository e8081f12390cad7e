//! Registers of 64 bytes: loads and stores, transpositions, and the indices of the byte permutes.

use super::super::intrinsics::*;
use core::mem::MaybeUninit;

pub(super) type Zmm = __m512i;

/// Items of a block: a register of each plane.
pub(super) const BLOCK: usize = 64;

/// Bytes of items whose planes are split in phases: they are read again from the L1 cache.
pub(super) const PHASE: usize = 16 << 10;

/// Planes at a multiple of this distance crowd the same cache sets.
pub(super) const SHARED: usize = 2048;

/// Two index registers.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Indices([[u8; 64]; 2]);

impl Indices {
    /// The first and the last `R` planes out of a group of items; every 8 items in reverse, if asked.
    pub(super) const fn split(width: usize, reverse: bool) -> Indices {
        let r = width.next_power_of_two() / 2;
        let (items, len) = (64 / r, 64 / r * width);
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let (unit, item) = (at / items, at % items);
            let plane = if unit < r { unit } else { unit + width - 2 * r };
            let from = (if reverse { item ^ 7 } else { item }) * width + plane;
            to[at / 64][at % 64] = if from < 64 { from } else { 128 + from - len } as u8;
            at += 1;
        }
        Indices(to)
    }

    /// The first and the last 64 bytes of a group of items, out of its first and last `R` planes.
    pub(super) const fn join(width: usize) -> Indices {
        let r = width.next_power_of_two() / 2;
        let (items, len) = (64 / r, 64 / r * width);
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let byte = if at < 64 { at } else { len + at - 128 };
            let (plane, item) = (byte % width, byte / width);
            let unit = if plane < r { plane } else { plane + 2 * r - width };
            to[at / 64][at % 64] = (unit * items + item) as u8;
            at += 1;
        }
        Indices(to)
    }

    /// The first and the last 64 bytes of four items of 17 to [`NARROW`] bytes, the first or the last four of eight: out of
    /// 16 planes of four and the last 8 planes of eight.
    pub(super) const fn join_narrow(width: usize, last_four: bool) -> Indices {
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let byte = if at < 64 { at } else { 4 * width + at - 128 };
            let (plane, item) = (byte % width, byte / width);
            to[at / 64][at % 64] = if plane < 16 {
                4 * plane + item
            } else {
                64 + 8 * (plane + 8 - width) + if last_four { 4 + item } else { item }
            } as u8;
            at += 1;
        }
        Indices(to)
    }

    #[inline(always)]
    pub(super) unsafe fn load(&self) -> [Zmm; 2] {
        // SAFETY: 64 bytes each, aligned.
        unsafe {
            [_mm512_load_si512(self.0[0].as_ptr().cast()), _mm512_load_si512(self.0[1].as_ptr().cast())]
        }
    }
}

/// Widest item that is permuted here.
pub(super) const WIDEST: usize = 32;

/// Items of 17 to this many bytes are joined out of their first 16 and their last 8 planes, not their last 16: a quarter of the
/// permutes less. Splitting them so would take a third load for each register.
pub(super) const NARROW: usize = 24;

/// The indices of a join for each of these widths.
pub(super) static NARROW_JOIN: [[Indices; 2]; NARROW - 16] = {
    let mut all = [[Indices([[0; 64]; 2]); 2]; NARROW - 16];
    let mut k = 0;
    while k < all.len() {
        all[k] = [Indices::join_narrow(17 + k, false), Indices::join_narrow(17 + k, true)];
        k += 1;
    }
    all
};

/// For each width: split; split with every 8 items in reverse; join.
pub(super) static INDICES: [[Indices; 3]; WIDEST + 1] = {
    let mut all = [[Indices([[0; 64]; 2]); 3]; WIDEST + 1];
    let mut width = 2;
    while width <= WIDEST {
        all[width] = [Indices::split(width, false), Indices::split(width, true), Indices::join(width)];
        width += 1;
    }
    all
};
pub(super) const SPLIT: usize = 0;
pub(super) const SPLIT_REVERSE: usize = 1;
pub(super) const JOIN: usize = 2;

/// # Safety
/// 64 bytes at `p` are readable; the CPU has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn load(p: *const u8) -> Zmm {
    // SAFETY: 64 bytes at `p` are readable, as the caller vouches; the load needs no alignment.
    unsafe { _mm512_loadu_si512(p.cast()) }
}

#[inline(always)]
pub(super) unsafe fn store(p: *mut u8, z: Zmm) {
    // SAFETY: 64 bytes at `p` are writable, as the caller vouches; the store needs no alignment.
    unsafe { _mm512_storeu_si512(p.cast(), z) }
}

/// How far ahead of a block's part of a plane the plane is brought near.
pub(super) const AHEAD: usize = 3 * BLOCK - 1;

/// Stores a block's part of a plane, and brings the plane's line near that is `AWAY` bytes from there.
///
/// A store across two lines asks for the second only when it is its turn, and waits for it: Intel's CPUs took twice the time.
///
/// # Safety
/// 64 bytes at `p` are writable; the CPU has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn store_ahead<const AWAY: usize>(p: *mut u8, z: Zmm) {
    // SAFETY: by the contract 64 bytes at `p` are writable; a hint may name any address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(AWAY).cast());
        store(p, z);
    }
}

/// Transposes four registers of four lanes.
#[inline(always)]
pub(super) unsafe fn transpose_lanes([a, b, c, d]: [Zmm; 4]) -> [Zmm; 4] {
    // SAFETY: these instructions touch registers alone, and the caller runs on a CPU with AVX-512.
    unsafe {
        let (ab_low, ab_high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
        let (cd_low, cd_high) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
        ]
    }
}

/// Transposes the four words of 4 bytes in each lane of four registers.
///
/// # Safety
/// The CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(super) unsafe fn transpose_words([a, b, c, d]: [Zmm; 4]) -> [Zmm; 4] {
    // SAFETY: these instructions touch registers alone, and the caller runs on a CPU with AVX-512.
    unsafe {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes `R` registers of `R` units of `64 / R` bytes; `R` is 1, 2, 4, 8 or 16.
///
/// # Safety
/// The CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(super) unsafe fn transpose<const R: usize>(r: [Zmm; R]) -> [Zmm; R] {
    let mut out = r;
    // SAFETY: these instructions touch registers alone, and the caller runs on a CPU with AVX-512.
    unsafe {
        match R {
            2 => {
                out[0] = _mm512_shuffle_i64x2::<0x44>(r[0], r[1]);
                out[1] = _mm512_shuffle_i64x2::<0xee>(r[0], r[1]);
            }
            4 => {
                let lanes = transpose_lanes([r[0], r[1], r[2], r[3]]);
                let mut k = 0;
                while k < 4 {
                    out[k] = lanes[k];
                    k += 1;
                }
            }
            8 => {
                // Lane l of `pairs[c][i]`: unit 2 l + c of registers 2 i and 2 i + 1.
                let mut pairs = [[r[0]; 4]; 2];
                let mut i = 0;
                while i < 4 {
                    pairs[0][i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
                    pairs[1][i] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
                    i += 1;
                }
                let mut c = 0;
                while c < 2 {
                    let lanes = transpose_lanes(pairs[c]);
                    let mut k = 0;
                    while k < 4 {
                        out[2 * k + c] = lanes[k];
                        k += 1;
                    }
                    c += 1;
                }
            }
            16 => {
                // Lane l of `fours[c][i]`: unit 4 l + c of registers 4 i .. 4 i + 4.
                let mut fours = [[r[0]; 4]; 4];
                let mut i = 0;
                while i < 4 {
                    let words = transpose_words([r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]]);
                    let mut c = 0;
                    while c < 4 {
                        fours[c][i] = words[c];
                        c += 1;
                    }
                    i += 1;
                }
                let mut c = 0;
                while c < 4 {
                    let lanes = transpose_lanes(fours[c]);
                    let mut k = 0;
                    while k < 4 {
                        out[4 * k + c] = lanes[k];
                        k += 1;
                    }
                    c += 1;
                }
            }
            _ => {}
        }
    }
    out
}

/// `R` planes of a block whose groups have `len` bytes.
///
/// # Safety
/// `R` groups of `len >= 64` bytes at `src` are readable; the CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(super) unsafe fn half_of_planes<const R: usize>(src: *const u8, len: usize, index: Zmm) -> [Zmm; R] {
    // SAFETY: by the contract the first and last 64 bytes of each group are readable.
    unsafe {
        let mut r = [index; R];
        let mut group = src;
        let mut g = 0;
        while g < R {
            r[g] = _mm512_permutex2var_epi8(load(group), index, load(group.add(len - 64)));
            group = group.add(len);
            g += 1;
        }
        transpose(r)
    }
}

/// TileBuffer for planes, those of a join a line further apart than they are long.
#[repr(align(64))]
pub(super) struct TileBuffer<const BYTES: usize>(pub(super) MaybeUninit<[u8; BYTES]>);
