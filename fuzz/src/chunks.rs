//! Chunks: parsing, whole and partial decoding, round trips.

use crate::resources::allow;
use arbitrary::{Arbitrary, Unstructured};
use blosc_core::{
    Chunk, Codec, Decoder, Filter, FilterSlot, Level, Limits, Params, Pool, Split, Surroundings,
    chunk::lazy::LazyChunk,
};

/// Largest chunk that is decoded.
const OUTPUT: u64 = 4 << 20;
/// What every chunk is opened under.
pub const LIMITS: Limits = Limits { output: OUTPUT, ..Limits::DEFAULT };

/// Parses and walks everything a header and its offsets lead to.
pub fn parse(data: &[u8]) {
    let _ = LazyChunk::parse(data, &LIMITS);
    let Ok(chunk) = Chunk::parse_with(data, &Limits::NONE) else { return };
    // Afterwards nothing fails for a structural reason.
    for index in 0..chunk.nblocks().min(1000) {
        let range = chunk.block_range(index).expect("a block of a parsed chunk");
        assert!(range.end <= chunk.nbytes());
        if chunk.header().has_streams() && !chunk.header().is_vl() {
            let mut streams = chunk.streams(index).expect("streams of a parsed chunk");
            while streams.next_stream().expect("a stream of a parsed chunk").is_some() {}
        }
    }
    assert!(chunk.block_range(chunk.nblocks()).is_err());
}

/// Decodes into a buffer of the claimed size, at every level, in one piece and block by block.
pub fn decode(data: &[u8]) {
    let Ok(chunk) = Chunk::parse_with(data, &LIMITS) else { return };
    let n = chunk.nbytes();
    allow(6 * n + Decoder::work_len(&chunk));
    let mut work = vec![0x5A; Decoder::work_len(&chunk)];
    let around = Surroundings { typesize: u32::from(chunk.header().typesize), ..Surroundings::default() };
    let mut first: Option<Result<Vec<u8>, blosc_core::Error>> = None;
    for level in [Level::SCALAR, Level::best()] {
        let mut out = vec![0xA5; n];
        let result = Decoder::new(level, &mut work)
            .surroundings(around)
            .decode(&chunk, &mut out[..])
            .map(|len| out[..len].to_vec());
        match &first {
            None => first = Some(result),
            Some(first) => assert!(*first == result, "levels differ"),
        }
    }
    let Some(Ok(whole)) = first else { return };
    assert_eq!(whole.len(), n);
    let mut decoder = Decoder::new(Level::best(), &mut work).surroundings(around);
    for index in 0..chunk.nblocks().min(64) {
        let range = chunk.block_range(index).expect("a block of a parsed chunk");
        let mut block = vec![0; range.len()];
        assert_eq!(decoder.decode_block(&chunk, index, &mut block[..]), Ok(range.len()));
        assert_eq!(block, whole[range]);
    }
    assert!(decoder.decode(&chunk, &mut vec![0; n.saturating_sub(1)][..]).is_err() || n == 0);
}

/// Any range equals the same part of a full decode.
pub fn getitem(data: &[u8]) {
    let Some((range, data)) = data.split_first_chunk::<8>() else { return };
    let Ok(chunk) = Chunk::parse_with(data, &LIMITS) else { return };
    let n = chunk.nbytes();
    allow(4 * n + Decoder::work_len(&chunk));
    let [a, b] =
        [&range[..4], &range[4..]].map(|w| u32::from_le_bytes(w.try_into().expect("4 bytes")) as usize);
    let (a, b) = (a % (n + 1), b % (n + 1));
    let (from, to) = (a.min(b), a.max(b));
    let mut work = vec![0x5A; Decoder::work_len(&chunk)];
    let around = Surroundings { typesize: u32::from(chunk.header().typesize), ..Surroundings::default() };
    let mut decoder = Decoder::new(Level::best(), &mut work).surroundings(around);
    let mut whole = vec![0xA5; n];
    let mut part = vec![0x55; to - from];
    if decoder.decode(&chunk, &mut whole[..]).is_ok() {
        assert_eq!(decoder.get_bytes(&chunk, from..to, &mut part[..]), Ok(to - from));
        assert_eq!(part, whole[from..to]);
    } else {
        let _ = decoder.get_bytes(&chunk, from..to, &mut part[..]);
    }
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
    let Ok(bytes) = Pool::new(1).compress(&params, &source) else { return };
    assert!(bytes.len() <= source.len() + 32);
    let chunk = Chunk::parse(&bytes).expect("our own chunk");
    let around = Surroundings { typesize: params.typesize, ..Surroundings::default() };
    let decoded = Pool::new(1).decompress_in(&chunk, around).expect("our own chunk");
    let lossy = params.filters.iter().any(|s| matches!(s.filter, Filter::TruncPrec | Filter::IntTrunc));
    assert!(lossy || decoded == source, "{params:?}");
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
        let filter = [Filter::None, Filter::Shuffle, Filter::BitShuffle, Filter::Delta, Filter::ByteDelta]
            [usize::from(id % 5)];
        let meta = if filter == Filter::Shuffle && meta & 1 == 0 { 0 } else { meta };
        *slot = FilterSlot { filter, meta };
    }
    params.dictionary = c.dictionary;
    params.blosc1 = c.blosc1;
    let piece = u.bytes(u.len() / 2)?;
    let source: Vec<u8> =
        piece.iter().copied().cycle().take(piece.len() * usize::from(c.repeat % 40 + 1)).collect();
    params.blocksize = c.blocksize.map(u32::from);
    Ok((params.fit(source.len()), source))
}
