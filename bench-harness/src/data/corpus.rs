//! The real corpus: small measured arrays whose licence lets them be copied, embedded in the program.
//!
//! `corpus/make.py` extracts each one from a published package. Hashes are checked at every start,
//! so a figure never stands beside the name of data it was not measured on.

use super::{Data, Origin, typesize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// One embedded array.
pub struct Real {
    /// Name in results.
    pub name: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// NumPy short type name.
    pub dtype: &'static str,
    /// Who measured it, and the package the bytes were taken from.
    pub source: &'static str,
    /// Why it may be copied.
    pub licence: &'static str,
    /// SHA-256 of the bytes, hexadecimal.
    pub sha256: &'static str,
    /// The bytes, little-endian.
    pub bytes: &'static [u8],
}

/// All of them.
pub static REAL: [Real; 10] = [
    Real {
        name: "goes_flux",
        what: "solar X-ray flux, two channels, quantised sensor",
        dtype: "f4",
        source: "GOES-15 XRS, 2011-06-07, NOAA and NASA/GSFC (sunpy 7.0.5, data/test/go1520110607.fits)",
        licence: "public domain (work of the US government)",
        sha256: "a3ba5bcbd495e7222720a8cc67367295f740213642ad62aacdecc9733e536032",
        bytes: include_bytes!("../../corpus/goes_flux.bin"),
    },
    Real {
        name: "goes_time",
        what: "timestamps, seconds of the day, almost regular",
        dtype: "f8",
        source: "GOES-15 XRS, 2011-06-07, NOAA and NASA/GSFC (sunpy 7.0.5, data/test/go1520110607.fits)",
        licence: "public domain (work of the US government)",
        sha256: "a34b06262d5a94968b24a597200617e0ddd920ad207a56d0a4a151d7e9d33287",
        bytes: include_bytes!("../../corpus/goes_time.bin"),
    },
    Real {
        name: "aia_counts",
        what: "detector counts of a solar image, averaged, 128 x 128",
        dtype: "f4",
        source: "SDO/AIA 171 A, 2011-02-15, NASA (sunpy 7.0.5, data/test/aia_171_level1.fits)",
        licence: "public domain (NASA data are free to use)",
        sha256: "771705489d4fd54a8b6798ad54bd694c8bef3b55fca89be7a7014adf1af0d436",
        bytes: include_bytes!("../../corpus/aia_counts.bin"),
    },
    Real {
        name: "sf_temps",
        what: "hourly temperatures, one decimal",
        dtype: "f4",
        source: "hourly normals of San Francisco, NOAA (vega_datasets 0.9.0, sf-temps.csv)",
        licence: "public domain (work of the US government)",
        sha256: "53dabdc4b7cd97ac12d449f372c4c8be8637e3a29698984de1d28e226d64c54e",
        bytes: include_bytes!("../../corpus/sf_temps.bin"),
    },
    Real {
        name: "camera",
        what: "photograph, grey, 256 x 256",
        dtype: "u1",
        source: "Lav Varshney (scikit-image 0.26.0, data/camera.png)",
        licence: "CC0",
        sha256: "bbace89b1dd7ec54bc0dcbf1fcb03d7bf181c4512b0c9c096d2e9fd2a3e95b75",
        bytes: include_bytes!("../../corpus/camera.bin"),
    },
    Real {
        name: "elevation",
        what: "elevation grid in metres, 128 x 256",
        dtype: "i2",
        source: "USGS, Jacksboro fault, Tennessee (matplotlib 3.11.2, sample_data/jacksboro_fault_dem.npz)",
        licence: "public domain (work of the US government)",
        sha256: "7417f39449365c3acaeebc72583f3e8717deb5f55902d63d681597d260891ca3",
        bytes: include_bytes!("../../corpus/elevation.bin"),
    },
    Real {
        name: "ecg",
        what: "electrocardiogram at 360 Hz, 11-bit converter counts",
        dtype: "i2",
        source: "MIT-BIH Arrhythmia Database, record 208, PhysioNet (scipy 1.9.3, misc/ecg.dat)",
        licence: "ODC-BY 1.0: Moody GB, Mark RG, IEEE Eng in Med and Biol 20(3):45-50 (2001)",
        sha256: "0c82d75daafeb0a0e35c96947e687ad656670606f08822daaf1bbc5cabbd94a3",
        bytes: include_bytes!("../../corpus/ecg.bin"),
    },
    Real {
        name: "oil_prices",
        what: "daily spot prices of crude oil, dollars and cents",
        dtype: "f8",
        source: "WTI at Cushing, 1986 on, US Energy Information Administration (arch 8.0.0, data/wti/wti.csv.gz)",
        licence: "public domain (EIA data are free to use and distribute)",
        sha256: "40cf9cd1dd7f8488e857e79e5175453625e11578451a46c7fb0fee30ebf00742",
        bytes: include_bytes!("../../corpus/oil_prices.bin"),
    },
    Real {
        name: "tz_changes",
        what: "timestamps of clock changes, 64-bit seconds since 1970",
        dtype: "i8",
        source: "IANA time zone database 2026 (tzdata 2026.6, version-2 transition times)",
        licence: "public domain",
        sha256: "6de19889843ca5bb83e0cd050965bfd96f09fa89ca7a95b55d3a3dcf7da154e5",
        bytes: include_bytes!("../../corpus/tz_changes.bin"),
    },
    Real {
        name: "lambda_dna",
        what: "genome of phage lambda, letters ACGT",
        dtype: "S1",
        source: "GenBank NC_001416.1 (Debian bowtie2-examples 2.5.0-3, lambda_virus.fa)",
        licence: "no restriction (NCBI places none on sequence data)",
        sha256: "36432a40f602258d19ae7c8152ddbc30390b559f2859c01d7047c77b048c71b3",
        bytes: include_bytes!("../../corpus/lambda_dna.bin"),
    },
];

impl Real {
    /// As an array to compress.
    pub fn array(&self) -> Data {
        Data {
            name: self.name.into(),
            dtype: self.dtype,
            typesize: typesize(self.dtype),
            origin: Origin::Real,
            bytes: Cow::Borrowed(self.bytes),
        }
    }
}

/// Lower-case hexadecimal SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Compares every embedded array with its hash.
pub fn check() -> Result<(), String> {
    match REAL.iter().find(|r| sha256_hex(r.bytes) != r.sha256) {
        None => Ok(()),
        Some(r) => Err(format!("corpus array {}: its SHA-256 is not the one in src/data/corpus.rs", r.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_the_ones_described() {
        check().unwrap();
        for r in &REAL {
            let (dtype, typesize) = crate::data::parse_dtype(r.dtype).unwrap();
            assert_eq!((dtype, r.bytes.len() % typesize), (r.dtype, 0), "{}", r.name);
            assert!(!r.source.is_empty() && !r.licence.is_empty());
        }
        assert!(REAL.iter().map(|r| r.bytes.len()).sum::<usize>() <= 600 << 10);
    }
}
