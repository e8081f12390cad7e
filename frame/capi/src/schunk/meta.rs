//! Metalayers of the header.

use super::owned;
use crate::abi::{MAX_METALAYERS, Schunk};
use crate::error::*;
use crate::memory::{bytes, text};
use core::ffi::{c_char, c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_add(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library; a string; `content_len` readable bytes.
        let (owned, name, content) =
            unsafe { (owned(schunk)?, text(name)?, bytes(content.cast::<c_void>(), content_len.into())?) };
        if owned.inner.frame.metalayer(name).is_some()
            || usize::from(owned.public.nmetalayers) >= MAX_METALAYERS
        {
            return Err(INVALID_PARAM);
        }
        owned.change(|inner| Ok(inner.frame.set_metalayer(name, content)?))?;
        owned.sync_meta()?;
        Ok(c_int::from(owned.public.nmetalayers) - 1)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_update(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library; a string; `content_len` readable bytes.
        let (owned, name, content) =
            unsafe { (owned(schunk)?, text(name)?, bytes(content.cast::<c_void>(), content_len.into())?) };
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
    })
}
