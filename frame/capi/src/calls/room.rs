//! Buffers with guard bytes around them.

use core::ffi::{c_int, c_void};

/// Bytes before and after each destination, which no call may change.
const GUARD: usize = 64;
/// What they hold.
const BYTE: u8 = 0xA5;

/// Runs `call` with room for `len` bytes. Gives its answer and all that is in the room.
///
/// # Panics
/// If bytes around the room have changed.
pub fn guarded<T>(len: usize, call: impl FnOnce(*mut c_void) -> T) -> (T, Vec<u8>) {
    let mut dest = vec![BYTE; GUARD + len + GUARD];
    let answer = call(dest[GUARD..].as_mut_ptr().cast());
    assert!(dest[..GUARD].iter().all(|&byte| byte == BYTE), "bytes before the room were written");
    assert!(dest[GUARD + len..].iter().all(|&byte| byte == BYTE), "bytes beyond {len} were written");
    (answer, dest[GUARD..GUARD + len].to_vec())
}

/// Runs `call`, which answers how much it has written, with room for `len` bytes; gives that much.
///
/// # Panics
/// If bytes around the room have changed, or the answer is more than the room.
pub fn written(len: usize, call: impl FnOnce(*mut c_void, i32) -> c_int) -> (c_int, Vec<u8>) {
    let room = i32::try_from(len).expect("a small room");
    let (n, mut bytes) = guarded(len, |dest| call(dest, room));
    assert!(n <= room, "{n} bytes in {len}");
    bytes.truncate(usize::try_from(n).unwrap_or(0));
    (n, bytes)
}
