//! Round trips over all parameters of the writer: the same bytes at every level and thread count, read back
//! whole, by block and by range; and parameters that are not allowed.

use crate::common::{self, encoders, encodes};
use crate::support;

use blosc_core::chunk::Plan;
use blosc_core::{
    Chunk, ChunkContext, Codec, Decoder, Encoder, Error, Filter, FilterSlot, Level, Params, Pool, Split,
    max_encoded_len,
};
use proptest::prelude::*;
use proptest::sample::select;

fn slot() -> impl Strategy<Value = FilterSlot> {
    let filter = |filter, meta| FilterSlot::new(filter, meta);
    prop_oneof![
        4 => Just(FilterSlot::NONE),
        2 => Just(filter(Filter::Shuffle, 0)),
        1 => (1u8..).prop_map(move |meta| filter(Filter::Shuffle, meta)),
        1 => Just(filter(Filter::BitShuffle, 0)),
        1 => Just(filter(Filter::Delta, 0)),
        1 => (1u8..).prop_map(move |meta| filter(Filter::ByteDelta, meta)),
    ]
}

fn params() -> impl Strategy<Value = Params> {
    let typesize = prop_oneof![3 => 1u32..20, 1 => 20u32..300, 1 => Just(1000)];
    let split = select(vec![Split::Always, Split::Never, Split::Auto, Split::ForwardCompat]);
    let filters = prop_oneof![
        Just([FilterSlot::NONE; 6]),
        prop::array::uniform6(slot()),
        prop::array::uniform6(slot())
    ];
    let blocksize = prop_oneof![Just(None), (1u32..40_000).prop_map(Some)];
    (typesize, select(encoders()), 0u8..=9, filters, split, blocksize, any::<u8>()).prop_map(
        |(typesize, codec, level, filters, split, blocksize, extras)| {
            let mut p = Params::new(typesize).codec(codec).level(level).split(split).blocksize(blocksize);
            if extras & 3 == 0 && typesize < 256 {
                return match extras >> 2 & 3 {
                    0 => p.no_filter(),
                    1 => p.bitshuffle(),
                    _ => p.shuffle(),
                }
                .blosc1(true);
            }
            p = p.filters(filters);
            let takes = level > 0 && matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
            p.dictionary(takes && extras & 12 == 0)
        },
    )
}

