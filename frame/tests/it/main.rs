//! The integration tests of `blosc-frame`, one program: each module is a subject.

mod common;
mod containers;

/// For what is said of how much memory something takes.
#[global_allocator]
static ALLOCATOR: blosc_testkit::memory::Counting = blosc_testkit::memory::Counting;

#[cfg(feature = "advise")]
mod advise;
mod append_reads;
#[cfg(unix)]
mod appends;
mod b2nd_cache;
mod b2nd_crash;
mod b2nd_model;
mod b2nd_thin;
mod b2nd_vectors;
mod b2nd_wild;
mod bcolz;
mod blaze;
mod bloscpack_edit;
mod bloscpack_vectors;
mod cframe_examples;
mod cframe_flip;
mod cframe_holes;
mod cframe_push;
mod cframe_vectors;
mod convert;
mod crash;
mod dtype;
mod edges;
mod far;
mod far_files;
mod hdf5;
mod records;
mod rows;
mod schunk_checked;
mod schunk_copies;
#[cfg(unix)]
mod schunk_files;
mod schunk_foreign;
mod schunk_model;
mod schunk_refused;
mod schunk_repair;
mod schunk_repair_promises;
mod schunk_sources;
mod schunk_space;
mod schunk_sparse;
mod sharing;
#[cfg(feature = "store")]
mod stores;
#[cfg(feature = "table")]
mod tables;
mod tensors;
#[cfg(unix)]
mod writers;
