//! Chunks that libblosc2 writes over random parameters, read by us: whole, in parts, block by block.
//!
//! The truth is the data that went in. Where C writes or reads something else, the defect must be one
//! that `docs/formats/chunk.md` lists (appendix B), recognised here by its cause; anything else fails.

use crate::support;

use blosc_core::{Chunk, Decoder, Level, Pool};
use blosc_peers::blosc2::OVERHEAD;
use blosc_peers::{Decompressor, Libblosc2};
use blosc_testkit::Random;
use std::collections::BTreeMap;
use support::judge::{Read, judge};
use support::{Case, any_size, blosc2, rounds};

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

fn read(case: &Case, bytes: &[u8], reader: &mut Decompressor, pool: &mut Pool) -> Read {
    let mut theirs = vec![0; case.data.len()];
    let c = reader.decompress(bytes, &mut theirs).map(|n| theirs[..n].to_vec());
    let ours = Chunk::parse(bytes).and_then(|chunk| pool.decompress(&chunk));
    judge(case, bytes, ours, c)
}

/// Item ranges, single blocks, levels and threads give the same bytes.
fn parts(seed: u64, case: &Case, bytes: &[u8], reader: &mut Decompressor, defects: &mut Defects) -> u32 {
    let chunk = Chunk::parse(bytes).unwrap();
    let data = &case.data;
    let mut rng = Random::new(seed ^ 0xABCD);
    let mut work = vec![0xDD; Decoder::work_len(&chunk)];
    let level = rng.pick(&Level::available().collect::<Vec<_>>());
    let mut decoder = Decoder::new(level, &mut work);
    let size = usize::from(chunk.header().typesize);
    let items = data.len() / size;
    for _ in 0..2 {
        let start = rng.below(items + 1);
        let count = any_size(&mut rng, items - start);
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
