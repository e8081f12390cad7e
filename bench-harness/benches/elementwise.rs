//! The element-wise filters, 256 KiB each: a criterion group for each filter, `level/item size` inside.
#![allow(missing_docs)] // criterion's macros write public functions without any

use blosc_bench::data::generate::random_bytes;
use blosc_core::filter::{FilterError, bytedelta, delta, int_trunc, trunc_prec};
use blosc_core::{Level, Out};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const BYTES: usize = 256 << 10;

type Run = fn(Level, usize, &[u8], Out<'_>) -> Result<(), FilterError>;

/// Name, item sizes, the filter.
const FILTERS: [(&str, &[usize], Run); 6] = [
    ("delta forward", &[1, 2, 4, 8], |level, size, src, out| delta::forward(level, size, src, None, out)),
    ("delta backward", &[1, 2, 4, 8], |level, size, src, out| delta::backward(level, size, src, None, out)),
    ("bytedelta forward", &[2, 4, 8, 16], bytedelta::forward),
    ("bytedelta backward", &[2, 4, 8, 16], bytedelta::backward),
    // Ten bits of precision are kept, of integers the last four are dropped.
    ("trunc_prec", &[4, 8], |level, size, src, out| trunc_prec::forward(level, size, 10, src, out)),
    ("int_trunc", &[1, 2, 4, 8], |level, size, src, out| int_trunc::forward(level, size, 4, src, out)),
];

fn elementwise(c: &mut Criterion) {
    let source = random_bytes(BYTES);
    let mut out = vec![0; BYTES];
    for (name, sizes, run) in FILTERS {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(BYTES as u64));
        for level in Level::available() {
            for &size in sizes {
                run(level, size, &source, Out::from(&mut out[..])).expect("a filter refused its input");
                group.bench_function(format!("{}/{size}", level.isa()), |b| {
                    b.iter(|| run(level, size, &source, Out::from(&mut out[..])));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, elementwise);
criterion_main!(benches);
