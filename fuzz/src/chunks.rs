//! Chunks: parsing, whole and partial decoding, round trips.

use crate::primed::twice;
use crate::resources::allow;
use arbitrary::{Arbitrary, Unstructured};
use blosc_core::chunk::plugin::{UserCodec, UserFilter};
use blosc_core::chunk::{lazy::LazyChunk, special};
use blosc_core::codec::{CodecError, CodecErrorKind, context::DecodeContext};
use blosc_core::filter::FilterError;
use blosc_core::{
    Chunk, ChunkContext, Codec, Decoder, Error, Filter, FilterSlot, Level, Limits, Params, Pool, Split,
};

/// Largest chunk that is decoded.
const OUTPUT: u64 = 4 << 20;
/// What every chunk is opened under.
pub const LIMITS: Limits = Limits::DEFAULT.output(OUTPUT);

/// What this library makes of a chunk.
pub fn decoded(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let chunk = Chunk::parse_with(bytes, &LIMITS)?;
    let around = around(u32::from(chunk.header().typesize));
    twice(|before| before.pool().decompress_in(&chunk, around))
}

/// Parses and walks everything a header and its offsets lead to.
pub fn parse(data: &[u8]) {
    if let Ok(lazy) = LazyChunk::parse(data, &LIMITS) {
        let (cbytes, _, _) = (lazy.header().cbytes as usize, lazy.nchunk(), lazy.offset());
        for index in 0..=lazy.header().nblocks().min(1000) {
            let extent = lazy.block_extent(index);
            assert!(extent.is_err() || index < lazy.header().nblocks());
            assert!(extent.is_err() || extent.is_ok_and(|range| !range.is_empty() && range.end <= cbytes));
        }
    }
    let Ok(chunk) = Chunk::parse_with(data, &Limits::NONE) else { return };
    let (nbytes, tight) = (chunk.nbytes() as u64, Limits::NONE.expansion(20));
    let within = nbytes <= 20 * u64::from(chunk.header().cbytes);
    assert_eq!(Chunk::parse_with(data, &tight).is_ok(), within, "a limit on the expansion");
    assert!(chunk.header().filters.iter().all(|slot| !slot.filter.name().is_empty()));
    // Afterwards nothing fails for a structural reason.
    for index in 0..chunk.nblocks().min(1000) {
        let range = chunk.block_range(index).expect("a block of a parsed chunk");
        assert!(range.end <= chunk.nbytes());
        let _ = (chunk.block_extent(index), chunk.streams_are_planes(index));
        if chunk.header().has_streams() && !chunk.header().is_vl() {
            let mut streams = chunk.streams(index).expect("streams of a parsed chunk");
            while streams.next_stream().expect("a stream of a parsed chunk").is_some() {}
        }
    }
    assert!(chunk.block_range(chunk.nblocks()).is_err());
}

