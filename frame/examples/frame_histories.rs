//! Writes frames made by random edit histories, with what each should hold, for other programs to read.
//!
//! ```text
//! frame_histories make DIR COUNT [SEED]   DIR/N (frame or directory) and DIR/N.json: chunk lengths and
//!                                         hashes, metalayers and vlmetalayers in hex
//! frame_histories crash DIR COUNT [SEED]  as above, but each frame is what a power failure left of a
//!                                         commit; DIR/N.json is the state before or after
//! frame_histories dump PATH...            prints that JSON, a line each, for frames written by anyone
//! ```
#[path = "../tests/it/common/mod.rs"]
mod common;

use blosc_frame::io::{DirFile, Directory, FaultDir, FsDir, MemDir, PathFile};
use blosc_frame::{Error, Limits, SuperChunk};
use common::{Model, Random, edit, params};
use std::path::Path;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

/// What a frame holds, as JSON.
fn describe(typesize: u32, model: &Model) -> String {
    let chunks = model.chunks.iter().map(|data| format!("[{}, {}]", data.len(), crc32(data)));
    let layers = |list: &[(String, Vec<u8>)]| {
        list.iter()
            .map(|(name, bytes)| format!("\"{name}\": \"{}\"", hex(bytes)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!(
        "{{\"typesize\": {typesize}, \"chunks\": [{}], \"meta\": {{{}}}, \"vlmeta\": {{{}}}}}",
        chunks.collect::<Vec<_>>().join(", "),
        layers(&model.metalayers),
        layers(&model.vlmetalayers)
    )
}

fn read(sc: &mut SuperChunk<'_>) -> Result<Model, Error> {
    let mut model = Model { chunks: sc.chunks().collect::<Result<_, _>>()?, ..Model::default() };
    for name in sc.metalayer_names().collect::<Vec<_>>() {
        let content = sc.metalayer(&name).unwrap_or(&[]).to_vec();
        model.metalayers.push((name, content));
    }
    for name in sc.vlmetalayer_names().collect::<Vec<_>>() {
        let content = sc.vlmetalayer(&name)?.unwrap_or_default();
        model.vlmetalayers.push((name, content));
    }
    Ok(model)
}

fn copy(from: &MemDir, sparse: bool, to: &Path) -> Result<(), Error> {
    if !sparse {
        return Ok(std::fs::write(to, from.get("frame").unwrap_or_default())?);
    }
    std::fs::create_dir(to)?;
    for name in from.list()? {
        std::fs::write(to.join(&name), from.get(&name).unwrap_or_default())?;
    }
    Ok(())
}

fn open_in(dir: impl Directory + Send + Sync + 'static, sparse: bool) -> Result<SuperChunk<'static>, Error> {
    match sparse {
        true => SuperChunk::open_dir(dir, &Limits::DEFAULT),
        false => SuperChunk::open(DirFile::open(dir, "frame")?, &Limits::DEFAULT),
    }
}

fn make(target: &Path, count: usize, seed: u64, crash: bool) -> Result<(), Box<dyn std::error::Error>> {
    for n in 0..count as u64 {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(n) ^ 0x5eed);
        let place = random.below(if crash { 2 } else { 3 });
        let sparse = place == 1;
        let params = params(&mut random);
        let typesize = params.typesize;
        let chunksize =
            typesize as usize * if typesize > 1000 { 1 + random.below(4) } else { 8 + random.below(200) };
        let vl = random.below(4) == 0;
        let mut model = Model { chunksize, portable: true, vl, ..Model::default() };
        let dir = FaultDir::new();
        let mut sc = match place {
            0 => SuperChunk::create(DirFile::create(dir.clone(), "frame")?, &params)?,
            1 => SuperChunk::create_dir(dir.clone(), &params)?,
            _ => SuperChunk::memory(&params)?,
        };
        sc.set_chunksize(chunksize as u32)?;
        if random.below(4) == 0 {
            sc.set_checksums(false);
        }
        for _ in 0..1 + random.below(4) {
            for _ in 0..1 + random.below(5) {
                edit(&mut random, &mut sc, &mut model)?;
            }
            if random.below(6) == 0 {
                sc.compact()?;
            }
            sc.commit()?;
        }
        let mut allowed = vec![describe(typesize, &model)];
        let left = if crash {
            dir.stop_after(random.below(12) as u64);
            // What fails here is what the failing store made fail.
            let _ = edit(&mut random, &mut sc, &mut model).and_then(|_| sc.commit());
            allowed.push(describe(typesize, &model));
            dir.crash_dir(n)
        } else if place == 2 {
            let files = MemDir::new();
            files.put("frame", sc.to_bytes()?);
            files
        } else {
            current(&dir)?
        };
        let text = describe(typesize, &read(&mut open_in(left.clone(), sparse)?)?);
        if !allowed.contains(&text) {
            return Err(format!("history {n} of seed {seed}: neither the state before nor after").into());
        }
        let path = target.join(n.to_string());
        copy(&left, sparse, &path)?;
        std::fs::write(path.with_extension("json"), text)?;
    }
    Ok(())
}

/// The files as a program sees them, with nothing lost.
fn current(dir: &FaultDir) -> Result<MemDir, Error> {
    let copy = MemDir::new();
    for name in dir.list()? {
        copy.put(&name, dir.read(&name, u64::MAX)?);
    }
    Ok(copy)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        [what @ ("make" | "crash"), dir, count, ref seed @ ..] => {
            let seed = seed.first().map_or(Ok(0), |seed| seed.parse())?;
            make(Path::new(dir), count.parse()?, seed, what == "crash")?;
        }
        ["dump", ref paths @ ..] => {
            for path in paths.iter().map(Path::new) {
                let opened = match path.is_dir() {
                    true => FsDir::open(path)
                        .map_err(Error::from)
                        .and_then(|d| SuperChunk::open_dir(d, &Limits::DEFAULT)),
                    false => PathFile::open(path)
                        .map_err(Error::from)
                        .and_then(|f| SuperChunk::open(f, &Limits::DEFAULT)),
                };
                match opened.and_then(|mut sc| Ok(describe(sc.typesize(), &read(&mut sc)?))) {
                    Ok(text) => println!("{text}"),
                    Err(error) => println!("{{\"error\": {:?}}}", error.to_string()),
                }
            }
        }
        _ => return Err("usage: frame_histories make|crash DIR COUNT [SEED], or dump PATH...".into()),
    }
    Ok(())
}
