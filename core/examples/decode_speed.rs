//! Speed of the LZ decoders on fifteen kinds of generated arrays of 2 MiB, new ones for each seed.
//!
//! ```text
//! cargo run --release -p blosc-core --example decode_speed [seed, 1 if not given] [rounds, 5] [level of the kernels, the best]
//! ```
//! Each row is the geometric mean, in GB/s of decoded bytes, over the kinds whose chunk has streams. Between two measurements
//! other chunks are decoded, so that none finds its own branches predicted. To compare two builds, run them by turns.

use blosc_core::{Chunk, Codec, Decoder, Isa, Level, Params, Pool};
use std::time::Instant;

#[path = "../tests/it/common/mod.rs"]
mod common;
use common::Rng;

const LEN: usize = 2 << 20;

/// A number in 0..1.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number of a normal distribution, nearly.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

/// `len` bytes of items, each written by `item`, which gets its index.
fn items<const N: usize>(len: usize, item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    (0..len / N).flat_map(item).collect()
}

/// Name, item size and bytes of one kind.
type Array = (&'static str, u32, Vec<u8>);

fn kinds(len: usize, seed: u64) -> Vec<Array> {
    let rng = &mut Rng::new(seed);
    [series(len, rng), grids(len, rng), tables(len, rng)].concat()
}

/// Values that follow from the one before, or from the time.
fn series(len: usize, r: &mut Rng) -> Vec<Array> {
    let mut level = 280.0;
    let walk = items(len, |_| {
        level += normal(r) * 0.02;
        (level as f32).to_le_bytes()
    });
    let sine =
        items(len, |i| (((i as f64 * 0.003).sin() * 1e4 + normal(r) * 3.0).round() / 100.0).to_le_bytes());
    let mut sorted = 0i32;
    let sorted = items(len, |_| {
        sorted += r.below(50) as i32;
        sorted.to_le_bytes()
    });
    let mut stamp = 1_700_000_000_000_000i64;
    let stamps = items(len, |_| {
        stamp += 1_000_000 + (normal(r) * 40.0) as i64;
        stamp.to_le_bytes()
    });
    let (mut last, mut before) = (0.0, 0.0);
    let sound = items(len, |_| {
        (last, before) = (1.9 * last - 0.95 * before + normal(r) * 60.0, last);
        (last as i16).to_le_bytes()
    });
    let mut price = 100.0f64;
    let prices = items(len, |_| {
        price += if r.below(3) == 0 { normal(r) * 0.05 } else { 0.0 };
        ((price * 100.0).round() / 100.0).to_le_bytes()
    });
    vec![
        ("walk f4", 4, walk),
        ("sine f8", 8, sine),
        ("sorted i4", 4, sorted),
        ("stamps i8", 8, stamps),
        ("sound i2", 2, sound),
        ("prices f8", 8, prices),
    ]
}

/// Rows of pixels or of points.
fn grids(len: usize, r: &mut Rng) -> Vec<Array> {
    let blobs: Vec<[f64; 4]> = (0..30)
        .map(|_| [unit(r) * 1024.0, unit(r) * 1024.0, 10.0 + unit(r) * 80.0, unit(r) * 3000.0])
        .collect();
    let pixel = |i: usize| {
        let (y, x) = ((i / 1024) as f64, (i % 1024) as f64);
        let far = |b: &[f64; 4]| ((y - b[0]).powi(2) + (x - b[1]).powi(2)) / (b[2] * b[2]);
        blobs.iter().map(|b| b[3] * (-far(b)).exp()).sum::<f64>()
    };
    let image = items(len, |i| ((500.0 + pixel(i) + normal(r) * 6.0) as u16).to_le_bytes());
    let camera = items(len, |i| [((100.0 + pixel(i) + normal(r) * 0.4) / 12.0) as u8]);
    let field = items(len, |i| {
        let (y, x) = ((i / 720) as f64, (i % 720) as f64);
        let v = 15.0 * (y * 0.01).cos() + 3.0 * (x * 0.05).sin() + normal(r) * 0.3;
        ((v * 20.0).round() as f32 / 20.0).to_le_bytes()
    });
    vec![("image u2", 2, image), ("camera u1", 1, camera), ("field f4", 4, field)]
}

/// Values that occur again.
fn tables(len: usize, r: &mut Rng) -> Vec<Array> {
    let classes = items(len, |_| ((unit(r).powi(3) * 200.0) as u32 * 7919).to_le_bytes());
    let records = items(len, |i| {
        let mut record = [0; 12];
        record[..4].copy_from_slice(&(i as u32).to_le_bytes());
        record[4..8].copy_from_slice(&(((20.0 + normal(r)) * 10.0).round() as f32 / 10.0).to_le_bytes());
        record[8] = r.below(5) as u8;
        record[10..].copy_from_slice(&(r.below(300) as u16).to_le_bytes());
        record
    });
    let words: Vec<Vec<u8>> = (0..800)
        .map(|_| (0..2 + r.below(8)).map(|_| b'a' + (unit(r) * unit(r) * 26.0) as u8).collect())
        .collect();
    let mut text = Vec::new();
    while text.len() < len {
        text.extend_from_slice(&words[(unit(r).powi(2) * 800.0) as usize]);
        text.push(b' ');
    }
    text.truncate(len);
    let sparse = items(len, |_| match r.below(20) {
        0 => (normal(r) as f32).to_le_bytes(),
        _ => [0; 4],
    });
    let (mut left, mut value) = (0, 0i32);
    let runs = items(len, |_| {
        if left == 0 {
            (left, value) = (1 + r.below(40), r.below(1000) as i32);
        }
        left -= 1;
        value.to_le_bytes()
    });
    let keys: Vec<u64> = (0..64).map(|_| r.next()).collect();
    let keys = items(len, |_| (keys[r.below(64)] ^ r.below(256) as u64).to_le_bytes());
    vec![
        ("classes u4", 4, classes),
        ("records of 12", 12, records),
        ("text u1", 1, text),
        ("sparse f4", 4, sparse),
        ("runs i4", 4, runs),
        ("keys u8", 8, keys),
    ]
}

/// Decoded bytes by nanosecond: the median of `rounds`, with `others` decoded before each.
fn speed(level: Level, chunk: &Chunk<'_>, wanted: &[u8], others: &[Vec<u8>], rounds: usize) -> f64 {
    let mut work = vec![0; Decoder::work_len(chunk)];
    let mut out = vec![0; wanted.len()];
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            others.iter().for_each(|other| drop(blosc_core::decompress(other).expect("a chunk")));
            let mut decoder = Decoder::new(level, &mut work);
            let start = Instant::now();
            decoder.decode(chunk, &mut out[..]).expect("a chunk");
            start.elapsed().as_secs_f64()
        })
        .collect();
    assert!(out == wanted);
    times.sort_by(f64::total_cmp);
    wanted.len() as f64 / times[rounds / 2] / 1e9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |default| args.next().map_or(default, |arg| arg.parse::<u64>().expect("a number"));
    let (seed, rounds) = (number(1), number(5) as usize);
    let level = args.next().map_or(Level::best(), |name| {
        Level::new(name.parse::<Isa>().expect("an instruction set")).expect("one of this machine")
    });
    let kinds_of = kinds(LEN, seed);
    let codecs = [Codec::Lz4, Codec::Lz4Hc, Codec::BloscLz];
    let others: Vec<Vec<u8>> = kinds(LEN / 8, seed + 1)
        .iter()
        .step_by(5)
        .flat_map(|(_, size, bytes)| {
            codecs
                .map(|codec| blosc_core::compress(&Params::new(*size).codec(codec), bytes).expect("a chunk"))
        })
        .collect();
    for codec in codecs {
        for filter in ["none", "shuffle", "bitshuffle"] {
            for clevel in [1, 5, 9] {
                let (mut sum, mut count) = (0.0, 0);
                for (_, size, bytes) in &kinds_of {
                    let params = Params::new(*size).codec(codec).level(clevel);
                    let params = match filter {
                        "none" => params.no_filter(),
                        "shuffle" => params,
                        _ => params.bitshuffle(),
                    };
                    let bytes_of_chunk = Pool::new(1).compress(&params, bytes).expect("a chunk");
                    let chunk = Chunk::parse(&bytes_of_chunk).expect("a chunk");
                    if chunk.header().has_streams() {
                        sum += speed(level, &chunk, bytes, &others, rounds).ln();
                        count += 1;
                    }
                }
                println!(
                    "{codec} {filter} {clevel}: {:.2} GB/s over {count} kinds",
                    (sum / f64::from(count)).exp()
                );
            }
        }
    }
}
