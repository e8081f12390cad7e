//! Sources of which each request takes long: how many rounds of requests opening and reading take.

use crate::common;

use blosc_core::{Codec, Params};
use blosc_frame::any::Source;
use blosc_frame::b2nd::{Cache, Dtype, NdArray, Selection, Spec, Take};
use blosc_frame::cframe::index::Entry;
use blosc_frame::io::{DirFile, Directory, Far, Offset, Part, ReadAt, ReadOnly, Shared, WriteAt};
use blosc_frame::schunk::Plan;
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, IoError, IoKind, Limits, SuperChunk};
use common::{Random, emulated};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A source that counts: each entry is a round trip, with the ranges that were asked for at once.
pub struct Remote {
    bytes: Vec<u8>,
    far: bool,
    /// What lies from here on cannot be read.
    pub fails: u64,
    rounds: Mutex<Vec<Vec<Range<u64>>>>,
}

impl Remote {
    pub fn new(bytes: Vec<u8>) -> Remote {
        Remote { bytes, far: true, fails: u64::MAX, rounds: Mutex::default() }
    }
    /// The rounds since the last call, and the bytes that they brought.
    pub fn taken(&self) -> (Vec<Vec<Range<u64>>>, u64) {
        let rounds = std::mem::take(&mut *self.rounds.lock().unwrap());
        let bytes = rounds.iter().flatten().map(|range| range.end - range.start).sum();
        (rounds, bytes)
    }
}

impl ReadAt for Remote {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.bytes.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.bytes.read_at(offset, buf)?;
        self.rounds.lock().unwrap().push(std::iter::once(offset..offset + n as u64).collect());
        Ok(n)
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let ranges: Vec<_> = parts.iter().map(|(offset, buf)| *offset..*offset + buf.len() as u64).collect();
        let fails = ranges.iter().any(|range| range.end > self.fails);
        self.rounds.lock().unwrap().push(ranges);
        if fails { Err(IoKind::PermissionDenied.into()) } else { self.bytes.read_ranges(parts) }
    }
    fn is_far(&self) -> bool {
        self.far
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = Random(3);
    (0..len).map(|i| if i % 4 == 0 { random.next() as u8 } else { (i >> 10) as u8 }).collect()
}

/// A frame of `chunks` chunks of `size` bytes, and what is in them.
fn frame(chunks: usize, size: usize, vlmeta: usize) -> (Vec<u8>, Vec<u8>) {
    let data = noise(chunks * size);
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(size as u32).unwrap();
    sc.append(&data).unwrap();
    if vlmeta > 0 {
        sc.set_vlmetalayer("long", &noise(vlmeta)).unwrap();
    }
    (sc.into_bytes().unwrap(), data)
}

#[test]
fn opening_takes_one_round_and_another_where_the_ends_are_long() {
    // Chunks, and bytes of each; bytes of a vlmetalayer; most rounds.
    for (chunks, size, vlmeta, most) in
        [(1, 100, 0, 1), (3, 1 << 20, 0, 1), (2000, 16, 0, 1), (40_000, 16, 0, 2), (2, 100, 1 << 20, 2)]
    {
        let (frame, data) = frame(chunks, size, vlmeta);
        let remote = Remote::new(frame);
        let sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
        let (rounds, bytes) = remote.taken();
        assert!(rounds.len() <= most, "{chunks} chunks of {size}: {rounds:?}");
        let ends = (128u64 << 10).min(remote.bytes.len() as u64);
        assert!(bytes == ends || rounds.len() > 1, "{bytes} bytes");
        assert!(sc.nchunks() == chunks as u64 && sc.nbytes() == data.len() as u64);
    }
    // An empty source, and one that is cut, say the same as near ones.
    let (frame, _) = frame(3, 1 << 20, 0);
    for cut in [0, 50, 100, frame.len() - 1] {
        let far = SuperChunk::open_read(Remote::new(frame[..cut].into()), &Limits::DEFAULT).err();
        assert_eq!(far, SuperChunk::open_read(&frame[..cut], &Limits::DEFAULT).err());
        assert!(far.is_some());
    }
}