/// Pieces of ramps, runs, text and noise.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let piece = (0u8..5, any::<u64>(), 0usize..9000).prop_map(|(kind, seed, len)| {
        let mut rng = common::Rng::new(seed);
        (0..len)
            .map(|i| match kind {
                0 => 0,
                1 => seed as u8,
                2 => ((i / 4) as u64 * (seed & 63)).to_le_bytes()[i % 4],
                3 => b"so much depends upon a red wheel barrow glazed with rain "[(i * 3 / 2) % 57],
                _ => rng.next() as u8,
            })
            .collect::<Vec<u8>>()
    });
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn cases() -> u32 {
    match (std::env::var_os("BLOSC_LONG"), std::env::var_os("BLOSC_EMULATED")) {
        (_, Some(_)) => 40,
        (Some(_), _) => 6000,
        _ => 200,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out(params in params(), data in data(), at in any::<u64>()) {
        let params = params.fit(data.len());
        let bytes = Pool::new(1).compress(&params, &data).expect("legal parameters");
        prop_assert!(bytes.len() <= max_encoded_len(data.len()));
        for level in Level::available() {
            let again = common::pool(3).level(level).compress(&params, &data).expect("as before");
            prop_assert!(again == bytes, "other bytes with 3 threads at {level:?}");
        }

        let chunk = Chunk::parse(&bytes).expect("our own chunk");
        prop_assert_eq!(chunk.nbytes(), data.len());
        let mut work = vec![0xDD; Decoder::work_len(&chunk)];
        for level in Level::available() {
            let mut decoder = Decoder::new(level, &mut work);
            let mut out = vec![0xDD; data.len() + 1];
            prop_assert_eq!(decoder.decode(&chunk, &mut out[..data.len()]), Ok(data.len()));
            prop_assert!(out[..data.len()] == data && out[data.len()] == 0xDD, "at {level:?}");
        }
        let mut out = vec![0xDD; data.len()];
        common::pool(3).decompress_into(&chunk, ChunkContext::default(), &mut out).expect("with threads");
        prop_assert!(out == data, "with threads");

        let mut decoder = Decoder::new(Level::best(), &mut work);
        let mut rng = common::Rng::new(at);
        let start = rng.below(data.len() + 1);
        let end = start + rng.below(data.len() - start + 1);
        let mut part = vec![0xDD; end - start];
        prop_assert_eq!(decoder.get_bytes(&chunk, start..end, &mut part[..]), Ok(end - start));
        prop_assert!(part == data[start..end], "bytes {start}..{end}");
        if chunk.nblocks() > 0 && !data.is_empty() {
            let index = rng.below(chunk.nblocks());
            let range = chunk.block_range(index).expect("a block that exists");
            let mut block = vec![0xDD; range.len()];
            prop_assert_eq!(decoder.decode_block(&chunk, index, &mut block[..]), Ok(range.len()));
            prop_assert!(block == data[range], "block {index}");
        }
    }

    #[test]
    fn caller_memory_gives_the_same_bytes_and_a_small_destination_is_an_error(
        params in params(), data in data(), room in 0usize..40_000,
    ) {
        let params = params.fit(data.len()).dictionary(false);
        let bytes = Pool::new(1).compress(&params, &data).expect("legal parameters");
        let mut work = vec![0xDD; Plan::work_len_for(&params, data.len())];
        let mut encoder = Encoder::new(Level::best(), &params, data.len(), &mut work).expect("as before");
        let mut dst = vec![0xDD; max_encoded_len(data.len()) + 1];
        let most = max_encoded_len(data.len());
        for _ in 0..2 {
            prop_assert_eq!(encoder.encode(&data, &mut dst[..most]), Ok(bytes.len()));
            prop_assert!(dst[..bytes.len()] == bytes && dst[most] == 0xDD);
        }
        let mut small = vec![0xDD; room.min(most)];
        match encoder.encode(&data, &mut small) {
            Ok(len) => prop_assert!(blosc_core::decompress(&small[..len]).as_ref() == Ok(&data)),
            Err(Error::OutputTooSmall { needed, given }) => {
                prop_assert!(given == small.len() && needed > given);
            }
            Err(e) => prop_assert!(false, "{e}"),
        }
    }
}

/// A filter of the caller's may make zeros of bytes that are none: that is no chunk of zeros.
#[test]
fn zeros_by_a_users_filter() {
    let around = ChunkContext { filters: &[&support::AddMeta], ..ChunkContext::default() };
    let params = Params::new(4).no_filter().slot(5, Filter::Other(160), 1).blocksize(Some(600));
    let source = vec![0xFF; 6000];
    for threads in [1, 2] {
        let bytes = common::pool(threads).compress_in(&params, around, &source).unwrap();
        let chunk = Chunk::parse(&bytes).unwrap();
        assert_eq!(common::pool(threads).decompress_in(&chunk, around).unwrap(), source);
    }
}

#[test]
fn blocks_that_do_not_shrink_before_one_that_does_are_stored() {
    let mut random = blosc_testkit::Random(1);
    const BLOCK: usize = 1000;
    // Which of the blocks shrinks, and how long the last one is.
    for (shrinking, last) in [(0, 7), (1, BLOCK), (4, 300), (5, 300), (5, BLOCK), (9, 300)] {
        let mut source = random.noise(5 * BLOCK + last);
        if let Some(block) = source.chunks_mut(BLOCK).nth(shrinking) {
            block.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 4) as u8);
        }
        for codec in encoders() {
            let params = Params::new(4).codec(codec).no_filter().blocksize(Some(BLOCK as u32));
            let mut work = vec![0; Plan::work_len_for(&params, source.len())];
            let mut dst = vec![0xA5; max_encoded_len(source.len())];
            let mut encoder = Encoder::new(Level::best(), &params, source.len(), &mut work).unwrap();
            let len = encoder.encode(&source, &mut dst).unwrap();
            // Threads copy every block as it comes.
            assert_eq!(
                common::pool(3).compress(&params, &source).unwrap(),
                dst[..len],
                "{codec:?}, {shrinking}"
            );
            let chunk = Chunk::parse(&dst[..len]).unwrap();
            assert_eq!(len < source.len() + 32, shrinking < 6, "{codec:?}, {shrinking}, {last}");
            assert_eq!(Pool::new(1).decompress(&chunk).unwrap(), source);
        }
    }
}

