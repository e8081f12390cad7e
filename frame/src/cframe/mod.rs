//! The Blosc2 contiguous frame (docs/formats/cframe.md).
//!
//! ```text
//! 0            H                     H+C              F-T            F
//! +------------+---------------------+----------------+--------------+
//! | header     | payload: chunks     | index chunk    | trailer      |
//! +------------+---------------------+----------------+--------------+
//! ```
//! Header and trailer are MessagePack with fixed markers at fixed places, big-endian. The index is one
//! ordinary chunk of little-endian 64-bit entries: offsets from `H`, or a special chunk's code. The
//! index file of a sparse frame is the same without payload.
//!
//! - [`header`], [`section`], [`trailer`], [`index`]: each part by itself, no allocation to parse.
//! - [`view`]: a whole frame in memory or flash, without an allocator.
//! - [`push`]: a chunk of a frame whose bytes arrive in pieces, without an allocator.
//! - [`Opener`]: the sans-IO state machine that opens a frame from anywhere.

pub(crate) mod checksums;
#[cfg(feature = "alloc")]
mod entries;
pub mod header;
pub mod index;
#[cfg(feature = "alloc")]
mod open;
pub mod push;
pub mod section;
pub mod trailer;
pub mod view;

pub use checksums::CHECKSUMS_NAME;
#[cfg(feature = "alloc")]
pub(crate) use entries::Entries;
#[cfg(feature = "alloc")]
pub use open::{Opened, Opener, Step, open_at};
