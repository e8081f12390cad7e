//! Files written here, in every layout, edited at random beside a plain vector, and cut off by crashes.

use crate::containers::model;

use blosc_core::{Codec, Params, Pool};
use blosc_frame::bloscpack::{
    Bloscpack, Checksum, Edit as Writing, Layout, MetaOptions, MetaRoom, Options, Spare,
};
use blosc_frame::io::{DirFile, FaultDir, ReadAt, Store, WriteAt};
use blosc_frame::plain::Plain;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits};
use model::{Edit, Random};

fn runs(short: u64, long: u64) -> u64 {
    match (std::env::var_os("BLOSC_LONG"), std::env::var_os("BLOSC_TENTH")) {
        (Some(_), _) => long,
        (None, Some(_)) => long / 10,
        _ => short,
    }
}

fn random_options(r: &mut Random) -> Options {
    let layout =
        [Layout::V1, Layout::V2, Layout::Mono, Layout::V3, Layout::V3, Layout::V3][r.below(6) as usize];
    let codec = [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd, Codec::Lz4Hc][r.below(5) as usize];
    let params = Params::new(1 + r.below(9) as u32).codec(codec).level(r.below(10) as u8);
    let params = match r.below(3) {
        0 => params.no_filter(),
        1 => params.bitshuffle(),
        _ => params.shuffle(),
    };
    let with_metadata = layout >= Layout::Mono && r.below(2) == 0;
    Options {
        layout,
        chunk_size: 1 + r.below(900) as u32,
        params,
        checksum: Checksum::ALL[r.below(9) as usize],
        offsets: r.below(4) > 0,
        spare: if r.below(2) == 0 { Spare::Times(10) } else { Spare::Chunks(r.below(200)) },
        metadata: with_metadata.then(|| Value::object([("n", Value::int(r.below(99)))])),
        meta: MetaOptions { room: MetaRoom::Bytes(64 + r.below(900) as u32), ..MetaOptions::default() },
        reserve: [0, 0, 7, 300][r.below(4) as usize],
        sequential: r.below(8) == 0,
        fixed_chunk_size: false,
    }
}

fn edit<S: Store>(
    pack: &mut Bloscpack<S>,
    pool: &mut Pool,
    with: &Writing,
    edit: &Edit,
) -> Result<(), Error> {
    match edit {
        Edit::Append(data) => pack.append(pool, with, data),
        Edit::Set(at, data) => pack.set(pool, with, *at, data),
        Edit::Remove(from, to) => pack.remove(pool, with, *from..*to),
        Edit::Resize(len) => pack.resize(pool, with, *len, &[0]),
        Edit::Insert(..) => unreachable!("`Edit::random` makes none"),
    }
}

#[test]
fn every_layout_reads_back() {
    let mut pool = Pool::new(1);
    let mut r = Random(0x9e37_79b9_7f4a_7c15);
    for run in 0..runs(150, 3000) {
        let n = [0, 1, 7, 500, 4000][r.below(5) as usize] + r.below(60);
        let data = r.bytes(n as usize);
        let options = random_options(&mut r);
        let file = options
            .write(&mut pool, &data, Vec::new())
            .unwrap_or_else(|e| panic!("run {run}: {e} {options:?}"));
        let pack = Bloscpack::open(file, &Limits::default())
            .unwrap_or_else(|e| panic!("run {run}: {e} {options:?}"));
        assert!(pack.read_all(&mut pool).unwrap() == data, "run {run}: {options:?}");
        assert_eq!(pack.metadata(), options.metadata.as_ref());
        let report = pack.verify(&mut pool, true).unwrap();
        assert!(report.is_intact() && report.trailing == 0 && report.gaps == 0);
    }
}

