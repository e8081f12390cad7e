//! Judges of output.

use super::candidate::{Check, Work};

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

/// The work itself; where a test asks for it, with a byte in the middle of each result flipped, to show that nothing wrong is
/// ever timed.
pub fn spoilt(mut work: Work<'_>, corrupt: bool) -> Work<'_> {
    if !corrupt {
        return work;
    }
    Box::new(move |src, dst| {
        let n = work(src, dst)?;
        if let Some(byte) = dst.get_mut(n / 2) {
            *byte ^= 1;
        }
        Ok(n)
    })
}
