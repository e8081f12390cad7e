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
    use blosc_core::filter::{bytedelta, int_trunc};

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
    fn bytedelta_width_comes_from_meta_or_the_surroundings() {
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn bytedelta_round_trips(x in prop::collection::vec(any::<u8>(), 0..600), width in 1usize..40) {
            let y = run(&x, &|l, s, o| bytedelta::forward(l, width, s, o));
            prop_assert_eq!(&run(&y, &|l, s, o| bytedelta::backward(l, width, s, o)), &x);
        }
    }
}