#[test]
fn unknown_length_is_patched_or_stays_unknown() {
    let mut pool = Pool::new(1);
    for (sequential, n) in [(false, 0usize), (false, 10), (false, 2500), (true, 0), (true, 2500)] {
        let data: Vec<u8> = (0..n).map(|i| i as u8).collect();
        let options = Options { chunk_size: 1000, sequential, ..Options::default() };
        let mut writer = blosc_frame::bloscpack::Writer::new(Vec::new(), &options, None).unwrap();
        data.chunks(333).for_each(|part| writer.write(&mut pool, part).unwrap());
        let file = writer.finish(&mut pool).unwrap();
        let pack = Bloscpack::open(file, &Limits::default()).unwrap();
        assert_eq!(pack.header().nchunks.is_none(), sequential);
        assert_eq!(pack.read_all(&mut pool).unwrap(), data);
    }
}

#[test]
fn random_edits_match_a_plain_vector() {
    let mut pool = Pool::new(1);
    let mut r = Random(77);
    let (mut done, mut refused) = (0, 0);
    for run in 0..runs(60, 1200) {
        let n = r.below(3000) as usize;
        let mut model = r.bytes(n);
        let options = random_options(&mut r);
        let file = options.write(&mut pool, &model, Vec::new()).unwrap();
        let mut pack = Bloscpack::open(file, &Limits::default()).unwrap();
        let with = Writing { params: options.params, grow: r.below(3) == 0, ..Writing::default() };
        for step in 0..6 {
            let change = Edit::random(&mut r, model.len() as u64, 1, 2000);
            match edit(&mut pack, &mut pool, &with, &change) {
                Ok(()) => {
                    change.apply(&mut model, 1, &[0]);
                    done += 1;
                }
                Err(Error::Capacity { .. }) => refused += 1,
                Err(e) => panic!("run {run} step {step}: {e} {change:?} {options:?}"),
            }
            assert!(
                pack.read_all(&mut pool).unwrap() == model,
                "run {run} step {step}: {change:?} {options:?}"
            );
            let report = pack.verify(&mut pool, true).unwrap();
            assert!(report.is_intact() && report.trailing == 0, "run {run} step {step}: {report:?}");
        }
    }
    assert!(done > refused, "{done} done, {refused} refused");
}

#[test]
fn appends_of_the_document() {
    let mut pool = Pool::new(1);
    let data: Vec<u8> = (0..20).collect();
    let params = Params::new(1).level(7);
    let checksum = Checksum::Crc32;
    let options = Options { chunk_size: 16, params, checksum, spare: Spare::Chunks(3), ..Options::default() };
    let file = options.write(&mut pool, &data, Vec::new()).unwrap();
    assert_eq!(file.len(), 132);
    let mut pack = Bloscpack::open(file, &Limits::default()).unwrap();
    let more: Vec<u8> = (20..40).collect();
    pack.append(&mut pool, &Writing { params, ..Writing::default() }, &more).unwrap();
    let header = *pack.header();
    assert_eq!((header.nchunks, header.max_app, header.last_chunk), (Some(3), 2, Some(8)));
    assert_eq!([0, 1, 2].map(|i| pack.chunk_offset(i).unwrap()), [0x48, 0x6c, 0x90]);
    assert_eq!(pack.file_len(), 172);
    let too_much = vec![0; 100];
    assert!(matches!(pack.append(&mut pool, &Writing::default(), &too_much), Err(Error::Capacity { .. })));
    assert_eq!(pack.file_len(), 172);
}

#[test]
fn append_checks_what_it_builds_on() {
    let mut pool = Pool::new(1);
    let data = Random(5).bytes(2500);
    for size in [1000, 1250] {
        let options = Options { chunk_size: size, ..Options::default() };
        let mut file = options.write(&mut pool, &data, Vec::new()).unwrap();
        let n = file.len();
        file[n - 10] ^= 1;
        let before = file.clone();
        let mut pack = Bloscpack::open(file, &Limits::default()).unwrap();
        let more = [1u8; 10];
        let failed = pack.append(&mut pool, &Writing::default(), &more.as_slice());
        assert!(matches!(failed, Err(Error::Checksum { .. })), "{failed:?}");
        assert!(pack.into_inner() == before);
    }
}

