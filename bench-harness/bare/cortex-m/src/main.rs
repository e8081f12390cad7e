//! A data logger and reader for Cortex-M, without an allocator; every buffer is a static.
//!
//! ```text
//! log:       sensor records -> chunk (BloscLZ, LZ4; shuffle, bitshuffle) -> decoded -> equal
//! read:      chunks by libblosc2 in flash (each codec) -> decoded -> SHA-256 as recorded
//! frames:    frames by libblosc2 in flash -> metalayers, chunks and items without an allocator -> as recorded
//! malformed: the malformed chunks in flash; the chunks above truncated and mutated -> errors or data, no panic
//! ```
//! Prints its figures on lines that begin with `figure` and exits with status 0, or with 1 and what went wrong.
#![no_std]
#![no_main]

mod report;
mod stack;

use blosc_core::chunk::Plan;
use blosc_core::codec::dispatch::encode_work_len;
use blosc_core::{Codec, Decoder, Encoder, Error, Level, Params, max_encoded_len};
use blosc_suite::{GUARD, Memory, Random, VALID};
use core::fmt::{self, Write};
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprint, hprintln};
use panic_semihosting as _;
use report::Report;

/// Bytes of one record: time, three axes, temperature, pressure.
const RECORD: usize = 16;
/// Bytes of records in one chunk.
const LOG: usize = 4096;
/// Most decoded bytes of a chunk that is read; also its largest block.
const OUTPUT: usize = 5120;
/// Scratch of the decoder for every codec; the encoder, which needs more, is lent the same bytes.
const DECODE_WORK: usize = Decoder::work_max(OUTPUT);
/// What [`Plan::work_len_for`] asks for: three blocks, and the codec's tables.
const ENCODE_WORK: usize =
    3 * LOG + 1032 + max(tables(Codec::Zlib), max(tables(Codec::BloscLz), tables(Codec::Lz4)));
const WORK: usize = max(DECODE_WORK, ENCODE_WORK);

/// What writing zlib takes of the stack, and something for the console.
const ZLIB_STACK: usize = 16 << 10;

/// Higher levels of zlib take more memory than a small board has.
const fn level(codec: Codec) -> u8 {
    if matches!(codec, Codec::Zlib) { 1 } else { 5 }
}

const fn tables(codec: Codec) -> usize {
    encode_work_len(codec, level(codec), LOG)
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

#[entry]
fn main() -> ! {
    static mut RECORDS: [u8; LOG] = [0; LOG];
    static mut CHUNK: [u8; max_encoded_len(LOG)] = [0; max_encoded_len(LOG)];
    static mut OUT: [u8; OUTPUT + GUARD] = [0; OUTPUT + GUARD];
    static mut SCRATCH: [u8; WORK] = [0; WORK];

    let mut report = Report::default();
    report.sizes(DECODE_WORK);
    let mut memory = Memory { chunk: CHUNK, out: OUT, work: SCRATCH };
    sensor_records(RECORDS);
    log(RECORDS, &mut memory, &mut report);
    read(&mut memory, &mut report);
    frames_in_flash(&mut memory, &mut report);
    blosc_suite::malformed(&mut memory, &mut report.damage, &mut |memory, bytes| {
        decode_damaged(memory, bytes, &mut report.malformed)
    });
    report.peaks();

    let status = if report.failures == 0 { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE };
    loop {
        debug::exit(status);
    }
}

/// Writes the records with the codecs that need no allocator and both filters and reads them back; damages each chunk.
fn log(records: &[u8], memory: &mut Memory<'_>, report: &mut Report) {
    let plain = Params::new(RECORD as u32).blocksize(Some(LOG as u32));
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib] {
        if codec == Codec::Zlib && stack::room() < ZLIB_STACK {
            hprintln!("skipped writing zlib: it takes {ZLIB_STACK} bytes of stack");
            continue;
        }
        let plain = plain.codec(codec).level(level(codec));
        for (filter, params) in [("shuffle", plain.shuffle()), ("bitshuffle", plain.bitshuffle())] {
            let needed = Plan::work_len_for(&params, LOG);
            let (result, stack) = stack::peak(|| {
                Encoder::new(Level::best(), &params, LOG, memory.work)?.encode(records, memory.chunk)
            });
            report.stack_encode(codec, stack, needed);
            let Ok(len) = result else {
                report.fail(filter, "the records could not be encoded");
                continue;
            };
            hprintln!("{codec:?} {filter}: {LOG} bytes of records in a chunk of {len}");
            let chunk = core::mem::take(&mut memory.chunk);
            let (result, stack) = decode(memory, chunk.get(..len).unwrap_or_default());
            memory.chunk = chunk;
            report.stack_decode(codec, stack);
            if !result.is_ok_and(|(_, len)| len == LOG) || !memory.out.starts_with(records) {
                report.fail(filter, "the records read back differ");
            }
            damage(len, memory, report);
        }
    }
}

