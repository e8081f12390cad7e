//! Suites `frame-files` and `array-files`: containers in files, written and read here and by libblosc2
//! itself, in turns, with one and with two threads. Each works on files of 256 MiB of data, so neither is
//! part of `all`.
//!
//! The files lie in `TMPDIR`, else in `/dev/shm` where there is one: memory stands for the disk, so that
//! flushing (which libblosc2 never does) costs nothing and the figures are not the disk's.

use super::choice::{Choice, Job};
use super::chunks::row;
use crate::data::Data;
use crate::engine::peers::cparams;
use crate::engine::{Filters, Spec};
use crate::machine::unpinned;
use crate::measure::candidate::{Candidate, Check, Work};
use crate::measure::check::expect;
use crate::measure::comparison::Comparison;
use crate::measure::{Plan, Setting};
use crate::result::Row;
use blosc_core::{Codec, Level};
use blosc_frame::b2nd::{self, Dtype, NdArray};
use blosc_frame::{Limits, SuperChunk};
use blosc_peers::blosc2::{ArraySpec, Containers};
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of data in a file.
const BYTES: usize = 256 << 20;
/// Bytes of a chunk of a large frame.
const CHUNK: usize = 4 << 20;
/// Chunks of the frame that is only opened, and items of four bytes in each.
const MANY: usize = 20_000;
const SHAPE: [u64; 4] = [64, 128, 128, 64];
const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4, Codec::Zstd];
/// Arrays that frames are made of.
const DATA: [&str; 4] = ["smooth_f4", "ramp_i4", "stamps_i8", "sparse_i4"];

