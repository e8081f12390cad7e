//! Random edit histories, compared after every commit with a plain vector of vectors, for each place a
//! super-chunk can lie in.

use crate::common;

use blosc_core::Special;
use blosc_frame::io::{DirFile, MemDir, Offset, ReadOnly};
use blosc_frame::{Error, Limits, SuperChunk};
use common::{Model, Random, compare, count, edit, params};

#[derive(Clone, Copy, Debug)]
enum Where {
    Memory,
    File,
    Directory,
}

fn history(seed: u64, place: Where) {
    let mut random = Random(seed);
    let params = params(&mut random);
    let typesize = params.typesize as usize;
    let mut model =
        Model { chunksize: (1 + random.below(200 / typesize + 2)) * typesize, ..Model::default() };
    let dir = MemDir::new();
    let mut sc = match place {
        Where::Memory => SuperChunk::memory(&params).unwrap(),
        Where::File => SuperChunk::create(DirFile::create(dir.clone(), "f").unwrap(), &params).unwrap(),
        Where::Directory => SuperChunk::create_dir(dir.clone(), &params).unwrap(),
    };
    sc.set_chunksize(model.chunksize as u32).unwrap();
    if random.below(4) == 0 {
        sc.set_checksums(false);
    }
    let mut log = Vec::new();
    for _ in 0..4 + random.below(12) {
        for _ in 0..1 + random.below(3) {
            let step = edit(&mut random, &mut sc, &mut model);
            log.push(step.unwrap_or_else(|e| panic!("seed {seed} {place:?}: {e}\n{}", log.join("\n"))));
            compare(&mut sc, &model, &mut random)
                .unwrap_or_else(|e| panic!("seed {seed} {place:?}, before commit: {e}\n{}", log.join("\n")));
        }
        if random.below(6) == 0 {
            log.push("compact".into());
            sc.compact().unwrap_or_else(|e| panic!("seed {seed} {place:?}: {e}\n{}", log.join("\n")));
        }
        log.push("commit".into());
        sc.commit().unwrap_or_else(|e| panic!("seed {seed} {place:?}: {e}\n{}", log.join("\n")));
        compare(&mut sc, &model, &mut random)
            .unwrap_or_else(|e| panic!("seed {seed} {place:?}, after commit: {e}\n{}", log.join("\n")));
        let bytes;
        let mut again = match place {
            Where::Memory => {
                bytes = sc.to_bytes().unwrap();
                let opened = SuperChunk::from_bytes(bytes, &Limits::DEFAULT);
                opened.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", log.join("\n")))
            }
            Where::File => {
                let file = DirFile::open(dir.clone(), "f").unwrap();
                SuperChunk::open(file, &Limits::DEFAULT)
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", log.join("\n")))
            }
            Where::Directory => SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", log.join("\n"))),
        };
        compare(&mut again, &model, &mut random)
            .unwrap_or_else(|e| panic!("seed {seed} {place:?}, opened again: {e}\n{}", log.join("\n")));
        // Go on with the handle just opened, or with the old one.
        if random.below(2) == 0 {
            sc = again;
            let _ = sc.set_chunksize(model.chunksize as u32);
        }
    }
}

#[test]
fn edit_histories_match_a_plain_model() {
    for seed in 0..count(300, 20_000) as u64 {
        history(seed, [Where::Memory, Where::File, Where::Directory][seed as usize % 3]);
    }
}

#[test]
fn a_frame_inside_a_larger_file() {
    let mut random = Random(7);
    let mut sc = SuperChunk::memory(&blosc_core::Params::new(4)).unwrap();
    sc.set_chunksize(400).unwrap();
    let data = random.bytes(3000);
    sc.append(&data).unwrap();
    let mut file = vec![9; 777];
    file.extend(sc.into_bytes().unwrap());
    file.extend([7; 100]);
    let mut sc = SuperChunk::open(ReadOnly(Offset::new(&file[..], 777).unwrap()), &Limits::DEFAULT).unwrap();
    assert_eq!(sc.read_all().unwrap(), data);
    assert!(sc.append(&data).is_err());
}