/// Decodes into a buffer of the claimed size, at every level, as part of a larger output too, in one piece and block by
/// block.
pub fn decode(data: &[u8]) {
    let Ok(chunk) = Chunk::parse_with(data, &LIMITS) else { return };
    let n = chunk.nbytes();
    allow(7 * n + Decoder::work_len(&chunk));
    let lengths = (0..chunk.nblocks()).map(|index| chunk.block_range(index).map_or(0, |range| range.len()));
    assert!(Decoder::work_len(&chunk) <= Decoder::work_max(lengths.max().unwrap_or(0)));
    let mut work = vec![0x5A; Decoder::work_len(&chunk)];
    let around = around(u32::from(chunk.header().typesize));
    let mut first: Option<Result<Vec<u8>, blosc_core::Error>> = None;
    // Parts of outputs larger than the caches are written past them, wherever they begin.
    let past = ChunkContext { whole: 1 << 30, ..around };
    for (level, around, start) in
        [(Level::SCALAR, around, 0), (Level::best(), around, 0), (Level::best(), past, data.len() % 64)]
    {
        let result = twice(|before| {
            let (mut out, mut work) = (before.bytes(start + n), before.bytes(Decoder::work_len(&chunk)));
            let mut decoder = Decoder::with_context(level, &mut work, before.context()).chunk_context(around);
            decoder.decode(&chunk, &mut out[start..]).map(|len| out[start..][..len].to_vec())
        });
        match &first {
            None => first = Some(result),
            Some(first) => assert!(*first == result, "levels differ"),
        }
    }
    let Some(Ok(whole)) = first else { return };
    assert_eq!(whole.len(), n);
    // Without the codecs of the host; ours refuses one thing that those let pass.
    let own = twice(|before| {
        let (mut out, mut work) = (before.bytes(n), before.bytes(Decoder::work_len(&chunk)));
        let mut decoder = Decoder::with_context(Level::best(), &mut work, DecodeContext::empty());
        decoder = decoder.chunk_context(around);
        decoder.decode(&chunk, &mut out[..]).map(|_| out)
    });
    match own {
        Ok(out) => assert!(out == whole, "our own zlib or zstd differs"),
        Err(error) => assert!(is_lax(&chunk, error), "{error}"),
    }
    let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around);
    for index in 0..chunk.nblocks().min(64) {
        let range = chunk.block_range(index).expect("a block of a parsed chunk");
        let mut block = vec![0; range.len()];
        assert_eq!(decoder.decode_block(&chunk, index, &mut block[..]), Ok(range.len()));
        assert_eq!(block, whole[range]);
    }
    assert!(decoder.decode(&chunk, &mut vec![0; n.saturating_sub(1)][..]).is_err() || n == 0);
    masked(&mut decoder, &chunk, &whole);
    // These blocks once more, as an executor of the caller's would have them.
    if let Ok(mut blocks) = decoder.blocks(&chunk) {
        for index in 0..chunk.nblocks().min(64) {
            let range = chunk.block_range(index).expect("a block of a parsed chunk");
            let mut block = vec![0xA5; range.len()];
            assert_eq!(blocks.block_len(index), Ok(range.len()));
            assert_eq!(blocks.decode(index, (&mut block[..]).into()), Ok(()));
            assert_eq!(block, whole[range]);
        }
        assert!(blocks.block_len(chunk.nblocks()).is_err());
    }
}

/// Whether C zstd lets pass what our own decoder found: literals in four Huffman streams that do not end exactly where
/// they should, which RFC 8878 calls corrupt (section 4.2.2).
fn is_lax(chunk: &Chunk<'_>, error: blosc_core::Error) -> bool {
    let blosc_core::Error::Codec { codec: Codec::Zstd, offset, error } = error else { return false };
    // Type 2 or 3, and more than one stream.
    let four = |block: &[u8]| block[0] >> 1 & 3 == 2 && block[3] & 2 != 0 && block[3] & 12 != 0;
    let block = chunk.bytes().get(offset + 4 + error.offset..).and_then(|rest| rest.first_chunk::<4>());
    error.kind == CodecErrorKind::Corrupt && block.is_some_and(|block| four(block))
}

/// Blocks that a mask leaves out stay as they were; the others are decoded.
fn masked(decoder: &mut Decoder<'_>, chunk: &Chunk<'_>, whole: &[u8]) {
    let mask: Vec<bool> = (0..chunk.nblocks()).map(|index| index % 3 != 1).collect();
    let mut out = vec![0xA5; whole.len()];
    if chunk.header().is_vl() || decoder.decode_masked(chunk, &mask, &mut out[..]) != Ok(whole.len()) {
        return;
    }
    for (index, left_out) in mask.iter().enumerate().take(1000) {
        let range = chunk.block_range(index).expect("a block of a parsed chunk");
        let (block, truth) = (&out[range.clone()], &whole[range]);
        assert!(if *left_out { block.iter().all(|b| *b == 0xA5) } else { block == truth }, "block {index}");
    }
    assert!(decoder.decode_masked(chunk, &[&mask[..], &[false]].concat(), &mut out[..]).is_err());
}

