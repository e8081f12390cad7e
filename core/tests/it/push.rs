//! Chunks that arrive in pieces: any cutting gives what a slice gives, resumed after any byte, and decoded over themselves.

use crate::common::{Rng, emulated, encodes, kinds};
use crate::support::{Vectors, chunk_context, decode, guarded, text};
use blosc_core::{
    Chunk, ChunkContext, Codec, Decoder, Error, Field, Filter, FilterSlot, Level, Limits, Params, Pool,
    PushDecoder, PushState, Special,
};

/// Pushes `chunk` in pieces that `sizes` gives; the decoded bytes, or the error and the position at which it was seen.
fn pushed(
    decoder: &mut PushDecoder<'_>,
    chunk: &[u8],
    nbytes: usize,
    mut sizes: impl FnMut() -> usize,
) -> Result<Vec<u8>, (Error, usize)> {
    let mut out = vec![0xA5; nbytes];
    let (mut at, mut blocks) = (0, 0);
    while !decoder.is_done() {
        let end = (at + sizes().max(1)).min(chunk.len());
        assert!(at < chunk.len() || decoder.needs() == 0, "wants more than the chunk");
        let mut piece = &chunk[at..end];
        loop {
            match decoder.push(&mut piece) {
                Ok(None) => break,
                Ok(Some(block)) => {
                    out[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
                    blocks += 1;
                }
                Err(error) => {
                    assert_eq!(decoder.push(&mut &[0; 64][..]), Err(error), "an error stays");
                    return Err((error, decoder.position()));
                }
            }
        }
        assert!(piece.is_empty() || decoder.is_done());
        at = end;
    }
    assert_eq!(decoder.push(&mut &[0; 64][..]), Ok(None));
    let state = decoder.state().expect("a state at the end");
    assert_eq!((state.decoded(), blocks > 0), (nbytes, nbytes > 0));
    Ok(out)
}

/// Exactly the memory that `chunk` needs, with all block starts or for blocks in order.
fn memory(chunk: &Chunk<'_>, in_order: bool) -> Vec<u8> {
    let table = if in_order && chunk.header().has_streams() { 4 * chunk.nblocks() } else { 0 };
    let dictionary = chunk.dictionary().map_or(0, |bytes| if bytes.is_empty() { 0 } else { 4 + bytes.len() });
    vec![0x5A; PushDecoder::memory_len(chunk.header()) - table + dictionary]
}

/// Chunks of every codec, filter and form, with the context that decodes them.
fn every_chunk(mut each: impl FnMut(&str, &[u8], ChunkContext<'_>)) {
    let set = &Vectors::all()[0];
    for record in set.of_kind(&["chunk", "chunk-vl", "blosc1"]) {
        each(text(record, "file"), &set.read(record), chunk_context(record));
    }
    for (name, data) in kinds(20_000) {
        let codecs = [(Codec::Lz4, 4), (Codec::BloscLz, 8), (Codec::Zstd, 1), (Codec::Zlib, 2)];
        for (codec, size) in codecs.into_iter().filter(|&(codec, _)| encodes(codec)) {
            let params = Params::new(size).codec(codec).shuffle().blocksize(Some(1536));
            each(name, &blosc_core::compress(&params, &data).unwrap(), ChunkContext::default());
            let mut filters = [FilterSlot::NONE; 6];
            filters[4] = FilterSlot::new(Filter::Delta, 0);
            filters[5] = FilterSlot::new(Filter::BitShuffle, 0);
            let bytes = blosc_core::compress(&params.filters(filters), &data).unwrap();
            each(name, &bytes, ChunkContext::default());
        }
    }
}

#[test]
fn any_cutting_gives_what_a_slice_gives() {
    let (mut rng, mut count, mut in_order) = (Rng::new(3), 0, 0);
    every_chunk(|name, bytes, around| {
        let Ok(chunk) = Chunk::parse(bytes) else { return };
        let whole = decode(Level::best(), &chunk, around).unwrap();
        let sizes: &[usize] = if bytes.len() < 3000 { &[1, 7, 64, 4096] } else { &[64, 4096] };
        for (round, &size) in sizes.iter().chain(&[0]).enumerate() {
            for (less, level) in [(false, Level::best()), (true, Level::SCALAR)] {
                let mut memory = memory(&chunk, less);
                let mut decoder = PushDecoder::new(level, &mut memory).chunk_context(around);
                let step = || if size == 0 { rng.below(300) } else { size };
                match pushed(&mut decoder, bytes, whole.len(), step) {
                    Ok(out) => assert!(out == whole, "{name}, pieces of {size}"),
                    Err((Error::WorkTooSmall { .. }, _)) if less || chunk.header().is_vl() => continue,
                    Err((Error::Unsupported(why), _)) => {
                        let header = chunk.header();
                        let odd = !header.blocksize.is_multiple_of(header.typesize.into());
                        assert!(odd || why.contains("delta"), "{name}: {why}");
                        continue;
                    }
                    Err((error, at)) => panic!("{name}, pieces of {size}, at {at}: {error}"),
                }
                in_order += usize::from(less && round == 0);
            }
        }
        count += 1;
    });
    assert!(count > 200 && in_order > 180, "{count} chunks, {in_order} of them in order");
}

/// A chunk of 20,000 bytes in blocks of 1536, and what it decodes to.
fn sample(codec: Codec) -> (Vec<u8>, Vec<u8>) {
    let data = kinds(20_000).swap_remove(6).1;
    let params = Params::new(4).codec(codec).shuffle().blocksize(Some(1536));
    (blosc_core::compress(&params, &data).unwrap(), data)
}

/// A chunk with its blocks in the order that `order` gives, `gap` bytes between them.
fn reordered(bytes: &[u8], order: &[usize], gap: usize) -> Vec<u8> {
    let chunk = Chunk::parse(bytes).unwrap();
    let mut out = bytes[..chunk.prefix_len().unwrap()].to_vec();
    for &index in order {
        let at = 32 + 4 * index;
        let start = out.len() as i32;
        out[at..at + 4].copy_from_slice(&start.to_le_bytes());
        out.extend(&bytes[chunk.block_extent(index).unwrap()]);
        out.extend(vec![0xEE; gap]);
    }
    let cbytes = out.len() as i32;
    out[12..16].copy_from_slice(&cbytes.to_le_bytes());
    out
}

#[test]
fn blocks_come_out_as_they_arrive() {
    let (bytes, data) = sample(Codec::Lz4);
    let blocks = Chunk::parse(&bytes).unwrap().nblocks();
    let mut order: Vec<usize> = (0..blocks).collect();
    let mut rng = Rng::new(9);
    order.sort_by_cached_key(|_| rng.next());
    for gap in [0, 5] {
        let mixed = reordered(&bytes, &order, gap);
        let chunk = Chunk::parse(&mixed).unwrap();
        let mut room = memory(&chunk, false);
        let mut decoder = PushDecoder::new(Level::best(), &mut room);
        let (mut seen, mut rest) = (Vec::new(), &mixed[..]);
        while let Some(block) = decoder.push(&mut rest).unwrap() {
            assert_eq!(block.bytes, &data[block.offset..][..block.bytes.len()]);
            seen.push(block.index);
        }
        assert!(decoder.is_done() && seen == order);
        // Without room for the starts: the answer names the size that it takes.
        let mut room = memory(&chunk, true);
        let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), &mixed, data.len(), || 64);
        let needed = PushDecoder::memory_len(chunk.header());
        assert!(
            matches!(answer, Err((Error::WorkTooSmall { needed: n, .. }, _)) if n == needed),
            "{answer:?}"
        );
    }
    let gaps = reordered(&bytes, &(0..blocks).collect::<Vec<_>>(), 5);
    let mut room = memory(&Chunk::parse(&gaps).unwrap(), true);
    let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), &gaps, data.len(), || 64);
    assert!(answer.is_err(), "blocks that do not follow each other need their starts");
}

