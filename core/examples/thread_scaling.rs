//! How long chunks take that are only copied, with one thread and with several: medians of nine runs, 64 MiB of random bytes.
//!
//! ```text
//! cargo run --release -p blosc-core --example thread_scaling [threads, 2 if not given]
//! ```

use blosc_core::chunk::special;
use blosc_core::{Chunk, Codec, Params, Pool};

#[path = "../tests/it/common/mod.rs"]
mod common;

fn main() {
    let many = std::env::args().nth(1).map_or(2, |threads| threads.parse().expect("a number of threads"));
    let mut rng = common::Rng::new(1);
    let data: Vec<u8> = (0..8 << 20).flat_map(|_| rng.next().to_le_bytes()).collect();
    let unshuffled = Params::new(4).codec(Codec::BloscLz).no_filter();
    let shuffled = Params::new(4).codec(Codec::BloscLz);
    let stored = Pool::new(1).compress(&Params::new(4).level(0), &data).unwrap();
    let zeros = special::zeros(4, data.len()).unwrap();
    let time = |threads: usize, work: &dyn Fn(&mut Pool)| {
        let mut pool = Pool::new(threads);
        let mut times: Vec<_> = (0..9)
            .map(|_| {
                let start = std::time::Instant::now();
                work(&mut pool);
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[4]
    };
    let print = |name: &str, work: &dyn Fn(&mut Pool)| {
        let (one, several) = (time(1, work), time(many, work));
        println!(
            "figure  {name}: 1 thread {one:.1} ms, {many} threads {several:.1} ms, {:.2} times",
            one / several
        );
    };
    print("decompress, stored", &|pool| drop(pool.decompress(&Chunk::parse(&stored).unwrap())));
    print("decompress, zeros", &|pool| drop(pool.decompress(&Chunk::parse(&zeros).unwrap())));
    print("compress, level 0", &|pool| drop(pool.compress(&Params::new(4).level(0), &data)));
    print("compress, BloscLZ gives up, no filter", &|pool| drop(pool.compress(&unshuffled, &data)));
    print("compress, BloscLZ gives up, shuffle", &|pool| drop(pool.compress(&shuffled, &data)));
}
