//! Chunks: the small fixtures whole and damaged, every codec with every filter, threads, dictionaries.

use super::{exact, mixed};
use crate::common::{Rng, pool};
use crate::support;
use blosc_core::chunk::Plan;
use blosc_core::*;

/// Under Miri only the best level and the scalar one decode chunks: `kernels` runs the others.
fn levels() -> Vec<Level> {
    if cfg!(miri) { vec![Level::SCALAR, Level::best()] } else { Level::available().collect() }
}

/// Under Miri one of as many fixtures is read.
const STRIDE: usize = 10;

/// The vectors beside the tests, as they are and damaged, at every level.
fn fixtures(kinds: &[&str]) {
    const MOST: usize = 3000;
    let mut rng = Rng::new(1);
    let sets = support::Vectors::all();
    let set = &sets[0];
    let (mut whole, mut damaged) = (0, 0);
    for record in set.of_kind(kinds).step_by(if cfg!(miri) { STRIDE } else { 1 }) {
        let bytes = std::fs::read(set.root.join(support::text(record, "file"))).unwrap();
        let bytes = exact(&bytes);
        if bytes.len() > MOST {
            continue;
        }
        let around = support::chunk_context(record);
        let Ok(chunk) = Chunk::parse(&bytes) else { continue };
        if chunk.nbytes() > 4 * MOST {
            continue;
        }
        whole += 1;
        for level in levels() {
            let mut work = vec![0xDD; Decoder::work_len(&chunk)].into_boxed_slice();
            let mut decoder = Decoder::new(level, &mut work).chunk_context(around);
            let mut out = vec![0; chunk.nbytes()].into_boxed_slice();
            let _ = decoder.decode(&chunk, &mut out[..]);
            let n = chunk.nbytes();
            if n > 2 {
                let (a, b) = (n / 3, n / 3 + n / 2);
                let mut part = vec![0; b - a].into_boxed_slice();
                let _ = decoder.get_bytes(&chunk, a..b, &mut part[..]);
            }
        }
        for _ in 0..if cfg!(miri) { 1 } else { 20 } {
            let mut bad = bytes.clone();
            for _ in 0..=rng.below(2) {
                let at = if rng.below(3) == 0 { rng.below(bad.len().min(48)) } else { rng.below(bad.len()) };
                bad[at] = [rng.next() as u8, 255, 0, bad[at] ^ 1][rng.below(4)];
            }
            let Ok(chunk) = Chunk::parse(&bad) else { continue };
            if chunk.nbytes() > 4 * MOST {
                continue;
            }
            damaged += 1;
            let mut work = vec![0xDD; Decoder::work_len(&chunk)].into_boxed_slice();
            let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around);
            let mut out = vec![0; chunk.nbytes()].into_boxed_slice();
            let _ = decoder.decode(&chunk, &mut out[..]);
        }
    }
    assert!(whole > 0 && damaged > 0, "{whole} whole, {damaged} damaged chunks were parsed");
}

#[test]
fn vectors_blosc1() {
    fixtures(&["blosc1"])
}

#[test]
fn vectors_chunks() {
    fixtures(&["chunk", "chunk-vl", "chunk-lazy"])
}

#[test]
fn vectors_malformed() {
    fixtures(&["malformed-chunk"])
}

fn filters() -> Vec<(&'static str, Params)> {
    let f = |filter, meta| FilterSlot::new(filter, meta);
    let mut six = [FilterSlot::NONE; 6];
    let mut list = vec![
        ("none", Params::new(4).no_filter()),
        ("shuffle", Params::new(4).shuffle()),
        ("bitshuffle", Params::new(4).bitshuffle()),
        ("shuffle8", Params::new(8).shuffle()),
        ("shuffle3", Params::new(3).shuffle()),
        ("bit1", Params::new(1).bitshuffle()),
    ];
    six[4] = f(Filter::Delta, 0);
    six[5] = f(Filter::Shuffle, 0);
    list.push(("delta", Params::new(4).filters(six)));
    six[4] = f(Filter::TruncPrec, 10);
    list.push(("trunc", Params::new(4).filters(six)));
    six[4] = f(Filter::Shuffle, 0);
    six[5] = f(Filter::ByteDelta, 4);
    list.push(("bytedelta", Params::new(4).filters(six)));
    six[4] = f(Filter::IntTrunc, 3);
    six[5] = f(Filter::BitShuffle, 0);
    list.push(("inttrunc", Params::new(4).filters(six)));
    list
}

