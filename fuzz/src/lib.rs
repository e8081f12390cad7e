//! The bodies of the fuzz targets: plain functions from bytes, so that stable tests call them too.
//!
//! A target fails by panicking: an assertion here, a panic of the library, more memory than the
//! [`resources`] oracle allows, or too much time for its input. `Err` from the library is never a failure
//! by itself.

pub mod arrays;
pub mod chunks;
pub mod codecs;
pub mod frames;
pub mod kernels;
pub mod packs;
pub mod resources;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// Every target by name. `targets.py` makes the binaries from this list.
pub const TARGETS: &[(&str, Target)] = &[
    ("chunk_parse", chunks::parse),
    ("chunk_decode", chunks::decode),
    ("chunk_getitem", chunks::getitem),
    ("chunk_roundtrip", chunks::roundtrip),
    ("chunk_mutated", chunks::mutated),
    ("blosclz_decode", codecs::blosclz_decode),
    ("lz4_decode", codecs::lz4_decode),
    ("zlib_decode", codecs::zlib_decode),
    ("zstd_decode", codecs::zstd_decode),
    ("snappy_decode", codecs::snappy_decode),
    ("ndlz_decode", codecs::ndlz_decode),
    ("codec_roundtrip", codecs::roundtrip),
    ("kernel_twins", kernels::twins),
    ("filters_pipeline", kernels::pipeline),
    ("frame_open", frames::open),
    ("frame_edit_sequence", frames::edit_sequence),
    ("sframe_open", frames::open_sparse),
    ("cut_anywhere", frames::cut_anywhere),
    ("b2nd_open", arrays::open),
    ("b2nd_slice", arrays::slice),
    ("dtype", arrays::dtype),
    ("bloscpack_open", packs::open),
    ("bloscpack_append", packs::append),
    ("bcolz_open", packs::bcolz),
];

/// Runs one target under the resource oracle.
///
/// # Panics
/// If the target fails, or there is none of that name.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(n, _)| *n == name).expect("a registered target");
    resources::within(data.len(), || target(data));
}
