//! Suites `frame-files` and `array-files`: containers in files, written and read here and by libblosc2
//! itself, in turns, with one and with two threads. Each works on files of 256 MiB of data, so neither is
//! part of `all`.
//!
//! The files lie in `TMPDIR`, else in `/dev/shm` where there is one: memory stands for the disk, so that
//! flushing (which libblosc2 never does) costs nothing and the figures are not the disk's.

mod arrays;
mod frames;
mod operation;

pub use arrays::arrays;
pub use frames::frames;
