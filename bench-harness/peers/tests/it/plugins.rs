//! The registered plugins, lossy filters, VL-blocks, special chunks and masks, both ways against libblosc2.

use crate::support;

use blosc_core::chunk::special;
use blosc_core::{Chunk, ChunkContext, Codec, Decoder, Filter, Level, Params, Pool, decompress};
use blosc_peers::CParams;
use blosc_peers::blosc2::{OVERHEAD, Special};
use blosc_testkit::Random;
use support::{Case, any_size, blosc2, data, rounds};

/// A case whose data is a whole number of blocks of an array, and the shape of those.
fn array_case(rng: &mut Random) -> (Case, Vec<u32>) {
    let typesize = rng.pick(&[1usize, 2, 4, 8]);
    let ndim = rng.pick(&[1, 2, 2, 2, 3, 4]);
    let shape: Vec<u32> = (0..ndim).map(|_| 1 + rng.below(if ndim > 2 { 12 } else { 60 }) as u32).collect();
    let blocksize = typesize * shape.iter().product::<u32>() as usize;
    let mut params = CParams {
        codec: rng.pick(&[0, 1, 5]),
        typesize: typesize as i32,
        blocksize: blocksize as i32,
        splitmode: rng.below(4) as i32 + 1,
        clevel: 1 + rng.below(9) as u8,
        ..CParams::default()
    };
    let last = rng.pick(&[0, 1, 2]);
    (params.filters, params.filters_meta) = match rng.below(7) {
        0 => ([32, 0, 0, 0, 0, last], [1 + rng.below(6) as u8, 0, 0, 0, 0, 0]),
        1 if typesize >= 4 => ([33, 0, 0, 0, 0, last], [1 + rng.below(9) as u8, 0, 0, 0, 0, 0]),
        2 if typesize >= 4 => ([4, 0, 0, 0, 0, last], [rng.pick(&[1, 10, 23, 0xFF, 0xEA]), 0, 0, 0, 0, 0]),
        3 => ([36, 0, 0, 0, 0, last], [rng.pick(&[1, 5, 8, 0xFF, 0xF9]), 0, 0, 0, 0, 0]),
        4 => ([1, 35, 0, 0, 0, 0], [0; 6]),
        _ => {
            (params.codec, params.codec_meta) = (32, rng.pick(&[4, 8]));
            ([0, 0, 0, 0, 0, last], [0; 6])
        }
    };
    let items = blocksize / typesize;
    let len = blocksize * (1 + rng.below(if items > 4000 { 1 } else { 3 }));
    let data = if rng.once_in(3) { data(rng, typesize, len) } else { tiles(rng, &shape, typesize, len) };
    (Case { params, typesize, blocksize, data }, shape)
}

/// Pictures that repeat, with some noise: what NDLZ is for.
fn tiles(rng: &mut Random, shape: &[u32], typesize: usize, len: usize) -> Vec<u8> {
    let columns = *shape.last().unwrap() as usize;
    let (a, b) = (4 + rng.below(5), 4 + rng.below(9));
    (0..len)
        .map(|i| {
            let item = i / typesize;
            let (r, c) = (item / columns, item % columns);
            let noise = if (r / 4 + c / 4).is_multiple_of(5) { rng.below(40) } else { 0 };
            if i % typesize < 2 { (r % a * 16 + c % b + noise) as u8 } else { 0x40 }
        })
        .collect()
}

