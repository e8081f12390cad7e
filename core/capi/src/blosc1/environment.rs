//! The environment variables that `blosc_compress` and `blosc_decompress` are documented to honour.
//!
//! `BLOSC_NOLOCK` has no effect, as nothing is locked, and neither has `BLOSC_WARN`, as nothing is printed.

use super::{BAD_PARAMETER, settings};
use core::ffi::c_int;
use std::env;
use std::ffi::CString;

/// The integer that the variable begins with, as C's `strtol` reads it; `None` where there is none.
fn integer(name: &str) -> Option<i64> {
    let text = env::var(name).ok()?;
    let text = text.trim_start();
    let digits = text.trim_start_matches(['+', '-']);
    let sign = text.len() - digits.len();
    let end = sign + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    text.get(..end)?.parse().ok()
}

/// `BLOSC_NTHREADS`.
pub(super) fn threads() {
    if let Some(threads) = integer("BLOSC_NTHREADS").filter(|&n| n > 0) {
        settings::blosc_set_nthreads(c_int::try_from(threads).unwrap_or(c_int::MAX));
    }
}

/// Applies what the environment says to the settings, and to the level, shuffle and type size of one call.
///
/// # Errors
/// -1 for a compressor or split mode of no known name, -10 for a level that no integer holds.
pub(super) fn apply(level: &mut c_int, shuffle: &mut c_int, typesize: &mut usize) -> Result<(), c_int> {
    if let Some(asked) = integer("BLOSC_CLEVEL").filter(|&level| level >= 0) {
        *level = c_int::try_from(asked).map_err(|_| BAD_PARAMETER)?;
    }
    match env::var("BLOSC_SHUFFLE").as_deref() {
        Ok("NOSHUFFLE") => *shuffle = 0,
        Ok("SHUFFLE") => *shuffle = 1,
        Ok("BITSHUFFLE") => *shuffle = 2,
        _ => {}
    }
    if let Some(asked) = integer("BLOSC_TYPESIZE").filter(|&size| size > 0) {
        *typesize = usize::try_from(asked).unwrap_or(usize::MAX);
    }
    if let Ok(name) = env::var("BLOSC_COMPRESSOR") {
        let name = CString::new(name).map_err(|_| -1)?;
        // SAFETY: `name` is a string that lives until the end of this block.
        if unsafe { settings::blosc_set_compressor(name.as_ptr()) } < 0 {
            return Err(-1);
        }
    }
    if let Some(asked) = integer("BLOSC_BLOCKSIZE").filter(|&size| size > 0) {
        settings::blosc_set_blocksize(usize::try_from(asked).unwrap_or(usize::MAX));
    }
    threads();
    if let Ok(name) = env::var("BLOSC_SPLITMODE") {
        let mode = match name.as_str() {
            "ALWAYS" => 1,
            "NEVER" => 2,
            "AUTO" => 3,
            "FORWARD_COMPAT" => 4,
            _ => return Err(-1),
        };
        settings::blosc_set_splitmode(mode);
    }
    Ok(())
}
