//! The `blosc` command.
#![forbid(unsafe_code)]
fn main() {}
