//! Writes frames made by random edit histories, with what each should hold, for other programs to read.
//!
//! ```text
//! frame_histories make DIR COUNT [SEED]   DIR/N (frame or directory) and DIR/N.json: chunk lengths and
//!                                         hashes, metalayers and vlmetalayers in hex
//! frame_histories crash DIR COUNT [SEED]  as above, but each frame is what a power failure left of a
//!                                         commit; DIR/N.json is the state before or after
//! frame_histories dump PATH               prints that JSON for a frame written by anyone
//! ```
use blosc_core::{Codec, Params, Special};
use blosc_frame::io::{DirFile, Directory, FaultDir, FsDir, MemDir, PathFile};
use blosc_frame::{Error, Limits, SuperChunk};
use std::path::Path;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 ^ self.0 >> 29) * n.max(1) as u128) >> 64) as usize
    }
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        match self.below(3) {
            0 => vec![0; len],
            1 => (0..len).map(|i| (i / 5) as u8).collect(),
            _ => (0..len).map(|_| self.below(256) as u8).collect(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// FNV-1a: short, and three lines in any language.
fn hash(bytes: &[u8]) -> String {
    let fold = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

fn describe(sc: &mut SuperChunk<'_>) -> Result<String, Error> {
    let mut chunks = Vec::new();
    for k in 0..sc.nchunks() {
        let data = sc.read_chunk(k)?;
        chunks.push(format!("[{}, \"{}\"]", data.len(), hash(&data)));
    }
    let mut layers = [Vec::new(), Vec::new()];
    for name in sc.metalayer_names().collect::<Vec<_>>() {
        layers[0].push(format!("\"{name}\": \"{}\"", hex(sc.metalayer(&name).unwrap_or(&[]))));
    }
    for name in sc.vlmetalayer_names().collect::<Vec<_>>() {
        let content = sc.vlmetalayer(&name)?.unwrap_or_default();
        layers[1].push(format!("\"{name}\": \"{}\"", hex(&content)));
    }
    Ok(format!(
        "{{\"typesize\": {}, \"chunks\": [{}], \"meta\": {{{}}}, \"vlmeta\": {{{}}}}}",
        sc.typesize(),
        chunks.join(", "),
        layers[0].join(", "),
        layers[1].join(", ")
    ))
}

/// A few random edits; those the format cannot hold are refused and skipped.
fn edit(sc: &mut SuperChunk<'_>, random: &mut Random, chunksize: usize) -> Result<(), Error> {
    let typesize = sc.typesize() as usize;
    for _ in 0..1 + random.below(5) {
        let n = sc.nchunks() as usize;
        let k = random.below(n.max(1)) as u64;
        let items = random.below(2 * chunksize / typesize) + 1;
        let len = if random.below(3) > 0 { chunksize } else { items * typesize };
        let data = random.bytes(len);
        let result = match random.below(10) {
            0 | 1 => sc.append_data(&data),
            2 => sc.append(&random.bytes(3 * len)),
            3 => sc.insert(random.below(n + 1) as u64, &data),
            4 if n > 0 => sc.update(k, &data),
            5 if n > 1 => sc.delete(k),
            6 if n > 1 => {
                let mut order: Vec<u64> = (0..n as u64).collect();
                order.rotate_left(random.below(n));
                sc.reorder(&order)
            }
            7 => sc.fill_special(Special::Zeros, len as u64),
            8 => {
                let content = [&[0xc4, 20][..], &random.bytes(20)[..]].concat();
                sc.set_vlmetalayer(&format!("vl{}", random.below(4)), &content)
            }
            _ => {
                let content = [&[0xc4, 9][..], &random.bytes(9)[..]].concat();
                sc.set_metalayer(&format!("meta{}", random.below(3)), &content)
            }
        };
        match result {
            Err(Error::Param { .. } | Error::Limit { .. }) | Ok(()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn params(random: &mut Random) -> (Params, usize) {
    let typesize = [1, 2, 4, 8, 16][random.below(5)];
    let codec = [Codec::BloscLz, Codec::Lz4, Codec::Zstd, Codec::Zlib, Codec::Lz4Hc][random.below(5)];
    let params = Params::new(typesize as u32).codec(codec).level([0, 1, 5][random.below(3)]);
    (params, typesize * (8 + random.below(200)))
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

fn open_in(dir: impl Directory + Send + 'static, sparse: bool) -> Result<SuperChunk<'static>, Error> {
    match sparse {
        true => SuperChunk::open_dir(dir, &Limits::DEFAULT),
        false => SuperChunk::open(DirFile::open(dir, "frame")?, &Limits::DEFAULT),
    }
}

fn make(target: &Path, count: usize, seed: u64, crash: bool) -> Result<(), Error> {
    for n in 0..count as u64 {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(n) ^ 0x5eed);
        random.below(2);
        let sparse = random.below(3) == 0;
        let (params, chunksize) = params(&mut random);
        let dir = FaultDir::new();
        let mut sc = match sparse {
            true => SuperChunk::create_dir(dir.clone(), &params)?,
            false => SuperChunk::create(DirFile::create(dir.clone(), "frame")?, &params)?,
        };
        sc.set_chunksize(chunksize as u32)?;
        for _ in 0..1 + random.below(4) {
            edit(&mut sc, &mut random, chunksize)?;
            sc.commit()?;
        }
        if crash {
            dir.stop_after(random.below(12) as u64);
            let _ = edit(&mut sc, &mut random, chunksize).and_then(|()| sc.commit());
        }
        let left = dir.crash_dir(if crash { n } else { 1 });
        let left = if crash { left } else { current(&dir)? };
        let text = describe(&mut open_in(left.clone(), sparse)?)?;
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
        ["dump", path] => {
            let path = Path::new(path);
            let mut sc = match path.is_dir() {
                true => SuperChunk::open_dir(FsDir::open(path)?, &Limits::DEFAULT)?,
                false => SuperChunk::open(PathFile::open(path)?, &Limits::DEFAULT)?,
            };
            println!("{}", describe(&mut sc)?);
        }
        _ => return Err("usage: frame_histories make|crash DIR COUNT [SEED], or dump PATH".into()),
    }
    Ok(())
}
