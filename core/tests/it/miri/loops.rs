//! LZ4 and BloscLZ streams, a kind for each loop of the decoders.

use super::exact;
use crate::common::Rng;
use crate::lz_streams::{blosclz_decode, blosclz_match, literals, lz4_decode, lz4_end, lz4_sequence};

#[test]
fn lz4_loops() {
    let kinds = [
        (0..1, 4..17, 1..60),
        (0..1, 4..17, 30..200),
        (0..14, 4..19, 20..200),
        (0..40, 4..19, 20..200),
        (0..20, 4..160, 32..200),
        (0..20, 4..160, 1..40),
        (0..4, 4..17, 5..17),
        (0..14, 4..17, 1..9),
    ];
    let mut rng = Rng::new(14);
    for (ls, ms, ds) in kinds {
        let (mut want, mut lz) = (Vec::new(), Vec::new());
        let head: Vec<u8> = (0..200).map(|_| rng.next() as u8).collect();
        lz4_sequence(&mut lz, &mut want, &head, 7, 4);
        for _ in 0..if cfg!(miri) { 16 } else { 150 } {
            let mut pick = |r: &std::ops::Range<usize>| r.start + rng.below(r.end - r.start);
            let (c, len, d) = (pick(&ls), pick(&ms), pick(&ds));
            let lit: Vec<u8> = (0..c).map(|_| rng.next() as u8).collect();
            lz4_sequence(&mut lz, &mut want, &lit, d, len);
        }
        lz4_end(&mut lz, &mut want, 9);
        // Pure of alignment: an odd address for both.
        for skew in if cfg!(miri) { &[3usize][..] } else { &[0, 3] }.iter().copied() {
            let mut own = vec![0; lz.len() + skew];
            own[skew..].copy_from_slice(&lz);
            let mut out = vec![0x5a; want.len() + skew].into_boxed_slice();
            lz4_decode(&own[skew..], &mut out[skew..]).unwrap();
            assert_eq!(out[skew..], want[..]);
        }
        for _ in 0..2 {
            let mut bad = exact(&lz);
            let at = rng.below(bad.len());
            bad[at] = [rng.next() as u8, 255, 0][rng.below(3)];
            let mut out = vec![0; want.len()].into_boxed_slice();
            let _ = lz4_decode(&bad, &mut out);
        }
    }
}

#[test]
fn blosclz_loops() {
    let kinds = [
        (0..1, 3..9, 100..700),
        (0..2, 3..9, 8..300),
        (0..9, 3..40, 70..700),
        (0..9, 3..40, 500..700),
        (0..9, 3..40, 17..60),
        (0..4, 3..9, 5..17),
        (0..4, 3..40, 1..12),
    ];
    let mut rng = Rng::new(15);
    for (cs, ms, ds) in kinds {
        let mut want: Vec<u8> = (0..700).map(|_| rng.next() as u8).collect();
        let mut lz = Vec::new();
        literals(&mut lz, &want);
        for _ in 0..if cfg!(miri) { 16 } else { 150 } {
            let mut pick = |r: &std::ops::Range<usize>| r.start + rng.below(r.end - r.start);
            let (c, len, d) = (pick(&cs), pick(&ms), pick(&ds));
            let bytes: Vec<u8> = (0..c).map(|_| rng.next() as u8).collect();
            literals(&mut lz, &bytes);
            want.extend(bytes);
            blosclz_match(&mut lz, &mut want, d, len);
        }
        literals(&mut lz, &[7; 9]);
        want.extend([7; 9]);
        for skew in if cfg!(miri) { &[3usize][..] } else { &[0, 3] }.iter().copied() {
            let mut own = vec![0; lz.len() + skew];
            own[skew..].copy_from_slice(&lz);
            let mut out = vec![0x5a; want.len() + skew].into_boxed_slice();
            blosclz_decode(&own[skew..], &mut out[skew..]).unwrap();
            assert_eq!(out[skew..], want[..]);
        }
        for _ in 0..2 {
            let mut bad = exact(&lz);
            let at = rng.below(bad.len());
            bad[at] = [rng.next() as u8, 255, 0][rng.below(3)];
            let mut out = vec![0; want.len()].into_boxed_slice();
            let _ = blosclz_decode(&bad, &mut out);
        }
    }
}
