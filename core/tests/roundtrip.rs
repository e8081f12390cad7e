//! Round trips over all parameters of the writer: the same bytes at every level and thread count, read back
//! whole, by block and by range; and parameters that are not allowed.
#![cfg(all(feature = "std", feature = "codecs"))]

mod common;

use blosc_core::chunk::Plan;
use blosc_core::{
    Chunk, Codec, Decoder, Encoder, Error, Filter, FilterSlot, Level, Params, Pool, Split, Surroundings,
    max_encoded_len,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Codecs this build can write.
fn codecs() -> Vec<Codec> {
    let mut all = vec![Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib];
    if cfg!(feature = "zstd-c") {
        all.push(Codec::Zstd);
    }
    all
}

fn slot() -> impl Strategy<Value = FilterSlot> {
    let filter = |filter, meta| FilterSlot { filter, meta };
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
    (typesize, select(codecs()), 0u8..=9, filters, split, blocksize, any::<u8>()).prop_map(
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
            let again = Pool::new(3).level(level).compress(&params, &data).expect("as before");
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
        Pool::new(3).decompress_into(&chunk, Surroundings::default(), &mut out).expect("with threads");
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
    let refused = |params: Params, about: &str| {
        let error = Pool::new(1).compress(&params, &data).expect_err(about);
        let text = error.to_string();
        assert!(text.len() > 20, "{about}: {text}");
        let mut work = [0; 0];
        assert!(Encoder::new(Level::SCALAR, &params, data.len(), &mut work).is_err(), "{about}");
    };
    refused(Params::new(0), "typesize 0");
    refused(Params::new(536_866_817), "typesize above the limit");
    refused(base.level(10), "level 10");
    refused(base.level(12), "level 12");
    refused(base.blocksize(Some(0)), "block size 0");
    refused(base.blocksize(Some(u32::MAX)), "block size above the limit");
    refused(base.codec(Codec::Snappy), "a codec that is only read");
    refused(base.codec(Codec::Other(7)), "a codec id below 32");
    refused(base.slot(0, Filter::Other(7), 0), "filter 7");
    refused(base.slot(0, Filter::Other(77), 0), "filter 77");
    refused(base.slot(0, Filter::TruncPrec, 0), "trunc_prec keeping nothing");
    refused(base.slot(0, Filter::TruncPrec, 24), "trunc_prec keeping more than there is");
    refused(Params::new(2).slot(0, Filter::TruncPrec, 5), "trunc_prec of 16-bit items");
    refused(base.slot(0, Filter::IntTrunc, 0), "int_trunc keeping nothing");
    refused(Params::new(3).slot(0, Filter::IntTrunc, 5), "int_trunc of 24-bit items");
    refused(base.slot(0, Filter::ByteDeltaV1, 4), "the defective bytedelta");
    refused(base.slot(0, Filter::NdCell, 0), "ndcell of side 0");
    refused(base.slot(0, Filter::NdMean, 200), "ndmean of a negative side");
    refused(base.dictionary(true).level(0), "a dictionary for stored data");
    refused(base.dictionary(true).codec(Codec::BloscLz), "a dictionary for blosclz");
    refused(base.blosc1(true).slot(0, Filter::Delta, 0), "delta for Blosc1");
    refused(base.blosc1(true).bitshuffle().slot(0, Filter::Shuffle, 0), "two filters for Blosc1");
    refused(Params::new(256).blosc1(true), "a wide item for Blosc1");
    // What only shows with the data: a block larger than the chunk, filters that need an array around.
    let run = |params: Params| Pool::new(1).compress(&params, &data);
    assert!(run(base.blocksize(Some(1004))).is_err_and(|e| e.to_string().contains("blocksize")));
    assert!(run(base.slot(0, Filter::NdCell, 2)).is_err(), "no block shape");
    assert_eq!(run(base.codec(Codec::Other(34))), Err(Error::CodecNotBuiltIn(Codec::Other(34))));
    assert_eq!(run(base.codec(Codec::Other(200))), Err(Error::CodecNotBuiltIn(Codec::Other(200))));
}
