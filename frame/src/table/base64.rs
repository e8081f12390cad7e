//! Base64, as schemas write bytes in JSON.

use alloc::vec::Vec;

/// The bytes that `text` says, with or without `=` at its end.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| {
        Some(u32::from(match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0, |bits, c| Some(bits << 6 | digit(*c)?))?;
        let bits = bits << (6 * (4 - group.len()));
        let [_, whole @ ..] = bits.to_be_bytes();
        // Four digits say three bytes, three two, two one; one digit says nothing.
        bytes.extend_from_slice(whole.get(..group.len().checked_sub(1).filter(|n| *n > 0)?)?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_others_write_it() {
        for (text, wanted) in
            [("", &b""[..]), ("cQ==", b"q"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("Zm9vYg", b"foob")]
        {
            assert_eq!(super::decode(text).as_deref(), Some(wanted));
        }
        assert_eq!((super::decode("a"), super::decode("a-b=")), (None, None));
    }
}
