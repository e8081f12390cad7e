//! Damaged LZ4 and BloscLZ streams of every kind that the decoders have loops for, against decoders that do one byte at a
//! time.

use crate::common;
use crate::lz_streams;

use common::{Rng, count, emulated};
use lz_streams::{Decode, blosclz_decode, blosclz_match, literals, lz4_decode, lz4_end, lz4_sequence};

/// An LZ4 decoder that does one byte at a time; `None` for a damaged stream.
fn plain_lz4(lz: &[u8], len: usize) -> Option<Vec<u8>> {
    let (mut out, mut bytes) = (Vec::new(), lz.iter().copied());
    let length = |half: u8, bytes: &mut dyn Iterator<Item = u8>| {
        let (mut n, mut byte) = (usize::from(half), if half == 15 { 255 } else { 0 });
        while byte == 255 {
            byte = bytes.next()?;
            n += usize::from(byte);
        }
        Some(n)
    };
    loop {
        let token = bytes.next()?;
        let count = length(token >> 4, &mut bytes)?;
        if count > bytes.len() || count > len - out.len() {
            return None;
        }
        out.extend(bytes.by_ref().take(count));
        if bytes.len() == 0 {
            return (out.len() == len).then_some(out);
        }
        let distance = usize::from(u16::from_le_bytes([bytes.next()?, bytes.next()?]));
        let count = length(token & 15, &mut bytes)? + 4;
        if distance == 0 || distance > out.len() || count > len - out.len() {
            return None;
        }
        (0..count).for_each(|_| out.push(out[out.len() - distance]));
    }
}

/// A decoder, and one that does one byte at a time.
type Twins = (Decode, fn(&[u8], usize) -> Option<Vec<u8>>);

/// Both read a stream, or refuse it.
fn same_as_plain((decode, plain): Twins, lz: &[u8], len: usize, what: &str) {
    let mut out = vec![0x5a; len + 64];
    // Memory that ends with the stream: address sanitizers see who reads on.
    let own = lz.to_vec();
    let ours = decode(&own, &mut out[32..32 + len]);
    let plain = plain(lz, len);
    assert_eq!(ours.is_ok(), plain.is_some(), "{what}");
    assert!(plain.is_none_or(|plain| plain == out[32..32 + len]), "{what}");
    assert!(out[..32].iter().chain(&out[32 + len..]).all(|&b| b == 0x5a), "{what}");
}

/// Every how many-th byte is damaged: under an emulator, few.
fn step() -> usize {
    if emulated() { 31 } else { 1 }
}

/// A stream of `len` bytes cut anywhere, for too little room, and with a byte changed.
fn damage(lz: &[u8], len: usize, rng: &mut Rng, check: &dyn Fn(&[u8], usize, &str)) {
    for cut in (0..=lz.len()).step_by(step()) {
        check(&lz[..cut], len, &format!("cut at {cut}"));
    }
    for short in (1..300).step_by(step()) {
        check(lz, len - short, &format!("{short} bytes too short"));
    }
    for _ in 0..count(40_000) {
        let (mut bad, at) = (lz.to_vec(), rng.below(lz.len()));
        bad[at] = [rng.next() as u8, 255, 0, bad[at] ^ 1, bad[at] ^ 128][rng.below(5)];
        check(&bad, len, &format!("{} instead of {} at {at}", bad[at], lz[at]));
    }
}

#[test]
fn damaged_lz4_streams_of_every_kind_are_read_as_by_a_plain_decoder() {
    // The kinds that the decoder has loops for: how many literals, how long the match, how far. One sequence in 20 is of
    // any kind.
    let kinds = [
        (0..1, 4..17, 1..60),
        (0..1, 4..17, 30..400),
        (0..14, 4..19, 20..400),
        (0..40, 4..19, 20..400),
        (0..20, 4..160, 32..400),
        (0..20, 4..160, 1..40),
        (0..4, 4..17, 5..17),
        (0..14, 4..17, 1..9),
    ];
    let mut rng = Rng::new(14);
    for (kind, (literals, lens, distances)) in kinds.iter().enumerate() {
        let (mut want, mut lz) = (Vec::new(), Vec::new());
        let head: Vec<u8> = (0..400).map(|_| rng.next() as u8).collect();
        lz4_sequence(&mut lz, &mut want, &head, 7, 4);
        for _ in 0..250 {
            let any = rng.below(20) == 0;
            let (literals, lens, distances) =
                if any { (&(0..80), &(4..600), &(1..400)) } else { (literals, lens, distances) };
            let mut pick = |range: &std::ops::Range<usize>| range.start + rng.below(range.end - range.start);
            let (count, len, distance) = (pick(literals), pick(lens), pick(distances));
            let literals: Vec<u8> = (0..count).map(|_| rng.next() as u8).collect();
            lz4_sequence(&mut lz, &mut want, &literals, distance, len);
        }
        lz4_end(&mut lz, &mut want, 9);
        let len = want.len();
        assert!(plain_lz4(&lz, len).as_ref() == Some(&want), "kind {kind}");
        let check = |lz: &[u8], len: usize, what: &str| {
            same_as_plain((lz4_decode, plain_lz4), lz, len, &format!("kind {kind}: {what}"));
        };
        damage(&lz, len, &mut rng, &check);
        // A distance that reaches to before the start, early in the stream.
        let (mut far, mut out) = (Vec::new(), Vec::new());
        for n in 0..100 {
            let literals: Vec<u8> = (0..9).map(|_| rng.next() as u8).collect();
            let distance = (out.len() + literals.len()).min(40 + n);
            lz4_sequence(&mut far, &mut out, &literals, distance, 4 + n % 30);
        }
        lz4_end(&mut far, &mut out, 70);
        check(&far, out.len(), "whole");
        for at in (0..far.len() - 1).step_by(step()) {
            let mut bad = far.clone();
            bad[at..at + 2].copy_from_slice(&[255, 255]);
            check(&bad, out.len(), &format!("a far distance at {at}"));
        }
    }
}

