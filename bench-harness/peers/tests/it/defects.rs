//! The defects of C-Blosc2 3.3 that `docs/formats/chunk.md` lists in appendix B, and those found here, each
//! shown on a chunk of its own, with what we make of it. A newer library that has mended one passes: what is
//! asserted of C is only printed where it no longer holds; what is asserted of ours always holds.

use crate::support;

use blosc_core::chunk::Header;
use blosc_core::{Chunk, Codec, Decoder, Filter, Level, Params, compress, decompress};
use blosc_peers::blosc2::OVERHEAD;
use blosc_peers::{CParams, Code, Libblosc2};
use support::{blosc1, blosc2};

/// Ramps of u32, which every codec and filter shrinks.
fn ramp(items: usize) -> Vec<u8> {
    (0..items as u32).flat_map(|i| (i * 3 + ((i * i) >> 6)).to_le_bytes()).collect()
}

fn write(lib: &Libblosc2, params: &CParams, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0; data.len() + OVERHEAD];
    let len = lib.compressor(params).unwrap().compress(data, &mut chunk).unwrap();
    chunk.truncate(len);
    chunk
}

fn read(lib: &Libblosc2, chunk: &[u8], len: usize) -> Result<Vec<u8>, Code> {
    let mut out = vec![0; len];
    lib.decompressor(1).unwrap().decompress(chunk, &mut out).map(|_| out)
}

/// Prints whether the oracle still has the defect.
fn note(lib: &Libblosc2, name: &str, still_there: bool) {
    let verb = if still_there { "has" } else { "no longer has" };
    eprintln!("C-Blosc2 {} {verb} {name}", lib.version());
    assert!(still_there || lib.version() != "3.3.5", "{name} is not as `docs/formats/chunk.md` says");
}

const LZ4: CParams = CParams {
    codec: 1,
    codec_meta: 0,
    clevel: 5,
    use_dict: false,
    typesize: 4,
    nthreads: 1,
    blocksize: 0,
    splitmode: 4,
    filters: [0, 0, 0, 0, 0, 1],
    filters_meta: [0; 6],
};

#[test]
fn b1_blocksize_is_not_rounded_in_the_header() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(10_000);
    let chunk = write(&lib, &CParams { blocksize: 4001, ..LZ4 }, &data);
    let in_header = u32::from_le_bytes(chunk[8..12].try_into().unwrap());
    note(&lib, "B1", in_header == 4001 && read(&lib, &chunk, data.len()).as_ref() != Ok(&data));
    assert!(decompress(&chunk).as_ref() == Ok(&data), "ours recovers it");
}

#[test]
fn b2_old_unsplit_chunks_are_unreadable() {
    let Some(lib) = blosc2() else { return };
    // As Blosc 1.9 wrote them: no DONT_SPLIT bit, one stream because the item is wider than 16 bytes.
    let data: Vec<u8> = ramp(60).into_iter().cycle().take(24 * 100).collect();
    let stream = {
        let none = CParams { typesize: 24, splitmode: 2, filters: [0; 6], ..LZ4 };
        let chunk = write(&lib, &none, &data);
        assert_eq!(u32::from_le_bytes(chunk[32..36].try_into().unwrap()), 36, "one block");
        chunk[36..].to_vec()
    };
    let cbytes = 16 + 4 + stream.len() as u32;
    let mut old = vec![2, 1, 0x20, 24];
    for word in [data.len() as u32, data.len() as u32, cbytes, 20] {
        old.extend(word.to_le_bytes());
    }
    old.extend(stream);
    note(&lib, "B2", read(&lib, &old, data.len()).as_ref() != Ok(&data));
    assert!(decompress(&old).as_ref() == Ok(&data));
}

