//! ZFP in chunks: the bytes that C-Blosc2 writes, what is refused, and damage.

use blosc_core::{Chunk, ChunkContext, Codec, Error, Filter, Params, Pool};

/// Typesize, block shape, codec, its parameter, the chunk that python-blosc2 4.14.1 writes (one block, no filter, level 5),
/// and the largest error.
type Golden = (u32, &'static [u32], Codec, i8, &'static str, f64);

const CHUNKS: [Golden; 6] = [
    (
        4,
        &[8],
        Codec::ZFP_ACC,
        -1,
        "0501d50420000000200000003800000000000000000021ff00000000000000002400000010000000037962160070901ac62c000000000000",
        0.1,
    ),
    (
        8,
        &[4, 5],
        Codec::ZFP_ACC,
        0,
        "0501d508a0000000a0000000480000000000000000002100000000000000000024000000200000000988fd789af73f997c99c3993177c012\
         8c04c4012200810a1400108428440000",
        1.0,
    ),
    (
        4,
        &[5, 4],
        Codec::ZFP_PREC,
        3,
        "0501d5045000000050000000480000000000000000002203000000000000000024000000200000000971400df3b8601a0424004e60b80024\
         b404145040010c308140000000000000",
        0.25,
    ),
    (
        8,
        &[4, 4, 4],
        Codec::ZFP_RATE,
        5,
        "0501d5080002000000020000480000000000000000002305000000000000000024000000200000000988c9000000003360cc4009620888b0\
         885c741767a8ec682814000000000000",
        8.0,
    ),
    (
        4,
        &[16],
        Codec::ZFP_RATE,
        50,
        "0501d504400000004000000048000000000000000000233200000000000000002400000020000000037962160000000007a961cc02000000\
         09f129829caa0000079d949d23410100",
        0.0,
    ),
    (
        4,
        &[4, 4, 4, 4],
        Codec::ZFP_PREC,
        1,
        "0501d504000400000004000030010000000000000000220100000000000000002400000008010000093101000000000000000000000000060000\
         000000000000000000000c0000000000050000100980000001000002000c200148000000200254000080080a00002000271040103d8108002d82\
         a3037244e3014a0060b0200e5ca80aa8906f8084220602c066c565052000ad97b70972efc761a77779b0955d81ca6b3ef975e1dc0d8601c0233f\
         ccd4b02881fa540b0ea73e75ecdac207e1879d4ea8d8900a6a4aa536b580b9bb1a2955c2ff67f32ce1c1f3419a432d3897a00f21e336cb5fc0b8\
         0bfb8c863ce37de3ce8fa8d19954f7e12bb8f4d22806672a7d7be00e11c24f5dbe47e07c9d66325dfcebc9dcb63d785d7d3410ab45f0655e2366\
         5346ca97ec5c4c26030000000000",
        1.2,
    ),
];

fn number(i: u32) -> f64 {
    f64::from(i * i % 97) * 0.25 - 3.0
}

fn data(typesize: u32, shape: &[u32]) -> Vec<u8> {
    let numbers = (0..shape.iter().product()).map(number);
    match typesize {
        4 => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
        _ => numbers.flat_map(f64::to_le_bytes).collect(),
    }
}

fn numbers(typesize: u32, bytes: &[u8]) -> Vec<f64> {
    match typesize {
        4 => bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()).into()).collect(),
        _ => bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().map(|c| (c as char).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn around(typesize: u32, blockshape: &[u32]) -> ChunkContext<'_> {
    ChunkContext { typesize, blockshape, ..ChunkContext::default() }
}

fn params(typesize: u32, codec: Codec, meta: i8) -> Params {
    Params::new(typesize)
        .codec(codec)
        .codec_meta(meta.cast_unsigned())
        .filters([blosc_core::FilterSlot::NONE; 6])
}

