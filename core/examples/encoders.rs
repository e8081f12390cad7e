//! Sizes and speeds of chunks that two builds of this crate write, on arrays that no encoder was tuned to.
//!
//! ```text
//! encoders measure [codec=lz4,zlib] [level=1,5,9] [array=PART] [chunk=524288] [dictionary=no] [ms=5] [data=FOLDER]
//! encoders compare OLD.tsv NEW.tsv                      rows go to standard output; this prints means of both
//!
//! cargo build --release -p blosc-core --example encoders      (before a change, and after it; keep both binaries)
//! for i in 1 2 3; do ./old measure >>old.tsv; ./new measure >>new.tsv; done; ./new compare old.tsv new.tsv
//! ```
//! A row is array, filter, codec, level, bytes before, bytes after, and the shortest time of compressing and of
//! decompressing in nanoseconds. Where files hold a row several times, `compare` takes the shortest times of all; the
//! loop above runs both builds by turns, so that a change of the machine's speed meets both. Besides the arrays
//! generated here, `data` names a folder of `bench-harness/corpus/large.py`, of whose arrays the middle is taken.
//! `chunk` cuts each array into chunks of so many bytes, whose sizes and times are added up.

use blosc_core::{Chunk, ChunkContext, Codec, Params, Pool};
use blosc_testkit::Random;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Bytes of each array: one chunk.
const LEN: usize = 512 << 10;

/// Name, bytes of an item, and the bytes.
type Array = (String, usize, Vec<u8>);

/// `LEN` bytes of items.
fn fill<const N: usize>(mut item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..LEN / N).flat_map(&mut item).collect();
    bytes.resize(LEN, 0);
    bytes
}

