//! Sparse frames in directories that are far, bloscpack files, servers that claim more than they have, pieces of a source, and
//! which sources pass rounds on.

use crate::common::{Random, emulated};
use crate::far::Remote;
use blosc_core::{Codec, Params, Pool};
use blosc_frame::any::{Found, Opened};
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec};
use blosc_frame::bloscpack::{Bloscpack, Options};
use blosc_frame::cframe::header::{ChunkSize, FIXED_LEN, Header};
use blosc_frame::cframe::index::Entry;
use blosc_frame::io::{Directory, MemDir, Part, Pieces, ReadAt, WriteAt};
use blosc_frame::plain::Plain;
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, IoError, IoKind, Limits, SuperChunk};
use std::sync::{Arc, Mutex};

/// A directory of which each call is a round trip; it counts the files that were asked for in each.
#[derive(Clone)]
struct FarFiles {
    files: MemDir,
    rounds: Arc<Mutex<Vec<usize>>>,
}

impl FarFiles {
    fn new(files: &MemDir) -> FarFiles {
        FarFiles { files: files.clone(), rounds: Arc::default() }
    }
    fn taken(&self) -> Vec<usize> {
        std::mem::take(&mut self.rounds.lock().unwrap())
    }
}

impl Directory for FarFiles {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        assert!(!write);
        self.rounds.lock().unwrap().push(1);
        self.files.open(name, false)
    }
    fn read_files(&self, names: &[String], limit: u64) -> Vec<Result<Vec<u8>, Error>> {
        self.rounds.lock().unwrap().push(names.len());
        self.files.read_files(names, limit)
    }
    fn is_far(&self) -> bool {
        true
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
        self.files.list()
    }
    fn sync(&self) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = Random(5);
    (0..len).map(|i| if i % 4 == 0 { random.next() as u8 } else { (i >> 10) as u8 }).collect()
}

/// An array of 100 x 100 items of 4 bytes in 100 chunks, the first of which are special.
fn array() -> (MemDir, Vec<u8>) {
    let mut data = noise(40_000);
    data[..8000].fill(0);
    let spec = Spec::new(&[100, 100], Dtype::parse("<u4").unwrap()).unwrap();
    let spec = spec.params_from(&Params::new(4).codec(Codec::Lz4)).chunks(&[10, 10]).unwrap();
    let dir = MemDir::new();
    let frame = SuperChunk::create_dir(dir.clone(), &spec.params()).unwrap();
    NdArray::from_slice(frame, &spec, &data).unwrap().commit().unwrap();
    (dir, data)
}

#[test]
fn sparse_frames_take_one_round_for_all_files_of_a_read() {
    let (files, data) = array();
    let near = || SuperChunk::open_dir(files.clone(), &Limits::DEFAULT).unwrap();
    let dir = FarFiles::new(&files);
    let far = || SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap();
    for threads in [1, 3] {
        let mut nd = NdArray::open(far()).unwrap();
        nd.set_threads(threads);
        assert!(nd.frame().is_far());
        assert_eq!(dir.taken(), [1], "opening reads the index");
        for (ranges, most) in [
            ([40..42, 50..53], 1),
            ([0..100, 55..56], 8),
            ([99..100, 0..100], 10),
            ([0..10, 0..100], 0),
            ([0..100, 0..100], 80),
        ] {
            let selection = Selection::ranges(&[100, 100], &ranges).unwrap();
            let want = NdArray::open(near()).unwrap().get(&selection).unwrap();
            assert!(nd.get(&selection).unwrap() == want, "{ranges:?}");
            let taken = dir.taken();
            assert!(taken.len() <= 1 && taken.iter().sum::<usize>() <= most, "{ranges:?}: {taken:?}");
        }
        let mut sc = far();
        sc.set_threads(threads);
        dir.taken();
        assert!(sc.read_all().unwrap() == near().read_all().unwrap() && dir.taken().len() == 1);
        assert_eq!(sc.chunks().map(|chunk| chunk.unwrap().len()).sum::<usize>(), data.len());
        assert_eq!(dir.taken().len(), 1);
        let mut part = [0; 500];
        sc.read_bytes(20_123..20_623, &mut part).unwrap();
        assert!(dir.taken().len() == 1 && near().read_all().unwrap()[20_123..20_623] == part);
        assert_eq!(sc.verify(|_| ()).unwrap().verdict(), Verdict::Intact);
        let taken = dir.taken();
        assert!(taken.len() <= 3, "the index, once more, and the files: {taken:?}");
        let error = sc.plan_chunk(50).err().unwrap();
        assert!(
            matches!(error, Error::Unsupported { .. }) && error.to_string().contains("open_dir"),
            "{error}"
        );
    }
    // A file that is damaged, or has gone, is told as of a near one.
    let Some(Entry::Stored(id)) = near().entry(50) else { panic!("no file") };
    let name = format!("{id:08X}.chunk");
    let mut content = files.get(&name).unwrap();
    content[40] ^= 1;
    for gone in [false, true] {
        if gone {
            files.remove(&name).unwrap();
        } else {
            files.put(&name, content.clone());
        }
        let read = |mut sc: SuperChunk<'static>| {
            sc.set_verify(true);
            (sc.read_all(), sc.verify(|_| ()).unwrap().damage)
        };
        let (near, far) = (read(near()), read(far()));
        assert!(near.0.is_err() && near == far, "{:?}, {:?}", near.0.err(), far.0.err());
    }
    // What the limit on memory does not take is read one by one.
    let (files, data) = array();
    let dir = FarFiles::new(&files);
    let mut limits = Limits::DEFAULT;
    limits.memory = 4000;
    let all = NdArray::open(SuperChunk::open_dir(dir.clone(), &limits).unwrap()).unwrap().get_all().unwrap();
    assert!(all == data && dir.taken().iter().all(|n| *n <= 10));
}

