//! Power failures at every write: whatever a transaction was doing, the frame then opens as exactly
//! the state before it or after it.
//!
//! Each transaction of a random history runs once for every operation it makes on the store, and stops
//! there; then several of the states the disk may be left in are opened (see `FaultDir`: sectors of 512
//! bytes tear and reorder between flushes, names survive in any prefix).

use crate::common;

use blosc_core::Params;
use blosc_frame::io::{DirFile, Directory, FaultDir};
use blosc_frame::{Error, IoKind, Limits, SuperChunk};
use common::{Model, Random, compare, edit, emulated, params};

const NAME: &str = "frame";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Contiguous,
    Sparse,
}

fn open<D: Directory + Send + Sync + 'static>(dir: D, kind: Kind) -> Result<SuperChunk<'static>, Error> {
    match kind {
        Kind::Contiguous => SuperChunk::open(DirFile::open(dir, NAME)?, &Limits::DEFAULT),
        Kind::Sparse => SuperChunk::open_dir(dir, &Limits::DEFAULT),
    }
}

/// One transaction: creates or opens, edits, commits. Tells what it did and the model afterwards.
fn transaction(
    dir: &FaultDir,
    kind: Kind,
    fresh: Option<&Params>,
    model: &Model,
    random: &mut Random,
) -> Result<Model, Error> {
    let mut model = model.clone();
    let mut sc = match (fresh, kind) {
        (None, kind) => open(dir.clone(), kind)?,
        (Some(params), Kind::Contiguous) => SuperChunk::create(DirFile::create(dir.clone(), NAME)?, params)?,
        (Some(params), Kind::Sparse) => SuperChunk::create_dir(dir.clone(), params)?,
    };
    let _ = sc.set_chunksize(model.chunksize as u32);
    for _ in 0..1 + random.below(3) {
        edit(random, &mut sc, &mut model)?;
    }
    match random.below(8) {
        0 => drop(sc.compact()?),
        _ => sc.commit()?,
    }
    Ok(model)
}

fn files(dir: &FaultDir) -> Vec<(String, Vec<u8>)> {
    let names = dir.list().unwrap();
    names.into_iter().map(|name| (name.clone(), dir.read(&name, u64::MAX).unwrap())).collect()
}

/// Whether what is left is `before` or `after`; `None` stands for "no frame".
fn check(
    dir: impl Directory + Send + Sync + 'static,
    kind: Kind,
    before: Option<&Model>,
    after: &Model,
    done: bool,
) -> Result<bool, String> {
    let mut random = Random(1);
    match open(dir, kind) {
        Ok(mut sc) => {
            let new = compare(&mut sc, after, &mut random);
            match (&new, before, done) {
                (Ok(()), ..) => Ok(true),
                (Err(_), Some(before), false) => {
                    let old = compare(&mut sc, before, &mut random);
                    old.map(|()| false).map_err(|old| format!("not old ({old}), not new ({new:?})"))
                }
                _ => Err(format!("{new:?}")),
            }
        }
        Err(_) if before.is_none() && !done => Ok(false),
        Err(error) => Err(format!("does not open: {error}")),
    }
}

