//! Counts, peaks and the lines that tell them.

use crate::stack;
use blosc_core::Codec;
use blosc_suite::Damage;
use cortex_m_semihosting::hprintln;

/// What has been seen so far.
#[derive(Default)]
pub struct Report {
    /// Checks that failed; each was printed.
    pub failures: u32,
    /// Chunks in flash that decoded to the recorded hash.
    pub verified: usize,
    /// What came of damaged chunks.
    pub damage: Damage,
    /// Most bytes of stack that a damaged chunk took.
    pub malformed: usize,
    decode: Peaks,
    encode: Peaks,
    encode_work: usize,
}

/// Most bytes of stack by codec.
#[derive(Default)]
struct Peaks {
    blosclz: usize,
    lz4: usize,
    zlib: usize,
    zstd: usize,
    other: usize,
}

impl Peaks {
    fn add(&mut self, codec: Codec, bytes: usize) {
        let peak = match codec {
            Codec::BloscLz => &mut self.blosclz,
            Codec::Lz4 | Codec::Lz4Hc => &mut self.lz4,
            Codec::Zlib => &mut self.zlib,
            Codec::Zstd => &mut self.zstd,
            _ => &mut self.other,
        };
        *peak = bytes.max(*peak);
    }

    fn print(&self, what: &str) {
        let list = [
            ("blosclz", self.blosclz),
            ("lz4", self.lz4),
            ("zlib", self.zlib),
            ("zstd", self.zstd),
            ("other codecs", self.other),
        ];
        for (codec, bytes) in list.into_iter().filter(|(_, bytes)| *bytes > 0) {
            hprintln!("figure peak stack, {} {}: {} bytes", what, codec, bytes);
        }
    }
}

unsafe extern "C" {
    // Symbols of cortex-m-rt's linker script; only their addresses mean something.
    static __sdata: u8;
    static __edata: u8;
    static __sidata: u8;
    static __sheap: u8;
}

impl Report {
    /// Prints a check that failed.
    pub fn fail(&mut self, what: &str, how: &str) {
        self.failures += 1;
        hprintln!("FAILED: {} {}", what, how);
    }

    /// Prints flash and static RAM, told by the linker's symbols.
    pub fn sizes(&self, work: usize) {
        let (start, end) = (&raw const __sdata as usize, &raw const __edata as usize);
        let flash = (&raw const __sidata as usize).saturating_add(end.saturating_sub(start));
        let ram = (&raw const __sheap as usize).saturating_sub(start);
        hprintln!("figure flash, firmware with all codecs and the test chunks: {} bytes", flash);
        hprintln!("figure static RAM: {} bytes", ram);
        hprintln!("figure decoder scratch for every codec, blocks of 5120 bytes: {} bytes", work);
        hprintln!("figure RAM left for the stack: {} bytes", stack::room());
    }

    /// Adds the peak stack of writing a chunk, and the scratch it needed.
    pub fn stack_encode(&mut self, codec: Codec, bytes: usize, work: usize) {
        self.encode.add(codec, bytes);
        self.encode_work = work.max(self.encode_work);
    }

    /// Adds the peak stack of reading a valid chunk.
    pub fn stack_decode(&mut self, codec: Codec, bytes: usize) {
        self.decode.add(codec, bytes);
    }

    /// Prints the peaks and counts; fails if the stack came near the statics.
    pub fn peaks(&mut self) {
        self.decode.print("decode");
        self.encode.print("encode");
        hprintln!("figure peak stack, malformed chunks: {} bytes", self.malformed);
        hprintln!("figure encoder scratch for blocks of 4096 bytes: {} bytes", self.encode_work);
        hprintln!(
            "figure malformed chunks: {}, of them {} refused, {} decoded, 0 panics",
            self.damage.total(),
            self.damage.refused,
            self.damage.decoded
        );
        if self.damage.faults > 0 {
            self.fail("damaged chunks", "were decoded though cut off, or past the end of the buffer");
        }
        if self.malformed.saturating_add(256) > stack::room() {
            self.fail("the stack", "came near the statics");
        }
    }
}
