//! Other implementations, loaded at run time from a path: oracles for tests, opponents for benchmarks.
