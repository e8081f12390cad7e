//! [`Codec`]: the registry of codec ids (docs/formats/chunk.md §2.12–2.13).

use core::fmt;

/// A codec by its registered id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Id 0.
    BloscLz,
    /// Id 1.
    Lz4,
    /// Id 2; the same bitstream as LZ4.
    Lz4Hc,
    /// Id 3; chunks of Blosc1 only.
    Snappy,
    /// Id 4.
    Zlib,
    /// Id 5.
    Zstd,
    /// Id 32.
    Ndlz,
    /// Any other id.
    Other(u8),
}

impl Codec {
    /// Id 33: ZFP with a bound on the error. Needs feature `zfp`, as do the next two.
    pub const ZFP_ACC: Codec = Codec::Other(33);
    /// Id 34: ZFP with a number of bit planes.
    pub const ZFP_PREC: Codec = Codec::Other(34);
    /// Id 35: ZFP with a fixed size.
    pub const ZFP_RATE: Codec = Codec::Other(35);
    /// Format 5, written by alphas of C-Blosc2 only. No reader supports it any more.
    pub(crate) const LIZARD: Codec = Codec::Other(6);
    /// Format 7, "defined by the super-chunk", which no writer uses.
    pub(crate) const UNDEFINED: Codec = Codec::Other(7);
    /// Format 6 without a codec id of 32 or more.
    pub(crate) const INVALID: Codec = Codec::Other(31);

    /// Whether this is one of the three modes of ZFP.
    pub const fn is_zfp(self) -> bool {
        matches!(self, Codec::ZFP_ACC | Codec::ZFP_PREC | Codec::ZFP_RATE)
    }

    /// The codec with this registered id.
    pub const fn from_id(id: u8) -> Codec {
        match id {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Lz4Hc,
            3 => Codec::Snappy,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            32 => Codec::Ndlz,
            id => Codec::Other(id),
        }
    }

    /// The registered id.
    pub const fn id(self) -> u8 {
        match self {
            Codec::BloscLz => 0,
            Codec::Lz4 => 1,
            Codec::Lz4Hc => 2,
            Codec::Snappy => 3,
            Codec::Zlib => 4,
            Codec::Zstd => 5,
            Codec::Ndlz => 32,
            Codec::Other(id) => id,
        }
    }

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::BloscLz => "blosclz",
            Codec::Lz4 => "lz4",
            Codec::Lz4Hc => "lz4hc",
            Codec::Snappy => "snappy",
            Codec::Zlib => "zlib",
            Codec::Zstd => "zstd",
            Codec::Ndlz => "ndlz",
            Codec::Other(id) => match id {
                6 => "lizard",
                7 => "codec of the super-chunk",
                31 => "invalid codec id",
                33 => "zfp_acc",
                34 => "zfp_prec",
                35 => "zfp_rate",
                36 => "openhtj2k",
                37 => "grok",
                38 => "openzl",
                39 => "j2k",
                40 => "htj2k",
                160.. => "user codec",
                _ => "unknown",
            },
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
