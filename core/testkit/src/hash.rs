//! Hashes that say whether bytes are what they were.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Lower-case hex SHA-256.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}"); // a string takes anything
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_sha256() {
        // FIPS 180-4, the message "abc".
        let want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::sha256(b"abc"), want);
    }
}
