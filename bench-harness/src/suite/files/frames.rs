//! Suite `frame-files`: frames are opened, appended to and read, and what checksums and checking them cost.

use super::operation::{
    BYTES, CODECS, Folder, Judge, Op, number, open, opponent, refused, run, smooth, spec, text,
};
use crate::data::Data;
use crate::engine::Spec;
use crate::engine::peers::cparams;
use crate::measure::candidate::Work;
use crate::measure::check::expect;
use crate::suite::choice::{Choice, Job};
use blosc_core::Codec;
use blosc_frame::SuperChunk;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

/// Bytes of a chunk of a large frame.
const CHUNK: usize = 4 << 20;
/// Chunks of the frame that is only opened; each holds four items of four bytes.
const MANY: usize = 20_000;
/// Arrays that frames are made of.
const DATA: [&str; 4] = ["smooth_f4", "ramp_i4", "stamps_i8", "sparse_i4"];

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

fn write_frame(path: &Path, spec: &Spec, data: &[u8], chunk: usize, checksums: bool) -> Result<(), String> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).map_err(text)?;
    let mut frame = SuperChunk::create(file, &spec.params()).map_err(text)?;
    frame.set_threads(spec.threads);
    frame.set_checksums(checksums);
    frame.set_chunksize(u32::try_from(chunk).unwrap_or(u32::MAX)).map_err(text)?;
    frame.append(data).and_then(|()| frame.commit()).map_err(text)
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
        let frame = open(&path, threads)?;
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
            let count = |chunk: &[u8]| {
                bytes += chunk.len() as u64;
                Ok(())
            };
            frame.for_each_chunk(count).map_err(text)?;
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
