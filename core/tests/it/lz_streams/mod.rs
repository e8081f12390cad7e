//! Writes LZ4 and BloscLZ streams instruction by instruction, and reads them.

use blosc_core::Out;
use blosc_core::codec::{CodecError, blosclz, lz4};

pub type Decode = fn(&[u8], &mut [u8]) -> Result<(), CodecError>;

pub fn blosclz_decode(src: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    blosclz::decode(src, Out::from(out))
}

pub fn lz4_decode(src: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    lz4::decode(src, Out::from(out), &[])
}

/// Appends an LZ4 length that goes on after a half byte of 15.
pub fn extend(lz: &mut Vec<u8>, mut n: usize) {
    while n >= 255 {
        lz.push(255);
        n -= 255;
    }
    lz.push(n as u8);
}

/// Appends an LZ4 sequence.
pub fn lz4_sequence(lz: &mut Vec<u8>, want: &mut Vec<u8>, literals: &[u8], distance: usize, len: usize) {
    lz.push(((literals.len().min(15) << 4) | (len - 4).min(15)) as u8);
    if literals.len() >= 15 {
        extend(lz, literals.len() - 15);
    }
    lz.extend(literals);
    want.extend(literals);
    lz.extend((distance as u16).to_le_bytes());
    if len >= 19 {
        extend(lz, len - 19);
    }
    (0..len).for_each(|_| want.push(want[want.len() - distance]));
}

/// Appends the last sequence of an LZ4 stream, `count` literals.
pub fn lz4_end(lz: &mut Vec<u8>, want: &mut Vec<u8>, count: usize) {
    lz.push((count.min(15) << 4) as u8);
    if count >= 15 {
        extend(lz, count - 15);
    }
    lz.extend(core::iter::repeat_n(7, count));
    want.extend(core::iter::repeat_n(7, count));
}

/// Appends BloscLZ literals.
pub fn literals(lz: &mut Vec<u8>, bytes: &[u8]) {
    for run in bytes.chunks(32) {
        lz.push(run.len() as u8 - 1);
        lz.extend(run);
    }
}

/// Appends a BloscLZ match, near or far, to a stream and to what it stands for.
pub fn blosclz_match(lz: &mut Vec<u8>, want: &mut Vec<u8>, distance: usize, len: usize) {
    let near = (distance - 1).min(8191);
    lz.push((((len - 2).min(7) << 5) | (near >> 8)) as u8);
    if len >= 9 {
        extend(lz, len - 9);
    }
    lz.push(near as u8);
    if near == 8191 {
        lz.extend(((distance - 8192) as u16).to_be_bytes());
    }
    (0..len).for_each(|_| want.push(want[want.len() - distance]));
}
