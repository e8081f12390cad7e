//! The element-wise filters: known bytes, tails, legal ranges, and round trips at every level.

use blosc_core::filter::{FilterError, delta, trunc_prec};
use blosc_core::{Level, Out};
use proptest::prelude::*;

type Kernel<'a> = &'a dyn Fn(Level, &[u8], Out<'_>) -> Result<(), FilterError>;

/// Runs `kernel` at every level, into memory surrounded by guard bytes; all levels must agree.
fn run(src: &[u8], kernel: Kernel) -> Vec<u8> {
    let mut agreed: Option<Vec<u8>> = None;
    for level in Level::available() {
        let mut memory = vec![0xA5; src.len() + 64];
        let place = &mut memory[32..32 + src.len()];
        kernel(level, src, Out::from(place)).expect("legal parameters");
        assert!(memory[..32].iter().chain(&memory[32 + src.len()..]).all(|&b| b == 0xA5), "{level:?} strays");
        let got = memory[32..32 + src.len()].to_vec();
        match &agreed {
            Some(first) => assert!(*first == got, "{level:?} differs from the scalar form"),
            None => agreed = Some(got),
        }
    }
    agreed.expect("there is always a scalar level")
}

#[test]
fn delta_of_the_first_block_chains_words_and_copies_the_tail() {
    let x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let y = run(&x, &|l, s, o| delta::forward(l, 4, s, None, o));
    assert_eq!(y, [1, 2, 3, 4, 5 ^ 1, 6 ^ 2, 7 ^ 3, 8 ^ 4, 9, 10, 11]);
    assert_eq!(run(&y, &|l, s, o| delta::backward(l, 4, s, None, o)), x);
}

#[test]
fn delta_of_later_blocks_refers_to_the_first() {
    let first = [0x11; 12];
    let x = [1, 2, 3, 4, 5, 6, 7];
    let y = run(&x, &|l, s, o| delta::forward(l, 2, s, Some(&first), o));
    assert_eq!(y, [0x10, 0x13, 0x12, 0x15, 0x14, 0x17, 7]);
    assert_eq!(run(&y, &|l, s, o| delta::backward(l, 2, s, Some(&first), o)), x);
}

#[test]
fn delta_words_follow_the_typesize() {
    for (typesize, word) in
        [(1, 1), (2, 2), (3, 1), (4, 4), (6, 1), (8, 8), (12, 1), (16, 8), (24, 8), (255, 1)]
    {
        assert_eq!(delta::word(typesize), word, "typesize {typesize}");
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let mut out = [0; 9];
    assert!(delta::forward(Level::SCALAR, 4, &[0; 8], None, Out::from(&mut out)).is_err());
    assert!(delta::backward(Level::SCALAR, 4, &[0; 10], None, Out::from(&mut out)).is_err());
    assert!(delta::backward(Level::SCALAR, 4, &[0; 9], Some(&[0; 7]), Out::from(&mut out)).is_err());
    assert!(delta::backward(Level::SCALAR, 4, &[0; 9], Some(&[0; 8]), Out::from(&mut out)).is_ok());
}

#[test]
fn trunc_prec_keeps_what_its_meta_says() {
    for p in 0..=255u8 {
        let signed = i16::from(p as i8);
        for (typesize, mantissa) in [(4, 23), (8, 52)] {
            let legal = (1..=mantissa).contains(&signed) || (1 - mantissa..=-1).contains(&signed);
            let cleared = if signed > 0 { mantissa - signed } else { -signed };
            match trunc_prec::cleared_bits(typesize, p) {
                Ok(z) => assert!(legal && i16::from(z) == cleared, "p = {signed}"),
                Err(_) => assert!(!legal, "p = {signed}"),
            }
        }
    }
    for typesize in [0, 1, 2, 3, 5, 16] {
        assert!(trunc_prec::cleared_bits(typesize, 5).is_err());
    }
    let mut x = Vec::new();
    for v in [1.1f32, -3.7, f32::MAX] {
        x.extend(v.to_le_bytes());
    }
    x.extend([0xFF, 0xFF]);
    let mut want: Vec<u8> =
        [1.1f32, -3.7, f32::MAX].iter().flat_map(|v| (v.to_bits() & !0x1FFF).to_le_bytes()).collect();
    want.extend([0xFF, 0xFF]);
    assert_eq!(run(&x, &|l, s, o| trunc_prec::forward(l, 4, 10, s, o)), want);
    assert_eq!(run(&x, &|l, s, o| trunc_prec::forward(l, 4, -13i8 as u8, s, o)), want);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn delta_round_trips(x in prop::collection::vec(any::<u8>(), 0..600), typesize in 1usize..40) {
        let y = run(&x, &|l, s, o| delta::forward(l, typesize, s, None, o));
        prop_assert_eq!(&run(&y, &|l, s, o| delta::backward(l, typesize, s, None, o)), &x);
        let first: Vec<u8> = x.iter().map(|b| b.wrapping_mul(31)).collect();
        let y = run(&x, &|l, s, o| delta::forward(l, typesize, s, Some(&first), o));
        prop_assert_eq!(&run(&y, &|l, s, o| delta::backward(l, typesize, s, Some(&first), o)), &x);
    }
}

#[cfg(feature = "plugins")]
mod plugins {
    use super::*;
    use blosc_core::filter::{bytedelta, int_trunc, ndcell, ndmean};

    #[test]
    fn bytedelta_restarts_in_each_plane_and_copies_the_tail() {
        let x = [10, 12, 11, 200, 1, 2, 99];
        let y = run(&x, &|l, s, o| bytedelta::forward(l, 2, s, o));
        assert_eq!(y, [10, 2, 255, 200, 57, 1, 99]);
        assert_eq!(run(&y, &|l, s, o| bytedelta::backward(l, 2, s, o)), x);
    }

    #[test]
    fn bytedelta_wider_than_the_block_copies() {
        let x = [1, 2, 3];
        assert_eq!(run(&x, &|l, s, o| bytedelta::forward(l, 4, s, o)), x);
        assert_eq!(run(&x, &|l, s, o| bytedelta::backward_v1(l, 255, s, o)), x);
        assert!(bytedelta::forward(Level::SCALAR, 0, &x, Out::from(&mut [0; 3])).is_err());
    }

    #[test]
    fn bytedelta_width_comes_from_meta_or_the_context() {
        assert_eq!(bytedelta::width(7, 4), Ok(7));
        assert_eq!(bytedelta::width(0, 4), Ok(4));
        assert_eq!(bytedelta::width(0, 300), Ok(300));
        assert!(bytedelta::width(0, 0).is_err());
    }

    #[test]
    fn the_first_edition_starts_a_second_chain_in_each_plane() {
        let x = vec![1u8; 2 * 19 + 1];
        let plane: Vec<u8> = (1..=16).chain(1..=3).collect();
        let want: Vec<u8> = plane.iter().chain(&plane).copied().chain([1]).collect();
        assert_eq!(run(&x, &|l, s, o| bytedelta::backward_v1(l, 2, s, o)), want);
    }

    #[test]
    fn int_trunc_keeps_what_its_meta_says() {
        for p in 0..=255u8 {
            let signed = i16::from(p as i8);
            for typesize in [1, 2, 4, 8usize] {
                let bits = 8 * typesize as i16;
                let legal = (1..=bits).contains(&signed) || (1 - bits..=-1).contains(&signed);
                let cleared = if signed > 0 { bits - signed } else { -signed };
                match int_trunc::cleared_bits(typesize, p) {
                    Ok(z) => assert!(legal && i16::from(z) == cleared, "p = {signed}"),
                    Err(_) => assert!(!legal, "p = {signed}"),
                }
            }
        }
        assert!(int_trunc::cleared_bits(3, 1).is_err());
        let x = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(run(&x, &|l, s, o| int_trunc::forward(l, 2, 5, s, o)), [0, 0xF8, 0, 0xF8, 0xFF]);
        assert_eq!(run(&x, &|l, s, o| int_trunc::forward(l, 1, -1i8 as u8, s, o)), [0xFE; 5]);
    }

    #[test]
    fn ndcell_gathers_cells_in_c_order() {
        let x: Vec<u8> = (0..20).collect();
        let y = run(&x, &|_, s, o| ndcell::forward(1, &[4, 5], 2, s, o));
        assert_eq!(y, [0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 15, 16, 12, 13, 17, 18, 14, 19]);
        assert_eq!(run(&y, &|_, s, o| ndcell::backward(1, &[4, 5], 2, s, o)), x);
    }

    #[test]
    fn shapes_that_lie_are_refused() {
        let x = [0; 16];
        let cell =
            |shape: &[u32], side| ndcell::backward(1, shape, side, &x, Out::from(&mut [0; 16])).is_ok();
        assert!(cell(&[4, 4], 2) && cell(&[4, 4], 4) && cell(&[2, 8], 3) && !cell(&[], 1));
        assert!(!cell(&[4, 4], 0) && !cell(&[4, 4], 5) && !cell(&[4, 5], 2) && !cell(&[0, 4], 2));
        // 2^16 * 2^16 * 2^32 wraps to 0, 2^60 * 16 * 16 to 0: only exact products may pass.
        assert!(!cell(&[1 << 16, 1 << 16, 1 << 31, 2, 16], 1) && !cell(&[1; 9], 1));
        assert!(!cell(&[16, 1, 1, 1, 1, 1, 1, 1], 255));
        assert!(ndcell::backward(0, &[16], 2, &x, Out::from(&mut [0; 16])).is_err());
        assert!(ndcell::backward(2, &[8], 2, &x, Out::from(&mut [0; 16])).is_ok());
        assert!(ndcell::backward(1, &[0], 1, &[], Out::from(&mut [0; 0])).is_err());
        let mean =
            |shape: &[u32], side| ndmean::backward(4, shape, side, &x, Out::from(&mut [0; 16])).is_ok();
        assert!(mean(&[2, 2], 2) && mean(&[2, 2], 127) && mean(&[4], 2));
        assert!(!mean(&[2, 2], 0) && !mean(&[2, 2], 128) && !mean(&[1, 4], 2));
        assert!(ndmean::forward(2, &[8], 2, &x, Out::from(&mut [0; 16])).is_err());
    }

    #[test]
    fn ndmean_fills_each_cell_with_its_mean() {
        let bytes = |v: &[f32]| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        // A signalling NaN with a payload comes out quiet, the payload kept.
        let x = bytes(&[1.0, 2.0, 10.0, 3.0, 6.0, f32::from_bits(0x7F80_0123)]);
        let y = run(&x, &|_, s, o| ndmean::forward(4, &[2, 3], 2, s, o));
        let nan = f32::from_bits(0x7FC0_0123);
        assert_eq!(y, bytes(&[3.0, 3.0, 3.0, 3.0, nan, nan]));
        let z = run(&y, &|_, s, o| ndmean::backward(4, &[2, 3], 2, s, o));
        assert_eq!(z, bytes(&[3.0, 3.0, nan, 3.0, 3.0, nan]));
        let x: Vec<u8> = [1.5f64, 2.5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let y = run(&x, &|_, s, o| ndmean::forward(8, &[2], 2, s, o));
        assert_eq!(y, [2f64.to_le_bytes(), 2f64.to_le_bytes()].concat());
        let x = bytes(&[f32::INFINITY, f32::NEG_INFINITY]);
        let y = run(&x, &|_, s, o| ndmean::forward(4, &[2], 2, s, o));
        assert_eq!(y, [0xFFC0_0000u32.to_le_bytes(); 2].concat());
    }

    /// The definition of NDCELL, item by item: sort items by (cell, item in cell).
    fn ndcell_by_definition(shape: &[u32], side: u32, items: &[[u8; 2]]) -> Vec<u8> {
        let place = |mut i: u32| {
            let (mut cell, mut inside) = (Vec::new(), Vec::new());
            for &extent in shape.iter().rev() {
                cell.insert(0, i % extent / side);
                inside.insert(0, i % extent % side);
                i /= extent;
            }
            (cell, inside)
        };
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        order.sort_by_key(|&i| place(i));
        order.iter().flat_map(|&i| items[i as usize]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn ndcell_is_its_definition(shape in prop::collection::vec(1u32..6, 1..6), side in 1u8..5) {
            let items: Vec<[u8; 2]> = (0..shape.iter().product::<u32>() as u16).map(u16::to_le_bytes).collect();
            let x = items.concat();
            let mut y = vec![0; x.len()];
            if ndcell::forward(2, &shape, side, &x, Out::from(&mut y[..])).is_ok() {
                prop_assert_eq!(&y, &ndcell_by_definition(&shape, side.into(), &items));
                prop_assert_eq!(&run(&y, &|_, s, o| ndcell::backward(2, &shape, side, s, o)), &x);
            } else {
                prop_assert!(u32::from(side).pow(shape.len() as u32) > items.len() as u32);
            }
        }

        #[test]
        fn bytedelta_round_trips(x in prop::collection::vec(any::<u8>(), 0..600), width in 1usize..40) {
            let y = run(&x, &|l, s, o| bytedelta::forward(l, width, s, o));
            prop_assert_eq!(&run(&y, &|l, s, o| bytedelta::backward(l, width, s, o)), &x);
        }
    }
}
