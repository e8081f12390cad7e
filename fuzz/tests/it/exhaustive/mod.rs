//! Small domains, from end to end: every chunk header whose fields have boundary values, every short stream, every array
//! geometry of extreme sides. The library gives the answer of a [`naive`] reader and keeps its limits. `BLOSC_LONG=1` runs
//! all of them, in minutes; otherwise a sample of the same domains runs, spread evenly.

mod naive;

use blosc_core::codec::context::DecodeContext;
use blosc_core::codec::dispatch::{decode_stream, decode_work_len};
use blosc_core::{Chunk, ChunkContext, Codec, Decoder, Level, Limits, Params};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::metalayer::Metalayer;
use blosc_frame::b2nd::{Geometry, NdArray};
use blosc_testkit::memory::{Used, used};
use blosc_testkit::{long, of_short};
use naive::Grid;

/// Calls `each` with every choice of a value for each field, a field being a number of values; with every `stride`-th outside
/// of long runs.
fn product(fields: &[usize], stride: usize, mut each: impl FnMut(&[usize])) -> usize {
    let all: usize = fields.iter().product();
    let (mut digits, mut count) = (vec![0; fields.len()], 0);
    for number in (0..all).step_by(of_short(stride, 1).max(1)) {
        let mut rest = number;
        for (digit, values) in digits.iter_mut().zip(fields) {
            (*digit, rest) = (rest % values, rest / values);
        }
        each(&digits);
        count += 1;
    }
    count
}

/// Most bytes that a chunk of these tests decodes to.
const MOST: usize = 64;
/// Bytes of the chunks, unless the header says less.
const LEN: usize = 160;

/// Chunk bodies: block starts, and streams of all kinds at the places that these name.
fn bodies() -> [[u8; LEN]; 3] {
    let words = |body: &mut [u8], from: usize, words: &[i32]| {
        for (place, word) in body[from..].as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
    };
    let (mut runs, mut streams, mut variable) = ([0; LEN], [0; LEN], [0; LEN]);
    // All blocks start at the same runs: of 7, of zeros, of 255, of 1.
    for at in [16, 32] {
        words(&mut runs, at, &[96; 16]);
    }
    for (k, record) in runs[96..].chunks_mut(5).enumerate() {
        record[..4].copy_from_slice(&[-7i32, -255, -1, -100][k % 4].to_le_bytes());
        record.iter_mut().skip(4).for_each(|token| *token = 1);
    }
    // A dictionary of 4 bytes behind two starts; stored streams of 8 bytes, 1, 16, and others that must be expanded.
    for at in [16, 32] {
        words(&mut streams, at, &[64, 96, 4, 0x0403_0201]);
    }
    words(&mut streams, 64, &[8, 0x1357_9BDF, 0x0246_8ACE, 1, 0x55, 0, -3]);
    streams[80] = 0x11;
    words(&mut streams, 96, &[16, 0x1020_3040, 0x5060_7080, 0x0A0B_0C0D, 0x7F00_FF80, 3, 0x0042_4121, 0]);
    // Blocks of their own lengths, stored and as BloscLZ, in a chunk of any length.
    words(&mut variable, 32, &[40, 56, 8, 0x0302_0100, 0x0706_0504, 0]);
    words(&mut variable, 44, &[8, 0x0302_0100, 0x0706_0504]);
    words(&mut variable, 56, &[2, 0x0042_4121]);
    words(&mut variable, 16, &[20, 4, 0x0302_0100, 0]);
    [runs, streams, variable]
}

