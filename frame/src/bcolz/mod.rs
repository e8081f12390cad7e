//! Directories of bcolz: carray and ctable as version 1.2 writes them.
//!
//! ```text
//! ctable   __rootdirs__  __attrs__  <column>/ …          each column a carray
//! carray   __attrs__  meta/{storage,sizes}  data/__0.blp …
//! ```
//! Nothing is unpickled: object columns are refused.

mod carray;
mod ctable;
mod descriptor;
mod flavour;
mod quantize;
mod tree;

pub(crate) use descriptor::{default_item, zero_of};
pub(crate) use tree::{Announced, PENDING, announce, discard, put, uncounted};

pub use carray::{CArray, Create};
pub use ctable::CTable;
pub use descriptor::{CParams, Sizes, Storage, codec_by_name, default_chunklen, numpy_name};
pub use flavour::{Flavour, flavour};
pub use tree::{FlatTree, Tree, Uncounted, check_column};
