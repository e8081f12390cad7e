//! Containers of Blosc chunks.
#![no_std]
#![forbid(unsafe_code)]