#[test]
fn changes_in_place_fit_or_leave_everything_as_it_was() {
    let mut pool = Pool::new(1);
    let data = vec![7u8; 4000];
    let options = Options { chunk_size: 1000, reserve: 400, params: Params::new(1), ..Options::default() };
    let file = options.write(&mut pool, &data, Vec::new()).unwrap();
    let len = file.len();
    let mut pack = Bloscpack::open(file, &Limits::default()).unwrap();
    let with = Writing { params: options.params, ..Writing::default() };
    pack.set_in_place(&mut pool, &with, 990, &(0..50u8).collect::<Vec<u8>>()).unwrap();
    let mut model = data;
    model[990..1040].copy_from_slice(&(0..50u8).collect::<Vec<u8>>());
    assert_eq!(pack.read_all(&mut pool).unwrap(), model);
    assert_eq!(pack.file_len(), len as u64);
    let noise: Vec<u8> = {
        let mut r = Random(3);
        (0..900).map(|_| r.next() as u8).collect()
    };
    let failed = pack.set_in_place(&mut pool, &with, 2000, &noise);
    assert!(matches!(failed, Err(Error::OutputTooSmall { .. })), "{failed:?}");
    assert_eq!(pack.read_all(&mut pool).unwrap(), model);
}

#[test]
fn metadata_is_rewritten_in_place_or_refused() {
    let mut pool = Pool::new(1);
    let metadata = |n: usize| Value::object([("k", Value::text("abc".repeat(n)))]);
    for room in [64, 2000] {
        let meta = MetaOptions { room: MetaRoom::Bytes(room), ..MetaOptions::default() };
        let options = Options { metadata: Some(metadata(1)), meta, ..Options::default() };
        let file = options.write(&mut pool, &vec![1u8; 500], Vec::new()).unwrap();
        let len = file.len() as u64;
        let mut pack = Bloscpack::open(file, &Limits::default()).unwrap();
        pack.set_metadata(&metadata(50), &MetaOptions::default()).unwrap();
        assert_eq!(pack.metadata(), Some(&metadata(50)));
        assert!(pack.set_metadata(&metadata(50), &MetaOptions::default()).is_err());
        let huge = Value::Text(Random(9).bytes(9000).iter().map(|&b| char::from(b)).collect());
        assert!(matches!(pack.set_metadata(&huge, &MetaOptions::default()), Err(Error::Capacity { .. })));
        assert_eq!(pack.read_all(&mut pool).unwrap(), vec![1u8; 500]);
        assert_eq!(pack.file_len(), len);
    }
}

