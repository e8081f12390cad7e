//! A data logger and reader for Cortex-M, without an allocator; every buffer is a static.
//!
//! ```text
//! log:       sensor records -> chunk (BloscLZ, LZ4; shuffle, bitshuffle) -> decoded -> equal
//! read:      chunks by libblosc2 in flash (each codec) -> decoded -> SHA-256 as recorded
//! malformed: the malformed chunks in flash; the chunks above truncated and mutated -> errors or data, no panic
//! ```
//! Prints its figures on lines that begin with `figure` and exits with status 0, or with 1 and what went wrong.
#![no_std]
#![no_main]

mod fixtures;
mod report;
mod stack;

use blosc_core::chunk::Plan;
use blosc_core::{Chunk, Codec, Decoder, Encoder, Error, Level, Limits, Params, max_encoded_len};
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use fixtures::{MALFORMED, VALID};
use panic_semihosting as _;
use report::{Report, hex};
use sha2::{Digest, Sha256};

/// Bytes of one record: time, three axes, temperature, pressure.
const RECORD: usize = 16;
/// Bytes of records in one chunk.
const LOG: usize = 4096;
/// Most decoded bytes of a chunk that is read; also its largest block.
const OUTPUT: usize = 5120;
/// Bytes after the output that must stay as they are.
const GUARD: usize = 64;
/// Scratch of the decoder for every codec; the encoder, which needs more, is lent the same bytes.
const DECODE_WORK: usize = Decoder::work_max(OUTPUT);
/// What [`Plan::work_len_for`] asks for: three blocks, and at most 32 KiB of the codec's tables.
const ENCODE_WORK: usize = 3 * LOG + 1032 + 32 * 1024;
const WORK: usize = if DECODE_WORK > ENCODE_WORK { DECODE_WORK } else { ENCODE_WORK };
/// Damaged variants made of each valid chunk, besides its truncations.
const MUTATIONS: usize = 32;

const GUARD_BYTE: u8 = 0xC3;

#[entry]
fn main() -> ! {
    static mut RECORDS: [u8; LOG] = [0; LOG];
    static mut CHUNK: [u8; max_encoded_len(LOG)] = [0; max_encoded_len(LOG)];
    static mut OUT: [u8; OUTPUT + GUARD] = [0; OUTPUT + GUARD];
    static mut SCRATCH: [u8; WORK] = [0; WORK];

    let mut report = Report::default();
    report.sizes(DECODE_WORK);
    OUT.fill(GUARD_BYTE);
    let mut bench = Bench { chunk: CHUNK, out: OUT, work: SCRATCH };
    sensor_records(RECORDS);
    bench.log(RECORDS, &mut report);
    bench.read(&mut report);
    bench.malformed(&mut report);
    report.peaks();

    let status = if report.failures == 0 { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE };
    loop {
        debug::exit(status);
    }
}

/// The buffers.
struct Bench<'s> {
    chunk: &'s mut [u8],
    out: &'s mut [u8],
    work: &'s mut [u8],
}