#[test]
fn plugins_and_lossy_filters_agree_both_ways() {
    let Some(lib) = blosc2() else { return };
    let (total, mut compared, mut refused, mut same) = (rounds(3000), 0, 0, 0);
    let (mut ndlz_ours, mut ndlz_theirs) = (0usize, 0usize);
    for seed in 0..total {
        let mut rng = Random::new(seed ^ 0xA22A);
        let (case, shape) = array_case(&mut rng);
        let about = || format!("seed {seed}: {:?} {shape:?}, {} bytes", case.params, case.data.len());
        let lossy = [4, 33, 36].iter().any(|&f| case.has(f));
        let c_shape: Vec<i32> = shape.iter().map(|&s| s as i32).collect();
        let array = lib.array(&case.params, &c_shape).unwrap();
        let around =
            ChunkContext { typesize: case.typesize as u32, blockshape: &shape, ..ChunkContext::default() };
        let mut reader = lib.decompressor_in(1, &array).unwrap();
        let mut pool = Pool::new(1);

        let mut c_chunk = vec![0; case.data.len() + OVERHEAD];
        let written = lib.compressor_in(&case.params, &array).unwrap().compress(&case.data, &mut c_chunk);
        let params = case.ours();
        let ours = pool.compress_in(&params, around, &case.data);
        let our_chunk = match &ours {
            Ok(chunk) => chunk,
            // Such as a cell larger than the block: then neither writes.
            Err(e) => {
                // Sides that clamping makes unequal: C writes what it cannot always read, so we do not
                // (docs/formats/chunk.md §3.10).
                let side = u32::from(case.params.filters_meta[0]);
                let uneven = case.has(33) && shape.iter().any(|s| side.min(*s) != side.min(shape[0]));
                assert!(written.is_err() || uneven, "only we refuse: {e}\n{}", about());
                refused += 1;
                continue;
            }
        };
        let of_ours = pool.decompress_in(&Chunk::parse(our_chunk).unwrap(), around).unwrap();
        let mut c = vec![0; case.data.len()];
        let n = reader.decompress(our_chunk, &mut c);
        assert!(n == Ok(c.len()) && c == of_ours, "our chunk: {n:?}\n{}", about());
        assert!(lossy || of_ours == case.data, "{}", about());
        let Ok(len) = written else {
            // NDLZ on blocks that are not two-dimensional: C gives up, we store them.
            assert!(case.params.codec == 32, "only C refuses: {written:?}\n{}", about());
            continue;
        };
        let c_chunk = &c_chunk[..len];
        let of_theirs = pool.decompress_in(&Chunk::parse(c_chunk).unwrap(), around);
        let of_theirs = of_theirs.unwrap_or_else(|e| panic!("{e}\n{}", about()));
        let n = reader.decompress(c_chunk, &mut c);
        assert!(n == Ok(c.len()) && c == of_theirs, "their chunk: {n:?}\n{}", about());
        if !lossy {
            assert!(of_theirs == case.data, "{}", about());
        } else if c_chunk[2] & 2 == our_chunk[2] & 2 {
            // Unless one of them stored the plain data, both lost the same bits.
            assert!(of_ours == of_theirs, "{}", about());
            same += 1;
        }
        if case.params.codec == 32 {
            ndlz_ours += our_chunk.len();
            ndlz_theirs += c_chunk.len();
        }
        compared += 1;
    }
    eprintln!(
        "{compared} arrays of {total} agree ({same} lossy alike), {refused} refused; ndlz: ours {ndlz_ours} bytes, C's {ndlz_theirs}"
    );
    assert!(compared > total / 2);
}

#[test]
fn vl_chunks_of_libblosc2_decode() {
    let Some(lib) = blosc2() else { return };
    let (total, mut blocks_read) = (rounds(1500), 0);
    for seed in 0..total {
        let mut rng = Random::new(seed ^ 0x71B);
        let case = Case::random(seed ^ 0x71B0);
        let mut params = CParams { clevel: case.params.clevel.max(1), blocksize: 0, ..case.params };
        if case.active_filters() > 2 {
            params.filters = [0, 0, 0, 0, 0, 1]; // B7
        }
        let count = 1 + rng.below(12);
        let blocks: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let len = 1 + any_size(&mut rng, 5000);
                let whole = len.next_multiple_of(case.typesize.min(64) * 8); // B9
                data(&mut rng, case.typesize, whole)
            })
            .collect();
        let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let mut chunk = vec![0; blocks.concat().len() * 2 + 100 * count + 70_000];
        let Ok(len) = lib.compressor(&params).unwrap().compress_vl(&slices, &mut chunk) else { continue };
        let chunk = Chunk::parse(&chunk[..len]).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{params:?}"));
        let tails = params.filters.contains(&3) && case.typesize > 64;
        let all = decompress(chunk.bytes()).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{params:?}"));
        assert!(tails || all == blocks.concat(), "seed {seed}: {params:?}");
        let mut work = vec![0; Decoder::work_len(&chunk)];
        let mut decoder = Decoder::new(Level::best(), &mut work);
        let mut reader = lib.decompressor(1).unwrap();
        for (index, block) in blocks.iter().enumerate() {
            let mut ours = vec![0; block.len()];
            assert_eq!(decoder.decode_block(&chunk, index, &mut ours[..]), Ok(block.len()), "seed {seed}");
            assert!(tails || ours == *block, "seed {seed}, block {index}: {params:?}");
            assert!(reader.vl_block(chunk.bytes(), index).unwrap() == ours, "seed {seed}, block {index}");
            blocks_read += 1;
        }
    }
    eprintln!("{blocks_read} VL-blocks in {total} chunks, 0 mismatches");
}

