//! Flash with erase blocks, and the log in it that says how far an update has got.
//!
//! The flash is a file of the host, reached by semihosting, which outlives an emulator that is killed. This file gives it the rules of
//! NOR flash: bytes are programmed 8 at a time and only where they are erased, and a block is erased whole, 256 bytes at a time, so that
//! a reset leaves blocks and records half done.

use crate::semihosting::File;

/// Bytes that are erased together.
pub const BLOCK: usize = 4096;
/// Room for an image; the two blocks of the log lie after it.
pub const IMAGE: usize = 48 * BLOCK;
const UNIT: usize = 8;
const PAGE: usize = 256;
const ERASED: u8 = 0xff;

/// The flash.
pub struct Flash(File);

impl Flash {
    pub fn open() -> Flash {
        Flash(File::open("flash.bin\0"))
    }

    fn read(&mut self, at: usize, to: &mut [u8]) {
        self.0.seek(at);
        self.0.read(to);
    }

    /// Erases the blocks that `len` bytes from `at` on touch. `at` is the start of a block.
    pub fn erase(&mut self, at: usize, len: usize) {
        assert!(at.is_multiple_of(BLOCK), "erasing begins within a block");
        self.0.seek(at);
        for _ in 0..len.div_ceil(BLOCK) * (BLOCK / PAGE) {
            self.0.write(&[ERASED; PAGE]);
        }
    }

    /// Programs erased bytes.
    pub fn program(&mut self, at: usize, bytes: &[u8]) {
        let mut at = at;
        for page in bytes.chunks(PAGE) {
            let mut before = [0; PAGE];
            let before = before.get_mut(..page.len()).unwrap_or(&mut []);
            self.read(at, before);
            assert!(before.iter().all(|byte| *byte == ERASED), "bytes are programmed that are not erased");
            self.0.seek(at);
            page.chunks(UNIT).for_each(|unit| self.0.write(unit));
            at += page.len();
        }
    }
}

const LOG: usize = IMAGE;
const RECORD: usize = 16;
/// Records in one block, and in both.
const IN_BLOCK: usize = BLOCK / RECORD;
const RECORDS: usize = 2 * IN_BLOCK;

/// How much of an image is in flash, by the last record of the log:
/// ```text
/// 0..4 number of the record   4..8 identity of the image   8..12 chunks written   12..16 sum of these bytes
/// ```
/// Records fill a block, then the other, which is erased before; so the last one is always there. A torn record has a wrong sum and
/// is passed over.
pub struct Progress {
    /// Chunks that are written.
    pub chunks: u32,
    identity: u32,
    number: u32,
    /// Where the last record is.
    place: usize,
}

impl Progress {
    /// What the log says about the image with this index and trailer. Of an image that it does not end with, that nothing is written,
    /// which goes into the log before anything is erased: the one before is not whole any more.
    pub fn begin(flash: &mut Flash, rest: &[u8]) -> Progress {
        let identity = rest
            .iter()
            .fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
        let mut last = Progress { chunks: 0, identity: !identity, number: 0, place: RECORDS - 1 };
        for place in 0..RECORDS {
            let [number, image, chunks, sum] = record(flash, place);
            if sum == check([number, image, chunks]) && number > last.number {
                last = Progress { chunks, identity: image, number, place };
            }
        }
        if last.identity != identity {
            last.identity = identity;
            last.record(flash, 0);
        }
        last
    }

    /// Writes into the log that `chunks` are written.
    pub fn record(&mut self, flash: &mut Flash, chunks: u32) {
        self.number += 1;
        self.chunks = chunks;
        loop {
            self.place = (self.place + 1) % RECORDS;
            let at = LOG + self.place * RECORD;
            if self.place.is_multiple_of(IN_BLOCK) {
                flash.erase(at, BLOCK);
            }
            if record(flash, self.place) == [u32::MAX; 4] {
                let fields = [self.number, self.identity, chunks];
                let [a, b, c] = fields.map(u32::to_le_bytes);
                let bytes = [a, b, c, check(fields).to_le_bytes()];
                return flash.program(at, bytes.as_flattened());
            }
        }
    }
}

fn record(flash: &mut Flash, place: usize) -> [u32; 4] {
    let mut words = [[0; 4]; 4];
    flash.read(LOG + place * RECORD, words.as_flattened_mut());
    words.map(u32::from_le_bytes)
}

fn check(fields: [u32; 3]) -> u32 {
    fields.into_iter().fold(1, |sum: u32, word| (sum ^ word).wrapping_mul(0x9E37_79B1).rotate_left(15))
}