/// An array of 200 x 300 x 50 items of 4 bytes in `chunks`, some of which are special; one has blocks of its own.
fn array(chunks: [u32; 3], blocks: [u32; 3], codec: Codec, own: bool) -> (Vec<u8>, Vec<u8>) {
    let shape = [200, 300, 50];
    let mut data = noise(200 * 300 * 50 * 4);
    data[..400_000].fill(0);
    let spec = Spec::new(&shape, Dtype::parse("<u4").unwrap()).unwrap();
    let spec = spec.params_from(&Params::new(4).codec(codec).level(3).shuffle());
    let spec = spec.chunks(&chunks).unwrap().blocks(&blocks).unwrap();
    let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &data).unwrap();
    if own {
        let last = nd.geometry().nchunks() - 1;
        let whole = nd.frame_mut().read_chunk(last).unwrap();
        let params = Params::new(4).codec(codec).blocksize(Some(12_000));
        let chunk = blosc_core::Pool::new(1).compress(&params, &whole).unwrap();
        nd.frame_mut().update_chunk(last, &chunk).unwrap();
    }
    nd.commit().unwrap();
    (nd.into_frame().into_bytes().unwrap(), data)
}

fn selections() -> Vec<Selection> {
    let run = |start, step, count| Take::Run { start, step, count };
    let takes = [
        [run(100, 1, 2), run(150, 1, 3), run(20, 1, 1)],
        [run(0, 1, 200), run(7, 1, 1), run(3, 1, 1)],
        [run(199, 1, 1), run(0, 1, 300), run(0, 1, 50)],
        [run(190, -13, 12), Take::List(vec![299, 0, 150, 0]), run(0, 7, 7)],
        [run(0, 1, 200), run(0, 1, 300), run(0, 1, 50)],
        [run(5, 1, 0), run(0, 1, 300), run(0, 1, 50)],
    ];
    takes.iter().map(|takes| Selection::new(&[200, 300, 50], takes).unwrap()).collect()
}

