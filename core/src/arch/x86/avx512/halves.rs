//! Splits for CPUs that execute AVX-512 in halves: two registers are permuted to one there as fast as one register is, so
//! planes worked out twice cost more than lines stored away from each other do.

use super::super::intrinsics::*;
use super::registers::{BLOCK, INDICES, SPLIT, load, store, transpose, transpose_words};

/// Widest item whose last four planes are all in the last 64 bytes of four items.
pub(super) const NARROW: usize = 20;

/// Indices into these bytes: plane by plane of the last four, an item each, the same in every lane.
#[repr(align(64))]
struct LastFour([u8; 64]);

/// For each of the widths from 17 on.
static LAST_FOUR: [LastFour; NARROW - 16] = {
    let mut all = [const { LastFour([0; 64]) }; NARROW - 16];
    let mut k = 0;
    while k < all.len() {
        let (width, mut at) = (17 + k, 0);
        while at < 64 {
            let (plane, item) = (width - 4 + at / 4 % 4, at % 4);
            all[k].0[at] = (item * width + plane + 64 - 4 * width) as u8;
            at += 1;
        }
        k += 1;
    }
    all
};

/// Splits `n >= BLOCK` items of 17 to [`NARROW`] bytes: the first 16 planes as of items of 32 bytes, the last four by a permute
/// for each group of four items, into the lane that the group has in them.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn split_narrow(width: usize, n: usize, src: *const u8, dst: *mut u8, pitch: usize) {
    let group = 4 * width;
    // SAFETY: blocks end at or before item `n`, the last one overlapping the one before; loads end with their group.
    unsafe {
        let [index, _] = INDICES[width.min(NARROW)][SPLIT].load();
        let last_index = load(LAST_FOUR[(width - 17) % LAST_FOUR.len()].0.as_ptr());
        let mut next = 0;
        while next < n {
            let i = next.min(n - BLOCK);
            let from = src.add(i * width);
            let mut planes = [index; 16];
            let mut last_planes = [index; 4];
            let mut word = 0;
            while word < 4 {
                let mut lane = 0;
                while lane < 4 {
                    let at = from.wrapping_add((4 * lane + word) * group);
                    let (first, last) = (load(at), load(at.add(group - 64)));
                    planes[4 * lane + word] = _mm512_permutex2var_epi8(first, index, last);
                    last_planes[word] = if lane == 0 {
                        _mm512_permutexvar_epi8(last_index, last)
                    } else {
                        let mask = 0xffff << (16 * lane);
                        _mm512_mask_permutexvar_epi8(last_planes[word], mask, last_index, last)
                    };
                    lane += 1;
                }
                word += 1;
            }
            let planes = transpose(planes);
            let last_planes = transpose_words(last_planes);
            let mut to = dst.add(i);
            let mut j = 0;
            while j < 16 {
                store(to, planes[j]);
                to = to.wrapping_add(pitch);
                j += 1;
            }
            let mut j = 0;
            while j < 4 {
                if j + width >= NARROW {
                    store(to, last_planes[j]);
                    to = to.wrapping_add(pitch);
                }
                j += 1;
            }
            next += BLOCK;
        }
    }
}
