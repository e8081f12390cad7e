//! The bodies of the fuzz targets: plain functions from bytes, so that stable tests call them too.
//!
//! A target fails by panicking: an assertion here, a panic of the library, more memory than the
//! [`resources`] oracle allows, or too much time for its input. `Err` from the library is never a failure
//! by itself.

pub mod arrays;
#[cfg(feature = "capi")]
pub mod capi;
pub mod chunks;
pub mod codecs;
#[cfg(feature = "tools")]
pub mod differential;
pub mod edits;
#[cfg(feature = "tools")]
pub mod excuses;
pub mod frames;
pub mod kernels;
pub mod packs;
pub mod paths;
pub mod primed;
pub mod push;
pub mod resources;
pub mod shaped;
#[cfg(feature = "tools")]
#[path = "../../bench-harness/peers/tests/it/support/mod.rs"]
pub mod support;
#[cfg(feature = "tools")]
pub mod tables;
#[cfg(feature = "tools")]
pub mod tools;
pub mod trees;
pub mod values;

use std::path::Path;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// Every target: its name, what it runs, and its dictionary in `dictionaries/`. `targets.py` makes the
/// binaries from this list; `smoke`, `campaign` and `oss-fuzz/build.sh` read it too.
pub const TARGETS: &[(&str, Target, &str)] = &[
    ("chunk_parse", chunks::parse, "chunk"),
    ("chunk_decode", chunks::decode, "chunk"),
    ("chunk_getitem", chunks::getitem, "chunk"),
    ("chunk_push", push::push, "chunk"),
    ("chunk_roundtrip", chunks::roundtrip, "none"),
    ("chunk_mutated", chunks::mutated, "none"),
    ("blosclz_decode", codecs::blosclz_decode, "none"),
    ("lz4_decode", codecs::lz4_decode, "none"),
    ("zlib_decode", codecs::zlib_decode, "none"),
    ("zstd_decode", codecs::zstd_decode, "zstd"),
    ("snappy_decode", codecs::snappy_decode, "none"),
    ("ndlz_decode", codecs::ndlz_decode, "none"),
    ("codec_roundtrip", codecs::roundtrip, "none"),
    ("kernel_twins", kernels::twins, "none"),
    ("filters_pipeline", kernels::pipeline, "none"),
    ("frame_open", frames::open, "frame"),
    ("frame_mutated", shaped::frame, "none"),
    ("frame_edit_sequence", edits::edit_sequence, "none"),
    ("sframe_open", frames::open_sparse, "frame"),
    ("sframe_mutated", shaped::sparse, "none"),
    ("cut_anywhere", frames::cut_anywhere, "frame"),
    ("b2nd_open", arrays::open, "b2nd"),
    ("b2nd_mutated", shaped::array, "none"),
    ("b2nd_slice", arrays::slice, "none"),
    ("b2nd_resize", arrays::resize, "none"),
    ("dtype", arrays::dtype, "dtype"),
    ("bloscpack_open", packs::open, "bloscpack"),
    ("bloscpack_append", packs::append, "none"),
    ("bcolz_open", trees::bcolz, "bcolz"),
    ("blaze_open", trees::blaze, "bcolz"),
    ("rows_edit_sequence", trees::edit_sequence, "none"),
    ("any_path", paths::any, "bcolz"),
    ("msgpack", values::msgpack, "msgpack"),
    ("text_value", values::text, "text"),
    #[cfg(feature = "tools")]
    ("cli_args", tools::command_line, "cli"),
    #[cfg(feature = "tools")]
    ("table_open", tables::open, "frame"),
    #[cfg(feature = "tools")]
    ("result_file", tools::results, "result"),
    #[cfg(feature = "tools")]
    ("c_differential", differential::both, "chunk"),
    #[cfg(feature = "capi")]
    ("c_calls", capi::calls, "none"),
];

/// The folder `fuzz`, where corpora and manifest lie; `replay/` builds this library too.
pub fn folder() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if here.ends_with("replay") { here.parent().expect("a folder around it") } else { here }
}

/// Runs one target under the resource oracle.
///
/// # Panics
/// If the target fails, or there is none of that name.
pub fn run(name: &str, data: &[u8]) {
    let (_, target, _) = TARGETS.iter().find(|(n, ..)| *n == name).expect("a registered target");
    resources::within(data.len(), || target(data));
}