#[test]
fn chunks_are_those_of_the_c_library() {
    for (typesize, shape, codec, meta, chunk, bound) in CHUNKS {
        let (chunk, data) = (from_hex(chunk), data(typesize, shape));
        let mut pool = Pool::new(1);
        let params = params(typesize, codec, meta).blocksize(u32::try_from(data.len()).ok());
        let written = pool.compress_in(&params, around(typesize, shape), &data).unwrap();
        assert_eq!(written, chunk, "{codec} {shape:?}");

        let mut back = vec![0; data.len()];
        let parsed = Chunk::parse(&chunk).unwrap();
        pool.decompress_into(&parsed, around(typesize, shape), &mut back).unwrap();
        for (got, i) in numbers(typesize, &back).into_iter().zip(0..) {
            assert!((got - number(i)).abs() <= bound, "{codec} {shape:?}: item {i} is {got}");
        }
        let mut part = [0; 8];
        pool.get_bytes(&parsed, around(typesize, shape), 16..24, &mut part).unwrap();
        assert_eq!(part, back[16..24]);
    }
}

#[test]
fn what_zfp_cannot_take_is_refused_by_name() {
    let data = data(4, &[8, 8]);
    let run = |params: Params, shape: &[u32]| {
        Pool::new(1).compress_in(&params, around(4, shape), &data).map_err(|error| error.to_string())
    };
    let base = params(4, Codec::ZFP_ACC, 0);
    let needs = |shape: &[u32]| {
        let error = run(base.blocksize(Some(256)), shape).unwrap_err();
        assert!(
            error.starts_with("codec = 33 is not allowed: ZFP needs arrays of typesize 4 or 8"),
            "{error}"
        );
    };
    needs(&[]);
    needs(&[2, 32]);
    needs(&[4, 4, 4, 1, 1]);
    needs(&[8, 4]);
    assert!(run(base.blocksize(Some(256)), &[8, 8]).is_ok());
    for (params, text) in [
        (base.shuffle(), "filters = 1 is not allowed: none or trunc_prec before ZFP"),
        (base.slot(0, Filter::Delta, 0), "filters = 3 is not allowed: none or trunc_prec before ZFP"),
        (params(2, Codec::ZFP_ACC, 0), "typesize = 2 is not allowed: 4 or 8 for ZFP, which takes floats"),
        (
            base.codec(Codec::ZFP_RATE),
            "codec meta = 0 is not allowed: 1 to 100 for zfp_rate: percent of the size",
        ),
    ] {
        assert_eq!(run(params, &[8, 8]), Err(text.to_string()));
    }
}

#[test]
fn without_the_shape_or_with_damage_reading_is_an_error_or_other_numbers() {
    for (typesize, shape, _, _, chunk, _) in CHUNKS {
        let chunk = from_hex(chunk);
        let mut back = vec![0; data(typesize, shape).len()];
        let mut read = |chunk: &[u8], shape: &[u32]| {
            Pool::new(1).decompress_into(&Chunk::parse(chunk)?, around(typesize, shape), &mut back)
        };
        assert!(matches!(read(&chunk, &[]), Err(Error::Unsupported(_))));
        assert!(matches!(read(&chunk, &[1 << 31, 1 << 31]), Err(Error::Unsupported(_))));
        for byte in 36..chunk.len() {
            let mut damaged = chunk.clone();
            damaged[byte] ^= 0x55;
            let _ = read(&damaged, shape);
            // A stream that ends early: fewer bytes than its items need.
            let mut short = chunk[..byte.max(40)].to_vec();
            let len = short.len() as u32;
            short[12..16].copy_from_slice(&len.to_le_bytes());
            short[36..40].copy_from_slice(&(len - 40).to_le_bytes());
            let _ = read(&short, shape);
        }
        let mut none = chunk[..48].to_vec();
        none[12..16].copy_from_slice(&48u32.to_le_bytes());
        none[36..40].copy_from_slice(&8u32.to_le_bytes());
        let result = read(&none, shape);
        if chunk.len() > 56 {
            assert!(matches!(result, Err(Error::Codec { offset: 36, .. })), "{result:?}");
        }
    }
}
