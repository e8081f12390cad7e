//! Our zlib decoder and encoder against zlib-rs on filtered arrays, all streams of all arrays in turn.
//!
//! ```text
//! cargo run --release -p blosc-core --example zlib_speed read|write [rounds [levels [part of a row's name]]]
//! ```
//! One line per array, filter and level (`1,5,9` where none are named): medians of both speeds in GB/s of plain bytes, their
//! ratio (above 1 ours is faster), and where we write the ratio of the sizes (below 1 ours is smaller). Between two runs of
//! a stream come all the others, so that the CPU does not know any of them by heart.

use blosc_core::codec::zlib;
use blosc_core::codec::zlib::deflate;
use blosc_core::filter::{bitshuffle::bitshuffle, shuffle::shuffle};
use blosc_core::{Level, Out};
use std::time::Instant;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

#[path = "../tests/it/common/mod.rs"]
mod common;

/// The arrays of `bench-harness/corpus` and the sizes of their items.
const CORPUS: [(&str, usize); 10] = [
    ("aia_counts", 4),
    ("camera", 1),
    ("ecg", 2),
    ("elevation", 2),
    ("goes_flux", 4),
    ("goes_time", 8),
    ("lambda_dna", 1),
    ("oil_prices", 8),
    ("sf_temps", 4),
    ("tz_changes", 8),
];

