//! What the tests of this workspace share.
//!
//! | module | what |
//! |---|---|
//! | [`random`] | one generator of numbers, the same everywhere |
//! | [`counts`] | how many cases a test runs: `BLOSC_LONG`, `BLOSC_TENTH`, `BLOSC_EMULATED` |
//! | [`folder`] | a temporary folder that goes when the test ends |
//! | [`hash`] | SHA-256 as text; files of golden hashes |
//! | [`guard`] | bytes around a buffer that nothing may touch |
//! | [`http`] | a server on loopback, which does as it should or one thing wrong |
//! | [`imports`] | which files of a crate import each other |
//! | [`memory`] | an allocator that counts what a thread holds |
//! | [`trace`] | the system calls of a program, by strace |
//!
//! The package is not published: packages use it in `dev-dependencies` only, by path and without a version.

pub mod counts;
pub mod folder;
pub mod guard;
pub mod hash;
pub mod http;
pub mod imports;
pub mod memory;
pub mod random;
pub mod trace;

pub use counts::{count, emulated, long, of_short};
pub use folder::Folder;
pub use guard::guarded;
pub use hash::sha256;
pub use random::Random;
