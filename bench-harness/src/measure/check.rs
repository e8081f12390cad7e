//! Judges of output.

use super::candidate::Check;

/// A judge that wants exactly these bytes.
pub fn expect(bytes: &[u8]) -> Check<'_> {
    Box::new(move |got| {
        if got == bytes {
            return Ok(());
        }
        let at = got.iter().zip(bytes).position(|(a, b)| a != b).unwrap_or(got.len().min(bytes.len()));
        Err(format!("wrong output: first difference at byte {at} of {}", bytes.len()))
    })
}

/// Flips a byte in the middle of a result, for the test that nothing wrong is ever timed.
pub fn flip_middle_byte(corrupt: bool, out: &mut [u8]) {
    let middle = out.len() / 2;
    if corrupt && let Some(byte) = out.get_mut(middle) {
        *byte ^= 1;
    }
}
