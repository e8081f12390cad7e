//! How the files of a frame are reached, as `blosc2_io` tells.

use crate::abi::{Io, StdioMmap};
use crate::error::{INVALID_PARAM, Result};
use crate::io::BackEnd;
use core::ffi::CStr;

/// How the files of a frame are reached.
#[derive(Clone, Copy)]
pub enum Access {
    Files,
    /// As a map that is read only, changed in the file, or changed in memory alone.
    Map {
        mode: &'static str,
        size: usize,
    },
    Caller(BackEnd),
}

impl Access {
    /// # Safety
    /// `io.params` is null or of the kind that `io.id` says.
    pub unsafe fn of(io: &Io) -> Result<Access> {
        match io.id {
            0 => Ok(Access::Files),
            1 => {
                // SAFETY: as the caller promises.
                let map = unsafe { io.params.cast::<StdioMmap>().as_ref() };
                let mode = map.map(|map| map.mode).filter(|mode| !mode.is_null());
                // SAFETY: a string, as the interface says.
                let mode = mode.map_or("r", |mode| unsafe { CStr::from_ptr(mode) }.to_str().unwrap_or(""));
                let known = ["r", "r+", "w+", "c"].into_iter().find(|known| *known == mode);
                let size = map.map_or(0, |map| map.initial_mapping_size);
                Ok(Access::Map { mode: known.ok_or(INVALID_PARAM)?, size })
            }
            id => Ok(Access::Caller(BackEnd::of(id, io.params)?)),
        }
    }

    /// Whether the changes of a map stay in memory.
    pub fn is_in_memory(self) -> bool {
        matches!(self, Access::Map { mode: "c", .. })
    }

    /// Says what the C library says of maps where `BLOSC_INFO` asks for it: python-blosc2 looks for it.
    pub fn announce(self, path: &str) {
        let Access::Map { mode, size } = self else { return };
        if std::env::var_os("BLOSC_INFO").is_some() {
            let file = std::fs::metadata(path).map_or(0, |file| file.len());
            let size = if mode == "r" { file } else { file.max(size as u64) };
            eprintln!(
                "[info] - Opened memory-mapped file {path} in mode {mode} with an mapping size of {size}."
            );
        }
    }
}