/// The flags byte of stored chunks is that of the C libraries: `cbuffer_complib` tells the codec by it.
#[test]
fn stored_chunks_name_the_codec_as_the_c_libraries_do() {
    let mut random = common::Rng::new(5);
    let noise: Vec<u8> = (0..5000).map(|_| random.next() as u8).collect();
    let flags = |params: Params, len: usize| Pool::new(1).compress(&params, &noise[..len]).expect("legal")[2];
    for (codec, format) in [(Codec::BloscLz, 0), (Codec::Lz4, 1), (Codec::Zlib, 3)] {
        let params = Params::new(4).codec(codec);
        let one_stream = if codec == Codec::Zlib { 0x10 } else { 0 };
        assert_eq!(flags(params, 5000), format << 5 | one_stream | 7, "tried");
        assert_eq!(flags(params.slot(4, Filter::Delta, 0), 5000), format << 5 | one_stream | 0xf, "tried");
        assert_eq!([flags(params.level(0), 5000), flags(params, 31), flags(params, 0)], [7; 3], "not tried");
        let params = params.blosc1(true);
        assert_eq!([flags(params, 5000), flags(params.level(0), 5000)], [format << 5 | 3; 2]);
        assert_eq!([flags(params, 127), flags(params, 0)], [format << 5 | 0x13; 2], "too few bytes to split");
        assert_eq!(flags(params.bitshuffle(), 5000), format << 5 | 6);
    }
}

#[test]
fn scratch_too_small_for_the_codec_is_an_error_not_a_stored_chunk() {
    let data = [1; 5000];
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc] {
        let params = Params::new(4).codec(codec);
        let mut work = vec![0; Plan::work_len_for(&params, data.len()) / 2];
        let mut dst = vec![0; max_encoded_len(data.len())];
        let mut encoder = Encoder::new(Level::SCALAR, &params, data.len(), &mut work).expect("legal");
        assert!(matches!(encoder.encode(&data, &mut dst), Err(Error::WorkTooSmall { .. })), "{codec:?}");
    }
}

#[test]
fn parameters_that_are_not_allowed_say_what_is() {
    let base = Params::new(4).codec(Codec::Lz4);
    let data = [7; 1000];
    let refused = |params: Params, text: &str| {
        let error = Pool::new(1).compress(&params, &data).expect_err(text);
        assert_eq!(error.to_string(), text);
        assert!(
            Encoder::new(Level::SCALAR, &params, data.len(), &mut []).is_err_and(|e| e == error),
            "{text}"
        );
    };
    let typesize = "is not allowed: 1 to 536866816 bytes";
    refused(Params::new(0), &format!("typesize = 0 {typesize}"));
    refused(Params::new(536_866_817), &format!("typesize = 536866817 {typesize}"));
    refused(base.level(10), "level = 10 is not allowed: 0 (store) to 9 (smallest)");
    refused(base.level(12), "level = 12 is not allowed: 0 (store) to 9 (smallest)");
    refused(base.blocksize(Some(0)), "blocksize = 0 is not allowed: 1 to 536866816 bytes");
    refused(base.blocksize(Some(u32::MAX)), "blocksize = 4294967295 is not allowed: 1 to 536866816 bytes");
    let read_only = "is not allowed: one that can be written; this one can only be read";
    refused(base.codec(Codec::Snappy), &format!("codec = 3 {read_only}"));
    refused(base.codec(Codec::Other(7)), &format!("codec = 7 {read_only}"));
    refused(base.codec(Codec::Other(31)), &format!("codec = 31 {read_only}"));
    refused(base.codec(Codec::Ndlz), "codec meta = 0 is not allowed: 4 or 8 for ndlz");
    let unknown = "is not built in and no plugin was supplied for it";
    refused(base.slot(0, Filter::Other(7), 0), &format!("filter 7 in slot 0 {unknown}"));
    refused(base.slot(3, Filter::Other(77), 0), &format!("filter 77 in slot 3 {unknown}"));
    refused(
        base.slot(0, Filter::ByteDeltaV1, 4),
        "filter bytedelta (first edition) with meta 4: the defective first edition is never written; use 35",
    );
    refused(base.slot(0, Filter::NdCell, 0), "filter ndcell with meta 0: the cell side must be 1 or more");
    refused(
        base.slot(0, Filter::NdMean, 200),
        "filter ndmean with meta 200: the cell side must be 1 to 127 and the typesize 4 or 8",
    );
    for params in [
        base.slot(0, Filter::TruncPrec, 0),
        base.slot(0, Filter::TruncPrec, 24),
        Params::new(2).slot(0, Filter::TruncPrec, 5),
        base.slot(0, Filter::IntTrunc, 0),
        Params::new(3).slot(0, Filter::IntTrunc, 5),
    ] {
        let error = Pool::new(1).compress(&params, &data).expect_err("lossy filter");
        assert!(matches!(error, Error::FilterParam { reason, .. } if reason.len() > 15), "{error}");
    }
    let dictionary =
        "dictionary = 1 is not allowed: codecs lz4, lz4hc and zstd, level 1 or more, not for Blosc1";
    refused(base.dictionary(true).level(0), dictionary);
    refused(base.dictionary(true).blosc1(true), dictionary);
    for codec in [Codec::BloscLz, Codec::Zlib, Codec::Ndlz, Codec::Other(200)] {
        refused(base.dictionary(true).codec(codec), dictionary);
    }
    let one_filter = "is not allowed: shuffle or bitshuffle with meta 0, or none, for Blosc1";
    refused(base.blosc1(true).slot(0, Filter::Delta, 0), &format!("filters = 3 {one_filter}"));
    refused(base.blosc1(true).bitshuffle().slot(0, Filter::Shuffle, 0), &format!("filters = 1 {one_filter}"));
    refused(Params::new(256).blosc1(true), "typesize = 256 is not allowed: 1 to 255 bytes for Blosc1");
    refused(
        base.blosc1(true).codec(Codec::Other(200)),
        "codec = 200 is not allowed: blosclz, lz4, lz4hc, snappy, zlib or zstd for Blosc1",
    );
    // There is no seventh slot, and nobody is told that there is.
    assert_eq!(base.slot(6, Filter::Delta, 0), base);
    // What only shows with the data: filters and codecs that need something around.
    let run = |params: Params| Pool::new(1).compress(&params, &data).map_err(|e| e.to_string());
    // A block larger than the chunk is as large as that.
    assert_eq!(run(base.blocksize(Some(1004))), run(base.blocksize(Some(data.len() as u32))));
    assert!(run(base.slot(0, Filter::NdCell, 2)).is_err(), "no block shape");
    for (id, name) in [(36, "openhtj2k"), (99, "unknown"), (160, "user codec"), (255, "user codec")] {
        let error = run(base.codec(Codec::Other(id))).unwrap_err();
        assert!(error.starts_with(&format!("codec {id} ({name}) is not built in")), "{error}");
        assert_eq!(error.contains("python-blosc2 reads it"), (32..160).contains(&id), "{error}");
    }
}

