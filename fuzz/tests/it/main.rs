//! Tests of the fuzz targets with what is on disk: corpora, regressions, limits.

#[cfg(feature = "tools")]
mod excuses;
mod exhaustive;
mod regressions;
mod replay;
mod resources;
mod security;
mod targets;
mod vectors;
mod zarr;
