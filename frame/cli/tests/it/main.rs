//! The tests of the `blosc` command, one program: each drives the built binary.

mod common;

mod advise;
mod arrays;
mod blpk;
mod chunks;
#[cfg(target_os = "linux")]
mod durable;
mod engines;
mod frames;
mod inputs;
mod listing;
mod manual;
mod mistakes;
mod outputs;
mod packs;
#[cfg(target_os = "linux")]
mod process;
mod promises;
mod readme;
mod records;
mod refused;
mod remote;
mod stores;
mod table_appends;
mod table_text;
mod tables;
#[cfg(target_os = "linux")]
mod threads;