/// A number that is nearly normal, of variance 1.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| (random.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// Floating-point series: smooth, measured, and without a pattern.
fn floats(arrays: &mut Vec<(&'static str, usize, Vec<u8>)>) {
    let random = &mut Random::new(11);
    let wave = |i: usize| {
        let t = i as f64;
        (t * 0.0031).sin() * 40.0 + (t * 0.000_47).cos() * 300.0 + (t * 0.11).sin()
    };
    arrays.push(("smooth_f8", 8, fill(|i| wave(i).to_le_bytes())));
    let field = |i: usize| ((i % 512) as f64 * 0.02).sin() * ((i / 512) as f64 * 0.03).cos() * 25.0 + 280.0;
    arrays.push(("field_f4", 4, fill(|i| (field(i) as f32).to_le_bytes())));
    arrays.push(("sensor_f4", 4, fill(|i| ((wave(i) + normal(random)) as f32).to_le_bytes())));
    let cents = |x: f64| (x * 100.0).round() / 100.0;
    arrays.push(("rounded_f4", 4, fill(|i| (cents(wave(i) + 0.2 * normal(random)) as f32).to_le_bytes())));
    let mut price = 100.0;
    arrays.push((
        "price_f8",
        8,
        fill(|_| {
            price = cents(price + if random.once_in(3) { 0.02 * normal(random) } else { 0.0 });
            price.to_le_bytes()
        }),
    ));
    let mut walk = 0.0;
    let walk = |_| {
        walk += normal(random);
        f64::to_le_bytes(walk)
    };
    arrays.push(("walk_f8", 8, fill(walk)));
    let random = &mut Random::new(12);
    arrays.push(("noise_f4", 4, fill(|_| (normal(random) as f32).to_le_bytes())));
    let sparse = |_| if random.once_in(40) { normal(random) as f32 } else { 0.0 }.to_le_bytes();
    arrays.push(("sparse_f4", 4, fill(sparse)));
}

/// Integers: sorted, counted, timed, and of few values.
fn integers(arrays: &mut Vec<(&'static str, usize, Vec<u8>)>) {
    let random = &mut Random::new(13);
    let mut last = 0u32;
    let sorted = |_| {
        last += 1 + random.below(37) as u32;
        last.to_le_bytes()
    };
    arrays.push(("sorted_i4", 4, fill(sorted)));
    let stamp =
        |i: usize| (1_700_000_000_000_000 + i as u64 * 20_000 + random.below(900) as u64).to_le_bytes();
    arrays.push(("stamps_i8", 8, fill(stamp)));
    let mut level = 0i32;
    let walk = |_| {
        level += random.below(201) as i32 - 100;
        level.to_le_bytes()
    };
    arrays.push(("walk_i4", 4, fill(walk)));
    let adc = |i: usize| ((2000.0 * (i as f64 * 0.01).sin() + 12.0 * normal(random)) as i16).to_le_bytes();
    arrays.push(("adc_i2", 2, fill(adc)));
    // The first of 60 values are frequent.
    let rank = |random: &mut Random| random.below(random.clone().below(60) + 1);
    arrays.push(("category_i4", 4, fill(|_| (1000 + 7 * rank(random) as u32).to_le_bytes())));
    arrays.push(("category_u1", 1, fill(|_| [rank(random) as u8])));
    let mut state = 0;
    let flags = |_| {
        if random.once_in(50) {
            state = random.below(3) as u8;
        }
        [state]
    };
    arrays.push(("flags_u1", 1, fill(flags)));
}

/// Pictures, text and records.
fn others(arrays: &mut Vec<(&'static str, usize, Vec<u8>)>) {
    let random = &mut Random::new(14);
    let shade = |i: usize, random: &mut Random| {
        let (x, y) = ((i % 700) as f64, (i / 700) as f64);
        let edge = if (x - 350.0).hypot(y - 350.0) < 200.0 { 60.0 } else { 0.0 };
        (110.0 + edge + 30.0 * (x * 0.01).sin() * (y * 0.013).cos() + 2.0 * normal(random)) as u8
    };
    arrays.push(("image_u1", 1, fill(|i| [shade(i, random)])));
    let colours = |i: usize| {
        let grey = shade(i, random);
        [grey, grey / 2 + 40 + random.below(2) as u8, 255 - grey]
    };
    arrays.push(("image_rgb", 3, fill(colours)));
    let words: Vec<String> = (0..3000)
        .map(|_| {
            (0..2 + random.below(8)).map(|_| char::from(b"etaoinshrdlucmfw"[random.below(16)])).collect()
        })
        .collect();
    let mut text = Vec::new();
    while text.len() < LEN {
        text.extend(words[random.below(random.clone().below(3000) + 1)].bytes());
        text.push(if random.once_in(12) { b'\n' } else { b' ' });
    }
    text.truncate(LEN);
    arrays.push(("text_u1", 1, text));
    let particle = |i: usize| {
        let mut item = [0; 12];
        item[..4].copy_from_slice(&(i as u32).to_le_bytes());
        item[4..8].copy_from_slice(&((normal(random) * 10.0) as f32).to_le_bytes());
        item[8..10].copy_from_slice(&(random.below(500) as u16).to_le_bytes());
        item[10] = random.below(4) as u8;
        item
    };
    arrays.push(("struct_12", 12, fill(particle)));
    let (mut time, mut price) = (1_700_000_000_000u64, 5000i64);
    let trade = |_| {
        time += random.below(40) as u64;
        price += random.below(5) as i64 - 2;
        let mut item = [0; 24];
        item[..8].copy_from_slice(&time.to_le_bytes());
        item[8..16].copy_from_slice(&(price as f64 / 100.0).to_le_bytes());
        item[16..20].copy_from_slice(&(100 * (1 + random.below(9)) as u32).to_le_bytes());
        item[20] = b'A' + random.below(6) as u8;
        item
    };
    arrays.push(("struct_24", 24, fill(trade)));
}

/// All arrays: generated ones, and those of files named `NAME.i4` in a folder.
fn arrays(folder: Option<&str>) -> Vec<Array> {
    let mut made = Vec::new();
    floats(&mut made);
    integers(&mut made);
    others(&mut made);
    let mut all: Vec<Array> = made.into_iter().map(|(name, size, data)| (name.into(), size, data)).collect();
    let mut files: Vec<_> = folder
        .iter()
        .flat_map(|f| std::fs::read_dir(f).expect("a folder"))
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    for path in files.iter().filter(|path| path.is_file()) {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let size: usize = kind.get(1..).and_then(|size| size.parse().ok()).expect("a file such as NAME.f4");
        let data = std::fs::read(path).expect("a file");
        let from = data.len().saturating_sub(LEN) / 2 / size * size;
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        all.push((stem, size, data[from..data.len().min(from + LEN)].to_vec()));
    }
    all
}

/// The shortest time of `run`, which is repeated for as long as `least`, twice at least.
fn shortest(least: Duration, mut run: impl FnMut()) -> u128 {
    let (begun, mut best) = (Instant::now(), u128::MAX);
    for round in 0.. {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos());
        if round > 0 && begun.elapsed() >= least {
            break;
        }
    }
    best
}

fn measure(option: impl Fn(&str) -> Option<String>) {
    let list = |key: &str, default: &str| -> Vec<String> {
        option(key).unwrap_or(default.into()).split(',').map(String::from).collect()
    };
    let levels: Vec<u8> = list("level", "1,5,9").iter().map(|l| l.parse().expect("a level")).collect();
    let least = Duration::from_millis(option("ms").map_or(5, |ms| ms.parse().expect("milliseconds")));
    let len = option("chunk").map_or(LEN, |len| len.parse().expect("bytes"));
    let dictionary = option("dictionary").is_some_and(|answer| answer == "yes");
    let (wanted, pool) = (option("array").unwrap_or_default(), &mut Pool::new(1));
    for (name, size, data) in
        arrays(option("data").as_deref()).iter().filter(|array| array.0.contains(&wanted))
    {
        let mut back = vec![0; data.len()];
        for codec in list("codec", "blosclz,lz4,lz4hc,zlib,zstd") {
            let codec: Codec = codec.parse().expect("a codec");
            for (filter, level) in ["none", "shuffle", "bitshuffle"]
                .iter()
                .flat_map(|f| levels.iter().map(move |level| (f, *level)))
            {
                let params = Params::new(*size as u32).codec(codec).level(level);
                let params = match *filter {
                    "none" => params.no_filter(),
                    "bitshuffle" => params.bitshuffle(),
                    _ => params,
                };
                let params = params.dictionary(dictionary).blosc1(codec == Codec::Snappy).fit(len);
                let mut compress = || -> Vec<Vec<u8>> {
                    data.chunks(len)
                        .map(|part| pool.compress(&params, part).expect("legal parameters"))
                        .collect()
                };
                let (chunks, encode) = (compress(), shortest(least, || drop(compress())));
                let parsed: Vec<Chunk<'_>> =
                    chunks.iter().map(|chunk| Chunk::parse(chunk).expect("our own chunk")).collect();
                let decode = shortest(least, || {
                    for (chunk, part) in parsed.iter().zip(back.chunks_mut(len)) {
                        pool.decompress_into(chunk, ChunkContext::default(), part).expect("our own chunk");
                    }
                });
                assert!(back == *data, "{name} {filter} {codec} {level}");
                println!(
                    "{name}\t{filter}\t{codec}\t{level}\t{}\t{}\t{encode}\t{decode}",
                    data.len(),
                    chunks.iter().map(Vec::len).sum::<usize>()
                );
            }
        }
    }
}

/// Size and both times of each row, the shortest of all.
fn rows(path: &str) -> BTreeMap<String, [f64; 3]> {
    let mut rows = BTreeMap::new();
    for line in std::fs::read_to_string(path).expect("rows").lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let figures = [5, 6, 7].map(|column| cells[column].parse::<f64>().expect("a figure"));
        let row = rows.entry(cells[..4].join("\t")).or_insert(figures);
        *row = [0, 1, 2].map(|i| row[i].min(figures[i]));
    }
    rows
}

/// Geometric means of old to new times (above 1 the new build is faster) and of new to old sizes, and the row with the
/// largest and the smallest ratio of the sizes.
fn compare(old: &str, new: &str) {
    let (old, new) = (rows(old), rows(new));
    let mut groups: BTreeMap<String, Vec<([f64; 3], String)>> = BTreeMap::new();
    for (key, old) in &old {
        let Some(new) = new.get(key) else { continue };
        let ratios = [new[0] / old[0], old[1] / new[1], old[2] / new[2]];
        let cells: Vec<&str> = key.split('\t').collect();
        let group = format!("{:10} {:10} {}", cells[2], cells[1], cells[3]);
        for group in [group, format!("{:10} all", cells[2]), "all".into()] {
            groups.entry(group).or_default().push((ratios, cells[0].into()));
        }
    }
    println!(
        "{:24} arrays    size  compress  decompress   smallest and largest ratio of sizes, slowest to compress",
        ""
    );
    for (group, mut rows) in groups {
        let mean = |i: usize| (rows.iter().map(|row| row.0[i].ln()).sum::<f64>() / rows.len() as f64).exp();
        let (size, encode, decode) = (mean(0), mean(1), mean(2));
        print!("{group:24} {:6}  {size:.4}    {encode:.3}       {decode:.3}   ", rows.len());
        rows.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        let slowest = rows.iter().min_by(|a, b| a.0[1].total_cmp(&b.0[1])).expect("a row");
        let (small, large) = (&rows[0], &rows[rows.len() - 1]);
        println!(
            "{:.3} {} {:.3} {} {:.2} {}",
            small.0[0], small.1, large.0[0], large.1, slowest.0[1], slowest.1
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option =
        |key: &str| args.iter().find_map(|a| Some(a.strip_prefix(key)?.strip_prefix('=')?.to_string()));
    match args.first().map(String::as_str) {
        Some("measure") => measure(option),
        Some("compare") if args.len() == 3 => compare(&args[1], &args[2]),
        _ => panic!("encoders measure [key=value]..., or encoders compare OLD.tsv NEW.tsv"),
    }
}