/// A directory that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let shm = Path::new("/dev/shm");
        let parent = match std::env::var_os("TMPDIR") {
            Some(path) => PathBuf::from(path),
            None if shm.is_dir() => shm.to_path_buf(),
            None => std::env::temp_dir(),
        };
        let path = parent.join(format!("blosc-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// The library that reads the same files, if one was given with `--engine`.
fn opponent(choice: &Choice) -> Option<(String, Containers)> {
    let engine = choice.engines.iter().find(|e| e.library().is_some())?;
    Some((engine.name(), engine.library()?.containers().ok()?))
}

/// A judge that both sides share.
type Judge<'a> = Rc<dyn Fn(&[u8]) -> Result<(), String> + 'a>;

/// One operation: who does it, how it is judged, and how many bytes it is about.
struct Op<'a> {
    name: String,
    ours: Work<'a>,
    theirs: Option<(String, Work<'a>)>,
    check: Judge<'a>,
    bytes: usize,
    room: usize,
}

/// Runs operations unpinned and with few rounds: a round takes up to seconds.
fn run<'a>(
    suite: &str,
    spec: &Spec,
    data: &'a Data,
    ops: Vec<Op<'a>>,
    (setting, plan, stop): (&Setting, &Plan, &dyn Fn() -> bool),
) -> Vec<Row> {
    let plan = Plan { min_rounds: 5, ..*plan };
    let mut rows = Vec::new();
    for op in ops {
        let fixed = Row { bytes: op.bytes, ..row(suite, &op.name, spec, data) };
        let judge = |check: &Judge<'a>| -> Check<'a> {
            let check = Rc::clone(check);
            Box::new(move |got| check(got))
        };
        let ours = Row { isa: Level::best().isa().name().into(), ..fixed.clone() };
        let mut candidates = vec![Candidate::new(ours, op.ours, judge(&op.check))];
        if let Some((engine, work)) = op.theirs {
            let row = Row { engine, ..fixed };
            candidates.push(Candidate::new(row, work, judge(&op.check)).peer(true));
        }
        // What they read lies in files.
        let source = data.bytes.get(..64).unwrap_or_default();
        let comparison = Comparison::new(source, op.room, op.bytes, candidates);
        rows.extend(unpinned(|| comparison.run(setting, &plan, stop)));
    }
    rows
}

fn refused(suite: &str, spec: &Spec, data: &Data, why: String) -> Vec<Row> {
    vec![Row { refused: Some(why), ..row(suite, "prepare", spec, data) }]
}

fn smooth(len: usize) -> Data {
    crate::data::generate::SEEDED.first().map_or_else(
        || Data {
            name: "none".into(),
            dtype: "u1",
            typesize: 1,
            origin: crate::data::Origin::Seeded,
            bytes: Vec::new().into(),
        },
        |s| s.array(len),
    )
}

/// Jobs of `frame-files`.
pub fn frames(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs: Vec<Job<'_>> = Vec::new();
    jobs.push(Job {
        label: "open a frame of 20,000 chunks; append small chunks".into(),
        run: Box::new(move |setting, plan, stop| {
            let data = smooth(MANY * 16);
            let spec = spec(Codec::Lz4, 4, 1);
            match small(&spec, &data, choice) {
                Ok((_folder, ops)) => run("frame-files", &spec, &data, ops, (setting, plan, stop)),
                Err(why) => refused("frame-files", &spec, &data, why),
            }
        }),
    });
    let kinds = CODECS.into_iter().filter(|c| choice.codecs.contains(c));
    for (codec, name) in kinds.flat_map(|codec| DATA.map(|name| (codec, name))) {
        jobs.push(Job {
            label: format!("frame-files {codec}, 256 MiB of {name}"),
            run: Box::new(move |setting, plan, stop| {
                let Some(seeded) = crate::data::generate::find(name) else { return Vec::new() };
                let data = seeded.array(BYTES);
                let mut rows = Vec::new();
                for threads in [1, 2] {
                    let spec = spec(codec, data.typesize, threads);
                    rows.extend(match large(&spec, &data, choice) {
                        Ok((_folder, ops)) => run("frame-files", &spec, &data, ops, (setting, plan, stop)),
                        Err(why) => refused("frame-files", &spec, &data, why),
                    });
                }
                rows
            }),
        });
    }
    for name in ["smooth_f4", "sparse_i4", "zeros_u1"] {
        jobs.push(Job {
            label: format!("what checksums cost, {name}"),
            run: Box::new(move |setting, plan, stop| {
                let Some(seeded) = crate::data::generate::find(name) else { return Vec::new() };
                let data = seeded.array(BYTES / 4);
                let spec = spec(Codec::BloscLz, data.typesize, 1);
                run("frame-files", &spec, &data, vec![checksums(&spec, &data)], (setting, plan, stop))
            }),
        });
    }
    // Level 0 stores: nothing but copying hides what checking takes.
    let kinds = CODECS.into_iter().filter(|c| choice.codecs.contains(c)).map(|codec| (codec, 5));
    for ((codec, level), name) in
        kinds.chain([(Codec::Lz4, 0)]).flat_map(|kind| DATA.map(|name| (kind, name)))
    {
        jobs.push(Job {
            label: format!("what checking costs, {codec} {level}, {name}"),
            run: Box::new(move |setting, plan, stop| {
                let Some(seeded) = crate::data::generate::find(name) else { return Vec::new() };
                let data = seeded.array(BYTES / 4);
                let spec = Spec { level, ..spec(codec, data.typesize, 1) };
                match checking(&spec, &data) {
                    Ok((_folder, op)) => run("frame-files", &spec, &data, vec![op], (setting, plan, stop)),
                    Err(why) => refused("frame-files", &spec, &data, why),
                }
            }),
        });
    }
    jobs
}

fn spec(codec: Codec, typesize: usize, threads: usize) -> Spec {
    let filter = if typesize > 1 { Filters::Shuffle } else { Filters::None };
    Spec { codec, filter, level: 5, typesize, threads, blocksize: None }
}

fn write_frame(path: &Path, spec: &Spec, data: &[u8], chunk: usize, checksums: bool) -> Result<(), String> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).map_err(text)?;
    let mut frame = SuperChunk::create(file, &spec.params()).map_err(text)?;
    frame.set_threads(spec.threads);
    frame.set_checksums(checksums);
    frame.set_chunksize(u32::try_from(chunk).unwrap_or(u32::MAX)).map_err(text)?;
    frame.append(data).and_then(|()| frame.commit()).map_err(text)
}

fn open(path: &Path, threads: usize) -> Result<SuperChunk<'static>, String> {
    let file = File::open(path).map_err(text)?;
    let mut frame = SuperChunk::open_read(file, &Limits::NONE).map_err(text)?;
    frame.set_threads(threads);
    Ok(frame)
}

