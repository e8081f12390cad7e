//! How long chunks take that are only copied, with one thread and with two.
//!
//! ```text
//! cargo run --release -p blosc-core --example thread_scaling
//! ```

use blosc_core::chunk::special;
use blosc_core::{Chunk, Codec, Params, Pool};

/// Bytes without a pattern: no codec makes them shorter.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(step).take(len).collect()
}

fn main() {
    let data = noise(64 << 20);
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
        let (one, two) = (time(1, work), time(2, work));
        println!("figure  {name}: 1 thread {one:.1} ms, 2 threads {two:.1} ms, {:.2} times", one / two);
    };
    print("decompress, stored", &|pool| drop(pool.decompress(&Chunk::parse(&stored).unwrap())));
    print("decompress, zeros", &|pool| drop(pool.decompress(&Chunk::parse(&zeros).unwrap())));
    print("compress, level 0", &|pool| drop(pool.compress(&Params::new(4).level(0), &data)));
    print("compress, BloscLZ gives up, no filter", &|pool| drop(pool.compress(&unshuffled, &data)));
    print("compress, BloscLZ gives up, shuffle", &|pool| drop(pool.compress(&shuffled, &data)));
}