/// Stopped after every single operation, the file is the old or the new one.
#[test]
fn crashes_leave_the_old_or_the_new_file() {
    let mut pool = Pool::new(1);
    let mut r = Random(4242);
    let (mut points, limits) = (0u64, Limits::default());
    for run in 0..runs(12, 400) {
        // Whole chunks make appends go in place, others through a new file.
        let size = 64 + r.below(300);
        let n = if run % 2 == 0 { size * (1 + r.below(4)) } else { 1 + r.below(1200) };
        let data = r.bytes(n as usize);
        let options = Options { chunk_size: size as u32, sequential: false, ..random_options(&mut r) };
        let file = options.write(&mut pool, &data, Vec::new()).unwrap();
        let more = match run % 2 {
            0 => {
                let n = 1 + r.below(900);
                Edit::Append(r.bytes(n as usize))
            }
            _ => Edit::random(&mut r, data.len() as u64, 1, 700),
        };
        let mut after = data.clone();
        more.apply(&mut after, 1, &[0]);
        let with = Writing { params: options.params, grow: true, ..Writing::default() };
        for stop in 0.. {
            let dir = FaultDir::from_files([("x.blp".to_string(), file.clone())]);
            dir.stop_after(stop);
            let store = DirFile::open(dir.clone(), "x.blp").unwrap();
            let done =
                Bloscpack::open(store, &limits).and_then(|mut pack| edit(&mut pack, &mut pool, &with, &more));
            for seed in 0..4 {
                let survived = dir.crash(seed * 7919 + stop);
                let content = &survived.iter().find(|(name, _)| name == "x.blp").unwrap().1;
                let pack = Bloscpack::open(content.as_slice(), &limits)
                    .unwrap_or_else(|e| panic!("run {run} stop {stop}: {e}"));
                let got = pack
                    .read_all(&mut pool)
                    .unwrap_or_else(|e| panic!("run {run} stop {stop}: {e} {options:?}"));
                assert!(got == data || got == after, "run {run} stop {stop}: neither old nor new");
                if done.is_ok() {
                    assert!(got == after, "run {run}: an edit that returned is durable");
                }
                points += 1;
            }
            if done.is_ok() {
                break;
            }
            assert!(stop < 500, "run {run}: {done:?}");
        }
    }
    println!("{points} crash points");
}

#[test]
fn partial_reads_read_little() {
    struct Counting(Vec<u8>, std::cell::Cell<usize>);
    impl ReadAt for Counting {
        fn size(&self) -> Result<u64, blosc_frame::IoError> {
            self.0.size()
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, blosc_frame::IoError> {
            self.1.set(self.1.get() + buf.len());
            self.0.read_at(offset, buf)
        }
    }
    let mut pool = Pool::new(1);
    let data: Vec<u8> = {
        let mut r = Random(1);
        (0..1_000_000).map(|_| r.next() as u8).collect()
    };
    let options = Options { chunk_size: 10_000, params: Params::new(1), ..Options::default() };
    let file = options.write(&mut pool, &data, Vec::new()).unwrap();
    let pack = Bloscpack::open(Counting(file, Default::default()), &Limits::default()).unwrap();
    let mut out = [0; 10];
    pack.read_plain(&mut pool, 777_777, &mut out).unwrap();
    assert_eq!(out, data[777_777..777_787]);
    let read = pack.into_inner().1.get();
    assert!(read < 30_000, "{read} bytes read for ten");
}

/// Chunks that are smaller than what a call of the system costs are written together, and their order stays.
#[test]
fn small_chunks_are_written_together() {
    struct Calls(Vec<u8>, usize);
    impl ReadAt for Calls {
        fn size(&self) -> Result<u64, blosc_frame::IoError> {
            self.0.size()
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, blosc_frame::IoError> {
            self.0.read_at(offset, buf)
        }
    }
    impl WriteAt for Calls {
        fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), blosc_frame::IoError> {
            self.1 += 1;
            self.0.write_at(offset, data)
        }
        fn truncate(&mut self, len: u64) -> Result<(), blosc_frame::IoError> {
            WriteAt::truncate(&mut self.0, len)
        }
        fn sync(&mut self) -> Result<(), blosc_frame::IoError> {
            self.0.sync()
        }
    }
    let (mut r, mut pool) = (Random(3), Pool::new(1));
    let data: Vec<u8> = (0..200_000).map(|_| r.next() as u8).collect();
    for (chunk_size, most) in [(200, 30), (50_000, 12), (100_000, 9)] {
        let spare = blosc_frame::bloscpack::Spare::Chunks(0);
        let options = Options { chunk_size, spare, ..Options::default() };
        let Calls(file, calls) = options.write(&mut pool, &data, Calls(Vec::new(), 0)).unwrap();
        assert!(calls <= most, "chunks of {chunk_size}: {calls} calls");
        let pack = Bloscpack::open(file, &Limits::default()).unwrap();
        assert!(pack.read_all(&mut pool).unwrap() == data, "{chunk_size}");
    }
}
