//! Which of two encoders the streams of a level are for, on hosts.
//!
//! ```text
//!           where matches are few        elsewhere
//! level 1   `deflate`                    `deflate`'s single pass
//! 2 to 5    `deflate`                    the `zlib-rs` crate, with reused states
//! 6 to 9    `deflate`, which writes less in less time: docs/optimization-notes.md#zlib-high
//! ```
//! Our own encoder steps over what has no matches. `core/examples/zlib_speed.rs` compares them.

use zlib_rs::Deflate;

/// Which encoder the streams of a level are for.
pub(in crate::codec) enum Choice {
    Ours,
    /// Ours where matches are few, else our single pass.
    OursOrQuick,
    /// Ours where matches are few, else zlib-rs.
    OursOrLibrary,
}

/// The encoder of chunk level `level`.
pub(in crate::codec) const fn choice(level: u8) -> Choice {
    match level {
        0..=1 => Choice::OursOrQuick,
        2..=5 => Choice::OursOrLibrary,
        _ => Choice::Ours,
    }
}

/// Whether streams of chunk level `level`, which is zlib's own, may be for zlib-rs.
pub(in crate::codec) const fn needs_library(level: u8) -> bool {
    matches!(choice(level), Choice::OursOrLibrary)
}

/// The state of zlib-rs that encodes at chunk level `level`.
pub(in crate::codec) fn library(level: u8) -> Deflate {
    Deflate::new(level.into(), true, 15)
}
