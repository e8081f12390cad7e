//! The nine checksums a bloscpack file can name (docs/formats/bloscpack.md §3).
//!
//! ```text
//! id   0     1        2      3    4     5       6       7       8
//!      None  adler32  crc32  md5  sha1  sha224  sha256  sha384  sha512
//! len  0     4        4      16   20    28      32      48      64
//! ```
//! adler32 and crc32 are stored little-endian, the others in the order the digest is usually printed.

use core::fmt;
use sha2::Digest as _;

/// A checksum by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// Id 0: nothing is stored.
    None,
    /// Id 1, the default.
    Adler32,
    /// Id 2: the CRC of zlib.
    Crc32,
    /// Id 3.
    Md5,
    /// Id 4.
    Sha1,
    /// Id 5.
    Sha224,
    /// Id 6.
    Sha256,
    /// Id 7.
    Sha384,
    /// Id 8.
    Sha512,
}

impl Checksum {
    /// All of them, by id.
    pub const ALL: [Checksum; 9] = [
        Checksum::None,
        Checksum::Adler32,
        Checksum::Crc32,
        Checksum::Md5,
        Checksum::Sha1,
        Checksum::Sha224,
        Checksum::Sha256,
        Checksum::Sha384,
        Checksum::Sha512,
    ];

    /// The checksum with this id, 0 ..= 8.
    pub fn from_id(id: u8) -> Option<Checksum> {
        Checksum::ALL.get(usize::from(id)).copied()
    }

    /// The checksum with this name, in any case.
    pub fn from_name(name: &str) -> Option<Checksum> {
        Checksum::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// The stored id.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The name bloscpack uses, on the command line too.
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::None => "None",
            Checksum::Adler32 => "adler32",
            Checksum::Crc32 => "crc32",
            Checksum::Md5 => "md5",
            Checksum::Sha1 => "sha1",
            Checksum::Sha224 => "sha224",
            Checksum::Sha256 => "sha256",
            Checksum::Sha384 => "sha384",
            Checksum::Sha512 => "sha512",
        }
    }

    /// Bytes the digest takes in the file.
    pub const fn digest_len(self) -> usize {
        match self {
            Checksum::None => 0,
            Checksum::Adler32 | Checksum::Crc32 => 4,
            Checksum::Md5 => 16,
            Checksum::Sha1 => 20,
            Checksum::Sha224 => 28,
            Checksum::Sha256 => 32,
            Checksum::Sha384 => 48,
            Checksum::Sha512 => 64,
        }
    }

    /// The digest of `data` as it is stored.
    pub fn digest(self, data: &[u8]) -> Digest {
        match self {
            Checksum::None => Digest::new(&[]),
            Checksum::Adler32 => Digest::new(&simd_adler32::adler32(&data).to_le_bytes()),
            Checksum::Crc32 => Digest::new(&crc32fast::hash(data).to_le_bytes()),
            Checksum::Md5 => Digest::new(&md5::Md5::digest(data)),
            Checksum::Sha1 => Digest::new(&sha1::Sha1::digest(data)),
            Checksum::Sha224 => Digest::new(&sha2::Sha224::digest(data)),
            Checksum::Sha256 => Digest::new(&sha2::Sha256::digest(data)),
            Checksum::Sha384 => Digest::new(&sha2::Sha384::digest(data)),
            Checksum::Sha512 => Digest::new(&sha2::Sha512::digest(data)),
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A digest as stored: 0 to 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; 64],
    len: usize,
}

impl Digest {
    fn new(digest: &[u8]) -> Digest {
        let mut bytes = [0; 64];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = *from;
        }
        Digest { bytes, len: digest.len() }
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn digests_of_abc() {
        let known = [
            "",
            "27014d02",
            "c2412435",
            "900150983cd24fb0d6963f7d28e17f72",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ];
        for (checksum, known) in Checksum::ALL.into_iter().zip(known) {
            assert_eq!(format!("{:?}", checksum.digest(b"abc")), known, "{checksum}");
            assert_eq!(checksum.digest(b"abc").as_ref().len(), checksum.digest_len());
            assert_eq!(Checksum::from_id(checksum.id()), Some(checksum));
            assert_eq!(Checksum::from_name(checksum.name()), Some(checksum));
        }
        assert_eq!(Checksum::from_id(9), None);
    }
}
