//! `blosc2_schunk`: a public structure that callers read, and behind it a `SuperChunk`.
//!
//! ```text
//! Owned { public: Schunk   what C sees; `sync` brings its counters up to date after each change
//!         inner: Inner }   the frame, and what the public part points to
//! ```
//! A pointer to the public part is a pointer to the whole. `session.rs` commits every change of a frame in a file at once.

mod access;
mod chunks;
mod data;
mod files;
mod lock;
mod meta;
mod new;
mod owned;
mod session;
mod shown;
mod slices;
mod vlmeta;

pub use chunks::{append, fill_special, update};
pub use files::{frame_bytes, frame_out, from_buffer, in_memory, open, save, save_append};
pub use new::{Asked, blosc2_schunk_free, create};
pub use owned::{Owned, owned};
pub use session::{blosc2_schunk_refresh as refresh, changing, reading, session};
