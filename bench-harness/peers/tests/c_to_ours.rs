//! Chunks that libblosc2 writes over random parameters, read by us: whole, in parts, block by block.
//!
//! The truth is the data that went in. Where C writes or reads something else, the defect must be one
//! that the format document lists (appendix B), recognised here by its cause; anything else fails.

mod support;

use blosc_core::{Chunk, Decoder, Level, Pool};
use blosc_peers::blosc2::OVERHEAD;
use blosc_peers::{Decompressor, Libblosc2};
use std::collections::BTreeMap;
use support::{Case, Rng, blosc2, rounds};

/// How often each defect was met.
type Defects = BTreeMap<&'static str, u32>;

#[test]
fn chunks_of_libblosc2_decode_to_what_went_in() {
    let Some(lib) = blosc2() else { return };
    let (mut defects, mut decoded, mut items) = (Defects::new(), 0, 0);
    let mut reader = lib.decompressor(1).unwrap();
    let mut pool = Pool::new(1);
    let total = rounds(6000);
    for seed in 0..total {
        let case = Case::random(seed);
        let Some(chunk) = write(&lib, &case) else { continue };
        match read(&case, &chunk, &mut reader, &mut pool) {
            Read::Right => {
                decoded += 1;
                items += parts(seed, &case, &chunk, &mut reader, &mut defects);
            }
            Read::Defect(name) => *defects.entry(name).or_default() += 1,
            Read::Wrong(why) => panic!("seed {seed}: {why}\n{:?}, {} bytes", case.params, case.data.len()),
        }
    }
    eprintln!("{decoded} of {total} chunks and {items} item ranges right; defects of C met: {defects:?}");
    assert!(decoded > total * 3 / 4);
}

fn write(lib: &Libblosc2, case: &Case) -> Option<Vec<u8>> {
    let mut chunk = vec![0; case.data.len() + OVERHEAD];
    let len = lib.compressor(&case.params).ok()?.compress(&case.data, &mut chunk).ok()?;
    chunk.truncate(len);
    Some(chunk)
}

enum Read {
    Right,
    Defect(&'static str),
    Wrong(String),
}

fn read(case: &Case, bytes: &[u8], reader: &mut Decompressor, pool: &mut Pool) -> Read {
    let mut theirs = vec![0; case.data.len()];
    let c = reader.decompress(bytes, &mut theirs).map(|n| theirs.truncate(n));
    let ours = Chunk::parse(bytes).and_then(|chunk| pool.decompress(&chunk));
    let stored = bytes[2] & 2 != 0;
    let header_blocksize = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let unrounded = header_blocksize > case.typesize && !header_blocksize.is_multiple_of(case.typesize);
    match ours {
        Ok(data) if data == case.data => {
            let c_right = c.is_ok() && theirs == data;
            if c_right {
                Read::Right
            } else if unrounded && !stored {
                Read::Defect("B1, recovered")
            } else if case.params.use_dict && stored {
                Read::Defect("B4, recovered")
            } else if case.delta_is_misread() {
                Read::Defect("DELTA inside a pipeline misread")
            } else {
                Read::Wrong(format!("C misreads its own chunk: {c:?}"))
            }
        }
        Ok(data) => {
            // A chunk with a wrong block size (B1) is read right by us, but C cannot confirm the other defects.
            let b1 = unrounded && !stored;
            if case.active_filters() >= 3 && (stored || case.has(3) || case.params.use_dict) {
                // What was stored is not what went in; then both must read the same, if C reads it at all.
                let c_fails = case.delta_is_misread() || (stored && case.params.use_dict && c.is_err());
                return if data == theirs || c_fails || b1 {
                    Read::Defect("B7")
                } else {
                    Read::Wrong("B7, but we differ".into())
                };
            }
            let tails = differs_in_tails_only(case, bytes, &data);
            if tails && (b1 || (c.is_ok() && theirs == data)) {
                return Read::Defect("B9");
            }
            Read::Wrong(format!("wrong data; C: {c:?}, like ours: {}", theirs == data))
        }
        Err(e) => {
            // Which block size was meant shows in the structure of most such chunks, not of all.
            if unrounded && !stored && c.is_err() {
                Read::Defect("B1, refused")
            } else if case.params.use_dict && case.data.len() < 32 && c.is_err() {
                Read::Defect("B4, lost")
            } else {
                Read::Wrong(format!("refused: {e}; C: {c:?}"))
            }
        }
    }
}

/// Whether `data` differs from the truth only in the last bytes of blocks, which DELTA's words and the
/// items do not reach (B9).
fn differs_in_tails_only(case: &Case, bytes: &[u8], data: &[u8]) -> bool {
    if !case.has(3) {
        return false;
    }
    let blocksize = Chunk::parse(bytes).unwrap().header().blocksize as usize;
    let mut blocks = case.data.chunks(blocksize).zip(data.chunks(blocksize));
    blocks.all(|(truth, got)| {
        let tail = truth.len() % 8;
        truth[..truth.len() - tail] == got[..truth.len() - tail]
    })
}

/// Item ranges, single blocks, levels and threads give the same bytes.
fn parts(seed: u64, case: &Case, bytes: &[u8], reader: &mut Decompressor, defects: &mut Defects) -> u32 {
    let chunk = Chunk::parse(bytes).unwrap();
    let data = &case.data;
    let mut rng = Rng::new(seed ^ 0xABCD);
    let mut work = vec![0xDD; Decoder::work_len(&chunk)];
    let level = rng.pick(&Level::available().collect::<Vec<_>>());
    let mut decoder = Decoder::new(level, &mut work);
    let size = usize::from(chunk.header().typesize);
    let items = data.len() / size;
    for _ in 0..2 {
        let start = rng.below(items + 1);
        let count = rng.size(items - start);
        let (mut ours, mut theirs) = (vec![0; count * size], vec![0; count * size]);
        decoder.get_items(&chunk, start..start + count, &mut ours[..]).unwrap();
        assert_eq!(
            ours,
            data[start * size..(start + count) * size],
            "seed {seed}: items {start}+{count} at {level:?}"
        );
        let c = reader.getitem(bytes, start, count, &mut theirs);
        if c != Ok(ours.len()) || theirs != ours {
            let block = chunk.header().blocksize as usize;
            let name = if case.has(3) || case.params.use_dict {
                "B5"
            } else if count * size == block && !(start * size).is_multiple_of(block) {
                "getitem of a block's length across two blocks"
            } else {
                panic!("seed {seed}: C getitem {c:?}\n{:?}", case.params)
            };
            *defects.entry(name).or_default() += 1;
        }
    }
    if chunk.nblocks() > 0 {
        let index = rng.below(chunk.nblocks());
        let range = chunk.block_range(index).unwrap();
        let mut block = vec![0; range.len()];
        decoder.decode_block(&chunk, index, &mut block[..]).unwrap();
        assert_eq!(block, data[range], "seed {seed}: block {index} at {level:?}");
    }
    let mut whole = vec![0; data.len()];
    decoder.decode(&chunk, &mut whole[..]).unwrap();
    assert!(whole == *data, "seed {seed} at {level:?}");
    2
}
