//! Suites `frames` and `frame-files`: frames are written, opened, read and appended to, and what checksums and checking them
//! cost.

use super::operation::{CODECS, Folder, Op, arrays_of, counts, job, new_file, number, open, opponent, text};
use crate::data::Data;
use crate::engine::Spec;
use crate::engine::peers::cparams;
use crate::measure::candidate::Work;
use crate::measure::check::expect;
use crate::suite::choice::{Choice, Job};
use blosc_core::Codec;
use blosc_frame::SuperChunk;
use std::path::Path;

/// Chunks of the frame that is only opened; each holds four items of four bytes.
const MANY: usize = 20_000;
/// Arrays that large frames are made of.
const DATA: [&str; 4] = ["smooth_f4", "ramp_i4", "stamps_i8", "sparse_i4"];

/// Jobs of `frames` or `frame-files`.
pub fn frames<'a>(suite: &'static str, choice: &'a Choice) -> Vec<Job<'a>> {
    let codecs: Vec<Codec> = CODECS.into_iter().filter(|c| choice.codecs.contains(c)).collect();
    if suite == "frames" {
        let each = |data: (Data, usize)| {
            let typesize = data.0.typesize;
            codecs.iter().map(move |c| job(suite, Spec::new(*c, 5, typesize, 1), data.clone(), choice, whole))
        };
        return arrays_of(choice, &[], 4 << 20).into_iter().flat_map(each).collect();
    }
    let mut jobs = Vec::new();
    if let Some((data, _)) = arrays_of(choice, &DATA, 0).first() {
        let many = (data.clone(), MANY * 16);
        jobs.push(job(suite, Spec::new(Codec::Lz4, 4, data.typesize, 1), many, choice, small));
    }
    for (data, bytes) in arrays_of(choice, &DATA, 256 << 20) {
        for &codec in &codecs {
            for &threads in &choice.threads {
                let spec = Spec::new(codec, 5, data.typesize, threads);
                jobs.push(job(suite, spec, (data.clone(), bytes), choice, whole));
            }
        }
        // Level 0 stores: nothing but copying hides what checking takes.
        let kinds = codecs.iter().map(|codec| (*codec, 5)).chain([(Codec::Lz4, 0)]);
        for (codec, level) in kinds {
            let spec = Spec::new(codec, level, data.typesize, 1);
            jobs.push(job(suite, spec, (data.clone(), bytes / 4), choice, checks));
        }
    }
    jobs
}

/// Bytes of a chunk of a frame of this length.
fn chunk_of(len: usize) -> usize {
    (len / 8).clamp(64 << 10, 4 << 20)
}

fn write_frame(path: &Path, spec: &Spec, data: &[u8], chunk: usize) -> Result<u64, String> {
    let mut frame = SuperChunk::create(new_file(path)?, &spec.params()).map_err(text)?;
    frame.set_threads(spec.threads);
    frame.set_chunksize(u32::try_from(chunk).unwrap_or(u32::MAX)).map_err(text)?;
    frame.append(data).and_then(|()| frame.commit()).map_err(text)?;
    Ok(frame.nbytes())
}

fn small<'a>(folder: &Folder, spec: &Spec, data: &'a Data, choice: &Choice) -> Result<Vec<Op<'a>>, String> {
    let (path, spec) = (folder.file("many.b2frame"), *spec);
    write_frame(&path, &spec, &data.bytes, 16)?;
    let there = path.clone();
    let theirs = opponent(choice).map(|(name, lib)| -> (String, Work<'a>) {
        let work: Work<'a> = Box::new(move |_, dst| {
            let frame = lib.open_frame(&there, 1).map_err(text)?;
            number(u64::try_from(frame.nchunks()).unwrap_or(0), dst)
        });
        (name, work)
    });
    let open: Work<'a> = Box::new(move |_, dst| number(open(&path, 1)?.nchunks(), dst));
    let many = data.bytes.len() / 16;
    let mut ops = vec![Op::new(format!("open {MANY} chunks"), (MANY * 8, 64), counts(many), open, theirs)];
    for count in [10_000, 100_000] {
        let path = folder.file("append.b2frame");
        let append: Work<'a> = Box::new(move |_, dst| {
            let mut frame = SuperChunk::create(new_file(&path)?, &spec.params()).map_err(text)?;
            for k in 0..count {
                let at = k * 16 % (data.bytes.len() - 64);
                frame.append_data(data.bytes.get(at..at + 64).unwrap_or_default()).map_err(text)?;
            }
            frame.commit().map_err(text)?;
            number(frame.nchunks(), dst)
        });
        let name = format!("append {count} chunks of 64 bytes");
        ops.push(Op::new(name, (count * 64, 64), counts(count), append, None));
    }
    Ok(ops)
}