fn number(n: u64, dst: &mut [u8]) -> Result<usize, String> {
    let to = dst.first_chunk_mut::<8>().ok_or("no room for a number")?;
    *to = n.to_le_bytes();
    Ok(8)
}

fn small<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<(Folder, Vec<Op<'a>>), String> {
    let folder = Folder::new()?;
    let path = folder.file("many.b2frame");
    write_frame(&path, spec, &data.bytes, 16, true)?;
    let there = path.clone();
    let theirs = opponent(choice).map(|(name, lib)| -> (String, Work<'a>) {
        let work: Work<'a> = Box::new(move |_, dst| {
            let frame = lib.open_frame(&there, 1).map_err(text)?;
            number(u64::try_from(frame.nchunks()).unwrap_or(0), dst)
        });
        (name, work)
    });
    let mut ops = vec![Op {
        name: "open 20,000 chunks".into(),
        ours: Box::new(move |_, dst| number(open(&path, 1)?.nchunks(), dst)),
        theirs,
        check: Rc::new(|got| expect(&(MANY as u64).to_le_bytes())(got)),
        bytes: MANY * 8,
        room: 64,
    }];
    for count in [10_000, 100_000] {
        let path = folder.file("append.b2frame");
        let spec = *spec;
        ops.push(Op {
            name: format!("append {count} chunks of 64 bytes"),
            ours: Box::new(move |_, dst| {
                let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
                let mut frame = SuperChunk::create(file.map_err(text)?, &spec.params()).map_err(text)?;
                for k in 0..count {
                    let at = k * 16 % (data.bytes.len() - 64);
                    frame.append_data(data.bytes.get(at..at + 64).unwrap_or_default()).map_err(text)?;
                }
                frame.commit().map_err(text)?;
                number(frame.nchunks(), dst)
            }),
            theirs: None,
            check: Rc::new(move |got| expect(&(count as u64).to_le_bytes())(got)),
            bytes: count * 64,
            room: 64,
        });
    }
    Ok((folder, ops))
}

fn large<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<(Folder, Vec<Op<'a>>), String> {
    let folder = Folder::new()?;
    let path = folder.file("large.b2frame");
    let spec = *spec;
    let opponent = opponent(choice);
    // The file is theirs where there is an opponent.
    match &opponent {
        Some((_, lib)) => lib.write_frame(&path, &cparams(&spec), &data.bytes, CHUNK).map_err(text)?,
        None => write_frame(&path, &spec, &data.bytes, CHUNK, true)?,
    }
    let (there, threads) = (path.clone(), spec.threads);
    let theirs = opponent.map(|(name, lib)| -> (String, Work<'a>) {
        let work: Work<'a> = Box::new(move |_, dst| {
            let threads = i16::try_from(threads).unwrap_or(1);
            lib.open_frame(&there, threads).and_then(|mut f| f.read_all(dst)).map_err(text)
        });
        (name, work)
    });
    let ours: Work<'a> = Box::new(move |_, dst| {
        let mut frame = open(&path, threads)?;
        let len = frame.nbytes();
        frame.read_bytes(0..len, dst).map_err(text)
    });
    let len = data.bytes.len();
    let check: Judge<'a> = Rc::new(|got| expect(&data.bytes)(got));
    Ok((folder, vec![Op { name: "read all".into(), ours, theirs, check, bytes: len, room: len }]))
}

/// Reading all chunks of a file one by one and comparing them with their checksums, against reading them only.
fn checking<'a>(spec: &Spec, data: &'a Data) -> Result<(Folder, Op<'a>), String> {
    let folder = Folder::new()?;
    let path = folder.file("checked.b2frame");
    write_frame(&path, spec, &data.bytes, CHUNK, true)?;
    let read = move |on: bool| -> Work<'a> {
        let path = path.clone();
        Box::new(move |_, dst| {
            let mut frame = open(&path, 1)?;
            frame.set_verify(on);
            let mut bytes = 0;
            let counted = frame.for_each_chunk(|chunk| {
                bytes += chunk.len() as u64;
                Ok(())
            });
            counted.map_err(text)?;
            number(bytes, dst)
        })
    };
    let len = data.bytes.len();
    let op = Op {
        name: "read with checks".into(),
        ours: read(true),
        theirs: Some(("ours without checks".into(), read(false))),
        check: Rc::new(move |got| expect(&(len as u64).to_le_bytes())(got)),
        bytes: len,
        room: 64,
    };
    Ok((folder, op))
}

