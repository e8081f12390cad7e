//! Sequences in the predefined tables of RFC 8878 (§3.1.1.3.2.2), made state by state from the distributions there, against C
//! zstd: encoders choose those tables for small blocks only, which never have the rare codes.

use crate::common::emulated;
use blosc_core::codec::zstd::{decode, decode_work_len};
use zstd_safe::DCtx;

const LITERALS: &[i16] = &[
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
];
const OFFSETS: &[i16] =
    &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
const MATCHES: &[i16] = &[
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
/// Bytes of a block at most, and how many blocks stand before the first match: 16 MiB, for offsets up to that.
const BLOCK: usize = 128 << 10;
const BEFORE: usize = 128;

/// A state of a table: its symbol, and the next state: the first one, and the bits that are added to it.
#[derive(Clone, Copy)]
struct State {
    symbol: usize,
    bits: u32,
    next: usize,
}

/// A table from its distribution (§4.1.1).
fn table(distribution: &[i16], log: u32) -> Vec<State> {
    let size = 1usize << log;
    let mut symbols = vec![usize::MAX; size];
    let rare = distribution.iter().enumerate().filter(|(_, count)| **count == -1).map(|(symbol, _)| symbol);
    rare.enumerate().for_each(|(k, symbol)| symbols[size - 1 - k] = symbol);
    let mut at = 0;
    for (symbol, &count) in distribution.iter().enumerate() {
        for _ in 0..count.max(0) {
            symbols[at] = symbol;
            at = (at + size / 2 + size / 8 + 3) % size;
            while symbols[at] != usize::MAX && symbols.contains(&usize::MAX) {
                at = (at + size / 2 + size / 8 + 3) % size;
            }
        }
    }
    let mut seen: Vec<usize> = distribution.iter().map(|count| count.unsigned_abs().into()).collect();
    let state = |symbol: usize| {
        let number = seen[symbol];
        seen[symbol] += 1;
        let bits = log - number.ilog2();
        State { symbol, bits, next: (number << bits) - size }
    };
    symbols.into_iter().map(state).collect()
}

/// First value and extra bits of a code of literals, and of matches (§3.1.1.3.2.1.1).
fn literals(code: usize) -> (usize, u32) {
    let bits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    code.checked_sub(16)
        .map_or((code, 0), |k| (16 + bits[..k].iter().map(|b| 1 << b).sum::<usize>(), bits[k]))
}
fn matches(code: usize) -> (usize, u32) {
    let bits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    code.checked_sub(32)
        .map_or((code + 3, 0), |k| (35 + bits[..k].iter().map(|b| 1 << b).sum::<usize>(), bits[k]))
}

/// A block of two sequences that begin in these states and have the low bits of `pattern` as extra bits, and how much it decodes
/// to; `None` where that is more than a block may have, or more than what an offset may reach.
fn block(tables: [&[State]; 3], first: [usize; 3], pattern: usize) -> Option<(Vec<u8>, usize)> {
    let fill = |bits: u32| pattern & ((1usize << bits) - 1);
    let [lit, off, len] = tables;
    // The order in which the bits are read.
    let mut read = vec![(first[0], 6), (first[1], 5), (first[2], 6)];
    let (mut states, mut copied, mut size) = (first, 0, 0);
    for sequence in 0..2 {
        let [a, b, c] = [lit[states[0]], off[states[1]], len[states[2]]];
        let ((lits, lit_bits), (matched, match_bits)) = (literals(a.symbol), matches(c.symbol));
        if (1usize << b.symbol) + fill(b.symbol as u32) > BEFORE * BLOCK {
            return None;
        }
        read.extend([b.symbol as u32, match_bits, lit_bits].map(|bits| (fill(bits), bits)));
        copied += lits + fill(lit_bits);
        size += lits + fill(lit_bits) + matched + fill(match_bits);
        if sequence == 0 {
            read.extend([a, c, b].map(|state| (fill(state.bits), state.bits)));
            states = [a, b, c].map(|state| state.next + fill(state.bits));
        }
    }
    // Written from the last one on, with a bit that marks the end.
    let mut bits: Vec<bool> = Vec::new();
    for (value, count) in read.into_iter().rev() {
        bits.extend((0..count).map(|bit| value >> bit & 1 == 1));
    }
    bits.push(true);
    let stream =
        bits.chunks(8).map(|byte| byte.iter().enumerate().map(|(bit, on)| u8::from(*on) << bit).sum::<u8>());
    // Literals that are one byte again and again; two sequences, all tables predefined.
    let head = ((copied << 4 | 3 << 2 | 1) as u32).to_le_bytes();
    let content: Vec<u8> = [head[0], head[1], head[2], b'x', 2, 0].into_iter().chain(stream).collect();
    let header = ((content.len() << 3 | 2 << 1) as u32).to_le_bytes();
    (size <= BLOCK).then(|| ([&header[..3], &content].concat(), size))
}

#[test]
fn every_state_of_the_predefined_tables_is_read_as_c_reads_it() {
    if emulated() {
        eprintln!(
            "SKIPPED every_state_of_the_predefined_tables_is_read_as_c_reads_it: C decodes 16 MiB again and again"
        );
        return;
    }
    let all = [table(LITERALS, 6), table(OFFSETS, 5), table(MATCHES, 6)];
    let tables = all.each_ref().map(Vec::as_slice);
    let states = |symbols: [usize; 3]| {
        core::array::from_fn(|k| tables[k].iter().position(|state| state.symbol == symbols[k]).unwrap())
    };
    // Neither no literals nor an offset used before.
    let usual: [usize; 3] = states([3, 5, 4]);
    // A window of 128 MiB, no content size.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3];
    let mut size = BEFORE * BLOCK;
    for number in 0..BEFORE {
        frame.extend_from_slice(&((BLOCK << 3 | 1 << 1) as u32).to_le_bytes()[..3]);
        frame.push(number as u8);
    }
    let mut symbols = [[false; 64]; 3];
    for which in 0..3 {
        for state in 0..tables[which].len() {
            for pattern in [0, usize::MAX] {
                let mut first = usual;
                first[which] = state;
                if let Some((block, more)) = block(tables, first, pattern) {
                    frame.extend(block);
                    size += more;
                    symbols[which][tables[which][state].symbol] = true;
                }
            }
        }
    }
    // One sequence of 15 + 23 + 14 extra bits, and 17 to the next states: more than 64 bits hold at once.
    let (block, more) = block(tables, states([34, 23, 50]), 0x5555_5555).expect("it fits a block");
    frame.extend(block);
    size += more;
    // An empty raw block is the last one.
    frame.extend([1, 0, 0]);
    // All codes, but for offsets above 16 MiB.
    assert_eq!(symbols.map(|seen| seen.iter().filter(|seen| **seen).count()), [36, 25, 53]);
    let mut expected = Vec::with_capacity(size);
    DCtx::create().decompress(&mut expected, &frame).expect("C reads it");
    assert_eq!(expected.len(), size);
    let (mut out, mut work) = (vec![0; size], vec![0; decode_work_len(size)]);
    decode(&frame, out.as_mut_slice().into(), &[], &mut work).unwrap();
    assert!(out == expected);
}