/// Runs histories until `points` crash states were opened; returns how many, and how many were new.
fn run(kind: Kind, points: usize) -> (usize, usize) {
    let (mut opened, mut new) = (0, 0);
    for seed in 0.. {
        let mut random = Random(seed ^ 0xc0ffee);
        let params = params(&mut random);
        let typesize = params.typesize as usize;
        let mut model =
            Model { chunksize: (1 + random.below(400 / typesize + 2)) * typesize, ..Model::default() };
        let (mut content, mut fresh) = (Vec::new(), true);
        for step in 0..10 {
            let before = (!fresh).then(|| model.clone());
            let create = fresh.then_some(&params);
            let dir = FaultDir::from_files(content.clone());
            let mut chance = random.clone();
            let after = transaction(&dir, kind, create, &model, &mut chance).unwrap_or_else(|e| {
                panic!("seed {seed} step {step}: {e}");
            });
            let operations = dir.operations();
            for stop in 0..=operations {
                let faulty = FaultDir::from_files(content.clone());
                faulty.stop_after(stop);
                let result = transaction(&faulty, kind, create, &model, &mut random.clone());
                if let Err(error) = &result {
                    let place = format!("seed {seed} step {step} stop {stop}: {error}");
                    assert!(error.is_in_force() || *error == IoKind::Injected.into(), "{place}");
                    // Without a power failure, what is there is what the error says.
                    let now = FaultDir::from_files(files(&faulty));
                    let now = check(now, kind, before.as_ref(), &after, error.is_in_force());
                    assert!(now.is_ok(), "{place}: {now:?}");
                }
                for chance in 0..3 {
                    let left = faulty.crash_dir(seed * 1000 + stop * 3 + chance);
                    let outcome = check(left, kind, before.as_ref(), &after, result.is_ok());
                    let is_new = outcome.unwrap_or_else(|what| {
                        panic!(
                            "{kind:?}, seed {seed} step {step}, stopped after {stop} of {operations}: {what}"
                        )
                    });
                    new += usize::from(is_new);
                    opened += 1;
                }
            }
            content = files(&dir);
            (random, model, fresh) = (chance, after, false);
            if opened >= points {
                return (opened, new);
            }
        }
    }
    (opened, new)
}

/// A point takes some microseconds.
fn points() -> usize {
    if emulated() { 500 } else { 50_000 }
}

#[test]
fn contiguous_frames_survive_power_failures() {
    let (opened, new) = run(Kind::Contiguous, points());
    println!("contiguous: {opened} crash states opened, {new} of them new, none neither old nor new");
    assert!(new > opened / 50 && new < opened);
}

#[test]
fn sparse_frames_survive_power_failures() {
    let (opened, new) = run(Kind::Sparse, points());
    println!("sparse: {opened} crash states opened, {new} of them new, none neither old nor new");
    assert!(new > opened / 50 && new < opened);
}

// The directory that stops and crashes does what disks do.

#[test]
fn a_flushed_file_survives_and_an_unflushed_one_tears_at_sectors() {
    let dir = FaultDir::new();
    let mut file = dir.create("a").unwrap();
    file.write_at(0, &[1; 2048]).unwrap();
    file.sync().unwrap();
    dir.sync().unwrap();
    file.write_at(100, &[2; 1500]).unwrap();
    let (mut torn, mut old, mut new) = (false, false, false);
    for seed in 1..200 {
        let files = dir.crash(seed);
        let content = &files[0].1;
        assert_eq!(content.len(), 2048);
        let kept: Vec<u8> = [100, 512, 1024, 1536].map(|i| content[i]).to_vec();
        torn |= kept.contains(&1) && kept.contains(&2);
        old |= !kept.contains(&2);
        new |= !kept.contains(&1);
    }
    assert!(torn && old && new);
}

#[test]
fn nothing_works_after_the_stop() {
    let dir = FaultDir::new();
    dir.stop_after(2);
    let mut file = dir.create("a").unwrap();
    file.write_at(0, b"x").unwrap();
    assert_eq!(file.write_at(1, b"y").unwrap_err().kind, IoKind::Injected);
    assert_eq!(file.sync().unwrap_err().kind, IoKind::Injected);
    assert_eq!(dir.operations(), 3);
}

#[test]
fn a_rename_without_a_directory_flush_may_be_lost() {
    let dir = FaultDir::from_files([("a".into(), vec![1]), ("t".into(), vec![2])]);
    dir.rename("t", "a").unwrap();
    let counts: std::collections::BTreeSet<usize> = (1..50).map(|s| dir.crash(s).len()).collect();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2]);
    Directory::sync(&dir).unwrap();
    assert_eq!(dir.crash(1), [(String::from("a"), vec![2])]);
}