#[test]
fn memory_is_known() {
    every_chunk(|name, bytes, _| {
        let Ok(chunk) = Chunk::parse(bytes) else { return };
        let header = chunk.header();
        if header.is_vl() || !header.has_streams() {
            return;
        }
        let needed = PushDecoder::memory_len(header);
        let most =
            PushDecoder::memory_max(header.blocksize as usize, header.typesize.into(), chunk.nblocks());
        assert!(needed <= most, "{name}: {needed}, {most}");
        let mut room = vec![0; needed - 4 * chunk.nblocks() - 1];
        let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), bytes, chunk.nbytes(), || 64);
        let Err((error, at)) = answer else { panic!("{name}: decoded with less") };
        let odd = !header.blocksize.is_multiple_of(header.typesize.into());
        let small = Error::WorkTooSmall { needed, given: room.len() };
        assert!(error == small || odd, "{name}: {error}");
        assert!(at <= 64, "the header tells");
    });
    // No memory at all is an error and no loop without end.
    for len in 0..40 {
        let answer =
            pushed(&mut PushDecoder::new(Level::best(), &mut vec![0; len]), &sample(Codec::Lz4).0, 9, || 64);
        assert!(matches!(answer, Err((Error::WorkTooSmall { .. }, _))));
    }
}

/// The power fails after byte `cut` and whatever is in RAM is lost; what was written and the state are not.
fn cut_after(bytes: &[u8], data: &[u8], room: &mut [u8], cut: usize) {
    let mut flash = vec![0xA5; data.len()];
    let mut stored = None;
    let mut decoder = PushDecoder::new(Level::best(), room);
    let mut rest = &bytes[..cut];
    while let Some(block) = decoder.push(&mut rest).unwrap() {
        flash[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
        stored = decoder.state().map(|state| state.to_bytes());
    }
    room.fill(0xDD);
    let mut decoder = PushDecoder::new(Level::best(), room);
    if let Some(stored) = stored {
        while decoder.state().is_none() {
            let mut piece = &bytes[decoder.position()..][..decoder.needs()];
            decoder.push(&mut piece).unwrap(); // the first piece of a special chunk comes with the prefix
        }
        let state = PushState::from_bytes(&stored).unwrap();
        decoder.resume(state).unwrap();
        assert_eq!(decoder.position(), state.position());
    }
    let mut rest = &bytes[decoder.position()..];
    while let Some(block) = decoder.push(&mut rest).unwrap() {
        flash[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
    }
    assert!(decoder.is_done() && flash == data, "cut after byte {cut}");
}

#[test]
fn resumed_after_any_byte() {
    let (lz4, data) = sample(Codec::Lz4);
    let order: Vec<usize> = (0..Chunk::parse(&lz4).unwrap().nblocks()).rev().collect();
    let blocks: Vec<&[u8]> = data.chunks(1300).collect();
    let variable = Pool::new(1).compress_vl(&Params::new(4), ChunkContext::default(), &blocks).unwrap();
    let noise = Rng::new(4).noise(3000);
    let stored = blosc_core::compress(&Params::new(4).level(0).blocksize(Some(1024)), &noise).unwrap();
    let zeros = blosc_core::chunk::special::zeros(4, 20_000).unwrap();
    let mut value = vec![0; 35];
    blosc_core::chunk::special::repeated(b"abc", 18_000, &mut value).unwrap();
    let many = b"abc".repeat(6000);
    let zstd = if encodes(Codec::Zstd) { sample(Codec::Zstd).0 } else { lz4.clone() };
    for (bytes, data, in_order) in [
        (&lz4[..], &data[..], true),
        (&lz4, &data, false),
        (&reordered(&lz4, &order, 3), &data, false),
        (&zstd, &data, true),
        (&variable, &data, false),
        (&stored, &noise, false),
        (&zeros, &[0; 20_000], false),
        (&value, &many, false),
    ] {
        let mut room = match Chunk::parse(bytes).unwrap() {
            chunk if chunk.header().special().is_some() => vec![0; 4000],
            chunk => memory(&chunk, in_order),
        };
        for cut in (0..=bytes.len()).step_by(if emulated() { 7 } else { 1 }) {
            cut_after(bytes, data, &mut room, cut);
        }
    }
}

#[test]
fn states_of_other_chunks_and_torn_ones_are_refused() {
    let (bytes, _) = sample(Codec::Lz4);
    let (other, _) = sample(Codec::BloscLz);
    let state = |bytes: &[u8], blocks: usize| {
        let mut room = vec![0; 16_000];
        let mut decoder = PushDecoder::new(Level::best(), &mut room);
        let mut rest = bytes;
        (0..blocks).for_each(|_| assert!(decoder.push(&mut rest).unwrap().is_some()));
        decoder.state().unwrap()
    };
    let mut room = vec![0; 16_000];
    let mut decoder = PushDecoder::new(Level::best(), &mut room);
    assert!(matches!(decoder.resume(state(&bytes, 3)), Err(Error::Param { .. })), "no prefix yet");
    while decoder.state().is_none() {
        decoder.push(&mut &bytes[decoder.position()..][..decoder.needs()]).unwrap();
    }
    assert!(matches!(decoder.resume(state(&other, 3)), Err(Error::Param { .. })));
    decoder.push(&mut &bytes[decoder.position()..][..1]).unwrap();
    assert!(matches!(decoder.resume(state(&bytes, 3)), Err(Error::Param { .. })), "a byte after the prefix");
    let whole = state(&bytes, 3).to_bytes();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut torn = whole;
            torn[at] ^= 1 << bit;
            assert_eq!(PushState::from_bytes(&torn), None, "bit {bit} of byte {at}");
        }
    }
    assert_eq!((PushState::from_bytes(&[0; 24]), PushState::from_bytes(&[255; 24])), (None, None), "erased");
}

