//! Random calls with parameters, chunks and frames that are in part damaged. No call panics or writes beyond the room that it
//! was given, and what has not been damaged is what was put in.

use super::*;
use crate::error::PANICS;
use std::panic::{catch_unwind, resume_unwind};

/// Bytes after each destination, which no call may change.
const GUARD: usize = 64;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        let (step, noise) = (self.below(5), self.below(2) * 255 + 1);
        (0..n).map(|i| (i / 16 * step + self.below(noise)) as u8).collect()
    }

    /// Changes some bytes, most of them near the start, where headers are.
    fn damage(&mut self, bytes: &mut [u8]) {
        for _ in 0..1 + self.below(3) {
            let len = if self.below(3) > 0 { bytes.len().min(120) } else { bytes.len() };
            let (at, value) = (self.below(len), self.one_of(&[0, 1, 127, 128, 255, 77]));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
    }

    fn cparams(&mut self) -> CParams {
        let mut cparams = CParams {
            compcode: self.one_of(&[0, 1, 2, 4, 5]),
            clevel: self.one_of(&[0, 1, 5, 9]),
            typesize: self.one_of(&[1, 2, 4, 8, 3, 255, 300]),
            nthreads: self.one_of(&[1, 1, 2]),
            blocksize: self.one_of(&[0, 0, 64, 1000, 4096]),
            splitmode: self.one_of(&[1, 2, 3, 4]),
            ..CParams::DEFAULT
        };
        cparams.filters[5] = self.one_of(&[0, 1, 2, 3]);
        if self.below(3) > 0 {
            return cparams;
        }
        // One or two of them are unusual, or cannot be.
        for _ in 0..1 + self.below(2) {
            let slot = self.below(6);
            match self.below(9) {
                0 => cparams.compcode = self.one_of(&[32, 33, 35, 7, 200]),
                1 => cparams.compcode_meta = self.one_of(&[4, 50, 255]),
                2 => cparams.clevel = 10,
                3 => cparams.typesize = self.one_of(&[0, -1, i32::MAX]),
                4 => cparams.nthreads = self.one_of(&[0, -5]),
                5 => cparams.blocksize = self.one_of(&[-1, i32::MAX]),
                6 => cparams.use_dict = 1,
                7 => cparams.filters[slot] = self.one_of(&[2, 3, 4, 35, 36, 32, 99]),
                _ => cparams.filters_meta[slot] = self.one_of(&[1, 4, 200]),
            }
        }
        cparams
    }
}

/// Runs `call` with room for `len` bytes and gives the first `n` of them, where `n` is its answer.
fn room(len: usize, call: impl FnOnce(*mut c_void, i32) -> c_int) -> (c_int, Vec<u8>) {
    let mut dest = vec![0xA5; len + GUARD];
    let n = call(dest.as_mut_ptr().cast(), len as i32);
    assert!(n <= len as i32, "{n} bytes in {len}");
    assert!(dest[len..].iter().all(|&byte| byte == 0xA5), "bytes beyond {len} were written");
    dest.truncate(usize::try_from(n).unwrap_or(0));
    (n, dest)
}

/// Chunk `k` as it is stored.
///
/// # Safety
/// `schunk` is a super-chunk of this library.
unsafe fn stored(schunk: *mut Schunk, k: i64) -> Option<Vec<u8>> {
    let (mut chunk, mut free) = (ptr::null_mut(), false);
    // SAFETY: as the caller promises; the chunk has the length that is returned, and is freed once.
    unsafe {
        let n = blosc2_schunk_get_chunk(schunk, k, &raw mut chunk, &raw mut free);
        let bytes = std::slice::from_raw_parts(chunk, usize::try_from(n).ok()?).to_vec();
        if free {
            release(chunk);
        }
        Some(bytes)
    }
}

/// A super-chunk, and what its chunks hold while nothing lossy or damaged has been put in.
struct Subject {
    schunk: *mut Schunk,
    chunks: Option<Vec<Vec<u8>>>,
    size: usize,
}