/// Decodes what the header and the limits allow, and compares.
struct Judge {
    work: Vec<u8>,
    read: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl Judge {
    fn check(&mut self, bytes: &[u8]) {
        let limits = Limits::DEFAULT.output(MOST as u64).blocks(MOST as u32);
        let ours = Chunk::parse_with(bytes, &limits).and_then(|chunk| {
            assert!(chunk.nbytes() <= MOST && chunk.nblocks() <= MOST, "within the limits");
            if self.work.len() < Decoder::work_len(&chunk) {
                self.work.resize(Decoder::work_len(&chunk), 0x77);
                assert!(self.work.len() < 1 << 20, "{} bytes of scratch", self.work.len());
            }
            let around = ChunkContext { typesize: chunk.header().typesize.into(), ..ChunkContext::default() };
            let mut out = [0xA5; MOST];
            let mut decoder = Decoder::new(Level::best(), &mut self.work).chunk_context(around);
            let len = decoder.decode(&chunk, &mut out[..chunk.nbytes()])?;
            Ok((out, len))
        });
        let truth = naive::read(bytes, MOST);
        if truth.unknown {
            return;
        }
        match (&ours, &truth.bytes) {
            (Ok((out, len)), Some(truth)) if out[..*len] == truth[..] => {}
            (Err(_), None) => {}
            (Err(_), Some(_)) if truth.may_refuse => {}
            (ours, _) => self.wrong.push(format!("{ours:02x?} here; {truth:02x?}; {bytes:02x?}")),
        }
        if ours.is_ok() { self.read += 1 } else { self.refused += 1 }
    }
}

const NEGATIVE: i32 = i32::MIN;

#[test]
fn all_chunk_headers_of_boundary_values() {
    let mut judge = Judge { work: Vec::new(), read: 0, refused: 0, wrong: Vec::new() };
    let bodies = bodies();
    let (versions, sizes) = ([0, 2, 3, 5, 6, 7], [0, 1, 2, 4, 8, 17, 255]);
    let nbytes = [NEGATIVE, -1, 0, 1, 7, 8, 16, 33, 64, 65, i32::MAX];
    let blocks = [NEGATIVE, 0, 1, 4, 8, 32, 536_866_816, 536_866_817, i32::MAX];
    let header =
        |bytes: &mut [u8; LEN], [version, flags, size]: [u8; 3], [nbytes, block, cbytes]: [i32; 3]| {
            bytes[..4].copy_from_slice(&[version, 1, flags, size]);
            for (place, value) in bytes[4..16].as_chunks_mut().0.iter_mut().zip([nbytes, block, cbytes]) {
                *place = value.to_le_bytes();
            }
        };
    // Every byte of flags, and every edge of the other fields that short headers have.
    let (Used { peak, .. }, short) = used(|| {
        product(&[256, 6, 7, 11, 9, 11, 3], 4001, |d| {
            let (flags, nbytes) = (d[0] as u8, nbytes[d[3]]);
            let hdr = if flags & 5 == 5 { 32 } else { 16 };
            let whole = nbytes.wrapping_add(hdr);
            let cbytes =
                [NEGATIVE, 15, 16, 31, 32, 33, 60, whole, LEN as i32, LEN as i32 + 1, i32::MAX][d[5]];
            let mut bytes = bodies[d[6]];
            header(&mut bytes, [versions[d[1]], flags, sizes[d[2]]], [nbytes, blocks[d[4]], cbytes]);
            judge.check(&bytes);
        })
    });
    // What only extended headers have, on chunks that are mostly sound.
    let filters: [[u8; 12]; 10] = [
        [0; 12],
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3],
        [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0],
        [3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 35, 0, 0, 0, 0, 0, 0],
        [0, 4, 36, 0, 35, 1, 0, 0, 0, 0, 9, 200],
        [0, 0, 0, 0, 0, 37, 0, 0, 0, 0, 0, 0],
        [0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let kinds = [0, 1, 2, 8, 16, 17, 32, 48, 64, 80, 128];
    let extended = product(&[12, 5, 10, 3, 11, 2, 4, 4, 4, 4, 3], 4001, |d| {
        let flags = 5 | [0, 2, 16, 18][d[0] % 4] | [0, 0x20, 0xC0][d[0] / 4];
        let (nbytes, block) = ([0, 8, 16, 33][d[7]], [1, 2, 8, 16][d[8]]);
        let cbytes = [32, 40, nbytes + 32, LEN as i32][d[9]];
        let mut bytes = bodies[d[10]];
        header(&mut bytes, [[2, 3, 5, 6, 7][d[1]], flags, [1, 2, 4, 8][d[6]]], [nbytes, block, cbytes]);
        bytes[16..22].copy_from_slice(&filters[d[2]][..6]);
        bytes[24..30].copy_from_slice(&filters[d[2]][6..]);
        (bytes[22], bytes[23]) = ([0, 200][d[5]], 0);
        (bytes[30], bytes[31]) = ([0, 1, 2][d[3]], kinds[d[4]]);
        judge.check(&bytes);
    });
    println!(
        "{short} and {extended} headers; {} decode, {} are refused; {peak} bytes at most",
        judge.read, judge.refused
    );
    let wrong = &judge.wrong;
    assert!(
        wrong.is_empty(),
        "{} differ from the documents:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    assert!(judge.read > short.min(extended) / 100 && judge.refused > short / 2);
    assert!(peak < 4 << 20, "{peak} bytes held for chunks of {LEN} bytes");
}

/// A codec, what it decodes a stream with, and its scratch.
struct Stream {
    codec: Codec,
    context: DecodeContext,
    work: Vec<u8>,
}

/// Sizes that streams are decoded to; none has no bytes.
const OUTPUTS: [usize; 5] = [1, 2, 3, 8, 64];

impl Stream {
    fn new(codec: Codec, context: DecodeContext) -> Stream {
        Stream { codec, context, work: vec![0x77; decode_work_len(64)] }
    }

    fn decode(&mut self, stream: &[u8], len: usize) -> Option<[u8; 64]> {
        let mut out = [0xA5; 64];
        let Stream { codec, context, work } = self;
        let done = decode_stream(*codec, 0, stream, (&mut out[..len]).into(), &[], work, context);
        assert!(out[len..].iter().all(|byte| *byte == 0xA5), "bytes behind the output");
        done.ok().map(|()| out)
    }
}

/// Calls `each` with all streams of up to three bytes; where they are sampled, all of up to two bytes.
fn streams(mut each: impl FnMut(&[u8])) {
    for len in 0..=3 {
        product(&vec![256; len], if len == 3 { 1009 } else { 1 }, |digits| {
            let mut stream = [0; 3];
            stream.iter_mut().zip(digits).for_each(|(byte, digit)| *byte = *digit as u8);
            each(&stream[..len]);
        });
    }
}

#[test]
fn all_streams_of_three_bytes() {
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd];
    let mut all = codecs.map(|codec| Stream::new(codec, DecodeContext::empty()));
    let mut host = Stream::new(Codec::Zstd, DecodeContext::for_codec(Codec::Zstd));
    let mut decoded = 0;
    streams(|stream| {
        for len in OUTPUTS {
            let [blosclz, lz4, zlib, zstd] = all.each_mut().map(|codec| codec.decode(stream, len));
            let truths = [naive::blosclz(stream, len), naive::lz4(stream, &[], len)];
            for (ours, truth) in [blosclz, lz4].iter().zip(truths) {
                assert_eq!(ours.map(|out| out[..len].to_vec()), truth, "{stream:02x?}");
                decoded += usize::from(truth.is_some());
            }
            // A zlib stream has 8 bytes or more, a frame of zstd 9.
            assert!(zlib.is_none() && zstd.is_none() && host.decode(stream, len).is_none(), "{stream:02x?}");
        }
    });
    assert!(decoded > 500, "{decoded} streams decode");
}

/// What lies inside the frames of these codecs, beside zlib-rs and C zstd.
#[test]
fn all_blocks_of_three_bytes() {
    let mut zlib = Stream::new(Codec::Zlib, DecodeContext::empty());
    let mut zstd = Stream::new(Codec::Zstd, DecodeContext::empty());
    let mut host = Stream::new(Codec::Zstd, DecodeContext::for_codec(Codec::Zstd));
    let (mut inflated, mut expanded) = (0, 0);
    streams(|block| {
        let raw = zlib_rs::InflateConfig { window_bits: -15 };
        let mut out = [0xA5; 300];
        let (truth, code) = zlib_rs::decompress_slice(&mut out, block, raw);
        let ends = code == zlib_rs::ReturnCode::Ok;
        let (a, b) = truth.iter().fold((1, 0), |(a, b), byte| {
            let a = (a + u32::from(*byte)) % 65521;
            (a, (b + a) % 65521)
        });
        let stream = [&[0x78, 0x01], block, &(b << 16 | a).to_be_bytes()].concat();
        for len in OUTPUTS {
            let ours = zlib.decode(&stream, len);
            let right = ends && truth.len() == len;
            assert_eq!(ours.map(|out| out[..len].to_vec()), right.then(|| truth.to_vec()), "{stream:02x?}");
            inflated += usize::from(right);
            // One segment of `len` bytes, and one block that is the last: a compressed one, then any with a byte behind.
            let head = [0x28, 0xB5, 0x2F, 0xFD, 0x20, len as u8];
            let compressed = [(block.len() as u8) << 3 | 5, 0, 0];
            for stream in [[&head[..], &compressed, block].concat(), [&head[..], block, b"a"].concat()] {
                let (ours, theirs) = (zstd.decode(&stream, len), host.decode(&stream, len));
                assert_eq!(ours, theirs, "{stream:02x?}");
                expanded += usize::from(ours.is_some());
            }
        }
    });
    println!("{inflated} zlib streams and {expanded} frames of zstd decode");
    assert!(inflated > 5 && (expanded > 500 || !long()));
}

fn sides<const N: usize>(values: [i64; N], digits: &[usize]) -> Vec<i64> {
    digits.iter().map(|digit| values[*digit]).collect()
}

/// The metalayer of three shapes.
fn metalayer(shape: &[i64], chunks: &[i64], blocks: &[i64]) -> Vec<u8> {
    let mut meta = vec![0x97, 0, shape.len() as u8, 0x90 + shape.len() as u8];
    shape.iter().for_each(|side| meta.extend([&[0xd3], &side.to_be_bytes()[..]].concat()));
    for sides in [chunks, blocks] {
        meta.push(0x90 + shape.len() as u8);
        sides.iter().for_each(|side| meta.extend([&[0xd2], &(*side as i32).to_be_bytes()[..]].concat()));
    }
    [&meta[..], &[0, 0xdb, 0, 0, 0, 3], b"<i2"].concat()
}

#[test]
fn all_array_geometries_of_extreme_sides() {
    let long = [0, 1, 2, 3, i64::from(i32::MAX), i64::MAX];
    let short = [0, 1, 2, 3, i64::from(i32::MAX), -1];
    let (mut taken, mut refused) = (0, 0);
    for ndim in 0..=3 {
        let fields = [vec![6; 3 * ndim], vec![2]].concat();
        product(&fields, [1, 1, 11, 1009][ndim], |d| {
            let (shape, rest) = d.split_at(ndim);
            let (shape, chunks) = (sides(long, shape), sides(short, &rest[..ndim]));
            let blocks = sides(short, &rest[ndim..2 * ndim]);
            let typesize = [1, 8][rest[2 * ndim]];
            let meta = metalayer(&shape, &chunks, &blocks);
            let ours = Metalayer::parse(&meta).and_then(|meta| Geometry::of(&meta, typesize));
            let truth = Grid::read(&meta, typesize.into());
            match (ours, truth) {
                (Err(_), None) => refused += 1,
                (Err(_), Some(truth)) if truth.may_be_refused(typesize.into()) => refused += 1,
                (Ok(ours), Some(truth)) => {
                    assert_eq!(i128::from(ours.nchunks()), truth.nchunks(), "{truth:?}");
                    assert_eq!(
                        i128::from(ours.chunk_bytes()),
                        truth.chunk_bytes(typesize.into()),
                        "{truth:?}"
                    );
                    let last: Vec<u64> = shape.iter().map(|side| side.wrapping_sub(1) as u64).collect();
                    let located = ours.locate(&last).map(|(chunk, block, item)| {
                        let items = ours.block_bytes() / typesize;
                        (chunk as i64, i64::from(block) * i64::from(items) + i64::from(item))
                    });
                    let empty = shape.contains(&0);
                    let right = (!empty)
                        .then(|| truth.locate(&shape.iter().map(|side| side - 1).collect::<Vec<_>>()));
                    assert_eq!(located, right, "{truth:?}");
                    taken += 1;
                }
                (ours, truth) => panic!("{ours:?} here; {truth:?}; item size {typesize}"),
            }
        });
    }
    println!("{taken} geometries are taken, {refused} refused");
    assert!(taken > 300 && refused > 1000);
}

/// Arrays of all small sides, whose chunks are made byte by byte, padding included.
#[test]
fn all_small_arrays() {
    let mut read = 0;
    for ndim in 0..=3 {
        product(&vec![4; 3 * ndim], [1, 1, 3, 301][ndim], |d| {
            let values = [0, 1, 2, 3];
            let [shape, chunks, blocks] = [0, 1, 2].map(|part| sides(values, &d[part * ndim..][..ndim]));
            let meta = metalayer(&shape, &chunks, &blocks);
            let Some(grid) = Grid::read(&meta, 2) else { return };
            let (nchunks, bytes) = (grid.nchunks() as u16, grid.chunk_bytes(2) as usize);
            let block = 2 * blocks.iter().product::<i64>() as u32;
            let params = Params::new(2).blocksize((block > 0).then_some(block)).level(0);
            let mut frame = SuperChunk::memory(&params).expect("parameters of a small array");
            frame.set_chunksize(bytes as u32).expect("a size of a new frame");
            frame.set_metalayer("b2nd", &meta).expect("a small metalayer");
            for chunk in 0..nchunks {
                let items = (0..bytes as u16 / 2).flat_map(|item| (chunk << 8 | item).to_le_bytes());
                frame.append_data(&items.collect::<Vec<_>>()).expect("a small chunk");
            }
            let all = NdArray::open(frame).and_then(|array| array.get_all());
            let mut truth = vec![vec![]];
            for side in &shape {
                truth = truth
                    .iter()
                    .flat_map(|index: &Vec<i64>| (0..*side).map(move |i| [&index[..], &[i]].concat()))
                    .collect();
            }
            let item = |index: &Vec<i64>| {
                let (chunk, item) = grid.locate(index);
                (chunk << 8 | item).to_le_bytes()[..2].to_vec()
            };
            assert_eq!(all, Ok(truth.iter().flat_map(item).collect()), "{grid:?}");
            read += 1;
        });
    }
    assert!(read > 100, "{read} arrays are read");
}
