//! Speed of the kernels against `memcpy` of the same size, both timed in turn in one process.
//!
//! ```sh
//! cargo run --release -p blosc-core --example kernel_speed -- [op=..] [isa=..] [width=..] [size=..] [ms=..]
//! ```
//! Lists are comma-separated: `op=shuffle,bitunshuffle width=2,4 size=16K,256K isa=avx512`. Each cell
//! is GB/s and, in brackets, the ratio to `memcpy`: the median over the rounds.

use blosc_core::filter::FilterError;
use blosc_core::filter::bitshuffle::{bitshuffle, bitunshuffle};
use blosc_core::filter::shuffle::{shuffle, unshuffle};
use blosc_core::{Isa, Level};
use std::hint::black_box;
use std::time::{Duration, Instant};

type Filter = fn(Level, usize, &[u8], &mut [u8]) -> Result<(), FilterError>;

const OPS: [(&str, Filter); 4] = [
    ("shuffle", |l, w, s, o| shuffle(l, w, s, o)),
    ("unshuffle", |l, w, s, o| unshuffle(l, w, s, o)),
    ("bitshuffle", |l, w, s, o| bitshuffle(l, w, s, o)),
    ("bitunshuffle", |l, w, s, o| bitunshuffle(l, w, s, o)),
];

/// A buffer that begins at a cache line.
struct Lined(Vec<u8>, usize);

impl Lined {
    fn new(len: usize, seed: u8) -> Lined {
        let bytes: Vec<u8> =
            (0..len + 64).map(|i| (i as u32).wrapping_mul(2_654_435_761) as u8 ^ seed).collect();
        let skip = bytes.as_ptr().align_offset(64);
        Lined(bytes, skip)
    }
    fn get(&mut self, len: usize) -> &mut [u8] {
        &mut self.0[self.1..][..len]
    }
}

fn list<'a>(args: &'a [String], key: &str, default: &'a str) -> Vec<&'a str> {
    let found = args.iter().find_map(|a| a.strip_prefix(key)?.strip_prefix('='));
    found.unwrap_or(default).split(',').collect()
}

fn bytes_of(size: &str) -> usize {
    let (digits, unit) = match size.as_bytes() {
        [.., b'K'] => (&size[..size.len() - 1], 1 << 10),
        [.., b'M'] => (&size[..size.len() - 1], 1 << 20),
        _ => (size, 1),
    };
    digits.parse::<usize>().expect("a size such as 256K") * unit
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Seconds per run of `a` and of `b`, in turn: pairs.
fn in_turn(
    budget: Duration,
    out: &mut [u8],
    a: impl Fn(&mut [u8]),
    b: impl Fn(&mut [u8]),
) -> Vec<(f64, f64)> {
    let mut time = |times: u32, f: &dyn Fn(&mut [u8])| {
        let start = Instant::now();
        (0..times).for_each(|_| f(black_box(&mut *out)));
        start.elapsed().as_secs_f64() / f64::from(times)
    };
    let once = time(1, &a).max(time(1, &b)).max(1e-9);
    let times = (5e-5 / once).ceil() as u32;
    let start = Instant::now();
    let mut pairs = vec![];
    while pairs.len() < 5 || start.elapsed() < budget {
        pairs.push((time(times, &a), time(times, &b)));
    }
    pairs
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ops = list(&args, "op", "shuffle,unshuffle,bitshuffle,bitunshuffle");
    let widths = list(&args, "width", "1,2,3,4,8,12,16");
    let sizes = list(&args, "size", "16K,256K,4M");
    let isas = list(&args, "isa", "all");
    let budget = Duration::from_millis(list(&args, "ms", "20")[0].parse().expect("milliseconds"));
    let largest = sizes.iter().map(|s| bytes_of(s)).max().unwrap_or(0);
    let (mut from, mut to) = (Lined::new(largest, 0), Lined::new(largest, 1));

    print!("{:<13}{:>5} {:<10}", "kernel", "width", "level");
    sizes.iter().for_each(|size| print!("{size:>16}"));
    println!();
    for (name, run) in OPS.into_iter().filter(|(name, _)| ops.contains(name)) {
        for width in widths.iter().map(|w| w.parse::<usize>().expect("a width")) {
            if width == 1 && !name.starts_with("bit") {
                continue;
            }
            for level in Level::available() {
                if !isas.contains(&"all") && !isas.iter().any(|&isa| Isa::from_name(isa) == Some(level.isa()))
                {
                    continue;
                }
                print!("{name:<13}{width:>5} {:<10}", level.isa().name());
                for len in sizes.iter().map(|s| bytes_of(s)) {
                    let src: &[u8] = from.get(len);
                    let out = to.get(len);
                    let mut want = vec![0; len];
                    run(Level::SCALAR, width, src, &mut want).expect("equal lengths");
                    run(level, width, src, out).expect("equal lengths");
                    assert!(out == want, "{name} {width} {level:?} is wrong");
                    let kernel = |out: &mut [u8]| _ = black_box(run(level, width, black_box(src), out));
                    let pairs = in_turn(budget, out, kernel, |out| out.copy_from_slice(black_box(src)));
                    let speed = len as f64 / median(pairs.iter().map(|p| p.0).collect()) / 1e9;
                    let ratio = median(pairs.iter().map(|p| p.1 / p.0).collect());
                    print!("{speed:>9.1} [{ratio:.2}]");
                }
                println!();
            }
        }
    }
}
