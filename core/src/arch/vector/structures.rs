//! Splits and joins for CPUs whose loads take items of 2 to 4 bytes apart, and whose stores put them together (NEON).

use super::registers::Vector;

/// Bytes of the items that loads take apart, for items of `width` bytes; 0 if there are none.
pub(super) const fn structure(width: usize) -> usize {
    match width {
        2 => 2,
        3 | 6 | 12 => 3,
        4 | 8 => 4,
        _ => 0,
    }
}

/// One block of items of `W` bytes as planes, by loads that take `N` bytes apart: byte `k` of every `N` of the items is plane
/// `k`, `k + N`, ... by turns, and unzipping takes these apart.
///
/// # Safety
/// The CPU; `V::BYTES * W` readable bytes.
#[inline(always)]
pub(super) unsafe fn load_planes_of<V: Vector, const W: usize, const P: usize, const N: usize>(
    src: *const u8,
) -> [V; P] {
    // SAFETY: by the contract `V::BYTES * W` bytes are readable: `V::BYTES * N` for each of `W / N` loads.
    unsafe {
        let first = V::load_structures::<N>(src);
        let mut planes = [first[0]; P];
        if W == N {
            let mut k = 0;
            while k < N {
                planes[k] = first[k];
                k += 1;
            }
        } else if W == 2 * N {
            let second = V::load_structures::<N>(src.add(V::BYTES * N));
            let mut k = 0;
            while k < N {
                (planes[k], planes[k + N]) = V::unzip(first[k], second[k]);
                k += 1;
            }
        } else {
            let second = V::load_structures::<N>(src.add(V::BYTES * N));
            let third = V::load_structures::<N>(src.add(V::BYTES * 2 * N));
            let fourth = V::load_structures::<N>(src.add(V::BYTES * 3 * N));
            let mut k = 0;
            while k < N {
                let ((a, b), (c, d)) = (V::unzip(first[k], second[k]), V::unzip(third[k], fourth[k]));
                (planes[k], planes[k + 2 * N]) = V::unzip(a, c);
                (planes[k + N], planes[k + 3 * N]) = V::unzip(b, d);
                k += 1;
            }
        }
        planes
    }
}

/// The inverse of [`load_planes_of`].
///
/// # Safety
/// The CPU; `V::BYTES * W` writable bytes.
#[inline(always)]
pub(super) unsafe fn store_planes_of<V: Vector, const W: usize, const P: usize, const N: usize>(
    r: [V; P],
    dst: *mut u8,
) {
    // SAFETY: by the contract `V::BYTES * W` bytes are writable: `V::BYTES * N` for each of `W / N` stores.
    unsafe {
        let mut parts = [[r[0]; 4]; 4];
        let mut k = 0;
        while k < N {
            if W == N {
                parts[0][k] = r[k];
            } else if W == 2 * N {
                (parts[0][k], parts[1][k]) = V::zip::<1>(r[k], r[k + N]);
            } else {
                let (a, c) = V::zip::<1>(r[k], r[k + 2 * N]);
                let (b, d) = V::zip::<1>(r[k + N], r[k + 3 * N]);
                (parts[0][k], parts[1][k]) = V::zip::<1>(a, b);
                (parts[2][k], parts[3][k]) = V::zip::<1>(c, d);
            }
            k += 1;
        }
        let mut part = 0;
        while part < W / N {
            V::store_structures::<N>(parts[part], dst.add(part * V::BYTES * N));
            part += 1;
        }
    }
}