impl Subject {
    fn new(random: &mut Random) -> Option<Subject> {
        let mut cparams = random.cparams();
        let is_exact =
            !matches!(cparams.compcode, 33..=35) && !cparams.filters.iter().any(|f| matches!(f, 4 | 36));
        let mut storage = Storage {
            contiguous: random.below(2) == 0,
            urlpath: ptr::null_mut(),
            cparams: &raw mut cparams,
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        // SAFETY: the structures outlive the call.
        let schunk = unsafe { blosc2_schunk_new(&raw mut storage) };
        let size = usize::try_from(cparams.typesize).unwrap_or(1) * (1 + random.below(400));
        (!schunk.is_null()).then_some(Subject { schunk, chunks: is_exact.then(Vec::new), size })
    }

    /// Counts a change that was made, or forgets what there is.
    fn note(&mut self, done: i64, known: bool, edit: impl FnOnce(&mut Vec<Vec<u8>>)) {
        match &mut self.chunks {
            Some(chunks) if done >= 0 && known => edit(chunks),
            _ if done >= 0 => self.chunks = None,
            _ => {}
        }
    }

    /// One call that changes the super-chunk.
    ///
    /// # Safety
    /// The super-chunk is alive.
    unsafe fn edit(&mut self, random: &mut Random) {
        let schunk = self.schunk;
        // SAFETY: the super-chunk is alive, and every length is that of its buffer.
        unsafe {
            let n = (*schunk).nchunks;
            let k = random.below(n as usize + 2) as i64 - i64::from(random.below(9) == 0);
            let at = usize::try_from(k).unwrap_or(usize::MAX);
            let what = random.below(6);
            if what < 2 {
                let data = random.bytes(self.size);
                let done = blosc2_schunk_append_buffer(schunk, data.as_ptr().cast(), data.len() as i32);
                return self.note(done, true, |chunks| chunks.push(data));
            }
            if what == 2 {
                let done = blosc2_schunk_delete_chunk(schunk, k);
                return self.note(done, true, |chunks| drop(chunks.remove(at)));
            }
            let from = random.below(n as usize);
            let Some(mut chunk) = stored(schunk, from as i64) else { return };
            let is_damaged = random.below(2) == 0;
            if is_damaged {
                random.damage(&mut chunk);
                // The interface takes a chunk's length from its header: it must not say more than there is.
                if chunk.len() < 16
                    || i32::from_le_bytes([chunk[12], chunk[13], chunk[14], chunk[15]]) > chunk.len() as i32
                {
                    return;
                }
            }
            let copy = self.chunks.as_ref().and_then(|chunks| chunks.get(from).cloned()).unwrap_or_default();
            let done = match what {
                3 => blosc2_schunk_append_chunk(schunk, chunk.as_mut_ptr(), true),
                4 => blosc2_schunk_insert_chunk(schunk, k, chunk.as_mut_ptr(), true),
                _ => blosc2_schunk_update_chunk(schunk, k, chunk.as_mut_ptr(), true),
            };
            self.note(done, !is_damaged, |chunks| match what {
                3 => chunks.push(copy),
                4 => chunks.insert(at, copy),
                _ => chunks[at] = copy,
            });
        }
    }

    /// Reads every chunk in several ways.
    ///
    /// # Safety
    /// The super-chunk is alive.
    unsafe fn read(&self, random: &mut Random) {
        // SAFETY: the super-chunk is alive, and every length is that of its buffer.
        unsafe {
            let n = (*self.schunk).nchunks;
            assert!(self.chunks.as_ref().is_none_or(|chunks| chunks.len() as i64 == n));
            for k in -1..=n {
                let len = self.size + random.below(3) * 1000 - random.below(2);
                let (got, bytes) =
                    room(len, |dest, room| blosc2_schunk_decompress_chunk(self.schunk, k, dest, room));
                let known = self.chunks.as_ref().and_then(|chunks| chunks.get(usize::try_from(k).ok()?));
                if let Some(known) = known.filter(|known| known.len() <= len) {
                    assert!(bytes == *known, "chunk {k}: {got}");
                }
                let Some(mut chunk) = stored(self.schunk, k) else { continue };
                random.damage(&mut chunk);
                let (src, len) = (chunk.as_ptr().cast(), chunk.len() as i32);
                let dctx = (*self.schunk).dctx;
                room(self.size, |dest, room| blosc2_decompress_ctx(dctx, src, len, dest, room));
                let (start, items) = (random.below(9) as i32 - 1, random.below(50) as i32 - 1);
                room(self.size, |dest, room| blosc2_getitem_ctx(dctx, src, len, start, items, dest, room));
            }
        }
    }

    /// Writes the frame, damages it and reads what is left.
    ///
    /// # Safety
    /// The super-chunk is alive.
    unsafe fn frame(&self, random: &mut Random) {
        let (mut frame, mut free, mut array) = (ptr::null_mut(), false, ptr::null_mut());
        // SAFETY: the super-chunk is alive; the frame has the length that is returned; what is made is freed once.
        unsafe {
            let len = blosc2_schunk_to_buffer(self.schunk, &raw mut frame, &raw mut free);
            let Ok(n) = usize::try_from(len) else { return };
            let mut bytes = std::slice::from_raw_parts(frame, n).to_vec();
            if free {
                release(frame);
            }
            for round in 0..4 {
                let again = blosc2_schunk_from_buffer(bytes.as_mut_ptr(), len, true);
                assert!(round > 0 || !again.is_null(), "a frame just written is not read");
                if !again.is_null() {
                    let known = if round == 0 { self.chunks.clone() } else { None };
                    let copy = Subject { schunk: again, chunks: known, size: self.size };
                    if (*again).nchunks < 1000 {
                        copy.read(random);
                    }
                    blosc2_schunk_free(again);
                }
                if b2nd_from_cframe(bytes.as_mut_ptr(), len, true, &raw mut array) == 0 {
                    b2nd_free(array);
                }
                random.damage(&mut bytes);
            }
        }
    }
}

/// Returns the number of chunks that there were in the end.
fn sequence(seed: u64) -> i64 {
    let mut random = Random(seed);
    let Some(mut subject) = Subject::new(&mut random) else { return 0 };
    // SAFETY: the super-chunk is alive until it is freed.
    unsafe {
        for _ in 0..8 {
            subject.edit(&mut random);
        }
        subject.read(&mut random);
        subject.frame(&mut random);
        let nchunks = (*subject.schunk).nchunks;
        assert_eq!(blosc2_schunk_free(subject.schunk), 0);
        assert_eq!(PANICS.get(), 0, "a panic became a code");
        nchunks
    }
}

#[test]
fn no_call_panics_or_writes_where_it_may_not() {
    let rounds = if std::env::var("BLOSC_LONG").is_ok_and(|long| long == "1") { 20_000 } else { 1000 };
    let mut nchunks = 0;
    for seed in 0..rounds {
        match catch_unwind(|| sequence(seed)) {
            Ok(n) => nchunks += n,
            Err(panic) => {
                println!("sequence {seed}");
                resume_unwind(panic);
            }
        }
    }
    assert!(nchunks > 2 * rounds as i64, "only {nchunks} chunks in {rounds} sequences");
}
