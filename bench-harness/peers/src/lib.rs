#![doc = include_str!("../README.md")]
//!
//! [`blosc2::Libblosc2`] wraps `libblosc2.so`, [`blosc1::Libblosc`] the library of Blosc 1. Their paths come
//! from the environment variables `BLOSC_LIBBLOSC2` and `BLOSC_LIBBLOSC`; nothing is linked at build time.
//! Contexts are made once and reused, so that timings hold no set-up. [`counter`] reads the CPU's own counters.

pub mod blosc1;
pub mod blosc2;
pub mod child;
pub mod counter;
mod library;
mod streaming;

pub use blosc1::Libblosc;
pub use blosc2::{CParams, Compressor, Decompressor, Libblosc2};
pub use library::{Code, LoadError};
pub use streaming::copy_past_caches;