/// Any range equals the same part of a full decode, in bytes and in items.
pub fn getitem(data: &[u8]) {
    let Some((range, data)) = data.split_first_chunk::<8>() else { return };
    let Ok(chunk) = Chunk::parse_with(data, &LIMITS) else { return };
    let n = chunk.nbytes();
    allow(4 * n + Decoder::work_len(&chunk));
    let [a, b] =
        [&range[..4], &range[4..]].map(|w| u32::from_le_bytes(w.try_into().expect("4 bytes")) as usize);
    let (a, b) = (a % (n + 1), b % (n + 1));
    let (from, to) = (a.min(b), a.max(b));
    let size = usize::from(chunk.header().typesize);
    // The whole items in that range.
    let items = from.div_ceil(size)..(to / size).max(from.div_ceil(size)).min(n / size);
    let [whole, part, taken] = twice(|before| {
        let mut work = before.bytes(Decoder::work_len(&chunk));
        let mut decoder = Decoder::with_context(Level::best(), &mut work, before.context());
        decoder = decoder.chunk_context(around(size as u32));
        let [mut whole, mut part, mut taken] =
            [n, to - from, items.len() * size].map(|len| before.bytes(len));
        [
            decoder.decode(&chunk, &mut whole[..]).map(|_| whole),
            decoder.get_bytes(&chunk, from..to, &mut part[..]).map(|_| part),
            decoder.get_items(&chunk, items.clone(), &mut taken[..]).map(|_| taken),
        ]
    });
    if let Ok(whole) = &whole {
        assert_eq!(part.as_deref(), Ok(&whole[from..to]));
        let truth = whole.get(items.start * size..items.end * size);
        assert!(truth.is_none_or(|truth| taken.as_deref() == Ok(truth)), "items {items:?}");
    }
    let mut work = vec![0x5A; Decoder::work_len(&chunk)];
    let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around(size as u32));
    assert!(decoder.get_items(&chunk, 0..n / size + 1, &mut []).is_err());
    assert!(decoder.get_items(&chunk, usize::MAX..usize::MAX, &mut []).is_err());
}

/// A valid chunk with some bytes changed, so that inner layers are reached.
pub fn mutated(data: &[u8]) {
    if let Ok(chunk) = mutant(&mut Unstructured::new(data)) {
        decode(&chunk);
    }
}

/// Half of the changes go to the header and the table of block starts.
pub fn mutant(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let (params, source) = plan(u)?;
    let mut chunk = blosc_core::compress(&params, &source).unwrap_or_else(|_| vec![0; 32]);
    for _ in 0..u.int_in_range(1..=6)? {
        let most = if u.arbitrary()? { chunk.len().min(80) } else { chunk.len() };
        let at = u.choose_index(most)?;
        chunk[at] = u.arbitrary()?;
    }
    Ok(chunk)
}

/// What goes in comes out, whatever the parameters.
pub fn roundtrip(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok((params, source)) = plan(&mut u) else { return };
    allow(64 * source.len() + (64 << 20)); // encoder contexts of the high levels
    specials(params.typesize, &source);
    let Ok(bytes) = Pool::new(1).compress(&params, &source) else { return };
    assert!(bytes.len() <= source.len() + 32);
    let chunk = Chunk::parse(&bytes).expect("our own chunk");
    let around = ChunkContext { typesize: params.typesize, ..ChunkContext::default() };
    let decoded = Pool::new(1).decompress_in(&chunk, around).expect("our own chunk");
    let lossy = params.filters.iter().any(|s| matches!(s.filter, Filter::TruncPrec | Filter::IntTrunc));
    assert!(lossy || decoded == source, "{params:?}");
    let blocks: Vec<&[u8]> = source.chunks(usize::from(params.level) * 50 + 7).collect();
    if let Ok(bytes) = Pool::new(1).compress_vl(&params, around, &blocks) {
        let chunk = Chunk::parse(&bytes).expect("our own chunk");
        let decoded = Pool::new(1).decompress_in(&chunk, around).expect("our own chunk");
        assert!(lossy || decoded == source, "blocks of variable length, {params:?}");
    }
    surrounded(&params, &source);
}

/// One block of an array, its items in cells; then a codec and a filter of the caller's.
fn surrounded(params: &Params, source: &[u8]) {
    let (typesize, wide) = (params.typesize, u32::from(params.level) + 2);
    let high = (source.len() / typesize as usize) as u32 / wide;
    let source = &source[..(typesize * wide * high) as usize];
    let [meta, side] = [params.filters[0].meta, params.filters[1].meta];
    let around = ChunkContext { blockshape: &[high, wide], ..around(typesize) };
    let codecs =
        [params.codec, if typesize == 1 { Codec::Ndlz } else { Codec::Lz4 }, Codec::Other(Runs.id())];
    let filters = [Filter::NdCell, Filter::Other(Turn.id()), Filter::NdMean];
    for (codec, filter) in codecs.into_iter().zip(filters) {
        let params = params.codec(codec).dictionary(false).blosc1(false);
        let params = params.no_filter().slot(4, filter, side % 8).slot(5, Filter::ByteDelta, meta);
        let params = params.blocksize(Some(source.len().max(1) as u32)).fit(source.len());
        let Ok(bytes) = Pool::new(1).compress_in(&params, around, source) else { continue };
        let chunk = Chunk::parse(&bytes).expect("our own chunk");
        let decoded = Pool::new(1).decompress_in(&chunk, around).expect("our own chunk");
        assert!(filter == Filter::NdMean || decoded == source, "{params:?} in {wide} x {high}");
    }
}