#[test]
fn libblosc2_reads_our_vl_chunks() {
    let Some(lib) = blosc2() else { return };
    let (total, mut blocks_read, mut dictionaries) = (rounds(1500), 0, 0);
    let mut reader = lib.decompressor(1).unwrap();
    for seed in 0..total {
        let mut rng = Random::new(seed ^ 0x71C);
        let case = Case::random(seed ^ 0x71C0);
        if case.delta_is_misread() {
            continue;
        }
        let params = case.ours().blocksize(None).level(case.params.clevel.max(1));
        let count = 1 + rng.below(20);
        let blocks: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let len = 1 + any_size(&mut rng, 5000);
                data(&mut rng, case.typesize, len)
            })
            .collect();
        let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let bytes = Pool::new(1)
            .compress_vl(&params, ChunkContext::default(), &slices)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{params:?}"));
        assert!(decompress(&bytes).unwrap() == blocks.concat(), "seed {seed}: {params:?}");
        dictionaries += u32::from(Chunk::parse(&bytes).unwrap().header().has_dictionary());
        for (index, block) in blocks.iter().enumerate() {
            let theirs =
                reader.vl_block(&bytes, index).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{params:?}"));
            assert!(theirs == *block, "seed {seed}, block {index}: {params:?}");
            blocks_read += 1;
        }
        if !case.has(3) {
            let mut flat = vec![0; blocks.concat().len()];
            assert_eq!(reader.decompress(&bytes, &mut flat), Ok(flat.len()), "seed {seed}");
            assert!(flat == blocks.concat(), "seed {seed}: {params:?}");
        }
    }
    eprintln!(
        "{blocks_read} of our VL-blocks read by C, {dictionaries} chunks with dictionary, 0 mismatches"
    );
    assert!(dictionaries > 0 || total < 100);
}

#[test]
fn special_chunks_agree_both_ways() {
    let Some(lib) = blosc2() else { return };
    let mut reader = lib.decompressor(1).unwrap();
    for typesize in [1usize, 2, 4, 7, 8, 255, 256, 1000] {
        let params = CParams { typesize: typesize as i32, ..CParams::default() };
        let value: Vec<u8> = (0..typesize).map(|i| i as u8 ^ 0x5A).collect();
        for items in [1usize, 3, 100] {
            let nbytes = items * typesize;
            let mut mine = vec![0; 32 + typesize];
            let len = special::repeated(&value, nbytes, &mut mine).unwrap();
            mine.truncate(len);
            let t = typesize as u32;
            let mut cases = vec![
                (Special::Zeros, special::zeros(t, nbytes).unwrap().to_vec(), vec![0; nbytes]),
                (Special::Value(&value), mine, value.repeat(items)),
            ];
            if typesize == 4 || typesize == 8 {
                let nan = if typesize == 4 {
                    f32::NAN.to_le_bytes().to_vec()
                } else {
                    f64::NAN.to_le_bytes().to_vec()
                };
                cases.push((Special::Nan, special::nans(t, nbytes).unwrap().to_vec(), nan.repeat(items)));
            }
            for (kind, ours, truth) in cases {
                let mut theirs = vec![0; 32 + typesize];
                let len = lib.special(&params, kind, nbytes, &mut theirs).unwrap();
                assert!(decompress(&theirs[..len]).unwrap() == truth, "{kind:?} {typesize} x {items}");
                let mut out = vec![1; nbytes];
                assert_eq!(reader.decompress(&ours, &mut out), Ok(nbytes), "{kind:?} {typesize} x {items}");
                assert!(out == truth, "{kind:?} {typesize} x {items}");
            }
        }
    }
}

#[test]
fn masks_skip_the_same_blocks() {
    let Some(lib) = blosc2() else { return };
    let mut reader = lib.decompressor(1).unwrap();
    for seed in 0..rounds(300) {
        let mut rng = Random::new(seed ^ 0x3A5C);
        let len = 4 * (1000 + rng.below(5000));
        let data = data(&mut rng, 4, len);
        let params = Params::new(4).codec(Codec::Lz4).slot(4, Filter::None, 0).blocksize(Some(4096));
        let bytes = blosc_core::compress(&params.fit(data.len()), &data).unwrap();
        let chunk = Chunk::parse(&bytes).unwrap();
        if !chunk.header().has_streams() {
            continue;
        }
        let mask: Vec<bool> = (0..chunk.nblocks()).map(|_| rng.once_in(2)).collect();
        let (mut theirs, mut ours) = (vec![0xEE; data.len()], vec![0xEE; data.len()]);
        reader.set_maskout(&mask).unwrap();
        assert_eq!(reader.decompress(&bytes, &mut theirs), Ok(data.len()));
        let mut work = vec![0; Decoder::work_len(&chunk)];
        let mut decoder = Decoder::new(Level::best(), &mut work);
        assert_eq!(decoder.decode_masked(&chunk, &mask, &mut ours[..]), Ok(data.len()));
        assert!(ours == theirs, "seed {seed}");
    }
}