impl Bench<'_> {
    /// Writes the records with both codecs and both filters and reads them back; damages each chunk.
    fn log(&mut self, records: &[u8], report: &mut Report) {
        let plain = Params::new(RECORD as u32).blocksize(Some(LOG as u32));
        for codec in [Codec::BloscLz, Codec::Lz4] {
            for (filter, params) in
                [("shuffle", plain.codec(codec).shuffle()), ("bitshuffle", plain.codec(codec).bitshuffle())]
            {
                let needed = Plan::work_len_for(&params, LOG);
                let (result, stack) = stack::peak(|| {
                    Encoder::new(Level::best(), &params, LOG, self.work)?.encode(records, self.chunk)
                });
                report.stack_encode(codec, stack, needed);
                let Ok(len) = result else {
                    report.fail(filter, "the records could not be encoded");
                    continue;
                };
                hprintln!("{codec:?} {filter}: {LOG} bytes of records in a chunk of {len}");
                if !self.decode_chunk(len, report) || !self.out.starts_with(records) {
                    report.fail(filter, "the records read back differ");
                }
                self.damage(len, report);
            }
        }
    }

    /// Decodes the chunks of libblosc2 and checks the hashes; damages each.
    fn read(&mut self, report: &mut Report) {
        for fixture in VALID {
            let (result, stack) = stack::peak(|| decode(fixture.bytes, self.work, self.out));
            match result {
                Ok((codec, len)) => {
                    report.stack_decode(codec, stack);
                    let hash = Sha256::digest(self.out.get(..len).unwrap_or_default());
                    if hex(&hash) == fixture.sha256.as_bytes() {
                        report.verified += 1;
                    } else {
                        report.fail(fixture.name, "wrong hash");
                    }
                }
                Err(error) => {
                    hprintln!("{}", error);
                    report.fail(fixture.name, "was refused");
                }
            }
            // Chunks larger than the buffer are none: the largest holds 2976 bytes.
            match self.chunk.split_at_mut_checked(fixture.bytes.len()) {
                Some((place, _)) => place.copy_from_slice(fixture.bytes),
                None => report.fail(fixture.name, "is larger than the buffer"),
            }
            self.damage(fixture.bytes.len(), report);
        }
        hprintln!("{} of {} chunks in flash decoded to the recorded hash", report.verified, VALID.len());
    }

    /// Decodes the malformed chunks that lie in flash.
    fn malformed(&mut self, report: &mut Report) {
        for bytes in MALFORMED {
            let (result, stack) = stack::peak(|| decode(bytes, self.work, self.out));
            self.count(result, stack, report);
        }
    }

    /// Truncations and mutations of the first `len` bytes of the chunk buffer.
    fn damage(&mut self, len: usize, report: &mut Report) {
        for cut in (0..len).step_by(len / 16 + 1) {
            let bytes = self.chunk.get(..cut).unwrap_or_default();
            let (result, stack) = stack::peak(|| decode(bytes, self.work, self.out));
            if result.is_ok() {
                report.fail("a truncated chunk", "was decoded");
            }
            self.count(result, stack, report);
        }
        let mut random = Random(0x9E37_79B9 ^ len as u32);
        for round in 0..MUTATIONS {
            // Half of the damage goes to the header and the block offsets, where it does most.
            let span = if round % 2 == 0 { len.min(48) } else { len };
            let at = random.below(span);
            let new = random.next() as u8;
            let Some(byte) = self.chunk.get_mut(at) else { continue };
            let old = core::mem::replace(byte, new);
            let bytes = self.chunk.get(..len).unwrap_or_default();
            let (result, stack) = stack::peak(|| decode(bytes, self.work, self.out));
            self.count(result, stack, report);
            if let Some(byte) = self.chunk.get_mut(at) {
                *byte = old;
            }
        }
    }

    fn decode_chunk(&mut self, len: usize, report: &mut Report) -> bool {
        let bytes = self.chunk.get(..len).unwrap_or_default();
        let (result, stack) = stack::peak(|| decode(bytes, self.work, self.out));
        if let Ok((codec, _)) = result {
            report.stack_decode(codec, stack);
        }
        result.is_ok_and(|(_, len)| len == LOG)
    }

    fn count(&mut self, result: Result<(Codec, usize), Error>, stack: usize, report: &mut Report) {
        match result {
            Ok(_) => report.decoded += 1,
            Err(_) => report.refused += 1,
        }
        report.stack_malformed(stack);
        if self.out.iter().skip(OUTPUT).any(|&b| b != GUARD_BYTE) {
            report.fail("a malformed chunk", "was decoded past the end of the buffer");
        }
    }
}

/// Decodes `bytes` into `out` less its guard; returns the codec and the decoded length.
fn decode(bytes: &[u8], work: &mut [u8], out: &mut [u8]) -> Result<(Codec, usize), Error> {
    let limits = Limits { output: OUTPUT as u64, blocks: 1024, ..Limits::DEFAULT };
    let chunk = Chunk::parse_with(bytes, &limits)?;
    let room = out.get_mut(..OUTPUT).unwrap_or_default();
    let len = Decoder::new(Level::best(), work).decode(&chunk, room)?;
    Ok((chunk.header().codec, len))
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

/// Xorshift: the same numbers on every board.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() as usize).checked_rem(end).unwrap_or(0)
    }
}
