//! `libblosc2.so.9`: the functions of C-Blosc2 3.3 over `blosc-core` and `blosc-frame`.
//!
//! ```text
//! abi.rs        structures as C sees them; their offsets are tested
//! error.rs      result codes, and the guard that no panic passes
//! memory.rs     pointers and lengths to slices; what callers free comes from malloc
//! context.rs    blosc2_create_cctx, compression and decompression      codec.rs    the caller's own codecs and filters
//! chunk.rs      bare chunks, one-shot functions, special chunks        vl.rs       blocks of variable length
//! blosc1.rs     blosc1_*, the settings of the process                  library.rs  names, defaults, clocks, files
//! schunk/       super-chunks, frames, metalayers                       b2nd/       arrays
//! runner.rs     the caller's own threads                             shapes.rs    numbers of items of an array
//! calls/        sequences of calls, for tests and fuzzing
//! io.rs         back ends for files, registered or built in      store.rs     files of frames, changed in place
//! lazy.rs       where the blocks of a chunk in a file lie
//! ```
//! `README.md` lists what differs from the C library.

mod abi;
mod b2nd;
mod blosc1;
#[cfg(any(test, feature = "calls"))]
pub mod calls;
mod chunk;
mod codec;
mod context;
#[cfg(all(test, target_os = "linux"))]
mod differential;
mod error;
mod io;
mod lazy;
mod library;
mod memory;
mod runner;
mod schunk;
mod shapes;
mod store;
#[cfg(test)]
mod tests;
mod vl;
