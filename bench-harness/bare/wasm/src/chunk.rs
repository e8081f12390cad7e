//! One chunk at a time in static memory.

use blosc_core::{Chunk, Decoder, Level};

const CHUNK: usize = 1 << 16;
const WORK: usize = Decoder::work_max(CHUNK);

static mut INPUT: [u8; CHUNK] = [0; CHUNK];
static mut OUTPUT: [u8; CHUNK] = [0; CHUNK];
static mut SCRATCH: [u8; WORK] = [0; WORK];

/// Where the host writes a chunk of `len` bytes; null if there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    if len > CHUNK { core::ptr::null_mut() } else { (&raw mut INPUT).cast() }
}

/// Where decoded bytes lie.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    (&raw const OUTPUT).cast()
}

/// Decodes the chunk of `len` bytes in the input; returns the decoded length, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn decode_chunk(len: usize) -> i32 {
    // SAFETY: wasm has one thread, and nothing else holds these statics while this function runs.
    let (chunk, out, work) = unsafe { (&*&raw const INPUT, &mut *&raw mut OUTPUT, &mut *&raw mut SCRATCH) };
    let parsed = chunk.get(..len).map(Chunk::parse);
    let Some(Ok(chunk)) = parsed else { return -1 };
    let done = Decoder::new(Level::best(), work).decode(&chunk, out);
    done.ok().and_then(|len| i32::try_from(len).ok()).unwrap_or(-1)
}
