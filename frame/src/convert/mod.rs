//! Conversion among all containers: bloscpack, bcolz, Blaze, contiguous and sparse frames, b2nd, `.npy`.
//!
//! ```text
//! open_any(path) → AnyRows: decoded bytes, and what is known about them (dtype, shape, metadata)
//! convert(opened, target, path) → the new container, and a list of what it could not hold
//! ```
//! Data streams through one chunk's worth of memory. Arrays are written in C order: one in Fortran order is
//! transposed on the way, through at most 64 MiB of its items. A name is never replaced: `path` must be free.
//!
//! | target | keeps |
//! |---|---|
//! | bloscpack v3, Blaze layout | dtype, shape, metadata |
//! | bcolz, Blaze directory | dtype (structured: columns), shape, metadata as attributes |
//! | b2nd | dtype, shape, metadata as vlmetalayers |
//! | cframe, sframe | item size, metadata as vlmetalayers |
//! | npy | dtype, shape |

mod decoded;
mod target;
mod write;

pub use target::{Target, convert};
pub use write::{Cut, Packing, blosc1_params};