/// A typesize, and a codec and a filter of the caller's.
pub fn around(typesize: u32) -> ChunkContext<'static> {
    ChunkContext { typesize, codecs: &[&Runs], filters: &[&Turn], ..ChunkContext::default() }
}

/// A codec as a caller may have it: runs of a byte, nothing else.
struct Runs;

impl UserCodec for Runs {
    fn id(&self) -> u8 {
        200
    }
    fn encode(&self, _: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let (first, place) = (src.first()?, dst.first_mut()?);
        *place = *first;
        src.iter().all(|byte| byte == first).then_some(1)
    }
    fn decode(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let [byte] = src else { return Err(CodecErrorKind::Corrupt.at(0)) };
        dst.fill(*byte);
        Ok(())
    }
}

/// A filter as a caller may have it.
struct Turn;

impl UserFilter for Turn {
    fn id(&self) -> u8 {
        200
    }
    fn forward(&self, meta: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_add(meta));
        Ok(())
    }
    fn backward(&self, meta: u8, typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        self.forward(meta.wrapping_neg(), typesize, src, dst)
    }
}

/// Chunks of one value, and of none.
fn specials(typesize: u32, source: &[u8]) {
    let n = source.len();
    let value = &source[..n.min(typesize as usize)];
    for chunk in [special::zeros(typesize, n), special::uninit(typesize, n)].into_iter().flatten() {
        assert_eq!(blosc_core::decompress(&chunk), Ok(vec![0; n]));
    }
    if let Ok(chunk) = special::nans(typesize, n) {
        let out = blosc_core::decompress(&chunk).expect("our own chunk");
        let all = match typesize {
            4 => out.as_chunks().0.iter().all(|b| f32::from_le_bytes(*b).is_nan()),
            _ => out.as_chunks().0.iter().all(|b| f64::from_le_bytes(*b).is_nan()),
        };
        assert!(all && out.len() == n);
    }
    let mut chunk = vec![0; 32 + value.len()];
    if let Ok(len) = special::repeated(value, n, &mut chunk) {
        let out = blosc_core::decompress(&chunk[..len]).expect("our own chunk");
        assert!(out.len() == n && out.chunks(value.len()).all(|v| v == value));
    }
}

#[derive(Arbitrary, Debug)]
struct Choice {
    typesize: u16,
    codec: u8,
    level: u8,
    split: u8,
    filters: [(u8, u8); 6],
    blocksize: Option<u16>,
    dictionary: bool,
    blosc1: bool,
    repeat: u8,
}

/// Parameters that are mostly allowed, and data with structure.
fn plan(u: &mut Unstructured<'_>) -> arbitrary::Result<(Params, Vec<u8>)> {
    let c = Choice::arbitrary(u)?;
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    let mut params = Params::new(u32::from(c.typesize % 300).max(1));
    params.codec = codecs[usize::from(c.codec) % codecs.len()];
    params.level = c.level % 10;
    params.split = [Split::Always, Split::Never, Split::Auto, Split::ForwardCompat][usize::from(c.split % 4)];
    for (slot, (id, meta)) in params.filters.iter_mut().zip(c.filters) {
        let filter = [
            Filter::None,
            Filter::Shuffle,
            Filter::BitShuffle,
            Filter::Delta,
            Filter::ByteDelta,
            Filter::TruncPrec,
            Filter::IntTrunc,
        ][usize::from(id % 7)];
        let meta = if filter == Filter::Shuffle && meta & 1 == 0 { 0 } else { meta };
        *slot = FilterSlot::new(filter, meta);
    }
    params.dictionary = c.dictionary;
    params.blosc1 = c.blosc1;
    let piece = u.bytes(u.len() / 2)?;
    let source: Vec<u8> =
        piece.iter().copied().cycle().take(piece.len() * usize::from(c.repeat % 40 + 1)).collect();
    params.blocksize = c.blocksize.map(u32::from);
    Ok((params.fit(source.len()), source))
}
