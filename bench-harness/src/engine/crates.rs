//! Codec crates by themselves: what a Rust program would use without this library.

use crate::measure::candidate::Work;
use blosc_core::Codec;
use std::rc::Rc;

/// A crate that packs single streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crate {
    /// `lz4_flex`, safe decoder.
    Lz4Flex,
    /// `zstd`: the C library.
    Zstd,
    /// `zlib-rs`.
    ZlibRs,
}

/// All of them.
pub const ALL: [Crate; 3] = [Crate::Lz4Flex, Crate::Zstd, Crate::ZlibRs];

/// Whose streams it reads and writes.
pub fn codec_of(c: Crate) -> Codec {
    match c {
        Crate::Lz4Flex => Codec::Lz4,
        Crate::Zstd => Codec::Zstd,
        Crate::ZlibRs => Codec::Zlib,
    }
}

impl Crate {
    /// Its name on crates.io.
    pub fn name(self) -> &'static str {
        match self {
            Crate::Lz4Flex => "lz4_flex",
            Crate::Zstd => "zstd",
            Crate::ZlibRs => "zlib-rs",
        }
    }

    /// Packs its source at a Blosc level (1 ..= 9).
    pub fn encoder(self, level: u8) -> Work<'static> {
        match self {
            Crate::Lz4Flex => {
                Box::new(|src, dst| lz4_flex::block::compress_into(src, dst).map_err(|e| e.to_string()))
            }
            Crate::Zstd => {
                // Blosc's levels stretched over zstd's: 1 3 5 7 9 11 13 15 22.
                let level = if level >= 9 { 22 } else { i32::from(level) * 2 - 1 };
                let mut context = zstd::bulk::Compressor::new(level);
                Box::new(move |src, dst| {
                    let context = context.as_mut().map_err(|e| e.to_string())?;
                    context.compress_to_buffer(src, dst).map_err(|e| e.to_string())
                })
            }
            Crate::ZlibRs => Box::new(move |src, dst| {
                let config = zlib_rs::DeflateConfig::new(level.into());
                let (out, code) = zlib_rs::compress_slice(dst, src, config);
                if code == zlib_rs::ReturnCode::Ok { Ok(out.len()) } else { Err(format!("{code:?}")) }
            }),
        }
    }

    /// Unpacks `stream`.
    pub fn decoder(self, stream: Rc<[u8]>) -> Work<'static> {
        match self {
            Crate::Lz4Flex => Box::new(move |_, dst| {
                lz4_flex::block::decompress_into(&stream, dst).map_err(|e| e.to_string())
            }),
            Crate::Zstd => {
                let mut context = zstd::bulk::Decompressor::new();
                Box::new(move |_, dst| {
                    let context = context.as_mut().map_err(|e| e.to_string())?;
                    context.decompress_to_buffer(&stream, dst).map_err(|e| e.to_string())
                })
            }
            Crate::ZlibRs => Box::new(move |_, dst| {
                let config = zlib_rs::InflateConfig::default();
                let (out, code) = zlib_rs::decompress_slice(dst, &stream, config);
                if code == zlib_rs::ReturnCode::Ok { Ok(out.len()) } else { Err(format!("{code:?}")) }
            }),
        }
    }
}