struct Row {
    name: String,
    level: u8,
    plain: Vec<u8>,
    packed: Vec<u8>,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

fn arrays() -> Vec<(String, usize, Vec<u8>)> {
    let mut arrays = vec![];
    for (name, width) in CORPUS {
        let path = format!("{}/../bench-harness/corpus/{name}.bin", env!("CARGO_MANIFEST_DIR"));
        arrays.push((name.to_string(), width, std::fs::read(path).expect("corpus")));
    }
    let mut rng = common::Rng::new(7);
    let (mut height, n) = (0i32, (512 << 10) / 8);
    let walk = (0..2 * n).flat_map(|_| {
        height += (rng.next() % 201) as i32 - 100;
        height.to_le_bytes()
    });
    arrays.push(("walk".into(), 4, walk.collect()));
    let mut rng = common::Rng::new(8);
    let waves = (0..n).flat_map(|i| {
        let noise = (rng.next() % 1000) as f64;
        (((i as f64 * 0.003).sin() * 1e5 + noise).round() / 100.0).to_le_bytes()
    });
    arrays.push(("waves".into(), 8, waves.collect()));
    for (name, data) in common::kinds(256 << 10) {
        if ["floats", "integers", "runs", "text", "zeros", "mixed"].contains(&name) {
            arrays.push((format!("k:{name}"), if name == "integers" { 8 } else { 4 }, data));
        }
    }
    arrays
}

fn rows(levels: &[u8], wanted: &str) -> Vec<Row> {
    let mut rows = vec![];
    for (name, width, data) in arrays() {
        for filter in ["plain", "shuffle", "bits"] {
            let mut plain = data.clone();
            match filter {
                "shuffle" => shuffle(Level::best(), width, &data, &mut plain[..]).expect("lengths agree"),
                "bits" => bitshuffle(Level::best(), width, &data, &mut plain[..]).expect("lengths agree"),
                _ => {}
            }
            for &level in levels {
                let name = format!("{name} {filter} {level}");
                if !name.contains(wanted) {
                    continue;
                }
                let mut packed = vec![0; plain.len() + plain.len() / 8 + 1000];
                let n = deflate_by_zlib_rs(&mut state_of(level), &plain, &mut packed);
                packed.truncate(n);
                rows.push(Row { name, level, plain: plain.clone(), packed, ours: vec![], theirs: vec![] });
            }
        }
    }
    rows
}

/// A state of zlib-rs that encodes at `level`.
fn state_of(level: u8) -> Deflate {
    Deflate::new(level.into(), true, 15)
}

/// Compresses `src` to the start of `dst` by zlib-rs; returns the size.
fn deflate_by_zlib_rs(state: &mut Deflate, src: &[u8], dst: &mut [u8]) -> usize {
    state.reset();
    let status = state.compress(src, dst, DeflateFlush::Finish);
    assert!(matches!(status, Ok(Status::StreamEnd)), "there is room");
    state.total_out() as usize
}

/// Expands `src` to exactly `out` by zlib-rs.
fn inflate_by_zlib_rs(state: &mut Inflate, src: &[u8], out: &mut [u8]) {
    state.reset(true);
    let status = state.decompress(src, out, InflateFlush::Finish);
    assert!(matches!(status, Ok(Status::StreamEnd)) && state.total_out() == out.len() as u64);
}

/// Times both decoders; returns the ratios of the sizes, which are the same streams.
fn read(rows: &mut [Row], rounds: usize) -> Vec<f64> {
    let mut state = Inflate::new(true, 15);
    let mut work = vec![0; zlib::DECODE_WORK_LEN];
    let mut out = vec![0; 1 << 20];
    for row in &*rows {
        let out = &mut out[..row.plain.len()];
        let result = zlib::decode(&row.packed, Out::from(&mut *out), &mut work);
        assert!(result.is_ok() && *out == row.plain, "{}: {result:?}", row.name);
    }
    for _ in 0..rounds {
        for row in &mut *rows {
            let out = &mut out[..row.plain.len()];
            let t = Instant::now();
            zlib::decode(&row.packed, Out::from(out), &mut work).expect("valid");
            row.ours.push(t.elapsed().as_secs_f64());
        }
        for row in &mut *rows {
            let out = &mut out[..row.plain.len()];
            let t = Instant::now();
            inflate_by_zlib_rs(&mut state, &row.packed, out);
            row.theirs.push(t.elapsed().as_secs_f64());
        }
    }
    vec![1.0; rows.len()]
}

/// Times both encoders; returns the ratios of the sizes.
fn write(rows: &mut [Row], rounds: usize) -> Vec<f64> {
    let mut dst = vec![0; 2 << 20];
    let mut ratios = vec![];
    for row in &mut *rows {
        let mut work = vec![0; deflate::work_len(row.level, row.plain.len())];
        let len = deflate::encode(&row.plain, &mut dst, row.level, &mut work).expect("there is room");
        let mut out = vec![0; row.plain.len()];
        inflate_by_zlib_rs(&mut Inflate::new(true, 15), &dst[..len], &mut out);
        assert!(out == row.plain, "{}", row.name);
        ratios.push(len as f64 / row.packed.len() as f64);
    }
    for _ in 0..rounds {
        for row in &mut *rows {
            let mut work = vec![0; deflate::work_len(row.level, row.plain.len())];
            let t = Instant::now();
            deflate::encode(&row.plain, &mut dst, row.level, &mut work).expect("there is room");
            row.ours.push(t.elapsed().as_secs_f64());
        }
        for row in &mut *rows {
            let mut state = state_of(row.level);
            let t = Instant::now();
            deflate_by_zlib_rs(&mut state, &row.plain, &mut dst);
            row.theirs.push(t.elapsed().as_secs_f64());
        }
    }
    ratios
}

/// Sums of logarithms and how many there are.
#[derive(Default)]
struct Mean(f64, f64, u32);

fn main() {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let rounds = args.next().and_then(|a| a.parse::<usize>().ok()).unwrap_or(15);
    let levels = args.next().unwrap_or("1,5,9".into());
    let levels: Vec<u8> = levels.split(',').filter_map(|level| level.parse().ok()).collect();
    let mut rows = rows(&levels, &args.next().unwrap_or_default());
    let sizes = match what.as_str() {
        "read" => read(&mut rows, rounds),
        "write" => write(&mut rows, rounds),
        _ => return eprintln!("read or write?"),
    };
    println!(
        "{:30} {:>8} {:>7} {:>7} {:>6} {:>6}",
        "array filter level", "packed", "ours", "theirs", "ratio", "size"
    );
    let mut means: Vec<(String, Mean)> = vec![];
    let mut worst = f64::MAX;
    for (row, size) in rows.iter_mut().zip(sizes) {
        row.ours.sort_by(f64::total_cmp);
        row.theirs.sort_by(f64::total_cmp);
        let (a, b) = (row.ours[row.ours.len() / 2], row.theirs[row.theirs.len() / 2]);
        let (len, ratio) = (row.plain.len() as f64, b / a);
        let packed = len / row.packed.len() as f64;
        println!(
            "{:30} {packed:7.2}x {:7.3} {:7.3} {ratio:6.2} {size:6.3}",
            row.name,
            len / a / 1e9,
            len / b / 1e9
        );
        worst = worst.min(ratio);
        let filter = row.name.split(' ').nth(1).unwrap_or_default();
        for key in [format!("level {}", row.level), filter.to_string()] {
            if !means.iter().any(|(known, _)| *known == key) {
                means.push((key.clone(), Mean::default()));
            }
            for (_, mean) in means.iter_mut().filter(|(known, _)| *known == key) {
                *mean = Mean(mean.0 + ratio.ln(), mean.1 + size.ln(), mean.2 + 1);
            }
        }
    }
    for (key, Mean(speed, size, n)) in means {
        let mean = |sum: f64| (sum / f64::from(n)).exp();
        println!("{key}: geometric means of {n}: speed {:.3}, size {:.3}", mean(speed), mean(size));
    }
    println!("worst speed {worst:.2}");
}