#[test]
fn b3_tails_of_old_bitshuffle_are_dropped() {
    let (Some(lib), Some(old)) = (blosc2(), blosc1()) else { return };
    let data: Vec<u8> = ramp(256).into_iter().chain([1, 2, 3]).collect();
    let mut chunk = vec![0; data.len() + 16];
    let len = old.compress(("lz4", 5), 2, 4, 0, &data, &mut chunk).unwrap();
    chunk.truncate(len);
    let theirs = read(&lib, &chunk, data.len()).unwrap();
    note(&lib, "B3", theirs[..1024] == data[..1024] && theirs[1024..] != data[1024..]);
    assert!(decompress(&chunk).as_ref() == Ok(&data));
}

#[test]
fn b4_dictionary_bit_on_stored_chunks() {
    let Some(lib) = blosc2() else { return };
    let random = blosc_testkit::Random(1).noise(40_000);
    let params = CParams { codec: 5, use_dict: true, blocksize: 2000, ..LZ4 };
    let chunk = write(&lib, &params, &random);
    assert_eq!(chunk[2] & 2, 2, "stored");
    note(&lib, "B4", chunk[31] & 1 == 1 && read(&lib, &chunk, random.len()).is_err());
    assert!(decompress(&chunk).as_ref() == Ok(&random));

    // Below 32 bytes the flag lies about the body, and nothing can be made of that.
    let tiny = write(&lib, &CParams { typesize: 3, blocksize: 0, ..params }, &[0; 29]);
    let lies = tiny[2] & 2 != 0 && tiny.len() != 32 + 29;
    assert!(!lies || decompress(&tiny).is_err());
    note(&lib, "B4, tiny", lies && read(&lib, &tiny, 29).is_err());
}

#[test]
fn b5_getitem_with_delta_or_dictionary() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(10_000);
    let mut filters = LZ4.filters;
    filters[4] = 3;
    for params in [
        CParams { filters, blocksize: 4000, ..LZ4 },
        CParams { use_dict: true, blocksize: 4000, codec: 5, ..LZ4 },
    ] {
        let chunk = write(&lib, &params, &data);
        let (mut theirs, mut ours) = ([0; 40], [0; 40]);
        let c = lib.decompressor(1).unwrap().getitem(&chunk, 5000, 10, &mut theirs);
        note(&lib, "B5", c.is_err() || theirs != data[20_000..20_040]);
        let parsed = Chunk::parse(&chunk).unwrap();
        let mut work = vec![0; Decoder::work_len(&parsed)];
        Decoder::new(Level::best(), &mut work).get_items(&parsed, 5000..5010, &mut ours).unwrap();
        assert_eq!(ours, data[20_000..20_040]);
    }
}

#[test]
fn b6_vl_blocks_with_delta() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(1000);
    let blocks: Vec<&[u8]> = vec![&data[..1000], &data[1000..1500], &data[1500..]];
    let mut filters = LZ4.filters;
    filters[4] = 3;
    let mut chunk = vec![0; data.len() + 400];
    let params = CParams { filters, ..LZ4 };
    let len = lib.compressor(&params).unwrap().compress_vl(&blocks, &mut chunk).unwrap();
    chunk.truncate(len);
    note(&lib, "B6", read(&lib, &chunk, data.len()).as_ref() != Ok(&data));
    assert!(decompress(&chunk).as_ref() == Ok(&data));
    assert_eq!(lib.decompressor(1).unwrap().vl_block(&chunk, 1).unwrap(), blocks[1]);
}

#[test]
fn b7_three_filters_overwrite_the_source() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(5000);
    let params = CParams { filters: [1, 2, 1, 0, 0, 0], ..LZ4 };
    let (mut source, mut chunk) = (data.clone(), vec![0; data.len() + OVERHEAD]);
    lib.compressor(&params).unwrap().compress_spoiling(&mut source, &mut chunk).unwrap();
    note(&lib, "B7", source != data);
}

#[test]
fn b9_tails_of_delta_are_not_written() {
    let Some(lib) = blosc2() else { return };
    // Where only a tail differs, what is stored is what both must read.
    let data: Vec<u8> = ramp(1000).into_iter().chain([1, 2, 3]).collect();
    let mut filters = LZ4.filters;
    filters[4] = 3;
    let chunk = write(&lib, &CParams { filters, splitmode: 2, ..LZ4 }, &data);
    let ours = decompress(&chunk).unwrap();
    assert_eq!(ours[..4000], data[..4000]);
    assert!(read(&lib, &chunk, data.len()).as_ref() == Ok(&ours));
}

