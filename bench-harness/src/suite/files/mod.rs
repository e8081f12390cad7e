//! Suites `frames`, `arrays`, `frame-files` and `array-files`: containers in files, written and read here and by libblosc2
//! itself, in turns. The first two take the chosen arrays at 4 MiB, with one thread; the others a few at 256 MiB with each
//! number of threads, so that they are not part of `all`. `--size` and `--data` choose others.
//!
//! The files lie in `TMPDIR`, else in `/dev/shm` where there is one: memory stands for the disk, so that
//! flushing (which libblosc2 never does) costs nothing and the figures are not the disk's.

//!
//! Suite `far` reads arrays that are not in memory; its files lie in `TMPDIR`, else where the system has temporary ones.

mod arrays;
mod containers;
mod far;
mod frames;
mod operation;

pub use arrays::arrays;
pub use containers::containers;
pub use far::far;
pub use frames::frames;
