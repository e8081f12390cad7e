//! Malformed chunks.

use crate::{MALFORMED, Memory};
use blosc_core::{Codec, Error, Level};

/// Damaged variants made of each valid chunk, besides its truncations.
const MUTATIONS: usize = 32;

/// What came of damaged chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// Gave an error.
    pub refused: u32,
    /// Could be decoded: the damage changed data, or nothing that counts.
    pub decoded: u32,
    /// Cut off and decoded all the same, or written past the end of the output: faults.
    pub faults: u32,
}

impl Damage {
    /// Both together.
    pub fn total(&self) -> u32 {
        self.refused + self.decoded
    }

    fn count(&mut self, result: Result<(Codec, usize), Error>, memory: &Memory<'_>) {
        match result {
            Ok(_) => self.decoded += 1,
            Err(_) => self.refused += 1,
        }
        if !memory.intact() {
            self.faults += 1;
        }
    }
}

/// How one damaged chunk is decoded: [`Memory::decode`], or that with a measurement around it.
pub type Decode<'d> = &'d mut dyn FnMut(&mut Memory<'_>, &[u8]) -> Result<(Codec, usize), Error>;

/// Decodes the malformed chunks of the test vectors.
pub fn malformed(memory: &mut Memory<'_>, found: &mut Damage, decode: Decode<'_>) {
    memory.arm();
    for bytes in MALFORMED {
        let result = decode(memory, bytes);
        found.count(result, memory);
    }
}

/// Truncations and mutations of the first `len` bytes of `memory.chunk`.
pub fn damage(len: usize, memory: &mut Memory<'_>, found: &mut Damage, decode: Decode<'_>) {
    memory.arm();
    let buffer = core::mem::take(&mut memory.chunk);
    if let Some(chunk) = buffer.get_mut(..len) {
        truncate(chunk, memory, found, decode);
        mutate(chunk, memory, found, decode);
    }
    memory.chunk = buffer;
}

fn truncate(chunk: &[u8], memory: &mut Memory<'_>, found: &mut Damage, decode: Decode<'_>) {
    for cut in (0..chunk.len()).step_by(chunk.len() / 16 + 1) {
        let result = decode(memory, chunk.get(..cut).unwrap_or_default());
        if result.is_ok() {
            found.faults += 1;
        }
        found.count(result, memory);
    }
}

fn mutate(chunk: &mut [u8], memory: &mut Memory<'_>, found: &mut Damage, decode: Decode<'_>) {
    let len = chunk.len();
    let mut random = Random(0x9E37_79B9 ^ len as u32);
    for round in 0..MUTATIONS {
        // Half of the damage goes to the header and the block offsets, where it does most.
        let span = if round % 2 == 0 { len.min(48) } else { len };
        let at = random.below(span);
        let new = random.next() as u8;
        let Some(byte) = chunk.get_mut(at) else { continue };
        let old = core::mem::replace(byte, new);
        let result = decode(memory, chunk);
        found.count(result, memory);
        if let Some(byte) = chunk.get_mut(at) {
            *byte = old;
        }
    }
}

/// Every malformed and damaged chunk at `level`.
pub fn all(level: Level, memory: &mut Memory<'_>) -> Damage {
    let mut found = Damage::default();
    let decode: Decode<'_> = &mut |memory, bytes| memory.decode(level, bytes, 0);
    malformed(memory, &mut found, decode);
    for fixture in crate::VALID {
        let len = memory.put(fixture.bytes);
        damage(len, memory, &mut found, decode);
    }
    found
}

/// Xorshift: the same numbers everywhere.
pub struct Random(pub u32);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() as usize).checked_rem(end).unwrap_or(0)
    }
}
