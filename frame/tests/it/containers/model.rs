//! Random edits of rows, applied to a plain vector and to a container alike.
#![allow(dead_code)] // each test uses its part

use blosc_core::Pool;
use blosc_frame::io::{Directory, FaultDir};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Rows};

/// A small generator with a fixed seed: runs repeat exactly.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.next() % n }
    }
    /// Bytes that compress a little, or not at all.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        let noisy = self.below(3) == 0;
        let step = self.below(7) as u8;
        let mut x = self.next() as u8;
        let next = |r: &mut Random| {
            x = if noisy { r.next() as u8 } else { x.wrapping_add(step) };
            x
        };
        let mut next = next;
        (0..n).map(|_| next(self)).collect()
    }
}

/// One edit, in rows.
#[derive(Clone, Debug)]
pub enum Edit {
    Append(Vec<u8>),
    Set(u64, Vec<u8>),
    Remove(u64, u64),
    Resize(u64),
}

impl Edit {
    pub fn random(r: &mut Random, rows: u64, row: usize, most: u64) -> Edit {
        let some = |r: &mut Random| (1 + r.below(most)) as usize;
        match r.below(6) {
            0..3 => {
                let n = some(r);
                Edit::Append(r.bytes(n * row))
            }
            3 if rows > 0 => {
                let at = r.below(rows);
                let n = (1 + r.below(rows - at)).min(most) as usize;
                Edit::Set(at, r.bytes(n * row))
            }
            4 if rows > 0 => {
                let at = r.below(rows);
                Edit::Remove(at, at + 1 + r.below(rows - at).min(most))
            }
            _ => Edit::Resize(r.below(rows + most)),
        }
    }

    /// Makes the edit in a container.
    pub fn make(&self, rows: &mut dyn Rows, pool: &mut Pool) -> Result<(), Error> {
        match self {
            Edit::Append(data) => rows.append(pool, data),
            Edit::Set(at, data) => rows.set(pool, *at, data),
            Edit::Remove(from, to) => rows.remove(pool, *from..*to),
            Edit::Resize(n) => rows.resize(pool, *n),
        }
    }

    pub fn apply(&self, model: &mut Vec<u8>, row: usize, fill: &[u8]) {
        match self {
            Edit::Append(data) => model.extend_from_slice(data),
            Edit::Set(at, data) => model[*at as usize * row..][..data.len()].copy_from_slice(data),
            Edit::Remove(from, to) => drop(model.drain(*from as usize * row..*to as usize * row)),
            Edit::Resize(rows) => {
                let n = *rows as usize * row;
                while model.len() < n {
                    model.extend_from_slice(fill);
                }
                model.truncate(n);
            }
        }
    }
}

/// All decoded bytes.
pub fn all(plain: &dyn Plain, pool: &mut Pool) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; plain.nbytes() as usize];
    plain.read_plain(pool, 0, &mut out)?;
    Ok(out)
}

/// The files of a directory.
pub fn files(dir: &FaultDir) -> Vec<(String, Vec<u8>)> {
    dir.list().unwrap().into_iter().map(|n| (n.clone(), dir.read(&n, 1 << 20).unwrap())).collect()
}

/// Appends to the container in `base`, or cuts it, and crashes after each operation: what is left must open
/// with the old or the new rows, and take further ones. Returns how many states were looked at.
pub fn crash_points(
    r: &mut Random,
    base: &FaultDir,
    what: &str,
    open: &dyn Fn(FaultDir) -> Result<Box<dyn Rows>, Error>,
) -> usize {
    let mut pool = Pool::new(1);
    let rows = open(base.clone()).unwrap();
    let row = rows.row_nbytes() as usize;
    let data = all(&*rows, &mut pool).unwrap();
    let change = match r.below(2) {
        0 => {
            let n = 1 + r.below(90) as usize;
            Edit::Append(r.bytes(n * row))
        }
        _ => Edit::Resize(r.below(rows.rows() + 1)),
    };
    let mut after = data.clone();
    change.apply(&mut after, row, &vec![0; row]);
    let mut points = 0;
    for stop in 0.. {
        let dir = FaultDir::from_files(files(base));
        dir.stop_after(stop);
        let done = open(dir.clone()).and_then(|mut rows| change.make(&mut *rows, &mut pool));
        for seed in 0..3 {
            let fail = |e: Error| -> ! { panic!("{what} stop {stop}: {e} {change:?}") };
            let survived = FaultDir::from_files(dir.crash(seed * 31 + stop));
            let mut rows = open(survived.clone()).unwrap_or_else(|e| fail(e));
            let got = all(&*rows, &mut pool).unwrap_or_else(|e| fail(e));
            assert!(got == data || got == after, "{what} stop {stop}: neither old nor new");
            assert!(done.is_err() || got == after);
            let more = r.bytes(3 * row);
            rows.append(&mut pool, &more).unwrap_or_else(|e| fail(e));
            let again = open(survived.clone()).and_then(|rows| all(&*rows, &mut pool));
            assert!(again.unwrap_or_else(|e| fail(e)) == [got, more].concat(), "{what} stop {stop}");
            assert!(!survived.contains("__pending__").unwrap());
            points += 1;
        }
        if done.is_ok() {
            break;
        }
    }
    points
}