/// A server that has some of the first and last bytes of an object, says that it is much longer, and sends zeros between.
struct Claims {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    most: Mutex<u64>,
}

impl ReadAt for Claims {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.size)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.read_ranges(&mut [(offset, &mut *buf)]).map(|()| buf.len())
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let asked: u64 = parts.iter().map(|(_, buf)| buf.len() as u64).sum();
        let mut most = self.most.lock().unwrap();
        *most = asked.max(*most);
        // It has nothing to fill what is larger with.
        if asked > 1 << 20 {
            return Err(IoKind::Other.into());
        }
        let tail = self.size - self.tail.len() as u64;
        for (offset, buf) in parts {
            for (at, byte) in (*offset..).zip(buf.iter_mut()) {
                let of_head = usize::try_from(at).ok().and_then(|at| self.head.get(at)).copied();
                let of_tail = at.checked_sub(tail).and_then(|at| self.tail.get(at as usize)).copied();
                *byte = of_tail.or(of_head).unwrap_or(0);
            }
        }
        Ok(())
    }
    fn is_far(&self) -> bool {
        true
    }
}

#[test]
fn what_a_server_claims_is_not_reserved() {
    const OBJECT: u64 = 1 << 40;
    let mut sc = SuperChunk::memory(&Params::new(1).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(200_000).unwrap();
    sc.append(&noise(600_000)).unwrap();
    let file = sc.into_bytes().unwrap();
    let header = Header::parse(file.first_chunk().unwrap()).unwrap();
    let first = header.header_len as usize;
    let tail = file[first + header.cbytes as usize..].to_vec();
    let stored = i32::from_le_bytes(file[first + 12..first + 16].try_into().unwrap());
    // Decoded and stored bytes of the first chunk, and whether the limits refuse it before anything of it is asked for.
    for (nbytes, cbytes, refused) in [
        (200_000, stored, false),
        (200_000, if emulated() { 20 << 20 } else { 200 << 20 }, false),
        (200_000, i32::MAX, true),
        (i32::MAX, 200_000, true),
        (i32::MAX, i32::MAX, true),
    ] {
        let mut said = header;
        (said.cbytes, said.frame_len) = (OBJECT, header.frame_len - header.cbytes + OBJECT);
        if nbytes == i32::MAX {
            (said.chunksize, said.nbytes) = (ChunkSize::Fixed(nbytes as u32), 3 * nbytes as u64);
        }
        let mut head = file[..first + header.cbytes as usize].to_vec();
        head[..FIXED_LEN].copy_from_slice(&said.encode());
        head[first + 4..first + 8].copy_from_slice(&nbytes.to_le_bytes());
        head[first + 12..first + 16].copy_from_slice(&cbytes.to_le_bytes());
        let claims = Claims { size: said.frame_len, head, tail: tail.clone(), most: Mutex::default() };
        let claims = Arc::new(claims);
        let sc = SuperChunk::open_read(claims.clone(), &Limits::DEFAULT).unwrap();
        type Read = fn(&SuperChunk<'_>) -> Result<(), Error>;
        let reads: [(u64, Read); 4] = [
            (64 << 20, |sc| sc.read_all().map(drop)),
            (64 << 20, |sc| sc.read_bytes(0..10, &mut [0; 10]).map(drop)),
            (256 << 20, |sc| sc.read_chunk(0).map(drop)),
            (256 << 20, |sc| sc.read_blocks(0, &[0], |_, _| Ok(()))),
        ];
        for (most, read) in reads {
            *claims.most.lock().unwrap() = 0;
            let read = read(&sc);
            let asked = *claims.most.lock().unwrap();
            let limit = matches!(read, Err(Error::Limit { .. }));
            assert!(limit == refused, "{nbytes} in {cbytes}: {read:?}");
            assert!(asked <= if refused { 1 << 20 } else { most }, "{nbytes} in {cbytes}: {asked} at once");
        }
        assert_eq!(sc.read_all().is_err(), cbytes != stored, "{nbytes} in {cbytes}");
    }
}

/// A directory elsewhere opens as what it holds, and what is read of directories of this system alone is refused there.
#[test]
fn a_directory_elsewhere_is_a_sparse_frame_or_refused() {
    let (files, data) = array();
    let found = || Found::in_directory("s3://days/a.b2nd/", FarFiles::new(&files));
    let Opened::Array(array) = Opened::of(found(), &Limits::DEFAULT, false).unwrap() else {
        panic!("an array")
    };
    assert!(array.frame().is_far() && array.get_all().unwrap() == data);
    for files in [MemDir::new(), FarFiles::new(&MemDir::new()).files] {
        let found = || Found::in_directory("s3://days/none/", FarFiles::new(&files));
        let error = Opened::of(found(), &Limits::DEFAULT, false).map(drop).unwrap_err();
        assert!(error.to_string().contains("chunks.b2frame"), "{error}");
        let error = found().directory().map(drop).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
    // A file of it that is not what it should be is damage, not another kind of directory.
    files.remove("chunks.b2frame").unwrap();
    files.write_new("chunks.b2frame", b"no index").unwrap();
    let error = Opened::of(found(), &Limits::DEFAULT, false).map(drop).unwrap_err();
    assert!(!matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn bloscpack_takes_one_round_for_the_chunks_of_a_read() {
    let data = noise(300_000);
    for (offsets, level) in [(true, 5), (true, 0), (false, 5)] {
        let params = Params::new(4).codec(Codec::Lz4).level(level);
        let options = Options { params, chunk_size: 1000, offsets, ..Options::default() };
        let mut pool = Pool::new(1);
        let file = options.write(&mut pool, &&data[..], Vec::new()).unwrap();
        let remote = Remote::new(file);
        let pack = Bloscpack::open(&remote, &Limits::DEFAULT).unwrap();
        let (rounds, _) = remote.taken();
        assert!(rounds.len() <= 5, "opening, with offsets {offsets}: {rounds:?}");
        for (range, chunks) in
            [(4000..4001, 1), (123_456..223_456, 101), (0..300_000, 300), (299_999..300_000, 1)]
        {
            let mut out = vec![0; range.len()];
            pack.read_plain(&mut pool, range.start as u64, &mut out).unwrap();
            assert!(out == data[range.clone()], "{range:?}");
            let (rounds, bytes) = remote.taken();
            assert!(rounds.len() == 1 && bytes <= chunks * 1100, "{range:?}: {bytes} bytes in {rounds:?}");
        }
        assert!(pack.read_all(&mut pool).unwrap() == data);
        assert_eq!(remote.taken().0.len(), 1, "all of it");
        assert!(pack.verify(&mut pool, true).unwrap().is_intact());
        assert_eq!(remote.taken().0.len(), 1, "all of it, verified");
    }
}

/// So much that several threads decode it: they ask for the same bytes as one thread, in as many rounds, and a source that
/// fails is not asked again.
#[test]
fn threads_ask_a_far_bloscpack_for_what_one_thread_asks() {
    let data = noise(40 << 20);
    let params = Params::new(4).codec(Codec::Lz4).level(0);
    let options = Options { params, chunk_size: 300_000, ..Options::default() };
    let file = options.write(&mut Pool::new(1), &&data[..], Vec::new()).unwrap();
    let read = |threads: usize, remote: Remote| {
        let pack = Bloscpack::open(&remote, &Limits::DEFAULT).unwrap();
        remote.taken();
        let mut out = vec![0; data.len() - 1000];
        let done = pack.read_plain(&mut Pool::new(threads), 777, &mut out);
        (done, out, remote.taken())
    };
    let (done, out, asked) = read(1, Remote::new(file.clone()));
    assert!(done.is_ok() && out == data[777..][..out.len()] && asked.0.len() == 3, "{:?}", asked.0);
    let mut broken = file.clone();
    broken[30 << 20] ^= 1;
    let (error, ..) = read(1, Remote::new(broken.clone()));
    let failing = || {
        let mut remote = Remote::new(file.clone());
        remote.fails = 20 << 20;
        remote
    };
    let (failed, _, once) = read(1, failing());
    assert!(error.is_err() && failed.is_err() && once.0.len() == 2, "{error:?}, {failed:?}, {:?}", once.0);
    for threads in [2, 4] {
        let (done, whole, rounds) = read(threads, Remote::new(file.clone()));
        assert!(done.is_ok() && whole == out && rounds == asked, "{threads} threads: {:?}", rounds.0);
        assert_eq!(read(threads, Remote::new(broken.clone())).0, error);
        let (other, _, rounds) = read(threads, failing());
        assert!(other == failed && rounds == once, "{threads} threads: {other:?} {:?}", rounds.0);
    }
}

/// Every source of these packages passes rounds on, or is listed here with what it is.
#[test]
fn no_source_forgets_to_pass_rounds_on() {
    const OWN: [(&str, &str); 13] = [
        ("[u8]", "memory"),
        ("MemFile", "memory"),
        ("FaultFile", "memory"),
        ("Pieces", "memory"),
        ("File", "a file of this system, which is never far"),
        ("PooledFile", "a file of this system, which is never far"),
        ("CallerFile", "functions of the caller, which know no rounds"),
        ("InPlace<S>", "a file of this system, or one of a caller"),
        ("Section<'_>", "new rows, which are read once and in order"),
        ("Forward<W>", "an output that is being written"),
        ("Strided<'_>, Decoded<'_>", "decoded items"),
        ("AxesReversed<Uncompressed<R>>", "decoded items"),
        ("Embedded", "what the root decodes to, one range after the other"),
    ];
    let frame = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![frame.join("src"), frame.join("capi/src"), frame.join("cli/src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (at, _) in text.match_indices("ReadAt for ").filter(|(at, _)| {
                text[..*at].lines().next_back().is_some_and(|line| line.trim_start().starts_with("impl"))
            }) {
                found += 1;
                let (name, rest) = text[at + "ReadAt for ".len()..].split_once(" {").unwrap();
                let body = rest.split("\n}").next().unwrap();
                let both = body.contains("fn read_ranges") && body.contains("fn is_far");
                let own = OWN.iter().any(|(names, _)| names.split(", ").any(|own| own == name));
                let passes = body.contains("forward_read!") || both;
                assert!(passes != own, "{}: {name}: passes rounds on: {passes}", path.display());
            }
        }
    }
    assert!(found > 20, "the search finds sources: {found}");
}

/// Pieces in any order and over each other: what is known is right, and what is missed is just what is not known.
#[test]
fn what_is_missed_is_what_is_not_known() {
    let source: Vec<u8> = (0..200).collect();
    let mut random = Random(7);
    let mut below = |n: u64| random.next() % n;
    for _ in 0..200 {
        let (mut pieces, mut known) = (Pieces::new(200), [false; 200]);
        for _ in 0..12 {
            let start = below(200);
            let range = start..start + below(200 - start + 1).min(40);
            let within = range.start as usize..range.end as usize;
            pieces.put(range, source[within.clone()].to_vec()).unwrap();
            known[within].fill(true);
            let start = below(200);
            let asked = start..(start + below(60)).min(200);
            let mut buf = vec![0; (asked.end - asked.start) as usize];
            let read = pieces.read_exact_at(asked.start, &mut buf);
            let mut missed = [false; 200];
            for range in pieces.missed(0) {
                missed[range.start as usize..range.end as usize].fill(true);
            }
            let inside = asked.start as usize..asked.end as usize;
            assert!((0..200).all(|at| missed[at] == (inside.contains(&at) && !known[at])));
            assert_eq!(read.is_ok(), known[inside.clone()].iter().all(|known| *known));
            if read.is_ok() {
                assert_eq!(buf, source[inside]);
            }
        }
    }
    let mut pieces = Pieces::new(100);
    assert!(pieces.put(0..10, vec![0; 9]).is_err() && pieces.put(95..101, vec![0; 6]).is_err());
    assert_eq!(pieces.read_exact_at(95, &mut [0; 6]), Err(IoKind::UnexpectedEnd.into()));
    pieces.put(10..12, vec![0; 2]).unwrap();
    for range in [30..40, 5..15, 0..3] {
        pieces.want(range);
    }
    assert_eq!(pieces.missed(2), [0..15, 30..40]);
    for range in [30..40, 5..15, 0..3] {
        pieces.want(range);
    }
    assert_eq!(pieces.missed(0), [0..3, 5..10, 12..15, 30..40]);
}
