//! Thin slices of arrays in files: only parts of blocks, and of those only some streams, are read and decoded.
//! Every codec, shuffled and not, with planes of bytes that are stored, coded and constant; differences from
//! the first block. Chunks are large enough to be decoded on several threads, side by side and within.

use blosc_core::{Codec, Filter, Params};
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::io::FsDir;
use blosc_frame::{Limits, SuperChunk};
use blosc_testkit::{Folder, Random, emulated};
use std::fs::File;

const SHAPE: [u64; 3] = [30, 96, 128];

/// Low byte random, the next one slow, the third nearly always 7, the highest always 0.
fn items(r: &mut Random) -> Vec<u8> {
    let n = SHAPE.iter().product();
    (0..n)
        .flat_map(|i: u64| {
            let rare = if r.below(1000) == 0 { 9 } else { 7 };
            [r.below(256) as u8, (i / 50) as u8 & 0xfc | r.below(3) as u8, rare, 0]
        })
        .collect()
}

fn cut(data: &[u8], b: &[std::ops::Range<u64>; 3]) -> Vec<u8> {
    let mut out = Vec::new();
    for i in b[0].clone() {
        for j in b[1].clone() {
            let row = (i * SHAPE[1] + j) * SHAPE[2];
            let (from, to) = ((row + b[2].start) as usize * 4, (row + b[2].end) as usize * 4);
            out.extend_from_slice(&data[from..to]);
        }
    }
    out
}

fn check(nd: NdArray<'_>, data: &[u8], r: &mut Random, what: &str) {
    // With the two that read whole chunks.
    for round in 0..if emulated() { 22 } else { 60 } {
        let at = SHAPE.map(|s| r.below(s as usize) as u64);
        let mut item = [0; 4];
        nd.get_item(&at, &mut item).unwrap();
        assert_eq!(item[..], cut(data, &at.map(|x| x..x + 1)), "{what}: item {at:?}");
        // A line along one axis, a plane, or a small box.
        let b = [0, 1, 2].map(|axis| {
            let whole = match round % 5 {
                line @ 0..3 => axis == line,
                3 => axis != round / 5 % 3,
                _ => false,
            };
            let side =
                if whole { SHAPE[axis] } else { 1 + r.below(if round % 5 == 4 { 9 } else { 1 }) as u64 };
            let start = r.below((SHAPE[axis] - side + 1) as usize) as u64;
            start..start + side
        });
        // Now and then all, and all of the first chunk.
        let b = match round {
            20 => SHAPE.map(|s| 0..s),
            21 => [0..24, 0..SHAPE[1], 1..SHAPE[2]],
            _ => b,
        };
        let right = cut(data, &b);
        let mut got = vec![0; right.len()];
        nd.get_slice(&b, &mut got).unwrap();
        assert_eq!(got, right, "{what}: box {b:?}");
    }
}

#[test]
fn thin_slices_of_files() {
    let folder = Folder::new("thin");
    let mut r = Random(3);
    let data = items(&mut r);
    // Emulated, with two codecs, and not on one thread, as other tests do.
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    for codec in codecs.into_iter().take(if emulated() { 2 } else { 5 }) {
        let plain = Params::new(4);
        let mut delta = plain;
        delta.filters[4].filter = Filter::Delta;
        for params in [plain, plain.no_filter(), plain.bitshuffle(), delta] {
            let params = params.codec(codec);
            let what = format!("{codec} {:?}", params.filters);
            let spec = Spec::new(&SHAPE, Dtype::parse("<u4").unwrap()).unwrap();
            let spec = spec.chunks(&[24, 96, 128]).unwrap().blocks(&[3, 50, 128]).unwrap();
            let spec = spec.params_from(&params);
            let (path, dir) = (folder.path("array.b2nd"), folder.path("sparse"));
            let file =
                File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
            let frame = SuperChunk::create(file, &spec.params()).unwrap();
            NdArray::from_slice(frame, &spec, &data).unwrap().commit().unwrap();
            let frame = SuperChunk::create_dir(FsDir::create(&dir).unwrap(), &spec.params()).unwrap();
            NdArray::from_slice(frame, &spec, &data).unwrap().commit().unwrap();
            for &threads in if emulated() { &[3][..] } else { &[1, 3] } {
                let file = File::open(&path).unwrap();
                let mut nd = NdArray::open(SuperChunk::open_read(file, &Limits::DEFAULT).unwrap()).unwrap();
                nd.set_threads(threads);
                check(nd, &data, &mut r, &what);
                let sparse = SuperChunk::open_dir(FsDir::open(&dir).unwrap(), &Limits::DEFAULT).unwrap();
                let mut nd = NdArray::open(sparse).unwrap();
                nd.set_threads(threads);
                check(nd, &data, &mut r, &what);
            }
            std::fs::remove_dir_all(&dir).unwrap();
        }
    }
}

/// Whole chunks read side by side on several threads, special ones among them.
#[test]
fn whole_chunks_side_by_side() {
    let folder = Folder::new("whole");
    let path = folder.path("frame.b2frame");
    let mut data = items(&mut Random(5));
    data.truncate(900_000);
    data[200_000..420_000].fill(0);
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    let mut sc = SuperChunk::create(file, &Params::new(4)).unwrap();
    sc.set_chunksize(100_000).unwrap();
    for _ in 0..6 {
        sc.append(&data).unwrap();
    }
    sc.commit().unwrap();
    let all = data.repeat(6);
    for threads in [1, 2, 5] {
        let mut sc = SuperChunk::open_read(File::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
        sc.set_threads(threads);
        for (from, to) in [(0, all.len()), (100_000, 4_700_000), (3, all.len() - 7), (250_000, 5_399_999)] {
            let mut out = vec![1; to - from];
            assert_eq!(sc.read_bytes(from as u64..to as u64, &mut out).unwrap(), out.len());
            assert!(out == all[from..to], "{from}..{to} on {threads} threads");
        }
    }
}
