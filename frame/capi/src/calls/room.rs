//! Buffers with guard bytes around them.

use core::ffi::{c_int, c_void};

/// Bytes before and after each destination, which no call may change.
const GUARD: usize = 64;

/// Runs `call` with room for `len` bytes. Gives its answer and all that is in the room.
///
/// # Panics
/// If bytes around the room have changed.
pub fn guarded<T>(len: usize, call: impl FnOnce(*mut c_void) -> T) -> (T, Vec<u8>) {
    over(0xA5, len, call)
}

/// As [`guarded`], where room and guards hold `fill` before the call.
fn over<T>(fill: u8, len: usize, call: impl FnOnce(*mut c_void) -> T) -> (T, Vec<u8>) {
    let mut dest = vec![fill; GUARD + len + GUARD];
    let answer = call(dest[GUARD..].as_mut_ptr().cast());
    assert!(dest[..GUARD].iter().all(|&byte| byte == fill), "bytes before the room were written");
    assert!(dest[GUARD + len..].iter().all(|&byte| byte == fill), "bytes beyond {len} were written");
    (answer, dest[GUARD..GUARD + len].to_vec())
}

/// Runs `call`, which answers how much it has written, with room for `len` bytes; gives that much.
///
/// # Panics
/// If bytes around the room have changed, or the answer is more than the room.
pub fn written(len: usize, call: impl FnOnce(*mut c_void, i32) -> c_int) -> (c_int, Vec<u8>) {
    written_over(0xA5, len, call)
}

fn written_over(fill: u8, len: usize, call: impl FnOnce(*mut c_void, i32) -> c_int) -> (c_int, Vec<u8>) {
    let room = i32::try_from(len).expect("a small room");
    let (n, mut bytes) = over(fill, len, |dest| call(dest, room));
    assert!(n <= room, "{n} bytes in {len}");
    bytes.truncate(usize::try_from(n).unwrap_or(0));
    (n, bytes)
}

/// Makes a call that decodes twice, over zeros and over ones.
///
/// # Panics
/// As [`written`], or if the answers or the bytes differ: if something stale shows.
pub fn steady(len: usize, mut call: impl FnMut(*mut c_void, i32) -> c_int) {
    let first = written_over(0x00, len, &mut call);
    assert!(first == written_over(0xFF, len, call), "what is decoded depends on what memory held before");
}
