//! Sequences of calls through the C interface, chosen by bytes: tests run random ones, the fuzz target `c_calls` those that
//! coverage leads to.
//!
//! ```text
//! api.rs        the functions by their exported names
//! room.rs       buffers with guard bytes around them
//! data.rs       data, parameters, damage, and a folder
//! chunks.rs     contexts and bare chunks, valid, damaged and made of the input
//! schunks.rs    super-chunks beside a vector of vectors; frames in memory and in files
//! arrays.rs     arrays beside a plain vector
//! ```
//! No call may panic, or write beyond the room that it was given; what has not been damaged is what was put in. What the
//! interface leaves to the caller is kept to: a chunk without a length is as long as its header says.

pub mod api;
mod arrays;
mod chunks;
mod data;
mod room;
mod schunks;

use crate::error::PANICS;
use arbitrary::{Result, Unstructured};
use arrays::Subject as Nd;
use data::{Folder, damage};
use schunks::Subject;

/// Most calls of a sequence.
const STEPS: usize = 60;

/// What a sequence works on.
struct World {
    schunks: Vec<Subject>,
    arrays: Vec<Nd>,
    /// Chunks and frames that were made, or found in the input.
    bytes: Vec<Vec<u8>>,
    folder: Folder,
}

/// Runs the sequence that `data` chooses; gives the number of chunks of all super-chunks at its end.
///
/// # Panics
/// If a call does what it must not.
pub fn run(data: &[u8]) -> i64 {
    let before = PANICS.get();
    let mut u = Unstructured::new(data);
    let mut world =
        World { schunks: Vec::new(), arrays: Vec::new(), bytes: Vec::new(), folder: Folder::default() };
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

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, resume_unwind};

    #[test]
    fn no_call_panics_or_writes_where_it_may_not() {
        let rounds = if std::env::var("BLOSC_LONG").is_ok_and(|long| long == "1") { 20_000 } else { 1000 };
        let (mut random, mut nchunks) = (blosc_testkit::Random(1), 0);
        for round in 0..rounds {
            let data = random.noise(600);
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
