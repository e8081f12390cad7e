//! Metalayers of the trailer, whose length may change.

use super::meta::with_content;
use super::owned::Owned;
use super::session::{changing, reading};
use crate::abi::{CParams, Schunk};
use crate::error::*;
use crate::memory::{hand_out, needed, put, text};
use core::ffi::{c_char, c_int};

fn position(owned: &Owned, name: &str) -> Option<usize> {
    owned.inner.frame.vlmetalayer_names().position(|known| known == name)
}

/// Sets a layer; gives its position.
fn set(owned: &mut Owned, name: &str, content: &[u8]) -> Result<c_int> {
    owned.change(|inner| Ok(inner.frame.set_vlmetalayer(name, content)?))?;
    owned.sync_meta()?;
    size(position(owned, name).ok_or(FAILURE)?)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_exists(schunk: *mut Schunk, name: *const c_char) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or a string, as the caller promises.
    int(|| unsafe {
        let name = text(name)?;
        reading(schunk, |owned| size(position(owned, name).ok_or(NOT_FOUND)?))
    })
}

/// The compression parameters are a hint that is not taken.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_add(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
    _cparams: *const CParams,
) -> c_int {
    let edit = |owned: &mut Owned, name: &str, content: &[u8]| {
        if position(owned, name).is_some() { Err(INVALID_PARAM) } else { set(owned, name, content) }
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_content(schunk, name, content, content_len, edit) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_update(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *const u8,
    content_len: i32,
    _cparams: *const CParams,
) -> c_int {
    let edit = |owned: &mut Owned, name: &str, content: &[u8]| {
        position(owned, name).ok_or(NOT_FOUND)?;
        set(owned, name, content)
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_content(schunk, name, content, content_len, edit) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_get(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut *mut u8,
    content_len: *mut i32,
) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or a string; null or writable, as the caller promises.
    int(|| unsafe {
        let name = text(name)?;
        reading(schunk, |owned| {
            let at = position(owned, name).ok_or(NOT_FOUND)?;
            let found = owned.inner.frame.vlmetalayer(name)?.ok_or(NOT_FOUND)?;
            put(content_len, size(found.len())?);
            hand_out(content, &found)?;
            size(at)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_delete(schunk: *mut Schunk, name: *const c_char) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or a string, as the caller promises.
    int(|| unsafe {
        let name = text(name)?;
        changing(schunk, |owned| {
            position(owned, name).ok_or(NOT_FOUND)?;
            owned.change(|inner| {
                inner.frame.remove_vlmetalayer(name);
                Ok(())
            })?;
            owned.sync_meta()?;
            Ok(owned.public.nvlmetalayers.into())
        })
    })
}

/// The names stay the super-chunk's.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_get_names(schunk: *mut Schunk, names: *mut *mut c_char) -> c_int {
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    let known = unsafe { schunk.as_ref() }.map_or(0, |schunk| schunk.nvlmetalayers);
    let list = |owned: &mut Owned| {
        // Another handle may have added layers since the caller has made room for those it saw.
        let count = known.min(owned.public.nvlmetalayers);
        let names = if count > 0 { needed(names)? } else { names };
        for (k, layer) in
            owned.public.vlmetalayers.iter().take(usize::try_from(count).unwrap_or(0)).enumerate()
        {
            // SAFETY: as many places as the caller saw layers, as the interface says; `sync_meta` made each.
            unsafe { names.add(k).write((**layer).name) };
        }
        Ok(count.into())
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    int(|| unsafe { reading(schunk, list) })
}