/// Runs a plan over bytes; gives the rounds that it took and the result.
fn run(mut plan: Plan<'_>, source: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let mut rounds = 0;
    while !plan.ranges().is_empty() {
        assert!(plan.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
        assert_eq!(plan.finish(out), Err(IoKind::NotFetched.into()));
        let piece = |range: &Range<u64>| source[range.start as usize..range.end as usize].to_vec();
        let pieces: Vec<Vec<u8>> = plan.ranges().iter().map(piece).collect();
        plan.take(pieces)?;
        rounds += 1;
    }
    assert_eq!(plan.finish(out)?, out.len());
    Ok(rounds)
}

#[test]
fn slices_take_few_rounds_whatever_the_number_of_chunks() {
    let small = ([10, 10, 50], [5, 10, 25]);
    let large = ([100, 150, 50], [10, 10, 50]);
    // Chunks of some KiB are fetched whole; of those of a MiB first the heads, then blocks.
    let cases = [
        (small, 1, Codec::Zstd, false),
        (large, 2, Codec::Lz4, true),
        (large, 2, Codec::Lz4, false),
        (large, 2, Codec::Zlib, false),
    ];
    for ((chunks, blocks), most, codec, own) in cases.into_iter().take(if emulated() { 2 } else { 4 }) {
        let (file, data) = array(chunks, blocks, codec, own);
        let near = NdArray::open(SuperChunk::from_slice(&file).unwrap()).unwrap();
        assert_eq!(near.get_all().unwrap(), data);
        let remote = Remote::new(file.clone());
        for (threads, room) in [(1, 0), (3, 16 << 20)] {
            let mut far = NdArray::open(SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap()).unwrap();
            far.set_threads(threads);
            far.set_cache(Cache::new(room));
            remote.taken();
            for (n, selection) in selections().iter().enumerate() {
                let want = near.get(selection).unwrap();
                for again in 0..2 {
                    assert!(far.get(selection).unwrap() == want, "{chunks:?} {codec:?} {n}");
                    let (rounds, bytes) = remote.taken();
                    assert!(rounds.len() <= most, "{n}, {again}: {} rounds", rounds.len());
                    assert!(bytes <= remote.bytes.len() as u64);
                    if n == 0 && most == 2 && !own {
                        assert!(bytes < remote.bytes.len() as u64 / 4, "{bytes} bytes for six items");
                    }
                }
                for gap in [0, 1 << 30] {
                    let plan = far.plan(selection).unwrap().joined(gap).unwrap();
                    let mut out = vec![0x55; want.len()];
                    assert!(run(plan, &remote.bytes, &mut out).unwrap() <= most);
                    assert!(out == want, "{chunks:?} {codec:?} {n}");
                }
                assert!(remote.taken().0.is_empty(), "a plan reads nothing itself");
            }
            let beside = Remote { far: false, ..Remote::new(file.clone()) };
            let beside = NdArray::open(SuperChunk::open_read(beside, &Limits::DEFAULT).unwrap()).unwrap();
            let same = |selection| beside.get(selection).unwrap() == near.get(selection).unwrap();
            assert!(selections().iter().all(same), "a source that is neither in memory nor far");
            let points: Vec<u64> = (0..200).map(|i| i * 14_983 % 3_000_000).collect();
            assert!(far.get_flat(&points).unwrap() == near.get_flat(&points).unwrap());
            let (rounds, _) = remote.taken();
            assert!(rounds.len() <= most, "{chunks:?} {codec:?} {own} {rounds:?}");
            let mut item = [0; 4];
            for _ in 0..40 {
                far.get_item(&[150, 200, 9], &mut item).unwrap();
                assert_eq!(item, data[(150 * 300 * 50 + 200 * 50 + 9) * 4..][..4]);
                // A block of a chunk that has its own is fetched to be kept, which it cannot be.
                assert!(remote.taken().0.len() <= if own { 2 * most } else { most });
            }
        }
    }
}

#[test]
fn bytes_items_and_chunks_are_planned_too() {
    let (file, data) = frame(40, 300_000, 0);
    let remote = Remote::new(file);
    let mut sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
    for threads in [1, 3] {
        sc.set_threads(threads);
        remote.taken();
        for range in [0..1, 150_000..150_040, 299_990..300_010, 1_000_000..7_000_001, 0..12_000_000, 9..9] {
            let want = &data[range.start as usize..range.end as usize];
            let mut out = vec![0; want.len()];
            assert_eq!(sc.read_bytes(range.clone(), &mut out), Ok(want.len()));
            assert!(out == want && remote.taken().0.len() <= 2, "{range:?}");
            out.fill(0);
            assert!(run(sc.plan_bytes(range.clone()).unwrap(), &remote.bytes, &mut out).unwrap() <= 2);
            assert!(out == want, "{range:?}");
            let mut short = vec![0; want.len().saturating_sub(1)];
            assert_eq!(sc.read_bytes(range, &mut short).is_err(), !want.is_empty());
            assert!(remote.taken().0.is_empty(), "what cannot be given is not fetched");
        }
        let mut ten = [0; 40];
        assert_eq!(run(sc.plan_items(75_000..75_010).unwrap(), &remote.bytes, &mut ten), Ok(2));
        assert_eq!(ten, data[300_000..300_040]);
        let mut chunk = vec![0; 300_000];
        assert_eq!(run(sc.plan_chunk(39).unwrap(), &remote.bytes, &mut chunk), Ok(1));
        assert!(chunk == data[39 * 300_000..] && sc.read_chunk(39).unwrap() == chunk);
        assert!(remote.taken().0.len() <= 2);
        assert!(sc.plan_chunk(40).is_err() && sc.plan_bytes(0..12_000_001).is_err());
        assert!(sc.read_all().unwrap() == data && remote.taken().0.len() <= 2);
        let small = SuperChunk::open_read(&remote, &Limits::DEFAULT.output(1_000_000)).unwrap();
        assert!(matches!(small.read_all(), Err(Error::Limit { .. })));
        remote.taken();
    }
    // Chunks of different sizes: their heads tell which holds what.
    let mut writer = SuperChunk::memory(&Params::new(1)).unwrap();
    (1..60).for_each(|n| writer.append_data(&data[..n * 100]).unwrap());
    let remote = Remote::new(writer.into_bytes().unwrap());
    let mut sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
    assert!(matches!(sc.plan_bytes(0..1000), Err(Error::Unsupported { .. })));
    assert!(run(sc.plan_sizes().unwrap(), &remote.bytes, &mut []).unwrap() <= 1);
    remote.taken();
    for known in [true, false] {
        let mut out = [0; 1000];
        sc.read_bytes(50_000..51_000, &mut out).unwrap();
        assert!(remote.taken().0.len() <= if known { 1 } else { 2 });
        assert!(sc.read_all().unwrap().ends_with(&data[..5900]) && remote.taken().0.len() <= 2);
        sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
        remote.taken();
    }
    let dir = SuperChunk::create_dir(blosc_frame::io::MemDir::default(), &Params::new(1)).unwrap();
    assert!(matches!(dir.plan_bytes(0..0), Err(Error::Unsupported { .. })));
}

/// All of a frame is fetched some MiB at a time, whoever reads it; what is damaged is told as of a near one.
#[test]
fn whole_frames_take_few_rounds() {
    type Read = fn(&mut SuperChunk<'_>) -> Vec<u8>;
    let all: [(&str, usize, Read); 4] = [
        ("read_all", 0, |sc| sc.read_all().unwrap()),
        ("chunks", 0, |sc| sc.chunks().flat_map(Result::unwrap).collect()),
        ("for_each_chunk", 0, |sc| {
            let mut out = Vec::new();
            sc.for_each_chunk(|chunk| {
                out.extend_from_slice(chunk);
                Ok(())
            })
            .unwrap();
            out
        }),
        // The state on disk is read again first.
        ("verify", 1, |sc| {
            assert_eq!(sc.verify(|_| ()).unwrap().verdict(), Verdict::Intact);
            sc.read_all().unwrap()
        }),
    ];
    let mut random = Random(11);
    let dense: Vec<u8> = (0..17 << 17).flat_map(|_| random.next().to_le_bytes()).collect();
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(1 << 20).unwrap();
    sc.append(&dense).unwrap();
    // 16 MiB are fetched at a time.
    for ((file, data), rounds) in [(frame(40, 300_000, 0), 1), ((sc.into_bytes().unwrap(), dense), 2)] {
        let remote = Remote::new(file);
        for (name, more, read) in all {
            for threads in [1, 3].into_iter().skip(emulated().into()) {
                let mut sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
                sc.set_threads(threads);
                remote.taken();
                assert!(read(&mut sc) == data, "{name}, {threads}");
                let taken = remote.taken().0.len();
                assert!(taken <= rounds * (1 + more) + more, "{name}, {threads}: {taken} rounds");
            }
        }
        let mut damaged = remote.bytes;
        let at = SuperChunk::from_slice(&damaged).unwrap().entry(3);
        let Some(Entry::Stored(at)) = at else { panic!("{at:?}") };
        damaged[at as usize + 500] ^= 1;
        let near = SuperChunk::from_slice(&damaged).unwrap().verify(|_| ()).unwrap();
        let mut far = SuperChunk::open_read(Far(&damaged[..]), &Limits::DEFAULT).unwrap();
        assert!(near.damage.len() == 1 && far.verify(|_| ()).unwrap() == near, "{near:?}");
        let error = near.damage[0].error;
        assert!(far.read_all() == Err(error) && far.chunks().nth(3).unwrap() == Err(error));
    }
}

/// Pieces that are cut, missing or of other bytes: errors, and the plan goes on with the right ones.
#[test]
fn pieces_that_are_short_or_wrong_are_errors() {
    fn goes_to_other_threads<T: Send + Sync>(value: T) -> T {
        value
    }
    let (file, data) = array([100, 150, 50], [10, 10, 50], Codec::Lz4, false);
    let nd = NdArray::open(SuperChunk::from_slice(&file).unwrap()).unwrap();
    let selection = Selection::ranges(nd.shape(), &[98..102, 148..152, 3..5]).unwrap();
    let want = nd.get(&selection).unwrap();
    let piece = |range: &Range<u64>| file[range.start as usize..range.end as usize].to_vec();
    let fetch = |plan: &Plan<'_>| plan.ranges().iter().map(piece).collect::<Vec<_>>();
    let mut out = vec![0; want.len()];
    for damaged_round in 0..2 {
        for cut in (0..40).step_by(if emulated() { 7 } else { 1 }) {
            let mut plan = goes_to_other_threads(nd.plan(&selection).unwrap());
            for round in 0..2 {
                let good = fetch(&plan);
                if round == damaged_round {
                    let mut bad = good.clone();
                    let (n, len) = (cut % bad.len(), bad[cut % bad.len()].len());
                    bad[n].truncate(len * cut / 40);
                    assert!(matches!(plan.take(bad), Err(Error::Param { name: "pieces", .. })));
                    assert!(plan.take(good[1..].to_vec()).is_err());
                }
                plan.take(good).unwrap();
            }
            assert_eq!(plan.finish(&mut out), Ok(want.len()));
            assert!(out == want);
        }
    }
    // Bytes of another place: no panic, and never bytes that are taken for those of the array where the chunk's own tell.
    let mut random = Random(5);
    for _ in 0..200 {
        let mut plan = nd.plan(&selection).unwrap();
        let mut taken = Ok(());
        while taken.is_ok() && !plan.ranges().is_empty() {
            let mut pieces = fetch(&plan);
            let n = random.next() as usize % pieces.len();
            let at = random.next() as usize % pieces[n].len().min(64);
            pieces[n][at] ^= 1 << (random.next() % 8);
            taken = plan.take(pieces);
        }
        let _ = taken.and_then(|()| plan.finish(&mut out).map(drop));
    }
    // A frame with checksums: chunks that are fetched whole are held to them.
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    sc.set_chunksize(40_000).unwrap();
    sc.append(&data[500_000..600_000]).unwrap();
    let checked = sc.into_bytes().unwrap();
    let mut sc = SuperChunk::from_slice(&checked).unwrap();
    sc.set_verify(true);
    let mut plan = sc.plan_chunk(1).unwrap();
    let mut pieces: Vec<Vec<u8>> =
        plan.ranges().iter().map(|r| checked[r.start as usize..r.end as usize].to_vec()).collect();
    let middle = pieces[0].len() / 2;
    pieces[0][middle] ^= 1;
    assert!(matches!(plan.take(pieces), Err(Error::Checksum { chunk: Some(1), .. })));
}

/// A directory whose files are far.
#[derive(Clone)]
struct FarDir(Arc<Remote>);

impl Directory for FarDir {
    fn open(&self, _: &str, _: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(ReadOnly(self.0.clone())))
    }
    fn create(&self, _: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn rename(&self, _: &str, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn remove(&self, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        Ok(Vec::new())
    }
    fn sync(&self) -> Result<(), IoError> {
        Ok(())
    }
}

/// One round stays one round, and what is far stays far, through whatever a source is wrapped in.
#[test]
fn wrappers_pass_rounds_on() {
    let remote = || Arc::new(Remote::new((0..=255).collect()));
    let shared = |remote: &Arc<Remote>| -> Shared { remote.clone() };
    type Wrap = Box<dyn Fn(&Arc<Remote>) -> Box<dyn ReadAt>>;
    let wrappers: Vec<(&str, u64, Wrap)> = vec![
        ("Arc, Box", 0, Box::new(move |r| Box::new(Box::new(shared(r))))),
        ("Offset", 3, Box::new(move |r| Box::new(Offset::new(shared(r), 3).unwrap()))),
        ("ReadOnly", 0, Box::new(move |r| Box::new(ReadOnly(shared(r))))),
        ("Far", 0, Box::new(move |r| Box::new(Far(shared(r))))),
        ("Source", 0, Box::new(move |r| Box::new(Source::Other(shared(r))))),
        ("Source, reader", 0, Box::new(move |r| Box::new(Source::Other(shared(r)).reader().unwrap()))),
        ("Source, store", 0, Box::new(move |r| Box::new(Source::Other(shared(r)).into_store()))),
        ("DirFile", 0, Box::new(|r| Box::new(DirFile::open(FarDir(r.clone()), "x").unwrap()))),
    ];
    for (name, base, wrap) in wrappers {
        let remote = remote();
        let wrapped = wrap(&remote);
        let (mut a, mut b) = ([0; 4], [0; 8]);
        wrapped.read_ranges(&mut [(10, &mut a), (100, &mut b)]).unwrap();
        let want = [10 + base..14 + base, 100 + base..108 + base];
        assert_eq!(remote.taken().0, [want.to_vec()], "{name}");
        assert!(wrapped.is_far() && wrapped.size() == Ok(256 - base), "{name}");
        assert_eq!((a[0], b[7]), (10 + base as u8, 107 + base as u8), "{name}");
        let past = wrapped.read_ranges(&mut [(300, &mut a)]);
        assert_eq!(past, Err(IoKind::UnexpectedEnd.into()), "{name}");
    }
}

/// A store in a zip file, an embedded frame and a bloscpack file that are far.
#[test]
#[cfg(all(feature = "store", feature = "classic"))]
fn containers_of_all_kinds_open_from_far() {
    use blosc_frame::any::{Found, Kind, Opened};
    use blosc_frame::store::{Form, Store};
    let folder = std::env::temp_dir().join(format!("blosc-far-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let (file, data) = array([10, 10, 50], [5, 10, 25], Codec::Lz4, false);
    for form in [Form::B2z, Form::B2e] {
        let path = folder.join(form.name());
        let mut store = Store::create(&path, form).unwrap();
        for key in ["/a", "/g/b"] {
            store.put(key, &mut SuperChunk::from_slice(&file).unwrap()).unwrap();
        }
        let remote = Arc::new(Remote::new(std::fs::read(&path).unwrap()));
        let found = Found::of("far", Source::Other(remote.clone()), 0).unwrap();
        assert_eq!(found.kind, if form == Form::B2z { Kind::Zip } else { Kind::Frame });
        let Opened::Store(store) = Opened::of(found, &Limits::DEFAULT, false).unwrap() else {
            panic!("no store")
        };
        let mut leaf = store.frame(store.get("/g/b").unwrap()).unwrap();
        remote.taken();
        let selection = &selections()[0];
        let near = NdArray::open(SuperChunk::from_slice(&file).unwrap()).unwrap().get(selection).unwrap();
        assert!(leaf.is_far());
        let part = NdArray::open(leaf).unwrap().get(selection).unwrap();
        assert!(part == near, "{form:?}");
        // The bytes of an embedded frame are decoded from those of the root.
        assert!(form == Form::B2e || remote.taken().0.len() <= 2, "{form:?}");
        leaf = store.frame(store.get("/a").unwrap()).unwrap();
        assert!(NdArray::open(leaf).unwrap().get_all().unwrap() == data, "{form:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
