//! Decodes a chunk of each codec that is built in, and prints the stack and the instructions that took.
#![no_std]
#![no_main]

#[path = "../../cortex-m/src/stack.rs"]
mod stack;

mod clock;

use blosc_core::{Chunk, Decoder, Error, Level, PushDecoder};
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;

/// Most decoded bytes of the chunks.
const OUTPUT: usize = 5120;
const WORK: usize = PushDecoder::memory_max(OUTPUT, 16, 8);
/// Bytes that are pushed at once.
const PIECES: [usize; 2] = [64, 4096];

macro_rules! chunk {
    ($codec:literal, $name:literal) => {
        ($codec, include_bytes!(concat!("../../../../core/tests/fixtures/", $name, ".chunk")))
    };
}

/// Chunks by libblosc2 and Blosc1, split and not.
static CHUNKS: &[(&str, &[u8])] = &[
    #[cfg(feature = "lz4")]
    chunk!("lz4", "chunks/f0349_lz4_l5_t4_n3640_S"),
    #[cfg(feature = "lz4")]
    chunk!("lz4", "blosc1/lz4_0020_l5_t4_n746_s1"),
    #[cfg(all(feature = "lz4", feature = "formats"))]
    chunk!("lz4", "chunks/i0466_lz4_l1_t2_n4484_BD"),
    #[cfg(all(feature = "blosclz", feature = "formats"))]
    chunk!("blosclz", "chunks/i0388_blosclz_l5_t8_n3792_TB"),
    #[cfg(feature = "blosclz")]
    chunk!("blosclz", "chunks/i0398_blosclz_l5_t8_n2272_IS"),
    #[cfg(feature = "zstd")]
    chunk!("zstd", "chunks/i0478_zstd_l5_t1_n953_S"),
    #[cfg(feature = "zstd")]
    chunk!("zstd", "blosc1/zstd_0050_l5_t7_n1288_s1"),
];

#[entry]
fn main() -> ! {
    static mut OUT: [u8; OUTPUT] = [0; OUTPUT];
    static mut SCRATCH: [u8; WORK] = [0; WORK];
    hprintln!("figure RAM left for the stack: {} bytes", stack::room());
    let mut status = debug::EXIT_SUCCESS;
    let mut clock = cortex_m::Peripherals::take().map(|p| clock::Clock::new(p.SYST));
    for (codec, bytes) in CHUNKS {
        let (result, stack) = stack::peak(|| decode(bytes, SCRATCH, OUT));
        match result {
            Ok(len) => {
                let count = clock.as_mut().map_or(0, |c| c.instructions(|| decode(bytes, SCRATCH, OUT)).1);
                let hundredths = (count * 100).checked_div(len as u64).unwrap_or(0);
                let (whole, part) = (hundredths / 100, hundredths % 100);
                hprintln!("figure {}, {} bytes decoded: peak stack {} bytes", codec, len, stack);
                hprintln!(
                    "figure {}, {} bytes decoded: {}.{:02} instructions per byte",
                    codec,
                    len,
                    whole,
                    part
                );
            }
            Err(error) => {
                hprintln!("FAILED: {}: {}", codec, error);
                status = debug::EXIT_FAILURE;
            }
        }
        for piece in PIECES {
            let (result, stack) = stack::peak(|| push(bytes, piece, SCRATCH));
            let Ok(len) = result else {
                hprintln!("FAILED: {} in pieces of {}", codec, piece);
                status = debug::EXIT_FAILURE;
                continue;
            };
            let count = clock.as_mut().map_or(0, |c| c.instructions(|| push(bytes, piece, SCRATCH)).1);
            let hundredths = (count * 100).checked_div(len as u64).unwrap_or(0);
            let (whole, part) = (hundredths / 100, hundredths % 100);
            hprintln!("figure {}, {} bytes pushed by {}: peak stack {} bytes", codec, len, piece, stack);
            hprintln!(
                "figure {}, {} bytes pushed by {}: {}.{:02} instructions per byte",
                codec,
                len,
                piece,
                whole,
                part
            );
        }
    }
    loop {
        debug::exit(status);
    }
}

fn decode(bytes: &[u8], work: &mut [u8], out: &mut [u8]) -> Result<usize, Error> {
    let chunk = Chunk::parse(bytes)?;
    Decoder::new(Level::SCALAR, work).decode(&chunk, out)
}

/// The decoded length; what comes out stays in the decoder's memory.
fn push(bytes: &[u8], piece: usize, memory: &mut [u8]) -> Result<usize, Error> {
    let mut decoder = PushDecoder::new(Level::SCALAR, memory);
    let mut len = 0;
    for mut piece in bytes.chunks(piece) {
        while let Some(block) = decoder.push(&mut piece)? {
            len += block.bytes.len();
        }
    }
    Ok(if decoder.is_done() { len } else { 0 })
}