/// Decodes the chunks of libblosc2 and checks the hashes; damages each.
fn read(memory: &mut Memory<'_>, report: &mut Report) {
    report.verified = blosc_suite::verify(VALID, Level::best(), memory, &mut Lines);
    if report.verified < VALID.len() {
        report.fail("chunks in flash", "were not decoded to the recorded hash");
    }
    hprintln!("{} of {} chunks in flash decoded to the recorded hash", report.verified, VALID.len());
    for fixture in VALID {
        let (result, stack) = decode(memory, fixture.bytes);
        if let Ok((codec, _)) = result {
            report.stack_decode(codec, stack);
        }
        let len = memory.put(fixture.bytes);
        damage(len, memory, report);
    }
}

/// Opens the frames in flash, and reads their metalayers, chunks and items in place.
fn frames_in_flash(memory: &mut Memory<'_>, report: &mut Report) {
    let (held, stack) = stack::peak(|| blosc_suite::run_frames(Level::best(), memory, &mut Lines));
    if !held {
        report.fail("frames in flash", "were not read as recorded");
    }
    hprintln!("figure peak stack, reading and hashing frames, console included: {} bytes", stack);
}

/// Truncations and mutations of the first `len` bytes of the chunk buffer.
fn damage(len: usize, memory: &mut Memory<'_>, report: &mut Report) {
    let Report { damage, malformed, .. } = report;
    blosc_suite::damage(len, memory, damage, &mut |memory, bytes| decode_damaged(memory, bytes, malformed));
}

/// Decodes `bytes`; returns the codec and the decoded length, and the stack it took.
fn decode(memory: &mut Memory<'_>, bytes: &[u8]) -> (Result<(Codec, usize), Error>, usize) {
    stack::peak(|| memory.decode(Level::best(), bytes, 0))
}

fn decode_damaged(memory: &mut Memory<'_>, bytes: &[u8], peak: &mut usize) -> Result<(Codec, usize), Error> {
    let (result, stack) = decode(memory, bytes);
    *peak = stack.max(*peak);
    result
}

/// Semihosting's console.
struct Lines;

impl Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        hprint!("{}", text);
        Ok(())
    }
}

/// Records of a slowly moving sensor with noise in the low bits.
fn sensor_records(records: &mut [u8]) {
    let mut random = Random(1);
    let mut time = 1_700_000_000_u32;
    let mut axes = [0_i16, 400, 16_384];
    for record in records.as_chunks_mut::<RECORD>().0 {
        time = time.wrapping_add(10);
        for axis in &mut axes {
            *axis = axis.wrapping_add((random.next() % 9) as i16 - 4);
        }
        let temperature = 2150_i16.wrapping_add((random.next() % 3) as i16);
        let pressure = 101_325_u32.wrapping_add(random.next() % 16);
        let [x, y, z] = axes.map(i16::to_le_bytes);
        let fields =
            [&time.to_le_bytes()[..], &x, &y, &z, &temperature.to_le_bytes(), &pressure.to_le_bytes()];
        for (place, byte) in record.iter_mut().zip(fields.into_iter().flatten()) {
            *place = *byte;
        }
    }
}
