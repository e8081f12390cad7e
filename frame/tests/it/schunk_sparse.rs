//! Sparse frames that C-Blosc2 opens, and files in them that nothing refers to.

use blosc_core::Params;
use blosc_frame::io::{Directory, FaultDir, MemDir};
use blosc_frame::{Limits, SuperChunk};

fn data(k: u32) -> Vec<u8> {
    [k, k * 7 + 1].iter().flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// 200 chunks of 40 bytes, of which only the last will stay.
fn many(dir: impl Directory + Send + Sync + 'static) -> SuperChunk<'static> {
    let mut sc = SuperChunk::create_dir(dir, &Params::new(4)).unwrap();
    (0..200).for_each(|k| sc.append_data(&data(k)).unwrap());
    sc.commit().unwrap();
    (0..199).for_each(|_| sc.delete(0).unwrap());
    sc
}

fn open(dir: &MemDir) -> SuperChunk<'static> {
    SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap()
}

/// C-Blosc2 takes numbers of chunk files above `C - 32` for special values, and does not open the directory.
#[test]
fn chunks_get_low_numbers_again_when_the_others_have_gone() {
    let dir = MemDir::new();
    many(dir.clone()).commit().unwrap();
    let report = open(&dir).verify(|_| ()).unwrap();
    assert_eq!((report.number_too_high, report.strays, report.damage), (None, Vec::new(), Vec::new()));
    assert_eq!(dir.list().unwrap().len(), 2);
    assert_eq!(open(&dir).read_chunk(0).unwrap(), data(199));
}

/// What stopped in between, and files of versions that did not care, are told of and healed.
#[test]
fn compacting_heals_numbers_that_are_too_high() {
    let mut healed = 0;
    for stop in 0.. {
        let dir = FaultDir::new();
        let mut sc = many(dir.clone());
        dir.stop_after(stop);
        let whole = sc.commit().is_ok();
        drop(sc);
        let left = dir.crash_dir(1);
        let mut sc = open(&left);
        if sc.verify(|_| ()).unwrap().number_too_high.is_some() {
            healed += 1;
            sc.remove_strays().unwrap();
            sc.compact().unwrap();
            let report = open(&left).verify(|_| ()).unwrap();
            assert_eq!(
                (report.number_too_high, report.strays, report.damage),
                (None, Vec::new(), Vec::new())
            );
        }
        let last = sc.nchunks() - 1;
        assert_eq!(sc.read_chunk(last).unwrap(), data(199), "stopped after {stop}");
        if whole {
            break;
        }
    }
    assert!(healed > 0);
}

#[test]
fn files_that_nothing_refers_to_are_told_of_and_go() {
    let dir = MemDir::new();
    let mut sc = many(dir.clone());
    sc.commit().unwrap();
    drop(sc);
    let strays = [".chunks.b2frame.tmp12-0", "0000ABCD.chunk", "chunks.b2frame.tmp0"];
    strays.iter().for_each(|name| dir.put(name, b"left".to_vec()));
    dir.put("notes.txt", b"of the user".to_vec());
    let mut sc = open(&dir);
    assert_eq!(sc.verify(|_| ()).unwrap().strays, strays);
    sc.compact().unwrap();
    sc.append_data(&data(1)).unwrap();
    sc.commit().unwrap();
    assert_eq!(sc.strays().unwrap(), strays);
    sc.delete(1).unwrap();
    sc.commit().unwrap();
    sc.remove_strays().unwrap();
    assert_eq!(sc.strays().unwrap(), Vec::<String>::new());
    let mut names = dir.list().unwrap();
    names.sort_unstable();
    assert_eq!(names, ["00000000.chunk", "chunks.b2frame", "notes.txt"]);
}

/// A chunk of zeros as the first of a frame of chunks of different sizes: C-Blosc2 does not open a file that starts with
/// a chunk that repeats a value narrower than an item.
#[test]
fn zeros_of_large_items_are_an_ordinary_chunk_where_sizes_differ() {
    for (typesize, len) in [(300, 600), (70_000, 140_000), (4, 40), (1, 3 << 20), (1, 7), (300, 300 * 7000)] {
        let mut sc = SuperChunk::memory(&Params::new(typesize)).unwrap();
        sc.append_data(&vec![5; 3 * typesize as usize]).unwrap();
        sc.insert(0, &vec![0; len]).unwrap();
        let bytes = sc.into_bytes().unwrap();
        let sc = SuperChunk::from_slice(&bytes).unwrap();
        let header = sc.chunk_header(0).unwrap().unwrap();
        assert_eq!((header.special(), header.nbytes as usize, header.typesize), (None, len, 1));
        assert!(header.cbytes < 100, "{}", header.cbytes);
        assert!(sc.read_chunk(0).unwrap() == vec![0; len]);
        let mut part = [1; 5];
        sc.read_bytes(1..6, &mut part).unwrap();
        assert_eq!(part, [0; 5]);
    }
}
