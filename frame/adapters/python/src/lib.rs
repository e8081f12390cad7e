//! `blosc_frame._native`: what the Python package `blosc_frame` is made of.
//!
//! ```text
//! chunk.rs    one chunk:      compress, decompress, decompress_range, chunk_info
//! source.rs   one container:  Source.read_box and its changes, for `blosc_frame.open`
//! store.rs    several:        Store and Table, for `blosc_frame.open`
//! save.rs     an array:       save, for `blosc_frame.save`
//! far.rs      a file of fsspec as a source of bytes, for both
//! buffer.rs   memory of Python as slices        errors.rs  our errors as exceptions
//! ```
//! Memory goes in and out by the buffer protocol without copies, and no work on data holds the interpreter's lock.

mod buffer;
mod chunk;
mod errors;
mod far;
mod save;
mod source;
mod store;

use pyo3::prelude::*;

/// The compiled half of `blosc_frame`. Its classes are frozen and lock what changes in them, scratch memory is each thread's own,
/// so a Python without the interpreter's lock leaves it off.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::chunk::{chunk_info, compress, decompress, decompress_range};
    #[pymodule_export]
    use crate::errors::BloscError;
    #[pymodule_export]
    use crate::save::save;
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::store::{Store, Table, open_store};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