/// Writing with checksums against writing without, both in memory.
fn checksums<'a>(spec: &Spec, data: &'a Data) -> Op<'a> {
    let spec = *spec;
    let write = move |on: bool| -> Work<'a> {
        Box::new(move |_, dst| {
            let mut file = Vec::new();
            let mut frame = SuperChunk::create(&mut file, &spec.params()).map_err(text)?;
            frame.set_checksums(on);
            frame.append(&data.bytes).and_then(|()| frame.commit()).map_err(text)?;
            number(frame.nbytes(), dst)
        })
    };
    let len = data.bytes.len();
    Op {
        name: "compress with checksums".into(),
        ours: write(true),
        theirs: Some(("ours without checksums".into(), write(false))),
        check: Rc::new(move |got| expect(&(len as u64).to_le_bytes())(got)),
        bytes: len,
        room: 64,
    }
}

/// Jobs of `array-files`.
pub fn arrays(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for codec in CODECS.into_iter().filter(|c| choice.codecs.contains(c)) {
        for threads in choice.threads.iter().copied() {
            jobs.push(Job {
                label: format!("array-files {codec}, 4-D float32, {threads} threads"),
                run: Box::new(move |setting, plan, stop| {
                    let data = smooth(BYTES);
                    let spec = spec(codec, data.typesize, threads);
                    match boxes(&spec, &data, choice) {
                        Ok((_folder, ops)) => run("array-files", &spec, &data, ops, (setting, plan, stop)),
                        Err(why) => refused("array-files", &spec, &data, why),
                    }
                }),
            });
        }
    }
    jobs
}

/// A box: one range per axis.
type Box4 = [Range<u64>; 4];

/// The same "random" numbers on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    /// A box with the sides `sides`; 0 stands for the whole axis.
    fn place(&mut self, sides: [u64; 4]) -> Box4 {
        std::array::from_fn(|d| {
            let side = if sides[d] == 0 { SHAPE[d] } else { sides[d] };
            let start = self.below(SHAPE[d] - side + 1);
            start..start + side
        })
    }
}

/// What is read: a name, the sides of a box, how many boxes.
const READS: [(&str, [u64; 4], usize); 9] = [
    ("read all", [0, 0, 0, 0], 1),
    ("rows along the last axis", [1, 1, 1, 0], 50),
    ("rows along axis 2", [1, 1, 0, 1], 50),
    ("columns along the first axis", [0, 1, 1, 1], 20),
    ("planes of the last axes", [1, 1, 0, 0], 20),
    ("planes of the first axes", [0, 0, 1, 1], 1),
    ("planes of axes 1 and 3", [1, 0, 1, 0], 10),
    ("random 3-D boxes", [1, 20, 20, 20], 50),
    ("random items", [1, 1, 1, 1], 100),
];

