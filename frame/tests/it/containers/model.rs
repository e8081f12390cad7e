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
    Insert(u64, Vec<u8>),
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

    /// One edit of each kind.
    pub fn each(r: &mut Random, rows: u64, row: usize, most: u64) -> Vec<Edit> {
        let some = |r: &mut Random, most: u64| {
            let n = (1 + r.below(most)) as usize * row;
            r.bytes(n)
        };
        let at = r.below(rows + 1);
        let mut all = vec![
            Edit::Append(some(r, most)),
            Edit::Insert(at, some(r, most)),
            Edit::Resize(r.below(rows + 1)),
            Edit::Resize(rows + r.below(most)),
        ];
        if rows > 0 {
            let at = r.below(rows);
            all.push(Edit::Set(at, some(r, 1)));
            all.push(Edit::Set(at, some(r, rows - at)));
            all.push(Edit::Remove(at, at + 1 + r.below(rows - at)));
        }
        all
    }

    /// Makes the edit in a container.
    pub fn make(&self, rows: &mut dyn Rows, pool: &mut Pool) -> Result<(), Error> {
        match self {
            Edit::Append(data) => rows.append(pool, data),
            Edit::Insert(at, data) => rows.insert(pool, *at, data),
            Edit::Set(at, data) => rows.set(pool, *at, data),
            Edit::Remove(from, to) => rows.remove(pool, *from..*to),
            Edit::Resize(n) => rows.resize(pool, *n),
        }
    }

    pub fn apply(&self, model: &mut Vec<u8>, row: usize, fill: &[u8]) {
        match self {
            Edit::Append(data) => model.extend_from_slice(data),
            Edit::Insert(at, data) => {
                drop(model.splice(*at as usize * row..*at as usize * row, data.clone()))
            }
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

/// Makes an edit of each kind in the container in `base`, and crashes after each operation: what is left must open with
/// the old or the new rows, and take further ones. Returns how many states were looked at.
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
    let mut points = 0;
    for change in Edit::each(r, rows.rows(), row, 60) {
        let mut after = data.clone();
        change.apply(&mut after, row, &vec![0; row]);
        let read = |dir| all(&*open(dir)?, &mut Pool::new(1));
        let make = |dir| change.make(&mut *open(dir)?, &mut Pool::new(1));
        let what = format!("{what}: {change:?}");
        points += crashes(base, &what, &make, &read, &mut |dir, got| {
            assert!(*got == data || *got == after, "{what}: neither old nor new");
            let more = r.bytes(3 * row);
            open(dir.clone()).unwrap().append(&mut pool, &more).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(read(dir.clone()).unwrap() == [&got[..], &more].concat(), "{what}");
            assert!(dir.list().unwrap().iter().all(|name| !name.ends_with("__pending__")));
        });
    }
    points
}

/// Has `make` change what is in `base`, and crashes after each operation, in three ways: what is left must be what it was
/// or what it becomes, as `read` sees it. `then` looks further. Returns how many states were looked at.
pub fn crashes<S: PartialEq>(
    base: &FaultDir,
    what: &str,
    make: &dyn Fn(FaultDir) -> Result<(), Error>,
    read: &dyn Fn(FaultDir) -> Result<S, Error>,
    then: &mut dyn FnMut(&FaultDir, &S),
) -> usize {
    let done = FaultDir::from_files(files(base));
    make(done.clone()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let (old, new) = (read(base.clone()).unwrap(), read(done).unwrap());
    let mut points = 0;
    for stop in 0.. {
        let dir = FaultDir::from_files(files(base));
        dir.stop_after(stop);
        let made = make(dir.clone());
        for seed in 0..3 {
            let survived = FaultDir::from_files(dir.crash(seed * 31 + stop));
            let got = read(survived.clone()).unwrap_or_else(|e| panic!("{what}, stopped after {stop}: {e}"));
            assert!(got == old || got == new, "{what}, stopped after {stop}: neither old nor new");
            assert!(made.is_err() || got == new, "{what}: done, and then it was not");
            then(&survived, &got);
            points += 1;
        }
        if made.is_ok() {
            break;
        }
    }
    points
}
