//! The wrappers themselves: every call once, on the libraries the environment names.

use blosc_peers::blosc2::{Kernel, OVERHEAD, Special};
use blosc_peers::{CParams, Code, Libblosc, Libblosc2};

/// The library, or a line that says why the test does nothing.
fn blosc2() -> Option<Libblosc2> {
    let Some(lib) = Libblosc2::from_env() else {
        eprintln!("skipped: BLOSC_LIBBLOSC2 does not name libblosc2.so");
        return None;
    };
    Some(lib.expect("BLOSC_LIBBLOSC2 names a library"))
}

fn ramp(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 7 + i % 3) as u8).collect()
}

#[test]
fn chunks_go_through_libblosc2() {
    let Some(lib) = blosc2() else { return };
    assert!(lib.version().starts_with(|c: char| c.is_ascii_digit()), "{}", lib.version());
    let data = ramp(40_000);
    for filters in [[0, 0, 0, 0, 0, 1], [3, 1, 0, 0, 0, 2], [0; 6]] {
        let params = CParams { codec: 1, typesize: 4, filters, ..CParams::default() };
        let mut chunk = vec![0; data.len() + OVERHEAD];
        let len = lib.compressor(&params).unwrap().compress(&data, &mut chunk).unwrap();
        let chunk = &chunk[..len];
        let mut back = vec![0; data.len()];
        let mut d = lib.decompressor(1).unwrap();
        assert_eq!(d.decompress(chunk, &mut back), Ok(data.len()));
        assert_eq!(back, data);
        if !filters.contains(&3) {
            let mut items = [0; 40];
            assert_eq!(d.getitem(chunk, 100, 10, &mut items), Ok(40));
            assert_eq!(items, data[400..440]);
        }
        let short = d.decompress(&chunk[..20], &mut back).unwrap_err();
        assert!(short.0 < 0 && !lib.describe(short).is_empty());
    }
}

#[test]
fn masks_skip_blocks() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(4096);
    let params = CParams { typesize: 1, blocksize: 1024, ..CParams::default() };
    let mut chunk = vec![0; data.len() + OVERHEAD];
    let len = lib.compressor(&params).unwrap().compress(&data, &mut chunk).unwrap();
    let mut d = lib.decompressor(1).unwrap();
    d.set_maskout(&[true, false, true, false]).unwrap();
    let mut back = vec![0xEE; data.len()];
    assert_eq!(d.decompress(&chunk[..len], &mut back), Ok(data.len()));
    assert!(back[..1024].iter().all(|&b| b == 0xEE) && back[1024..2048] == data[1024..2048]);
}

#[test]
fn special_chunks_decode() {
    let Some(lib) = blosc2() else { return };
    let params = CParams { typesize: 4, ..CParams::default() };
    let mut d = lib.decompressor(1).unwrap();
    for (kind, item) in [
        (Special::Zeros, [0; 4]),
        (Special::Nan, f32::NAN.to_le_bytes()),
        (Special::Value(&[1, 2, 3, 4]), [1, 2, 3, 4]),
        (Special::Uninit, [9; 4]),
    ] {
        let mut chunk = [0; 64];
        let len = lib.special(&params, kind, 400, &mut chunk).unwrap();
        let mut back = [9; 400];
        assert_eq!(d.decompress(&chunk[..len], &mut back), Ok(400));
        assert_eq!(back, item.repeat(100)[..], "{kind:?}");
    }
    assert_eq!(lib.special(&params, Special::Value(&[1]), 400, &mut [0; 64]), Err(Code::REFUSED));
}

#[test]
fn vl_blocks_come_back_one_by_one() {
    let Some(lib) = blosc2() else { return };
    let params = CParams { codec: 1, typesize: 1, ..CParams::default() };
    let blocks: [&[u8]; 3] = [b"hello world", &[b'a'; 83], b"xyz"];
    let mut chunk = [0; 400];
    let len = lib.compressor(&params).unwrap().compress_vl(&blocks, &mut chunk).unwrap();
    let mut d = lib.decompressor(1).unwrap();
    for (i, block) in blocks.iter().enumerate() {
        assert_eq!(d.vl_block(&chunk[..len], i).unwrap(), *block);
    }
    assert!(d.vl_block(&chunk[..len], 3).is_err());
}

#[test]
fn array_plugins_learn_the_block_shape() {
    let Some(lib) = blosc2() else { return };
    let data: Vec<u8> = (0..64 * 48).map(|i| (i / 48 % 8 * 16 + i % 8) as u8).collect();
    for params in [
        CParams { codec: 32, codec_meta: 4, typesize: 1, filters: [0; 6], ..CParams::default() },
        CParams { codec: 32, codec_meta: 8, typesize: 1, filters: [0; 6], ..CParams::default() },
        CParams {
            typesize: 1,
            filters: [32, 0, 0, 0, 0, 0],
            filters_meta: [4, 0, 0, 0, 0, 0],
            ..CParams::default()
        },
    ] {
        let params = CParams { blocksize: 64 * 48, ..params };
        let array = lib.array(&params, &[64, 48]).unwrap();
        let mut chunk = vec![0; data.len() + OVERHEAD];
        let len = lib.compressor_in(&params, &array).unwrap().compress(&data, &mut chunk).unwrap();
        assert!(len < data.len(), "{params:?}");
        let mut back = vec![0; data.len()];
        let mut d = lib.decompressor_in(1, &array).unwrap();
        assert_eq!(d.decompress(&chunk[..len], &mut back), Ok(data.len()), "{params:?}");
        assert_eq!(back, data);
    }
}

#[test]
fn kernels_invert_each_other() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(4096);
    for (there, back) in [(Kernel::Shuffle, Kernel::Unshuffle), (Kernel::Bitshuffle, Kernel::Bitunshuffle)] {
        let (mut a, mut b) = (vec![0; 4096], vec![0; 4096]);
        lib.kernel(there, 4, &data, &mut a).unwrap();
        lib.kernel(back, 4, &a, &mut b).unwrap();
        assert!(b == data && a != data);
    }
    assert_eq!(lib.kernel(Kernel::Shuffle, 0, &data, &mut vec![0; 4096]), Err(Code::REFUSED));
}

#[test]
fn chunks_go_through_libblosc() {
    let Some(lib) = Libblosc::from_env() else {
        eprintln!("skipped: BLOSC_LIBBLOSC does not name libblosc.so (Blosc 1)");
        return;
    };
    let lib = lib.expect("BLOSC_LIBBLOSC names a library");
    assert!(lib.version().starts_with("1."), "{}", lib.version());
    let data = ramp(40_000);
    for codec in ["blosclz", "lz4", "zlib", "zstd"] {
        let mut chunk = vec![0; Libblosc::max_compressed(data.len())];
        let len = lib.compress((codec, 5), 1, 4, 0, &data, &mut chunk).unwrap();
        let mut back = vec![0; data.len()];
        assert_eq!(lib.decompress(&chunk[..len], &mut back), Ok(data.len()));
        assert_eq!(back, data);
        assert_eq!(lib.getitem(&chunk[..len], 10, 2, &mut back), Ok(8));
        assert_eq!(back[..8], data[40..48]);
        assert_eq!(lib.getitem(&chunk[..len], 10, 2, &mut back[..7]), Err(Code::REFUSED));
        assert!(lib.decompress(&chunk[..len - 1], &mut back).is_err());
    }
}