#[test]
fn delta_goes_on_after_its_first_block_only() {
    let (_, data) = sample(Codec::Lz4);
    let mut filters = [FilterSlot::NONE; 6];
    filters[5] = FilterSlot::new(Filter::Delta, 0);
    let bytes = blosc_core::compress(&Params::new(4).filters(filters).blocksize(Some(1536)), &data).unwrap();
    let mut room = memory(&Chunk::parse(&bytes).unwrap(), false);
    let mut decoder = PushDecoder::new(Level::best(), &mut room);
    let mut rest = &bytes[..];
    (0..4).for_each(|_| assert!(decoder.push(&mut rest).unwrap().is_some()));
    let state = decoder.state().unwrap();
    let mut decoder = PushDecoder::new(Level::best(), &mut room);
    while decoder.state().is_none() {
        decoder.push(&mut &bytes[decoder.position()..][..decoder.needs()]).unwrap();
    }
    assert!(matches!(decoder.resume(state), Err(Error::Unsupported(_))));
    while decoder.push(&mut &bytes[decoder.position()..][..decoder.needs()]).unwrap().is_none() {}
    decoder.resume(state).unwrap();
    let mut rest = &bytes[decoder.position()..];
    while let Some(block) = decoder.push(&mut rest).unwrap() {
        assert_eq!(block.bytes, &data[block.offset..][..block.bytes.len()]);
    }
    assert!(decoder.is_done());
}

