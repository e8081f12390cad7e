//! Everything that depends on the CPU, and every `unsafe` block of the crate.
pub mod copy;
pub(crate) mod elementwise;
pub mod level;
pub mod out;