#[test]
fn b11_items_larger_than_the_data_make_blocks_of_one_byte() {
    let Some(lib) = blosc2() else { return };
    let data = [5; 100];
    let chunk = write(&lib, &CParams { typesize: 200, ..LZ4 }, &data);
    note(&lib, "B11", Header::parse(&chunk).unwrap().blocksize == 1);
    assert_eq!(decompress(&chunk).unwrap(), data);
}

#[test]
fn found_here_delta_inside_long_pipelines_is_misread() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(1500);
    let chunk = write(&lib, &CParams { filters: [3, 1, 3, 0, 0, 0], splitmode: 2, ..LZ4 }, &data);
    let misread = read(&lib, &chunk, data.len()).as_ref() != Ok(&data);
    note(&lib, "two DELTA slots misread", misread);
    assert!(decompress(&chunk).as_ref() == Ok(&data));
    // The other shape, from our writer, since B7 spoils what C would write.
    let params = Params::new(4).codec(Codec::Lz4).no_filter();
    let slots = [(0, Filter::Shuffle), (1, Filter::Shuffle), (2, Filter::Shuffle), (3, Filter::Delta)];
    let params = slots.into_iter().fold(params, |p, (at, filter)| p.slot(at, filter, 0));
    let chunk = compress(&params.slot(4, Filter::ByteDelta, 4), &data).unwrap();
    let misread = read(&lib, &chunk, data.len()).as_ref() != Ok(&data);
    note(&lib, "DELTA inside a pipeline misread", misread);
    assert!(decompress(&chunk).as_ref() == Ok(&data));
}

#[test]
fn found_here_getitem_of_a_block_length_across_two_blocks() {
    let Some(lib) = blosc2() else { return };
    let data = ramp(10_000);
    let chunk = write(&lib, &CParams { blocksize: 4000, ..LZ4 }, &data);
    let (mut theirs, mut ours) = (vec![0; 4000], vec![0; 4000]);
    let c = lib.decompressor(1).unwrap().getitem(&chunk, 500, 1000, &mut theirs);
    note(&lib, "getitem of a block's length across two blocks", c == Ok(4000) && theirs != data[2000..6000]);
    let parsed = Chunk::parse(&chunk).unwrap();
    let mut work = vec![0; Decoder::work_len(&parsed)];
    Decoder::new(Level::best(), &mut work).get_items(&parsed, 500..1500, &mut ours[..]).unwrap();
    assert_eq!(ours, data[2000..6000]);
}

#[test]
fn found_here_a_context_remembers_the_chunk_before() {
    let Some(lib) = blosc2() else { return };
    let data: Vec<u8> =
        (0..7 * 184).map(|i| if i % 7 == 0 { (i / 70) as u8 } else { (i % 7) as u8 }).collect();
    // A shuffle of two bytes at a time, then a Blosc1 chunk, whose header has no room for such a width.
    let meta = write(&lib, &CParams { filters_meta: [0, 0, 0, 0, 0, 2], ..LZ4 }, &data);
    let params = Params::new(7).codec(Codec::Lz4).shuffle().blosc1(true);
    let old = compress(&params, &data).unwrap();
    assert!(meta[2] & 2 == 0 && old[2] & 2 == 0, "neither is stored");
    let mut reader = lib.decompressor(1).unwrap();
    let (mut fresh, mut used) = (vec![0; data.len()], vec![0; data.len()]);
    reader.decompress(&old, &mut fresh).unwrap();
    assert!(fresh == data);
    reader.decompress(&meta, &mut used).unwrap();
    let again = reader.decompress(&old, &mut used);
    note(&lib, "a context that remembers the chunk before", again.is_err() || used != data);
    assert!(decompress(&old).as_ref() == Ok(&data));
}
