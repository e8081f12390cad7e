//! Writes that fail while the program goes on: the disk is full, or the store cannot do it in one step. The state
//! before stays readable, and no file is left behind.

use crate::common;

use blosc_core::Params;
use blosc_frame::io::{DirFile, Directory, MemDir, ReadAt, WriteAt};
use blosc_frame::{Error, IoError, IoKind, Limits, SuperChunk};
use common::hooked::{Hooked, Hooks};
use common::{Model, Random, compare, edit, params};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A disk with room for this many more writes.
struct Room(AtomicI64);

impl Hooks for Room {
    fn write(&self, _: usize) -> Result<(), IoError> {
        match self.0.fetch_sub(1, Ordering::Relaxed) {
            i64::MIN..=0 => Err(IoKind::NoSpace.into()),
            _ => Ok(()),
        }
    }
}

type Full = Hooked<Room>;

fn open(dir: &Full, sparse: bool) -> Result<SuperChunk<'static>, Error> {
    match sparse {
        true => SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT),
        false => SuperChunk::open(DirFile::open(dir.clone(), "frame")?, &Limits::DEFAULT),
    }
}

fn names(dir: &Full) -> Vec<String> {
    let mut names = dir.list().unwrap();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_state_before_and_no_stray_files() {
    let mut failed = 0;
    for seed in 0..200u64 {
        let sparse = seed % 2 == 0;
        let mut random = Random(seed);
        let params = params(&mut random);
        let typesize = params.typesize as usize;
        let mut model =
            Model { chunksize: (1 + random.below(300 / typesize + 2)) * typesize, ..Model::default() };
        let dir = Full::new(Room(AtomicI64::new(i64::MAX)));
        let mut sc = match sparse {
            true => SuperChunk::create_dir(dir.clone(), &params).unwrap(),
            false => SuperChunk::create(DirFile::create(dir.clone(), "frame").unwrap(), &params).unwrap(),
        };
        sc.set_chunksize(model.chunksize as u32).unwrap();
        for _ in 0..4 {
            edit(&mut random, &mut sc, &mut model).unwrap();
        }
        sc.commit().unwrap();
        drop(sc);
        let before = names(&dir);
        for room in 0..12 {
            let mut sc = open(&dir, sparse).unwrap();
            // Frames of variable chunks do not say how appended data is cut.
            let _ = sc.set_chunksize(model.chunksize as u32);
            let (mut chance, mut after) = (random.clone(), model.clone());
            dir.hooks.0.store(room, Ordering::Relaxed);
            let edits = (0..3).try_for_each(|_| edit(&mut chance, &mut sc, &mut after).map(drop));
            let result = edits.and_then(|()| sc.commit());
            dir.hooks.0.store(i64::MAX, Ordering::Relaxed);
            drop(sc);
            let Err(error) = result else { break };
            failed += 1;
            assert_eq!(error, IoKind::NoSpace.into(), "seed {seed}, room for {room} writes");
            let what = format!("seed {seed}, sparse {sparse}, room for {room} writes");
            compare(&mut open(&dir, sparse).unwrap(), &model, &mut random.clone())
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(names(&dir), before, "{what}");
        }
    }
    println!("{failed} commits failed");
    assert!(failed > 300);
}

#[test]
fn what_needs_a_rename_is_refused_by_a_bare_file() {
    let path = std::env::temp_dir().join(format!("blosc-bare-{}", std::process::id()));
    let file =
        || std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
    let mut sc = SuperChunk::create(file(), &Params::new(4)).unwrap();
    sc.append(&[7; 4000]).unwrap();
    sc.commit().unwrap();
    let mut sc = SuperChunk::open(file(), &Limits::DEFAULT).unwrap();
    sc.append(&[8; 400]).unwrap();
    // The header becomes longer: its end and the first chunk cannot be switched with one write.
    sc.set_metalayer("unit", b"\xa2mm").unwrap();
    assert!(matches!(sc.commit(), Err(Error::NotAtomic { .. })));
    drop(sc);
    let mut sc = SuperChunk::open(file(), &Limits::DEFAULT).unwrap();
    assert_eq!((sc.read_all().unwrap(), sc.metalayer("unit")), (vec![7; 4000], None));
    // The last chunk goes: the trailer would lie elsewhere.
    sc.delete(0).unwrap();
    assert!(matches!(sc.commit(), Err(Error::NotAtomic { .. })));
    let _ = std::fs::remove_file(&path);
}

/// A header metalayer that keeps its length is switched with the header's first bytes, if all of them lie in one sector.
#[test]
fn a_metalayer_behind_the_first_sector_is_not_written_in_place() {
    let path = std::env::temp_dir().join(format!("blosc-sector-{}", std::process::id()));
    for (len, in_place) in [(512, true), (513, false)] {
        let file = || {
            std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap()
        };
        let mut sc = SuperChunk::create(file(), &Params::new(4)).unwrap();
        // The fixed part, 10 bytes around the contents, and 6, the name and 5 of this one.
        sc.set_metalayer("unit", &vec![1; len - 112]).unwrap();
        sc.append(&[7; 4000]).unwrap();
        sc.commit().unwrap();
        assert_eq!(sc.header().header_len as usize, len);
        // Where the metalayers are not written, their length does not matter.
        sc.append(&[7; 4000]).unwrap();
        sc.commit().unwrap();
        sc.set_metalayer("unit", &vec![2; len - 112]).unwrap();
        let done = sc.commit();
        assert!(
            if in_place { done.is_ok() } else { matches!(done, Err(Error::NotAtomic { .. })) },
            "{done:?}"
        );
        drop(sc);
        let sc = SuperChunk::open(file(), &Limits::DEFAULT).unwrap();
        assert_eq!(sc.metalayer("unit").unwrap()[0], if in_place { 2 } else { 1 });
    }
    let _ = std::fs::remove_file(&path);
}

/// Whatever call fails for want of room, the calls after it leave nothing out and write nothing twice.
#[test]
fn a_stream_goes_on_where_the_disk_was_full() {
    let data: Vec<u8> = (0..40_000u32).map(|n| (n / 7) as u8).collect();
    let mut failed = [0; 3];
    for (threads, sparse, room) in (0..4).flat_map(|n| (0..60).map(move |room| (1 + n / 2, n % 2 == 0, room)))
    {
        let dir = Full::new(Room(AtomicI64::new(i64::MAX)));
        let params = Params::new(1).level(1);
        let mut sc = match sparse {
            true => SuperChunk::create_dir(dir.clone(), &params).unwrap(),
            false => SuperChunk::create(DirFile::create(dir.clone(), "frame").unwrap(), &params).unwrap(),
        };
        sc.set_chunksize(1000).unwrap();
        sc.set_threads(threads);
        let mut random = Random(room as u64);
        let (mut at, mut writer) = (0, sc.writer());
        dir.hooks.0.store(room, Ordering::Relaxed);
        let full = |failed: &mut usize| {
            *failed += 1;
            dir.hooks.0.store(i64::MAX, Ordering::Relaxed);
        };
        while at < data.len() {
            let piece = &data[at..data.len().min(at + 1 + random.below(6000))];
            match std::io::Write::write(&mut writer, piece) {
                Ok(n) => at += n,
                Err(_) => full(&mut failed[0]),
            }
            if random.below(3) == 0 && std::io::Write::flush(&mut writer).is_err() {
                full(&mut failed[1]);
            }
        }
        if writer.finish().is_err() {
            // Only this takes the writer away, and says that something is missing.
            failed[2] += 1;
            continue;
        }
        dir.hooks.0.store(i64::MAX, Ordering::Relaxed);
        sc.commit().unwrap();
        drop(sc);
        let what = format!("{threads} threads, sparse {sparse}, room for {room} writes");
        assert!(open(&dir, sparse).unwrap().read_all().unwrap() == data, "{what}");
    }
    assert!(failed.iter().all(|n| *n > 0), "{failed:?}");
}

/// A table of checksums larger than one metalayer may be: it grows with the chunks.
#[test]
fn checksums_of_many_chunks_take_more_than_a_metalayer_may() {
    let mut sc = SuperChunk::memory(&Params::new(1)).unwrap();
    sc.set_chunksize(100).unwrap();
    sc.append(&[9; 100_000]).unwrap();
    let frame = sc.into_bytes().unwrap();
    let limits = Limits::DEFAULT.metalayer(500).metalayers(500);
    let mut sc = SuperChunk::open_read(&*frame, &limits).unwrap();
    assert_eq!(sc.verify(|_| {}).unwrap().matched, 1000);
}

/// A table of checksums that says it is gigabytes, in forty bytes, is not decoded.
#[test]
fn a_table_of_checksums_that_does_not_fit_is_no_table() {
    let mut sc = SuperChunk::memory(&Params::new(1)).unwrap();
    sc.append(&[9; 100]).unwrap();
    let mut frame = sc.into_bytes().unwrap();
    // Its chunk: stored, 45 bytes in the table of one checksum.
    let at = frame.windows(8).rposition(|w| w == b"XXH3\x02\0\0\0").unwrap() - 5 - 32;
    assert_eq!(frame[at + 4..at + 8], 45u32.to_le_bytes());
    frame[at + 4..at + 8].copy_from_slice(&2_000_000_000u32.to_le_bytes());
    frame[at + 12..at + 16].copy_from_slice(&32u32.to_le_bytes());
    // Zeros, in 32 bytes.
    frame[at + 2] = 5;
    frame[at + 31] = 1 << 4;
    let sc = SuperChunk::open_read(&*frame, &Limits::DEFAULT).unwrap();
    assert_eq!(sc.chunk_checksum(0), None);
}

/// A disk that takes part of a write and no more.
struct Partial {
    bytes: Arc<std::sync::Mutex<Vec<u8>>>,
    room: Arc<AtomicI64>,
}

impl ReadAt for Partial {
    fn size(&self) -> Result<u64, IoError> {
        self.bytes.lock().unwrap().size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.bytes.lock().unwrap().read_at(offset, buf)
    }
}

impl WriteAt for Partial {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        let mut bytes = self.bytes.lock().unwrap();
        let room = (self.room.load(Ordering::Relaxed) as usize).saturating_sub(offset as usize);
        bytes.write_at(offset, &data[..data.len().min(room)])?;
        if data.len() > room { Err(IoKind::NoSpace.into()) } else { Ok(()) }
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        WriteAt::truncate(&mut *self.bytes.lock().unwrap(), len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl blosc_frame::io::Store for Partial {
    fn replace(&mut self, _: &mut blosc_frame::io::Fill<'_>) -> Result<(), Error> {
        Err(Error::NotAtomic { why: "a test" })
    }
}

#[test]
fn what_a_full_disk_took_of_a_chunk_or_an_index_is_given_back() {
    let bytes = Arc::default();
    let room = Arc::new(AtomicI64::new(i64::MAX));
    let store = || Partial { bytes: Arc::clone(&bytes), room: room.clone() };
    let mut sc = SuperChunk::create(store(), &Params::new(1).level(0)).unwrap();
    sc.append(&[7; 1000]).unwrap();
    sc.commit().unwrap();
    drop(sc);
    let before: Vec<u8> = bytes.lock().unwrap().clone();
    // A metalayer shrinks to less than the chunk, which is stored.
    for more in (0..1000).step_by(7).filter(|more| more % 2 == 0 || *more < 150) {
        room.store((before.len() + more) as i64, Ordering::Relaxed);
        let mut sc = SuperChunk::open(store(), &Limits::DEFAULT).unwrap();
        let done = match more % 2 {
            0 => sc.append_data(&[8; 1000]),
            _ => sc.set_vlmetalayer("v", &[8; 1000]),
        };
        assert!(done.and_then(|()| sc.commit()).is_err(), "{more}");
        drop(sc);
        assert!(*bytes.lock().unwrap() == before, "room for {more} bytes more");
    }
}

/// What a file of some hundred bytes may make a reader hold, by default.
#[test]
fn a_small_file_does_not_expand_without_limit() {
    let large = Limits::DEFAULT.memory as u32 + 4;
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    sc.set_chunksize(large).unwrap();
    sc.fill_special(blosc_core::Special::Zeros, large.into()).unwrap();
    let frame = sc.into_bytes().unwrap();
    let sc = SuperChunk::from_slice(&frame).unwrap();
    assert!(matches!(sc.read_chunk(0), Err(Error::Limit { limit, .. }) if limit == Limits::DEFAULT.memory));
    let sc = SuperChunk::open_read(&*frame, &Limits::DEFAULT.expansion(u64::MAX)).unwrap();
    assert_eq!(sc.limits().chunk.output, Limits::DEFAULT.chunk.output);
    let mut four = [1; 4];
    sc.read_bytes(Limits::DEFAULT.memory..Limits::DEFAULT.memory + 4, &mut four).unwrap();
    assert_eq!(four, [0; 4]);
    // A repair copies the entry, and decodes nothing.
    let repaired = blosc_frame::repair::repair(&&*frame, &Limits::DEFAULT, SuperChunk::memory);
    assert_eq!(repaired.unwrap().0.kept, 1);
}

#[test]
fn parameters_that_cannot_be_are_refused_before_anything_is_touched() {
    let params = Params::new(4);
    let wrong = [
        params.level(11),
        params.level(16),
        params.blocksize(Some(0)),
        params.blocksize(Some(u32::MAX)),
        Params::new(0),
        params.codec(blosc_core::Codec::Snappy),
    ];
    for wrong in wrong {
        let refused = |made: Result<SuperChunk<'_>, Error>| {
            assert!(matches!(made.map(drop), Err(Error::Codec(_))), "{wrong:?}");
        };
        refused(SuperChunk::memory(&wrong));
        let mut old = vec![7u8; 100];
        refused(SuperChunk::create(&mut old, &wrong));
        assert_eq!(old, [7; 100]);
        let dir = MemDir::new();
        refused(SuperChunk::create_dir(dir.clone(), &wrong));
        assert!(dir.list().unwrap().is_empty());
        let mut sc = SuperChunk::memory(&params).unwrap();
        assert!(matches!(sc.set_params(&wrong), Err(Error::Codec(_))), "{wrong:?}");
        assert_eq!(sc.params(), SuperChunk::memory(&params).unwrap().params());
    }
}
