//! Sequences of calls through the C interface, chosen by bytes: tests run random ones, the fuzz target `c_calls` those that
//! coverage leads to.
//!
//! ```text
//! api.rs        the functions by their exported names
//! room.rs       buffers with guard bytes around them
//! chunks.rs     contexts and bare chunks, valid, damaged and made of the input
//! schunks.rs    super-chunks beside a vector of vectors; frames in memory and in files
//! arrays.rs     arrays beside a plain vector
//! ```
//! No call may panic, or write beyond the room that it was given; what has not been damaged is what was put in. What the
//! interface leaves to the caller is kept to: a chunk without a length is as long as its header says.

pub mod api;
mod arrays;
mod chunks;
mod room;
mod schunks;

use crate::abi::CParams;
use crate::error::PANICS;
use arbitrary::{Result, Unstructured};
use arrays::Subject as Nd;
use schunks::Subject;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Most calls of a sequence.
const STEPS: usize = 60;

/// Most bytes of a buffer that is made, and of what hostile data may announce before it is left alone.
const LARGE: i64 = 1 << 18;

/// What a sequence works on.
struct World {
    schunks: Vec<Subject>,
    arrays: Vec<Nd>,
    /// Chunks and frames that were made, or found in the input.
    bytes: Vec<Vec<u8>>,
    folder: Folder,
}

/// A folder of a sequence's own, made when it is needed.
struct Folder(Option<PathBuf>);