fn chunks(codecs: &[Codec], threads: usize, lens: &[usize]) {
    for &codec in codecs {
        for (name, params) in filters() {
            for &len in lens {
                for split in
                    if name == "shuffle" { &[Split::Always, Split::Never][..] } else { &[Split::Always][..] }
                {
                    let split = *split;
                    let data = exact(&mixed(len as u64, len));
                    let params = params.codec(codec).level(5).split(split).blocksize(Some(800)).fit(len);
                    let bytes = exact(&pool(threads).compress(&params, &data).unwrap());
                    let chunk = Chunk::parse(&bytes).unwrap();
                    for level in levels() {
                        let back = pool(threads).level(level).decompress(&chunk).unwrap();
                        if name != "trunc" && name != "inttrunc" {
                            assert_eq!(&back[..], &data[..]);
                        }
                    }
                    if name != "shuffle" {
                        continue;
                    }
                    let mut work = vec![0; Plan::work_len_for(&params, len)].into_boxed_slice();
                    let mut enc = Encoder::new(Level::SCALAR, &params, len, &mut work).unwrap();
                    let mut dst = vec![0; max_encoded_len(len)].into_boxed_slice();
                    let n = enc.encode(&data, &mut dst).unwrap();
                    assert_eq!(dst[..n], bytes[..]);
                }
            }
        }
    }
}

#[test]
fn chunk_blosclz() {
    chunks(&[Codec::BloscLz], 1, if cfg!(miri) { &[900] } else { &[100, 1700] })
}

#[test]
fn chunk_lz4() {
    chunks(&[Codec::Lz4], 1, if cfg!(miri) { &[900] } else { &[100, 1700] })
}

#[test]
fn chunk_lz4hc() {
    chunks(&[Codec::Lz4Hc], 1, if cfg!(miri) { &[900] } else { &[1700] })
}

#[test]
fn chunk_zlib() {
    chunks(&[Codec::Zlib], 1, if cfg!(miri) { &[900] } else { &[1700] })
}

#[test]
fn chunk_threads() {
    let data: Vec<u8> = vec![7; 30_000];
    let params = Params::new(4).codec(Codec::Lz4).level(5).blocksize(Some(10_000));
    let bytes = pool(3).compress(&params, &data).unwrap();
    assert_eq!(pool(3).decompress(&Chunk::parse(&bytes).unwrap()).unwrap(), data);
}

#[test]
fn chunk_dict_and_vl() {
    let data = mixed(1, 6000);
    for codec in [Codec::Lz4, Codec::Lz4Hc] {
        let params = Params::new(4).codec(codec).level(5).dictionary(true).blocksize(Some(1000));
        if let Ok(bytes) = Pool::new(1).compress(&params, &data) {
            let bytes = exact(&bytes);
            assert_eq!(Pool::new(1).decompress(&Chunk::parse(&bytes).unwrap()).unwrap(), data);
        }
        let blocks: Vec<&[u8]> = vec![&data[..10], &data[10..700], &data[700..702]];
        let params = Params::new(1).codec(codec);
        let mut work = vec![0; 400_000];
        let mut dst = vec![0; 8000];
        let n = Encoder::for_blocks(Level::SCALAR, &params, 700, &[], &mut work)
            .unwrap()
            .encode_vl(&blocks, &mut dst)
            .unwrap();
        let bytes = exact(&dst[..n]);
        let chunk = Chunk::parse(&bytes).unwrap();
        assert_eq!(decompress(&bytes).unwrap().len(), 702);
        let mut work = vec![0; Decoder::work_len(&chunk)];
        for i in 0..chunk.nblocks() {
            let r = chunk.block_range(i).unwrap();
            let mut out = vec![0; r.len()];
            Decoder::new(Level::best(), &mut work).decode_block(&chunk, i, &mut out[..]).unwrap();
        }
    }
}

/// Output that was never written before: what `decompress` hands to the decoders.
#[test]
fn uninit_output() {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib] {
        let data = mixed(12, 1500);
        let params = Params::new(4).codec(codec).level(9).blocksize(Some(700));
        let bytes = exact(&compress(&params, &data).unwrap());
        assert_eq!(decompress(&bytes).unwrap(), data);
    }
}
