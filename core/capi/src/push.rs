//! Chunks that arrive in pieces, and chunks that are decoded over themselves.

use crate::chunk::{Limits, limits_of, parse};
use crate::memory::{Env, apart, bytes, filled, zeroed};
use crate::status::{Status, guard};
use blosc_core::{Header, Level, PushDecoder, PushState};
use core::ffi::c_void;
use core::ptr::null;

/// What lies in the caller's memory: `blosc_core_push_size` bytes.
struct Pushed {
    /// [`LIVES`] between `blosc_core_push_begin` and `blosc_core_push_end`.
    lives: u64,
    decoder: PushDecoder<'static>,
}

const LIVES: u64 = 0x626c_6f73_6370_7368;

/// A decoded block: `blosc_core_block`.
#[repr(C)]
pub struct Block {
    /// Its number; of a chunk without streams, of the piece.
    pub index: u64,
    /// Where its bytes lie in the decoded chunk.
    pub offset: u64,
    /// Its decoded bytes, in the decoder's memory until the next call; null if there is no block.
    pub bytes: *const c_void,
    /// How many.
    pub len: usize,
}

/// The decoder at `place`.
///
/// # Safety
/// `place` is null, or what [`blosc_core_push_begin`] was called with, and used by no one else for `'a`.
unsafe fn decoder<'a>(place: *mut c_void) -> Result<&'a mut Pushed, Status> {
    let place = place.cast::<Pushed>();
    if place.is_null() || !place.is_aligned() {
        return Err(if place.is_null() { Status::Null } else { Status::Param });
    }
    // SAFETY: not null, aligned, and made by `blosc_core_push_begin`, as the caller promises.
    let pushed = unsafe { &mut *place };
    if pushed.lives == LIVES { Ok(pushed) } else { Err(Status::Param) }
}

/// Bytes of a decoder, without its memory.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_core_push_size() -> usize {
    size_of::<Pushed>()
}

/// Bytes of memory that decoding a chunk with this header takes.
///
/// # Safety
/// `len` bytes at `header` are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_memory(header: *const c_void, len: usize) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(PushDecoder::memory_len(&Header::parse(unsafe { bytes(header, len) }?)?)))
}

/// Makes a decoder at `place`, with memory that it keeps until it ends.
///
/// # Safety
/// `place_len` bytes at `place` and `memory_len` bytes at `memory` are writable and used by no one else until
/// [`blosc_core_push_end`]; `limits` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_begin(
    place: *mut c_void,
    place_len: usize,
    memory: *mut c_void,
    memory_len: usize,
    limits: *const Limits,
    flags: u32,
) -> i64 {
    guard(|| {
        apart(&[(place, place_len), (memory, memory_len)])?;
        let place = place.cast::<Pushed>();
        if place.is_null() {
            return Err(Status::Null);
        }
        if !place.is_aligned() || place_len < size_of::<Pushed>() {
            return Err(Status::Param);
        }
        let level = if flags & Env::SCALAR != 0 { Level::SCALAR } else { Level::best() };
        // SAFETY: writable and used by no one else as long as the decoder lives, as the caller promises.
        let memory: &'static mut [u8] = unsafe { zeroed(memory, memory_len) }?;
        // SAFETY: null or valid, as the caller promises.
        let decoder = PushDecoder::new(level, memory).limits(&unsafe { limits_of(limits) });
        // SAFETY: not null, aligned, large enough, and writable as the caller promises.
        unsafe { place.write(Pushed { lives: LIVES, decoder }) };
        Ok(0)
    })
}

/// Takes bytes and gives the next block, if they complete one; returns how many bytes were taken.
///
/// # Safety
/// `place` is a decoder; `len` bytes at `pieces` are readable; `block` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push(
    place: *mut c_void,
    pieces: *const c_void,
    len: usize,
    block: *mut Block,
) -> i64 {
    guard(|| {
        if block.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: as the caller promises.
        let (pushed, given) = unsafe { (decoder(place)?, bytes(pieces, len)?) };
        let mut rest = given;
        let found = match pushed.decoder.push(&mut rest)? {
            Some(found) => Block {
                index: found.index as u64,
                offset: found.offset as u64,
                bytes: found.bytes.as_ptr().cast(),
                len: found.bytes.len(),
            },
            None => Block { index: 0, offset: 0, bytes: null(), len: 0 },
        };
        // SAFETY: not null, and writable as the caller promises; perhaps not aligned, as C programs go.
        unsafe { block.write_unaligned(found) };
        Ok(given.len().saturating_sub(rest.len()))
    })
}

