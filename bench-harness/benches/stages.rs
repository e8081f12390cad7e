//! The stages of the pipeline: single streams by each codec, whole chunks, one item. A group for each stage.
#![allow(missing_docs)] // criterion's macros write public functions without any

use blosc_bench::data::Data;
use blosc_bench::data::corpus::REAL;
use blosc_bench::engine::ours::{self, Ours};
use blosc_bench::engine::{Engine, Spec};
use blosc_bench::suite::choice::{CODECS, FILTERS};
use blosc_core::{Level, max_encoded_len};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn arrays() -> Vec<Data> {
    let wanted = ["goes_flux", "goes_time", "camera", "ecg"];
    REAL.iter().filter(|r| wanted.contains(&r.name)).map(|r| r.array()).collect()
}

fn chunks(c: &mut Criterion) {
    let engine = Ours { level: Level::best(), corrupt: false };
    for stage in ["compress", "decompress", "getitem"] {
        let mut group = c.benchmark_group(stage);
        for data in arrays() {
            for codec in CODECS {
                for filter in FILTERS.into_iter().filter(|f| f.suits(data.typesize)) {
                    let spec = Spec {
                        codec,
                        filter,
                        level: 5,
                        typesize: data.typesize,
                        threads: 1,
                        blocksize: None,
                    };
                    let (len, middle) = (data.bytes.len(), data.bytes.len() / data.typesize / 2);
                    let Ok(chunk) = ours::compress(&spec, &data.bytes) else { continue };
                    let work = match stage {
                        "compress" => engine.compressor(&spec, len),
                        "decompress" => engine.decompressor(&spec, chunk),
                        _ => engine.getitem(&spec, chunk, middle..middle + 1),
                    };
                    let Ok(mut work) = work else { continue };
                    let bytes = if stage == "getitem" { data.typesize } else { len };
                    group.throughput(Throughput::Bytes(bytes as u64));
                    let mut out = vec![0; max_encoded_len(len)];
                    let name = format!("{codec}/{}/{}", filter.name(), data.name);
                    let room = if stage == "compress" { out.len() } else { bytes };
                    group.bench_function(name, |b| b.iter(|| work(&data.bytes, &mut out[..room])));
                }
            }
        }
        group.finish();
    }
}

criterion_group!(benches, chunks);
criterion_main!(benches);
