//! The command lines of what changes a container, or makes it anew.

use super::common::{Access, Output, Part, Run};
use super::values::most;
use clap::{Args as Group, Subcommand};
use std::path::PathBuf;

/// `blosc trim`.
#[derive(Debug, Group)]
pub struct Trim {
    /// bloscpack file, bcolz or Blaze directory to change
    pub container: PathBuf,
    /// Rows to take off the end
    pub rows: u64,
    /// First cut the columns of a bcolz table to the shortest, where something left them of different length
    #[arg(long)]
    pub ragged: bool,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc column`.
#[derive(Debug, Group)]
pub struct Column {
    #[command(subcommand)]
    pub action: ColumnAction,
}

/// What to do to a column of a bcolz table.
#[derive(Debug, Subcommand)]
pub enum ColumnAction {
    /// Add a column
    Add {
        /// Table to change
        table: PathBuf,
        /// Name of the new column
        name: String,
        /// Its items, one per row: of a .npy file or a container, or plain bytes; - is standard input
        input: PathBuf,
        /// Take the bytes of the input as they are, whatever they look like
        #[arg(long)]
        plain: bool,
        /// NumPy type of the items, such as <f4; that of the .npy file if left out
        #[arg(long, value_name = "DTYPE")]
        dtype: Option<String>,
        #[command(flatten)]
        access: Access,
    },
    /// Remove a column and its data
    Rm {
        /// Table to change
        table: PathBuf,
        /// Column to remove
        name: String,
        #[command(flatten)]
        access: Access,
    },
    /// Give a column another name
    Mv {
        /// Table to change
        table: PathBuf,
        /// Column to rename
        name: String,
        /// Its new name
        to: String,
        #[command(flatten)]
        access: Access,
    },
}

/// `blosc repair`.
#[derive(Debug, Group)]
pub struct Repair {
    /// The damaged frame; it is left as it is
    pub input: PathBuf,
    /// Where the frame starts in the file
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub offset: u64,
    #[command(flatten)]
    pub output: Output,
    /// What takes the place of lost items: zeros, nan, or 0x and the bytes of an item
    #[arg(long, default_value = "zeros", value_name = "KIND")]
    pub fill: String,
    /// Refuse to decode to more than this; none lifts all limits, for input you trust
    #[arg(long, value_name = "BYTES", value_parser = most)]
    pub max_output: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What becomes of what lies in a directory and is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Strays {
    /// Rows count from now on
    Take,
    /// It is removed
    Drop,
}

/// `blosc compact`.
#[derive(Debug, Group)]
pub struct Compact {
    /// Frame to rewrite in place; with --strays a bcolz or Blaze directory, too
    pub frame: PathBuf,
    /// What becomes of chunk files that no index names, and of rows that meta/sizes does not count: a writer left them
    /// that was not closed
    #[arg(long, value_name = "WHAT")]
    pub strays: Option<Strays>,
    #[command(flatten)]
    pub access: Access,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `blosc set`.
#[derive(Debug, Group)]
pub struct Set {
    /// Array, bloscpack file, bcolz or Blaze directory to change
    pub array: PathBuf,
    /// The new items: of a .npy file or a container, or plain bytes in C order; - is standard input
    pub input: PathBuf,
    /// Take the bytes of the input as they are, whatever they look like
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub part: Part,
    /// Overwrite within the room reserved in bloscpack files, bcolz and Blaze directories, not atomically
    #[arg(long)]
    pub in_place: bool,
    /// Room at the end of the chunks written to bloscpack files, bcolz and Blaze directories
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub reserve: u32,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc resize`.
#[derive(Debug, Group)]
pub struct Resize {
    /// Array, bloscpack file, bcolz or Blaze directory to change
    pub array: PathBuf,
    /// Its new shape
    #[arg(long, value_delimiter = ',', required = true, value_name = "SHAPE")]
    pub shape: Vec<u64>,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc insert`.
#[derive(Debug, Group)]
pub struct Insert {
    /// Array, bloscpack file, bcolz or Blaze directory to change
    pub array: PathBuf,
    /// The new rows: of a .npy file or a container, or plain bytes in C order; - is standard input
    pub input: PathBuf,
    /// Take the bytes of the input as they are, whatever they look like
    #[arg(long)]
    pub plain: bool,
    /// Dimension along which to insert
    #[arg(long, default_value_t = 0, value_name = "D")]
    pub axis: usize,
    /// Index before which the rows go
    #[arg(long, value_name = "N")]
    pub at: u64,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc delete`.
#[derive(Debug, Group)]
pub struct Delete {
    /// Array, bloscpack file, bcolz or Blaze directory to change
    pub array: PathBuf,
    /// Dimension whose rows go
    #[arg(long, default_value_t = 0, value_name = "D")]
    pub axis: usize,
    /// First row to delete
    #[arg(long, value_name = "A")]
    pub start: u64,
    /// One past the last row to delete
    #[arg(long, value_name = "B")]
    pub stop: u64,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc append`.
#[derive(Debug, Group)]
pub struct Append {
    /// Frame, array, container of rows or table to append to
    pub frame: PathBuf,
    /// The new items: of a .npy file or a container, or plain bytes in C order; - is standard input. The new rows of a table: a
    /// .csv, .jsonl, .arrow or .npz file
    pub input: PathBuf,
    /// Take the bytes of the input as they are, whatever they look like
    #[arg(long)]
    pub plain: bool,
    /// Dimension of an array along which to append
    #[arg(long, value_name = "D")]
    pub axis: Option<usize>,
    /// Threads to use; 0 is one per core
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Room at the end of the chunks written to bloscpack files, bcolz and Blaze directories
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub reserve: u32,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc edit`.
#[derive(Debug, Group)]
pub struct Edit {
    /// Frame to change
    pub frame: PathBuf,
    /// insert N FILE, update N FILE, append FILE, delete N, reorder LIST (0,2,1), or fill KIND COUNT, where KIND
    /// is zeros, nan, uninit, or 0x and the bytes of one item, and COUNT is in items
    #[arg(num_args = 0..=3, value_name = "EDIT")]
    pub edit: Vec<String>,
    /// Take the bytes of each FILE as they are, whatever they look like
    #[arg(long)]
    pub plain: bool,
    /// Make the edits in this file, one a line, in one atomic step; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "edit")]
    pub script: Option<PathBuf>,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc meta`.
#[derive(Debug, Group)]
pub struct Meta {
    #[command(subcommand)]
    pub action: MetaAction,
}

/// What to do with metalayers.
#[derive(Debug, Subcommand)]
pub enum MetaAction {
    /// Write the content of one to standard output
    Get(MetaName),
    /// Add or change one
    Set(MetaSet),
    /// Remove one
    Rm(MetaName),
    /// List the metalayers, or with --vl the variable-length ones
    List {
        /// The frame
        frame: PathBuf,
        /// List the variable-length ones instead
        #[arg(long)]
        vl: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        access: Access,
    },
}

/// Which metalayer.
#[derive(Debug, Group)]
pub struct MetaName {
    /// The frame
    pub frame: PathBuf,
    /// Its name
    pub name: String,
    /// A variable-length one
    #[arg(long)]
    pub vl: bool,
    #[command(flatten)]
    pub access: Access,
}

/// `blosc meta set`.
#[derive(Debug, Group)]
pub struct MetaSet {
    #[command(flatten)]
    pub which: MetaName,
    #[command(flatten)]
    pub value: MetaValue,
}

/// The new content.
#[derive(Debug, Group)]
#[group(required = true, multiple = false)]
pub struct MetaValue {
    /// As hexadecimal bytes
    #[arg(long, value_name = "BYTES")]
    pub hex: Option<String>,
    /// As JSON, stored as MessagePack
    #[arg(long, value_name = "TEXT")]
    pub json: Option<String>,
    /// The bytes of a file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}