/// A frame is written, read whole, and opened for ten of its items.
fn whole<'a>(folder: &Folder, spec: &Spec, data: &'a Data, choice: &Choice) -> Result<Vec<Op<'a>>, String> {
    let (path, mine, there) = (folder.file("read"), folder.file("mine"), folder.file("theirs"));
    let (spec, len, threads) = (*spec, data.bytes.len(), spec.threads);
    let chunk = chunk_of(len);
    let opponent = opponent(choice);
    // The file that both read is theirs where there is an opponent.
    match &opponent {
        Some((_, lib)) => lib.write_frame(&path, &cparams(&spec), &data.bytes, chunk).map_err(text)?,
        None => drop(write_frame(&path, &spec, &data.bytes, chunk)?),
    }
    let write: Work<'a> = Box::new(move |_, dst| number(write_frame(&mine, &spec, &data.bytes, chunk)?, dst));
    let lib = opponent.clone();
    let writes = lib.map(|(name, lib)| -> (String, Work<'a>) {
        let work: Work<'a> = Box::new(move |_, dst| {
            let _ = std::fs::remove_file(&there);
            lib.write_frame(&there, &cparams(&spec), &data.bytes, chunk).map_err(text)?;
            number(data.bytes.len() as u64, dst)
        });
        (name, work)
    });
    let their_file = path.clone();
    let reads = opponent.map(|(name, lib)| -> (String, Work<'a>) {
        let work: Work<'a> = Box::new(move |_, dst| {
            let threads = i16::try_from(threads).unwrap_or(1);
            lib.open_frame(&their_file, threads).and_then(|mut f| f.read_all(dst)).map_err(text)
        });
        (name, work)
    });
    let read = |from: usize, to: usize| -> Work<'a> {
        let path = path.clone();
        Box::new(move |_, dst| open(&path, threads)?.read_bytes(from as u64..to as u64, dst).map_err(text))
    };
    let from = len / data.typesize / 2 * data.typesize;
    let to = (from + 10 * data.typesize).min(len);
    let items = data.bytes.get(from..to).unwrap_or_default();
    Ok(vec![
        Op::new("write all", (len, 64), counts(len), write, writes),
        Op::new("read all", (len, len), expect(&data.bytes), read(0, len), reads),
        Op::new("open and read 10 items", (to - from, to - from), expect(items), read(from, to), None),
    ])
}

/// Writing with checksums and reading with checks, against doing without.
fn checks<'a>(folder: &Folder, spec: &Spec, data: &'a Data, _: &Choice) -> Result<Vec<Op<'a>>, String> {
    let (path, spec, len) = (folder.file("checked"), *spec, data.bytes.len());
    write_frame(&path, &spec, &data.bytes, chunk_of(len))?;
    let write = move |on: bool| -> Work<'a> {
        Box::new(move |_, dst| {
            let mut file = Vec::new();
            let mut frame = SuperChunk::create(&mut file, &spec.params()).map_err(text)?;
            frame.set_checksums(on);
            frame.append(&data.bytes).and_then(|()| frame.commit()).map_err(text)?;
            number(frame.nbytes(), dst)
        })
    };
    let read = move |on: bool| -> Work<'a> {
        let path = path.clone();
        Box::new(move |_, dst| {
            let (mut frame, mut bytes) = (open(&path, 1)?, 0);
            frame.set_verify(on);
            let count = |chunk: &[u8]| {
                bytes += chunk.len() as u64;
                Ok(())
            };
            frame.for_each_chunk(count).map_err(text)?;
            number(bytes, dst)
        })
    };
    let pair = |op: &str, what: &str, with: Work<'a>, without: Work<'a>| {
        Op::new(op, (len, 64), counts(len), with, Some((format!("ours without {what}"), without)))
    };
    Ok(vec![
        pair("compress with checksums", "checksums", write(true), write(false)),
        pair("read with checks", "checks", read(true), read(false)),
    ])
}
