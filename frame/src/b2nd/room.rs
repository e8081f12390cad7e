//! Room for items: lengths are checked, and the allocator is asked before anything is made.

use crate::error::{Error, IoKind};
use alloc::vec::Vec;

/// How many bytes are taken or given.
pub(super) const SELECTED: &str = "the number of items selected, times the item size";

pub(super) fn check_len(needed: u64, given: usize) -> Result<(), Error> {
    if needed == given as u64 {
        return Ok(());
    }
    Err(Error::Param { name: "number of bytes", value: given as i64, allowed: SELECTED })
}

/// `len` zero bytes, or an error if there is no memory for them.
pub(super) fn zeroed(len: usize) -> Result<Vec<u8>, Error> {
    // Asked for and given back: `vec!` takes pages the system has zeroed, but cannot fail gently.
    drop({
        let mut probe: Vec<u8> = Vec::new();
        probe.try_reserve_exact(len).map_err(|_| IoKind::OutOfMemory)?;
        probe
    });
    Ok(alloc::vec![0; len])
}

/// Makes `buf` exactly `len` bytes long; what is in it is not kept.
pub(super) fn fit(buf: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    buf.try_reserve(len.saturating_sub(buf.len())).map_err(|_| IoKind::OutOfMemory)?;
    buf.resize(len, 0);
    Ok(())
}