impl Folder {
    fn path(&mut self) -> &Path {
        self.0.get_or_insert_with(|| {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let memory = Path::new("/dev/shm");
            let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
            let name = format!("blosc-calls-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
            let folder = base.join(name);
            std::fs::create_dir_all(&folder).expect("a place for files");
            folder
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Runs the sequence that `data` chooses; gives the number of chunks of all super-chunks at its end.
///
/// # Panics
/// If a call does what it must not.
pub fn run(data: &[u8]) -> i64 {
    let before = PANICS.get();
    let mut u = Unstructured::new(data);
    let mut world =
        World { schunks: Vec::new(), arrays: Vec::new(), bytes: Vec::new(), folder: Folder(None) };
    for _ in 0..STEPS {
        if u.is_empty() || world.step(&mut u).is_err() {
            break;
        }
    }
    let nchunks = world.schunks.iter().map(Subject::nchunks).sum();
    let mut end = Unstructured::new(&[1; 64]);
    for subject in &world.schunks {
        _ = subject.read(&mut end);
    }
    for subject in &world.arrays {
        _ = subject.read(&mut end);
    }
    drop(world);
    assert_eq!(PANICS.get(), before, "a panic became a code");
    nchunks
}

impl World {
    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=19)? {
            0 if self.schunks.len() < 4 => self.schunks.extend(Subject::new(u, &mut self.folder)?),
            1 if self.arrays.len() < 3 => self.arrays.extend(Nd::new(u, &mut self.folder)?),
            2 => chunks::contexts(u, &mut self.bytes)?,
            3 => chunks::of_blocks(u, &mut self.bytes)?,
            4 => chunks::special(u, &mut self.bytes)?,
            5 => chunks::hostile(u, &self.bytes)?,
            6 => self.input(u)?,
            7 => self.frame(u)?,
            8 | 9 => self.array(u, Nd::edit)?,
            10 => self.array(u, |array, u| array.read(u))?,
            11 => self.array(u, Nd::derive)?,
            12 => self.schunk(u, |subject, u, _| subject.read(u))?,
            13 => self.schunk(u, |subject, u, _| subject.layers(u))?,
            14 => self.schunk(u, |subject, u, bytes| subject.copies(u, bytes))?,
            15 => self.schunk(u, |subject, u, _| subject.lazy(u))?,
            _ => self.schunk(u, |subject, u, bytes| subject.edit(u, bytes))?,
        }
        self.bytes.truncate(12);
        Ok(())
    }

    fn schunk(
        &mut self,
        u: &mut Unstructured<'_>,
        call: impl FnOnce(&mut Subject, &mut Unstructured<'_>, &mut Vec<Vec<u8>>) -> Result<()>,
    ) -> Result<()> {
        if self.schunks.is_empty() {
            self.schunks.extend(Subject::new(u, &mut self.folder)?);
        }
        let Some(last) = self.schunks.len().checked_sub(1) else { return Ok(()) };
        let which = u.int_in_range(0..=last)?;
        if u.ratio(1, 20)? {
            drop(self.schunks.remove(which));
            return Ok(());
        }
        call(&mut self.schunks[which], u, &mut self.bytes)
    }

    fn array(
        &mut self,
        u: &mut Unstructured<'_>,
        call: impl FnOnce(&mut Nd, &mut Unstructured<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.arrays.is_empty() {
            self.arrays.extend(Nd::new(u, &mut self.folder)?);
        }
        let Some(last) = self.arrays.len().checked_sub(1) else { return Ok(()) };
        let which = u.int_in_range(0..=last)?;
        call(&mut self.arrays[which], u)
    }

    /// Bytes of the input itself.
    fn input(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let len = usize::from(u.arbitrary::<u16>()?) % 4096;
        let len = len.min(u.len());
        self.bytes.insert(0, u.bytes(len)?.to_vec());
        Ok(())
    }

    /// Opens bytes as a frame, after some damage or none.
    fn frame(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        if self.bytes.is_empty() {
            return self.input(u);
        }
        let mut bytes = u.choose(&self.bytes)?.clone();
        if u.ratio(2, 3)? {
            damage(u, &mut bytes)?;
        }
        if self.schunks.len() < 4 {
            self.schunks.extend(Subject::of_frame(&mut bytes, u.arbitrary()?));
        }
        if self.arrays.len() < 3 {
            self.arrays.extend(Nd::of_frame(&mut bytes));
        }
        Ok(())
    }
}

/// Changes some bytes, most of them near the start, where headers are, or cuts the end off.
fn damage(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    if u.ratio(1, 6)? {
        bytes.truncate(u.choose_index(bytes.len() + 1)?);
    }
    for _ in 0..u.int_in_range(1..=4)? {
        let len = if u.ratio(2, 3)? { bytes.len().min(130) } else { bytes.len() };
        if len > 0 {
            let at = u.choose_index(len)?;
            bytes[at] = if u.arbitrary()? { *u.choose(&[0, 1, 127, 128, 255])? } else { u.arbitrary()? };
        }
    }
    Ok(())
}

/// `len` bytes that compress more or less well.
fn pattern(u: &mut Unstructured<'_>, len: usize) -> Result<Vec<u8>> {
    let (step, noise) = (u.arbitrary::<u8>()? % 5, u32::from(u.arbitrary::<u8>()? % 4) * 85 + 1);
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) % noise
    };
    Ok((0..len).map(|i| ((i / 16 * usize::from(step)) as u8).wrapping_add(next() as u8)).collect())
}

/// Parameters of compression, in part such as cannot be.
fn cparams(u: &mut Unstructured<'_>) -> Result<CParams> {
    let mut cparams = CParams {
        compcode: *u.choose(&[0, 1, 2, 4, 5])?,
        clevel: *u.choose(&[0, 1, 5, 9])?,
        typesize: *u.choose(&[1, 2, 4, 8, 3, 255, 300])?,
        nthreads: *u.choose(&[1, 1, 1, 2])?,
        blocksize: *u.choose(&[0, 0, 64, 1000, 4096])?,
        splitmode: *u.choose(&[4, 1, 2, 3])?,
        ..CParams::DEFAULT
    };
    cparams.filters[5] = *u.choose(&[0, 1, 2, 3])?;
    if !u.ratio(1, 3)? {
        return Ok(cparams);
    }
    for _ in 0..u.int_in_range(1..=2)? {
        let slot = u.choose_index(6)?;
        match u.int_in_range(0..=8)? {
            0 => cparams.compcode = *u.choose(&[32, 33, 34, 35, 7, 200])?,
            1 => cparams.compcode_meta = u.arbitrary()?,
            2 => cparams.clevel = 10,
            3 => cparams.typesize = *u.choose(&[0, -1, i32::MAX, i32::MIN])?,
            4 => cparams.nthreads = *u.choose(&[0, -5])?,
            5 => cparams.blocksize = *u.choose(&[-1, i32::MAX])?,
            6 => cparams.use_dict = 1,
            7 => cparams.filters[slot] = *u.choose(&[2, 3, 4, 35, 36, 32, 99])?,
            _ => cparams.filters_meta[slot] = u.arbitrary()?,
        }
    }
    Ok(cparams)
}

/// Whether what was compressed with these parameters comes back as it was.
fn is_exact(cparams: &CParams) -> bool {
    !matches!(cparams.compcode, 33..=35) && !cparams.filters.iter().any(|f| matches!(f, 4 | 36))
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, resume_unwind};

    #[test]
    fn no_call_panics_or_writes_where_it_may_not() {
        let rounds = if std::env::var("BLOSC_LONG").is_ok_and(|long| long == "1") { 20_000 } else { 1000 };
        let (mut state, mut nchunks) = (7u64, 0);
        for round in 0..rounds {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8
            };
            let data: Vec<u8> = (0..600).map(|_| next()).collect();
            match catch_unwind(|| super::run(&data)) {
                Ok(n) => nchunks += n,
                Err(panic) => {
                    println!("sequence {round}");
                    resume_unwind(panic);
                }
            }
        }
        assert!(nchunks > rounds, "only {nchunks} chunks in {rounds} sequences");
    }
}
