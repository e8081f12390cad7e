//! Receives an image over a serial line and decodes it into flash; the power may fail at any instruction.
//!
//! ```text
//! ask for header, index and trailer of the frame         -> View, verified (asked again if a bit flipped on the way)
//! progress log in flash                                  -> chunks of this image that are written
//! for each further chunk:
//!     erase its blocks of flash
//!     ask for its bytes, push each piece as it comes     -> decoded blocks -> flash
//!     its checksum is right                              -> one record into the log; otherwise the chunk again
//! ```
//! What is done again after a reset is the chunk that was not yet in the log. The memory is known before: see the statics.
//! An image: `blosc compress` with the options that ../../README.md names, so that a chunk is whole erase blocks.
#![no_std]
#![no_main]

#[cfg_attr(target_arch = "arm", path = "board/arm.rs")]
#[cfg_attr(target_arch = "riscv32", path = "board/riscv.rs")]
mod board;
mod flash;
mod line;
mod semihosting;
#[path = "../../cortex-m/src/stack.rs"]
mod stack;

use blosc_core::{Codec, Level};
use blosc_frame::cframe::header::{ChunkSize, FIXED_LEN, Header};
use blosc_frame::cframe::view::View;
use blosc_frame::{Error, Limits};
use board::Clock;
use flash::{BLOCK, Flash, IMAGE, Progress};
use line::say;

/// How often something is asked for before the update is given up.
const TRIES: u32 = 20;
/// Least bytes that are asked for at once, so that block starts do not come 4 by 4.
const AT_ONCE: usize = 64;

/// The frame's header, and its index and trailer: 16 bytes a chunk and a few hundred.
static mut HEAD: [u8; 256] = [0; 256];
static mut REST: [u8; 1024] = [0; 1024];
/// The push decoder's memory, for LZ4 and blocks of 4 KiB: a block, its compressed bytes, scratch, 4 bytes for each block start.
static mut MEMORY: [u8; 3 * 4096 + 1024] = [0; 3 * 4096 + 1024];