#[test]
fn dictionaries_and_variable_length_blocks_that_are_not_allowed_say_what_is() {
    let text = |result: Result<usize, Error>| result.expect_err("not allowed").to_string();
    let mut dst = vec![0; 70_000];
    let mut work = vec![0; 200_000];
    let data = [3; 2000];
    let long = vec![5; 32_769];
    let lz4 = Params::new(1).codec(Codec::Lz4);
    let mut with = |params: Params, dictionary: &[u8]| {
        let made = Encoder::with_dictionary(Level::SCALAR, &params, data.len(), dictionary, &mut work);
        text(made.and_then(|mut e| e.encode(&data, &mut dst)))
    };
    let allowed = "is not allowed: codecs lz4, lz4hc and zstd, level 1 or more, not for Blosc1";
    assert_eq!(with(lz4, &long), "dictionary = 32769 is not allowed: at most 32768 bytes");
    assert_eq!(with(lz4.level(0), &long[..9]), format!("dictionary = 9 {allowed}"));
    assert_eq!(with(lz4.codec(Codec::BloscLz), &long[..9]), format!("dictionary = 9 {allowed}"));
    assert_eq!(with(lz4.blosc1(true), &long[..9]), format!("dictionary = 9 {allowed}"));

    let mut vl = |params: Params, blocks: &[&[u8]]| {
        let made = Encoder::for_blocks(Level::SCALAR, &params, 100, &[], &mut work);
        text(made.and_then(|mut e| e.encode_vl(blocks, &mut dst)))
    };
    let sizes = "block length = 0 is not allowed: at least one block, of at least one byte each";
    assert_eq!(vl(lz4, &[]), sizes);
    assert_eq!(vl(lz4, &[b"a", b""]), sizes);
    assert_eq!(
        vl(lz4.blosc1(true), &[b"a"]),
        "blosc1 = 1 is not allowed: off: Blosc1 has no variable-length blocks"
    );
    if encodes(Codec::Zstd) {
        assert_eq!(
            vl(lz4.codec(Codec::Zstd), &[&long]),
            "block length = 32769 is not allowed: no more than the encoder was made for"
        );
    }
    assert!(Encoder::for_blocks(Level::SCALAR, &lz4.level(12), 100, &[], &mut work).is_err());
}
