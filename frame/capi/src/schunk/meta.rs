//! Metalayers of the header.

use super::owned::Owned;
use super::session::changing;
use crate::abi::{MAX_METALAYERS, Schunk};
use crate::error::*;
use crate::memory::{bytes, text};
use core::ffi::{c_char, c_int, c_void};

/// Runs `edit` on a super-chunk with the name and the content of a metalayer.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library, `name` null or a string; `content_len` bytes are readable.
pub unsafe fn with_content(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
    edit: impl FnOnce(&mut Owned, &str, &[u8]) -> Result<c_int>,
) -> c_int {
    // SAFETY: as the caller promises.
    int(|| unsafe {
        let (name, content) = (text(name)?, bytes(content.cast::<c_void>(), content_len.into())?);
        changing(schunk, |owned| edit(owned, name, content))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_add(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> c_int {
    let edit = |owned: &mut Owned, name: &str, content: &[u8]| {
        if owned.inner.frame.metalayer(name).is_some()
            || usize::from(owned.public.nmetalayers) >= MAX_METALAYERS
        {
            return Err(INVALID_PARAM);
        }
        owned.change(|inner| Ok(inner.frame.set_metalayer(name, content)?))?;
        owned.sync_meta()?;
        Ok(c_int::from(owned.public.nmetalayers) - 1)
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_content(schunk, name, content, content_len, edit) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_update(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> c_int {
    let edit = |owned: &mut Owned, name: &str, content: &[u8]| {
        let old = owned.inner.frame.metalayer(name).ok_or(METALAYER_NOT_FOUND)?;
        if content.len() > old.len() {
            return Err(INVALID_PARAM);
        }
        // The place of a metalayer keeps its size.
        let mut whole = old.to_vec();
        whole[..content.len()].copy_from_slice(content);
        owned.change(|inner| Ok(inner.frame.set_metalayer(name, &whole)?))?;
        owned.sync_meta()?;
        let position = owned.inner.frame.metalayer_names().position(|known| known == name);
        size(position.unwrap_or(0))
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_content(schunk, name, content, content_len, edit) }
}