/// Why there is no update.
enum Fault {
    /// [`TRIES`] answers were not what was written.
    Damaged,
    /// The image asks for what this board does not have.
    Refused(&'static str),
}

impl From<Error> for Fault {
    fn from(_: Error) -> Fault {
        Fault::Damaged
    }
}

/// Runs the update; returns whether the image is in flash.
fn main(mut clock: Clock) -> bool {
    let (result, stack) = stack::peak(|| update(&mut clock));
    match result {
        Ok(0) => say!("nothing was left to do"),
        Ok(per_kib) => say!("figure peak stack {stack}, instructions per KiB {per_kib}"),
        Err(Fault::Damaged) => say!("FAILED: {TRIES} answers were damaged"),
        Err(Fault::Refused(why)) => say!("FAILED: {why}"),
    }
    result.is_ok()
}

/// Returns the instructions that decoding and checking took per KiB of image.
fn update(clock: &mut Clock) -> Result<u64, Fault> {
    // SAFETY: one thread, and this function is entered once.
    let (head, rest, memory) = unsafe { (&mut *&raw mut HEAD, &mut *&raw mut REST, &mut *&raw mut MEMORY) };
    let mut tries = TRIES;
    let (head_len, rest_len) = loop {
        match receive_ends(head, rest) {
            Ok(lengths) => break lengths,
            // A length may be what was damaged.
            Err(_) if tries > 0 => tries -= 1,
            Err(fault) => return Err(fault),
        }
    };
    let (head, rest) = (head.get(..head_len).unwrap_or(&[]), rest.get(..rest_len).unwrap_or(&[]));
    let view = View::open_apart(head, rest, &Limits::DEFAULT)?.verified()?;
    let (len, chunk_len) = lengths(view.header())?;
    for k in 0..view.nchunks() {
        view.entry(k, Level::SCALAR, memory).map_err(|_| Fault::Refused("the index cannot be read"))?;
    }

    let mut flash = Flash::open();
    let mut progress = Progress::begin(&mut flash, rest);
    say!("goes on at chunk {} of {}", progress.chunks, view.nchunks());
    let first = progress.chunks as usize * chunk_len;
    let mut receiver = Receiver { view, memory, flash, clock, instructions: 0 };
    while u64::from(progress.chunks) < view.nchunks() {
        let at = progress.chunks as usize * chunk_len;
        let mut tries = TRIES;
        while let Err(error) = receiver.chunk(progress.chunks.into(), at, chunk_len.min(len - at)) {
            say!("chunk {} again", progress.chunks);
            tries = tries.checked_sub(1).ok_or(error)?;
        }
        progress.record(&mut receiver.flash, progress.chunks + 1);
    }
    Ok((receiver.instructions * 1024).checked_div((len - first) as u64).unwrap_or(0))
}

/// Receives header, index and trailer, and checks them; returns their lengths.
fn receive_ends(head: &mut [u8], rest: &mut [u8]) -> Result<(usize, usize), Fault> {
    const LARGE: Fault =
        Fault::Refused("the image has more chunks or metalayers than this board has room for");
    line::fetch(0, head.get_mut(..FIXED_LEN).unwrap_or(&mut []));
    let header = head.first_chunk().map_or(Err(LARGE), |fixed| Ok(Header::parse(fixed)?))?;
    let at = header.index_at()?;
    let (head_len, rest_len) = (header.header_len as usize, header.frame_len.saturating_sub(at) as usize);
    let head = head.get_mut(..head_len).ok_or(LARGE)?;
    let rest = rest.get_mut(..rest_len).ok_or(LARGE)?;
    line::fetch(0, head);
    line::fetch(at, rest);
    View::open_apart(head, rest, &Limits::DEFAULT)?.verified()?;
    Ok((head_len, rest_len))
}

/// Decoded lengths of the image and of its chunks, if the board can have it: nothing is erased before this is known.
fn lengths(header: &Header) -> Result<(usize, usize), Fault> {
    let ChunkSize::Fixed(chunk_len) = header.chunksize else {
        return Err(Fault::Refused("chunks of one size are needed"));
    };
    if !(chunk_len as usize).is_multiple_of(BLOCK) {
        return Err(Fault::Refused("a chunk must be whole erase blocks of 4096 bytes"));
    }
    if header.blocksize as usize > BLOCK || !matches!(header.codec(), Codec::Lz4 | Codec::Lz4Hc) {
        return Err(Fault::Refused("blocks of more than 4096 bytes, or another codec than LZ4"));
    }
    match usize::try_from(header.nbytes) {
        Ok(len) if len <= IMAGE => Ok((len, chunk_len as usize)),
        _ => Err(Fault::Refused("the image is larger than its place in flash")),
    }
}

/// What receiving a chunk takes.
struct Receiver<'a> {
    view: View<'a>,
    memory: &'a mut [u8],
    flash: Flash,
    clock: &'a mut Clock,
    /// Instructions that decoding and checksums took.
    instructions: u64,
}

impl Receiver<'_> {
    /// Receives chunk `k` into flash, from `at` on.
    fn chunk(&mut self, k: u64, at: usize, len: usize) -> Result<(), Error> {
        self.flash.erase(at, len);
        let mut chunk = self.view.push_chunk(k, Level::SCALAR, self.memory)?;
        while !chunk.is_done() {
            let needs = chunk.needs();
            let want = if needs == 0 { 0 } else { needs.max(AT_ONCE) };
            line::ask(chunk.position(), want, |mut piece| {
                loop {
                    let (pushed, rest) = (&mut chunk, &mut piece);
                    let (block, count) = self.clock.instructions(move || pushed.push(rest));
                    self.instructions += count;
                    let Some(block) = block? else { return Ok(()) };
                    self.flash.program(at + block.offset, block.bytes);
                }
            })?;
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    say!("FAILED: panic in line {}", info.location().map_or(0, |place| place.line()));
    semihosting::exit(false)
}