#[test]
fn threads_change_no_byte() {
    let mut random = Random(3);
    let data = random.bytes(1 << 20);
    let made: Vec<Vec<u8>> = [1, 2, 5]
        .map(|threads| {
            let mut sc = SuperChunk::memory(&blosc_core::Params::new(8)).unwrap();
            sc.set_chunksize(10_000).unwrap();
            sc.set_threads(threads);
            sc.append(&data).unwrap();
            let mut all = Vec::new();
            sc.for_each_chunk(|chunk| {
                all.extend_from_slice(chunk);
                Ok(())
            })
            .unwrap();
            assert!(all == data);
            sc.into_bytes().unwrap()
        })
        .into();
    assert!(made[0] == made[1] && made[1] == made[2]);
}

#[test]
fn reading_and_writing_as_streams() {
    use std::io::{Read, Seek, SeekFrom, Write};
    let mut random = Random(11);
    let data = random.bytes(100_000);
    let mut sc = SuperChunk::memory(&blosc_core::Params::new(4)).unwrap();
    sc.set_chunksize(8000).unwrap();
    let mut writer = sc.writer();
    for piece in data.chunks(777) {
        writer.write_all(piece).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(sc.nchunks(), 13);
    let mut reader = sc.reader();
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(all == data);
    reader.seek(SeekFrom::End(-9000)).unwrap();
    let mut part = [0; 5000];
    reader.read_exact(&mut part).unwrap();
    assert!(part == data[91_000..96_000]);
}

#[test]
fn refused_before_anything_is_written() {
    let mut sc = SuperChunk::memory(&blosc_core::Params::new(4)).unwrap();
    for i in 0..16 {
        sc.set_metalayer(&format!("m{i}"), b"x").unwrap();
        // The table of checksums takes the sixteenth place.
        assert_eq!(sc.set_vlmetalayer(&format!("v{i}"), b"x").is_ok(), i < 15);
    }
    assert!(sc.set_metalayer("one too many", b"x").is_err());
    assert!(sc.set_vlmetalayer("one too many", b"x").is_err());
    assert!(sc.set_metalayer("a name of more than thirty-one bytes", b"x").is_err());
    assert!(sc.set_metalayer("m\0", b"x").is_err());
    assert!(sc.append_data(&[]).is_err(), "an empty first chunk");
    assert!(!sc.checksums_left_out());
    let bytes = sc.into_bytes().unwrap();
    assert_eq!(SuperChunk::from_slice(&bytes).unwrap().nchunks(), 0);
}

/// Values that follow each other stay whole where the frame's chunks are cut inside items; behind a part of an item they
/// are refused.
#[test]
fn values_are_not_cut_by_chunks_that_cut_items() {
    let (one, nan) = ([1, 2, 3, 4], f32::NAN.to_le_bytes());
    // Chunks of 10 bytes and a last one of 8.
    let frame = || {
        let mut sc = SuperChunk::memory(&blosc_core::Params::new(4)).unwrap();
        [10, 10, 8].iter().for_each(|len| sc.append_data(&vec![9; *len]).unwrap());
        sc
    };
    for items in 1..12 {
        let mut sc = frame();
        sc.fill_value(&one, items).unwrap();
        assert_eq!(sc.read_all().unwrap(), [&[9; 28][..], &one.repeat(items as usize)].concat(), "{items}");
        let mut sc = frame();
        sc.fill_special(Special::Nan, 4 * items).unwrap();
        assert_eq!(sc.read_all().unwrap(), [&[9; 28][..], &nan.repeat(items as usize)].concat(), "{items}");
        let mut sc = frame();
        sc.fill_special(Special::Zeros, 4 * items).unwrap();
        assert_eq!(sc.read_all().unwrap(), [&[9; 28][..], &vec![0; 4 * items as usize]].concat(), "{items}");
    }
    let mut sc = frame();
    sc.append(&[9]).unwrap();
    assert!(matches!(sc.fill_value(&one, 3), Err(Error::Param { .. })));
    assert!(matches!(sc.fill_special(Special::Nan, 12), Err(Error::Param { .. })));
    assert_eq!(sc.read_all().unwrap(), [9; 29]);
}
