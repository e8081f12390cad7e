//! What only some CPUs choose is right on all that can run it.

use super::bytes::split_in_phases;
use super::registers::{BLOCK, INDICES};
use super::{bits, eights, halves, staged};
use crate::arch::vector::Split;
use crate::filter::bitshuffle::bitshuffle;
use crate::filter::shuffle::shuffle;
use crate::{Isa, Level};
use std::vec;
use std::vec::Vec;

type Kernel<'a> = &'a dyn Fn(*const u8, *mut u8);

/// Whether `kernel` makes of random bytes what `right` does, and writes no others.
fn agrees(len: usize, right: impl Fn(&[u8], &mut [u8]), kernel: Kernel) {
    const AROUND: usize = 64;
    let mut seed = 1_u32;
    let mut byte = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let src: Vec<u8> = (0..len).map(|_| byte()).collect();
    let mut want = vec![0x5a; len + 2 * AROUND];
    let mut got = want.clone();
    right(&src, &mut want[AROUND..AROUND + len]);
    kernel(src.as_ptr(), got[AROUND..].as_mut_ptr());
    assert!(got == want, "{len} bytes");
}

fn can_run() -> bool {
    let can = Level::new(Isa::Avx512).is_some();
    if !can {
        std::println!("skipped: no AVX-512");
    }
    can
}

#[test]
fn splits_for_either_kind_of_cpu() {
    if !can_run() {
        return;
    }
    for (width, [indices, ..]) in INDICES.iter().enumerate().skip(9) {
        for n in [BLOCK, BLOCK + 1, 1000, 4096, 4173, 8192] {
            let right =
                |src: &[u8], dst: &mut [u8]| shuffle(Level::SCALAR, width, src, dst).expect("lengths");
            let check = |kernel: unsafe fn(usize, usize, *const u8, *mut u8, usize)| {
                // SAFETY: the CPU has the instructions; `n` items on both sides.
                agrees(n * width, right, &|src, dst| unsafe { kernel(width, n, src, dst, n) });
            };
            // SAFETY: `can_run` found the instructions; `agrees` gives `n` items on both sides.
            agrees(n * width, right, &|src, dst| unsafe {
                if width > 16 {
                    split_in_phases::<16>(width, n, src, dst, n, indices);
                } else {
                    split_in_phases::<8>(width, n, src, dst, n, indices);
                }
            });
            if (17..=eights::WIDEST).contains(&width) {
                check(eights::split);
            }
            if (17..=halves::NARROW).contains(&width) {
                check(halves::split_narrow);
            }
            if n >= 512 {
                agrees(n * width, right, &|src, dst| {
                    let job = Split { width, stride: width, n, src, readable: n * width, dst, pitch: n };
                    // SAFETY: the CPU has the instructions; `n` items on both sides.
                    unsafe { staged::split_crowded(job) }
                });
            }
        }
    }
}

#[test]
fn bit_transpositions_for_either_kind_of_cpu() {
    if !can_run() {
        return;
    }
    for width in 2..=16 {
        for items in [4096, 4104, 8192, 10_000] {
            for (kernel, least, most) in bits::VARIANTS {
                if (least..=most).contains(&width) {
                    let right = |src: &[u8], dst: &mut [u8]| {
                        bitshuffle(Level::SCALAR, width, src, dst).expect("lengths")
                    };
                    // SAFETY: the CPU has the instructions; `items` items on both sides, a multiple of 8.
                    agrees(items * width, right, &|src, dst| unsafe { kernel(width, items, src, dst) });
                }
            }
        }
    }
}
