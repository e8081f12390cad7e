//! Codecs and filters by their registered names: what [`Codec::name`] and [`Filter::name`] print is read back.

use crate::codec::Codec;
use crate::filter::Filter;
use core::fmt;
use core::str::FromStr;

/// A name that is no codec's, or no filter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName;

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no codec or filter of this name is known")
    }
}

impl core::error::Error for UnknownName {}

/// Every codec whose name stands for one id.
const CODECS: [Codec; 10] = [
    Codec::BloscLz,
    Codec::Lz4,
    Codec::Lz4Hc,
    Codec::Snappy,
    Codec::Zlib,
    Codec::Zstd,
    Codec::Ndlz,
    Codec::ZFP_ACC,
    Codec::ZFP_PREC,
    Codec::ZFP_RATE,
];

/// Filters that have a name. [`Filter::ByteDeltaV1`] cannot be written, so its name is not read either.
const FILTERS: [Filter; 9] = [
    Filter::None,
    Filter::Shuffle,
    Filter::BitShuffle,
    Filter::Delta,
    Filter::TruncPrec,
    Filter::NdCell,
    Filter::NdMean,
    Filter::ByteDelta,
    Filter::IntTrunc,
];

/// ```
/// use blosc_core::Codec;
/// assert_eq!("lz4hc".parse(), Ok(Codec::Lz4Hc));
/// assert!("lz5".parse::<Codec>().is_err());
/// ```
impl FromStr for Codec {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Codec, UnknownName> {
        CODECS.into_iter().find(|codec| codec.name() == name).ok_or(UnknownName)
    }
}

impl FromStr for Filter {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Filter, UnknownName> {
        FILTERS.into_iter().find(|filter| filter.name() == name).ok_or(UnknownName)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