/// What is wrong is said as soon as the bytes that show it are there, with their offset in the chunk.
#[test]
fn errors_come_early() {
    let (bytes, data) = sample(Codec::Lz4);
    let chunk = Chunk::parse(&bytes).unwrap();
    let third = chunk.block_extent(3).unwrap().start;
    let start = 32 + 4 * 3;
    let size = |value: i32| value.to_le_bytes();
    // Bytes to put where, how many bytes show it, and the error.
    let field = |field, offset, value| Error::Invalid { field, offset, value };
    let cases: [(usize, [u8; 4], usize, Error); 6] = [
        (3, [0, bytes[4], bytes[5], bytes[6]], 16, field(Field::Typesize, 3, 0)),
        (4, [0xff; 4], 16, field(Field::Nbytes, 4, -1)),
        (start, size(-1), start + 4, field(Field::BlockStarts, start, -1)),
        (start, size(1 << 30), start + 4, field(Field::BlockStarts, start, 1 << 30)),
        (third, size(-256), third + 4, field(Field::StreamSize, third, -256)),
        (
            third,
            size(1 << 30),
            third + 4,
            Error::Truncated { field: Field::Stream, offset: third + 4, needed: 1 << 30 },
        ),
    ];
    for (at, bad, seen, error) in cases {
        let mut damaged = bytes.clone();
        damaged[at..at + 4].copy_from_slice(&bad);
        let mut room = memory(&chunk, false);
        let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), &damaged, data.len(), || 1);
        assert_eq!(answer.map(|_| ()), Err((error, seen)));
    }
    // A corrupt stream is found where its block ends; a slice gives the same error.
    let text = kinds(20_000).swap_remove(3).1;
    let params = Params::new(1).codec(Codec::Lz4).no_filter().blocksize(Some(1536));
    let mut damaged = blosc_core::compress(&params, &text).unwrap();
    let extent = Chunk::parse(&damaged).unwrap().block_extent(3).unwrap();
    damaged[extent.start + 4..extent.start + 20].fill(0xFF);
    let chunk = Chunk::parse(&damaged).unwrap();
    let whole = decode(Level::best(), &chunk, ChunkContext::default()).unwrap_err();
    assert!(matches!(whole, Error::Codec { offset, .. } if offset == extent.start));
    let mut room = memory(&chunk, true);
    let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), &damaged, text.len(), || 1);
    assert_eq!(answer.map(|_| ()), Err((whole, extent.end)));
    // Limits hold before anything is decoded.
    let limits = Limits::DEFAULT.output(1000);
    let mut decoder = PushDecoder::new(Level::best(), &mut room).limits(&limits);
    assert!(matches!(pushed(&mut decoder, &bytes, 0, || 1), Err((Error::Limit { .. }, 32))));
}