/// Whether the chunk is at its end: 1 or 0.
///
/// # Safety
/// `place` is a decoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_done(place: *mut c_void) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(unsafe { decoder(place) }?.decoder.is_done().into()))
}

/// How many bytes the next step lacks; 0 if it needs none, and at the end of the chunk.
///
/// # Safety
/// `place` is a decoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_needs(place: *mut c_void) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(unsafe { decoder(place) }?.decoder.needs()))
}

/// How many bytes of the chunk have been taken.
///
/// # Safety
/// `place` is a decoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_position(place: *mut c_void) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(unsafe { decoder(place) }?.decoder.position()))
}

/// Writes what a later decoder needs to go on after the last block; returns its length, 24, or 0 where it is too early.
///
/// # Safety
/// `place` is a decoder; 24 bytes at `state` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_state(place: *mut c_void, state: *mut [u8; PushState::LEN]) -> i64 {
    guard(|| {
        // SAFETY: as the caller promises.
        let Some(now) = unsafe { decoder(place) }?.decoder.state() else { return Ok(0) };
        if state.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: not null, and writable as the caller promises.
        unsafe { state.write(now.to_bytes()) };
        Ok(PushState::LEN)
    })
}

/// Goes on where another decoder stopped; returns the position in the chunk to go on from.
///
/// # Safety
/// `place` is a decoder; 24 bytes at `state` are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_resume(
    place: *mut c_void,
    state: *const [u8; PushState::LEN],
) -> i64 {
    guard(|| {
        // SAFETY: as the caller promises.
        let pushed = unsafe { decoder(place) }?;
        // SAFETY: null or readable, as the caller promises.
        let state = unsafe { state.as_ref() }.ok_or(Status::Null)?;
        pushed.decoder.resume(PushState::from_bytes(state).ok_or(Status::Invalid)?)?;
        Ok(pushed.decoder.position())
    })
}

/// Gives back what the decoder may hold of the heap; place and memory are the caller's again.
///
/// # Safety
/// `place` is a decoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_push_end(place: *mut c_void) -> i64 {
    guard(|| {
        // SAFETY: as the caller promises.
        let pushed = unsafe { decoder(place) }?;
        pushed.lives = 0;
        // SAFETY: it lived until the line above, and no later call takes it for a decoder.
        unsafe { core::ptr::drop_in_place(&raw mut pushed.decoder) };
        Ok(0)
    })
}

/// How many bytes more than it decodes to a buffer must have in which the chunk, at its end, is decoded over itself.
///
/// # Safety
/// `len` bytes at `chunk` are readable; `limits` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_in_place_margin(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(unsafe { parse(chunk, len, limits) }?.in_place_margin()?))
}

/// Decodes the chunk at `at` in the buffer to the buffer's start; returns the decoded size.
///
/// # Safety
/// `len` bytes at `buffer` were written before and are writable, `work_len` bytes at `work` writable; `limits` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_decompress_in_place(
    buffer: *mut c_void,
    len: usize,
    at: usize,
    limits: *const Limits,
    work: *mut c_void,
    work_len: usize,
    flags: u32,
) -> i64 {
    guard(|| {
        apart(&[(buffer, len), (work, work_len)])?;
        // SAFETY: written before, and used by no one else, as the caller promises.
        let buffer = unsafe { filled(buffer, len) }?;
        // SAFETY: writable and used by no one else, as the caller promises.
        let work = unsafe { zeroed(work, work_len) }?;
        // SAFETY: null or valid, as the caller promises.
        let limits = unsafe { limits_of(limits) };
        let level = if flags & Env::SCALAR != 0 { Level::SCALAR } else { Level::best() };
        Ok(PushDecoder::new(level, work).limits(&limits).decode_in_place(buffer, at)?)
    })
}
