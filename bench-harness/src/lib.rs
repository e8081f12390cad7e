#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | the real corpus, seeded generators, the user's own files |
//! | [`measure`] | buffers, probes of copy, read and write speed, interleaved rounds, statistics |
//! | [`machine`] | what this machine is, and whether it is one |
//! | [`engine`] | who compresses: this library, libblosc2, crates, external programs |
//! | [`instructions`] | exact instruction counts, by callgrind or QEMU |
//! | [`suite`] | which cases are run, and in which groups they are compared |
//! | [`result`] | rows, their schema, and the files they are kept in |
//! | [`report`] | tables, comparisons, one HTML page |
#![forbid(unsafe_code)]

pub mod data;
pub mod engine;
pub mod instructions;
pub mod machine;
pub mod measure;
pub mod report;
pub mod result;
pub mod suite;
