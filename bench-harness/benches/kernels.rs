//! One kernel at a time, for daily work: `cargo bench -p blosc-bench --bench kernels -- 'shuffle/avx2/4'`.
//! A group for each operation; `cargo test --benches` runs each case once.
#![allow(missing_docs)] // criterion's macros write public functions without any

use blosc_bench::data::generate::random_bytes;
use blosc_bench::suite::choice::TYPESIZES;
use blosc_bench::suite::kernels::{FILTERS, SPLITS};
use blosc_core::{Level, arch};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const BYTES: usize = 256 << 10;

fn kernels(c: &mut Criterion) {
    let source = random_bytes(BYTES + 4096);
    for kernel in FILTERS.iter().chain(&SPLITS) {
        let mut group = c.benchmark_group(kernel.name);
        group.throughput(Throughput::Bytes(BYTES as u64));
        let own = arch::OPERATIONS.iter().find(|o| o.name == kernel.table).map_or(&[][..], |o| o.isas);
        for level in Level::available().filter(|l| own.contains(&l.isa())) {
            for typesize in TYPESIZES.into_iter().filter(|t| *t > 1 || !kernel.trivial_at_1) {
                let (input, output) = kernel.lengths(typesize, BYTES);
                let mut out = vec![0; output];
                group.bench_function(format!("{}/{typesize}", level.isa()), |b| {
                    b.iter(|| (kernel.run)(level, typesize, &source[..input], &mut out));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