/// A BloscLZ decoder that does one byte at a time; `None` for a damaged stream.
fn plain_blosclz(lz: &[u8], len: usize) -> Option<Vec<u8>> {
    let (mut out, mut bytes) = (Vec::new(), lz.iter().copied());
    let mut control = usize::from(bytes.next()? & 31);
    loop {
        if control < 32 {
            if control >= bytes.len() || control >= len - out.len() {
                return None;
            }
            out.extend(bytes.by_ref().take(control + 1));
            if bytes.len() == 0 {
                return (out.len() == len).then_some(out);
            }
        } else {
            let (mut count, mut byte) = ((control >> 5) + 2, if control >= 224 { 255 } else { 0 });
            while byte == 255 {
                byte = bytes.next()?;
                count += usize::from(byte);
            }
            let mut distance = ((control & 31) << 8) + usize::from(bytes.next()?) + 1;
            if distance == 8192 {
                distance += usize::from(u16::from_be_bytes([bytes.next()?, bytes.next()?]));
            }
            if distance > out.len() || count > len - out.len() {
                return None;
            }
            (0..count).for_each(|_| out.push(out[out.len() - distance]));
        }
        control = usize::from(bytes.next()?);
    }
}

#[test]
fn damaged_blosclz_streams_of_every_kind_are_read_as_by_a_plain_decoder() {
    // How many literals, how long the match, how far; one in 20 is of any kind.
    let kinds = [
        (0..1, 3..9, 100..8000),
        (0..2, 3..9, 8..300),
        (0..9, 3..40, 70..8000),
        (0..9, 3..40, 8192..9000),
        (0..9, 3..40, 17..60),
        (0..4, 3..9, 5..17),
        (0..4, 3..40, 1..12),
    ];
    let mut rng = Rng::new(15);
    for (kind, (counts, lens, distances)) in kinds.iter().enumerate() {
        let mut want: Vec<u8> = (0..9000).map(|_| rng.next() as u8).collect();
        let mut lz = Vec::new();
        literals(&mut lz, &want);
        let head = lz.len();
        for _ in 0..250 {
            let any = rng.below(20) == 0;
            let (counts, lens, distances) =
                if any { (&(0..80), &(3..600), &(1..9000)) } else { (counts, lens, distances) };
            let mut pick = |range: &std::ops::Range<usize>| range.start + rng.below(range.end - range.start);
            let (count, len, distance) = (pick(counts), pick(lens), pick(distances));
            let bytes: Vec<u8> = (0..count).map(|_| rng.next() as u8).collect();
            literals(&mut lz, &bytes);
            want.extend(bytes);
            blosclz_match(&mut lz, &mut want, distance, len);
        }
        let tail = [7; 9];
        literals(&mut lz, &tail);
        want.extend(tail);
        let check = |lz: &[u8], len: usize, what: &str| {
            same_as_plain((blosclz_decode, plain_blosclz), lz, len, &format!("kind {kind}: {what}"));
        };
        assert!(plain_blosclz(&lz, want.len()).as_ref() == Some(&want), "kind {kind}");
        // The head is long and always the same: less of it leaves distances that reach to before the start.
        for less in [0, head / 33 * 33, head / 66 * 33] {
            let (lz, len) = (&lz[less..], want.len() - less / 33 * 32);
            check(lz, len, &format!("{less} bytes less"));
            if less != head / 66 * 33 {
                damage(lz, len, &mut rng, &check);
            }
        }
    }
}
