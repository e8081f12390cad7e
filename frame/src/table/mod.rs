//! Tables of python-blosc2 (`CTable`): a store whose columns lie under `_cols`, and whose `_valid_rows` says which rows
//! live. Rows that were deleted are left out. Batches of rows are Arrow's [`RecordBatch`](arrow_array::RecordBatch), whether they come from a table,
//! go into one, or stand as text in a file.
//!
//! ```text
//! schema    which columns there are, from the description's JSON; their Arrow types
//! batches   the rows that live, from place, which opens the files
//! column    a stored column -> Arrow arrays; records: values of their own lengths
//! encode    Arrow arrays -> what a column stores, or why not; write: the files of a column
//! bytes     items <-> Arrow arrays; sentinel: the value that stands for null
//! append    rows to a table in a folder; create: a new table there
//! values    MessagePack and JSON values -> Arrow arrays, exact or refused; exact: back, and between types
//! text      batches as CSV and JSON lines; lines: batches from them; infer: which types they have
//! ipc       batches as Arrow files, and from them; numpy: from and to the arrays of `.npz` files
//! ```
//!
//! # Example
//! ```
//! use blosc_frame::Store;
//! use blosc_frame::table::{append, create, lines::TextReader};
//! # let folder = std::env::temp_dir().join(format!("blosc-table-{}", std::process::id()));
//! # std::fs::create_dir(&folder)?;
//! let text = "id,name\n1,one\n2,\n";
//! let open = || TextReader::new(Box::new(text.as_bytes()), true, 1 << 20);
//! let schema = blosc_frame::table::infer(&mut open()?)?;
//! create(&folder, &schema)?;
//! append(&folder, &mut open()?, 1 << 20)?;
//!
//! let mut table = Store::open(&folder)?.table("")?;
//! let mut columns = table.columns()?;
//! let batches: Vec<_> = table.batches(&mut columns, 0..2).collect::<Result<_, _>>()?;
//! assert_eq!((batches[0].num_rows(), batches[0].column(1).null_count()), (2, 1));
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! CSV and JSON are read and written here, not by `arrow-csv` and `arrow-json`: those take an empty text for a null, the
//! last of two values with one key, 1.5 for the integer 1, and write NaN as null.

mod append;
mod base64;
mod batches;
mod bytes;
mod column;
mod create;
mod encode;
mod error;
mod exact;
mod infer;
pub mod ipc;
pub mod lines;
pub mod numpy;
mod place;
mod records;
mod rows;
mod schema;
mod sentinel;
pub mod text;
mod time;
mod values;
mod write;

#[cfg(test)]
mod tests;

pub use {arrow_array, arrow_schema};

pub use append::{Appending, append};
pub use batches::{Batches, Table};
pub use column::ColumnReader;
pub use create::create;
pub use error::{Result, TableError};
pub use infer::infer;
pub use place::{META, Place, VALID};
pub use records::Records;
pub use rows::Rows;
pub use schema::{Column, Kind, Schema};
