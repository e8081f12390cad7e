//! Kernels of every level that Miri can execute.

use super::exact;
use crate::common::Rng;
use blosc_core::Level;
use blosc_core::filter::bitshuffle::{bitshuffle, bitunshuffle};
use blosc_core::filter::blocksplit::{Plane, Planes, Stores, join, split};
use blosc_core::filter::shuffle::{shuffle, unshuffle};

#[test]
fn kernels() {
    let mut rng = Rng::new(8);
    for width in [2usize, 3, 4, 7, 8, 12, 16, 17, 33] {
        for items in [1usize, 33, 65, 264] {
            if items == 264 && width > 4 {
                continue;
            }
            let tail = rng.below(width);
            let src: Vec<u8> = (0..items * width + tail).map(|_| rng.next() as u8).collect();
            let src = exact(&src);
            for level in Level::available() {
                let mut a = vec![0; src.len()].into_boxed_slice();
                let mut b = vec![0; src.len()].into_boxed_slice();
                shuffle(level, width, &src, &mut a[..]).unwrap();
                unshuffle(level, width, &a, &mut b[..]).unwrap();
                assert_eq!(b, src);
                {
                    bitshuffle(level, width, &src, &mut a[..]).unwrap();
                    bitunshuffle(level, width, &a, &mut b[..]).unwrap();
                    assert_eq!(b, src);
                }
            }
        }
    }
}

#[test]
fn kernels_split_join() {
    let mut rng = Rng::new(8);
    for width in [2usize, 3, 8, 11, 16, 20] {
        for n in [1usize, 17, 70] {
            let pitch = n + rng.below(70);
            let src: Vec<u8> = (0..n * width).map(|_| rng.next() as u8).collect();
            let src = exact(&src);
            for level in Level::available() {
                let mut planes = vec![1; (width - 1) * pitch + n].into_boxed_slice();
                split(level, width, &src, &mut planes[..], pitch).unwrap();
                for stores in [Stores::Cached, Stores::Streaming] {
                    let mut out = vec![0; src.len()].into_boxed_slice();
                    join(level, width, Planes::Pitched { bytes: &planes, pitch }, &mut out[..], stores)
                        .unwrap();
                    assert_eq!(out, src);
                    let own: Vec<Box<[u8]>> = (0..width).map(|j| exact(&planes[j * pitch..][..n])).collect();
                    let each: Vec<Plane> = own
                        .iter()
                        .enumerate()
                        .map(|(j, p)| if j % 5 == 4 { Plane::Constant(3) } else { Plane::Bytes(p) })
                        .collect();
                    join(level, width, Planes::Each(&each), &mut out[..], stores).unwrap();
                }
            }
        }
    }
}