fn boxes<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<(Folder, Vec<Op<'a>>), String> {
    let folder = Folder::new()?;
    let path = folder.file("array.b2nd");
    let (spec, t, threads) = (*spec, data.typesize, spec.threads);
    let dtype = Dtype::parse(&format!("<{}", data.dtype)).map_err(text)?;
    let nd = b2nd::Spec::new(&SHAPE, dtype).map_err(text)?.params_from(&spec.params());
    let (chunks, blocks) = (nd.geometry().chunks().to_vec(), nd.geometry().blocks().to_vec());
    let opponent = opponent(choice);
    let write = {
        let nd = nd.clone();
        move |path: &Path| -> Result<(), String> {
            let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
            let frame = SuperChunk::create(file.map_err(text)?, &nd.params()).map_err(text)?;
            let mut frame = frame;
            frame.set_threads(threads);
            NdArray::from_slice(frame, &nd, &data.bytes).and_then(|mut a| a.commit()).map_err(text)
        }
    };
    let signed = |v: &[u32]| -> Vec<i32> { v.iter().map(|n| n.cast_signed()).collect() };
    let (chunks, blocks) = (signed(&chunks), signed(&blocks));
    let foreign = opponent.clone().map(|(name, lib)| {
        let write = move |path: &Path| -> Result<(), String> {
            let _ = fs::remove_file(path);
            let shape = SHAPE.map(u64::cast_signed);
            let what = ArraySpec { shape: &shape, chunks: &chunks, blocks: &blocks, dtype: "<f4" };
            lib.write_array(path, &cparams(&spec), &what, &data.bytes).map_err(text)
        };
        (name, write)
    });
    match &foreign {
        Some((_, write)) => write(&path)?,
        None => write(&path)?,
    }
    let mut ops = Vec::new();
    for (name, sides, count) in READS {
        let mut dice = Dice(7);
        let list: Rc<[Box4]> = (0..count).map(|_| dice.place(sides)).collect();
        let each: u64 = sides.iter().zip(SHAPE).map(|(s, n)| if *s == 0 { n } else { *s }).product();
        let each = usize::try_from(each).unwrap_or(0) * t;
        let mut array = NdArray::open(open(&path, threads)?).map_err(text)?;
        array.set_threads(threads);
        let mine = Rc::clone(&list);
        let ours: Work<'a> = Box::new(move |_, dst| {
            for (b, to) in mine.iter().zip(dst.chunks_exact_mut(each)) {
                match each == t {
                    true => array.get_item(&[b[0].start, b[1].start, b[2].start, b[3].start], to),
                    false => array.get_slice(b, to),
                }
                .map_err(text)?;
            }
            Ok(dst.len())
        });
        let mut theirs = None;
        if let Some((name, lib)) = &opponent {
            let mut array = lib.open_array(&path, i16::try_from(threads).unwrap_or(1)).map_err(text)?;
            let list = Rc::clone(&list);
            let work: Work<'a> = Box::new(move |_, dst| {
                for (b, to) in list.iter().zip(dst.chunks_exact_mut(each)) {
                    let start = [0, 1, 2, 3].map(|d| b[d].start.cast_signed());
                    let stop = [0, 1, 2, 3].map(|d| b[d].end.cast_signed());
                    array.slice(t, &start, &stop, to).map_err(text)?;
                }
                Ok(dst.len())
            });
            theirs = Some((name.clone(), work));
        }
        let check = Rc::new(move |got: &[u8]| {
            let mut right = Vec::with_capacity(got.len());
            list.iter().for_each(|b| cut(&data.bytes, t, b, &mut right));
            expect(&right)(got)
        });
        let bytes = each * count;
        ops.push(Op { name: name.into(), ours, theirs, check, bytes, room: bytes });
    }
    let (mine, there) = (folder.file("mine.b2nd"), folder.file("theirs.b2nd"));
    let back = move |path: &Path, dst: &mut [u8]| -> Result<usize, String> {
        number(fs::metadata(path).map_err(text)?.len(), dst)
    };
    ops.push(Op {
        name: "write all".into(),
        ours: Box::new(move |_, dst| write(&mine).and_then(|()| back(&mine, dst))),
        theirs: foreign.map(|(name, write)| -> (String, Work<'a>) {
            (name, Box::new(move |_, dst| write(&there).and_then(|()| back(&there, dst))))
        }),
        check: Rc::new(|got| if got.len() == 8 { Ok(()) } else { Err("wrote nothing".into()) }),
        bytes: data.bytes.len(),
        room: 64,
    });
    Ok((folder, ops))
}

/// Appends the items of a box to `out`.
fn cut(data: &[u8], t: usize, b: &Box4, out: &mut Vec<u8>) {
    let at = |i: u64, j: u64, k: u64, l: u64| {
        usize::try_from(((i * SHAPE[1] + j) * SHAPE[2] + k) * SHAPE[3] + l).unwrap_or(0) * t
    };
    for i in b[0].clone() {
        for j in b[1].clone() {
            for k in b[2].clone() {
                let line = at(i, j, k, b[3].start)..at(i, j, k, b[3].end);
                out.extend_from_slice(data.get(line).unwrap_or_default());
            }
        }
    }
}