#[test]
fn blocks_that_share_bytes_are_refused() {
    let (bytes, data) = sample(Codec::Lz4);
    let mut shared = bytes.clone();
    shared.copy_within(32..36, 36); // the second block is the first once more
    let chunk = Chunk::parse(&shared).unwrap();
    let mut work = vec![0; Decoder::work_len(&chunk)];
    Decoder::new(Level::best(), &mut work).decode(&chunk, &mut vec![0; data.len()][..]).unwrap();
    for less in [false, true] {
        let mut room = memory(&chunk, less);
        let answer = pushed(&mut PushDecoder::new(Level::best(), &mut room), &shared, data.len(), || 64);
        assert!(matches!(answer, Err((Error::Unsupported(_) | Error::WorkTooSmall { .. }, _))), "{answer:?}");
    }
}

#[test]
fn chunks_are_decoded_over_themselves() {
    let mut count = 0;
    every_chunk(|name, bytes, around| {
        let Ok(chunk) = Chunk::parse(bytes) else { return };
        let whole = decode(Level::best(), &chunk, around).unwrap();
        let Ok(margin) = chunk.in_place_margin() else { return };
        let mut room = memory(&chunk, false);

        let len = chunk.nbytes() + margin;
        let at = len - bytes.len();
        let result = guarded(len, |buffer| {
            buffer[at..].copy_from_slice(bytes);
            PushDecoder::new(Level::best(), &mut room).chunk_context(around).decode_in_place(buffer, at)
        });
        match result {
            Ok(out) => assert!(out == whole, "{name}"),
            Err(Error::Unsupported(_) | Error::WorkTooSmall { .. }) => return,
            Err(error) => panic!("{name}: {error}"),
        }
        count += 1;
        // One byte earlier it is refused, and nothing has been touched.
        if margin > 0 && at > 0 && chunk.header().special() != Some(Special::Zeros) {
            let mut buffer = vec![0; len];
            buffer[at - 1..len - 1].copy_from_slice(bytes);
            let before = buffer.clone();
            let answer = PushDecoder::new(Level::best(), &mut room)
                .chunk_context(around)
                .decode_in_place(&mut buffer, at - 1);
            assert!(matches!(answer, Err(Error::Param { .. })) && buffer == before, "{name}: {answer:?}");
        }
    });
    assert!(count > 180, "{count} chunks");
    let (bytes, _) = sample(Codec::Lz4);
    let order: Vec<usize> = (0..Chunk::parse(&bytes).unwrap().nblocks()).rev().collect();
    let answer = Chunk::parse(&reordered(&bytes, &order, 0)).unwrap().in_place_margin();
    assert!(matches!(answer, Err(Error::Unsupported(_))), "{answer:?}");
}
