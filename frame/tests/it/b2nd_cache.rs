//! Blocks that are kept decoded: what is kept of which requests, how much, and that it changes no byte.

use crate::common::{Folder, Random, emulated};
use blosc_core::{Codec, Params};
use blosc_frame::b2nd::{Cache, Dtype, NdArray, Selection, Spec};
use blosc_frame::{Limits, SuperChunk};

/// Bytes of a block of [`array`].
const BLOCK: usize = 8192;

/// 64 x 64 x 16 items of 2 bytes in 16 blocks, four to a chunk.
fn array(codec: Codec) -> (NdArray<'static>, Vec<u8>) {
    let spec = Spec::new(&[64, 64, 16], Dtype::parse("<u2").unwrap()).unwrap();
    let spec = spec.params_from(&Params::new(2).codec(codec).level(3).shuffle());
    let spec = spec.chunks(&[32, 32, 16]).unwrap().blocks(&[16, 16, 16]).unwrap();
    let data: Vec<u8> = (0..65536u32).flat_map(|i| ((i / 3) as u16).to_le_bytes()).collect();
    let nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &data).unwrap();
    (nd, data)
}

fn row(nd: &NdArray<'_>, i: u64, j: u64) -> Vec<u8> {
    nd.get(&Selection::ranges(nd.shape(), &[i..i + 1, j..j + 1, 0..16]).unwrap()).unwrap()
}

#[test]
fn neighbours_are_kept_and_changes_drop_them() {
    for codec in [Codec::Zstd, Codec::Zlib, Codec::Lz4, Codec::BloscLz] {
        let ((mut nd, mut data), cache) = (array(codec), Cache::default());
        nd.set_cache(cache.clone());
        for round in 0..3u64 {
            for i in (0..64).step_by(if emulated() { 8 } else { 1 }) {
                for j in 0..20 {
                    let at = ((i * 64 + j) * 16 * 2) as usize;
                    assert_eq!(row(&nd, i, j), data[at..at + 32], "{codec:?}");
                    let mut item = [0; 2];
                    nd.get_item(&[i, j, 7], &mut item).unwrap();
                    assert_eq!(item, data[at + 14..at + 16]);
                    assert_eq!(nd.get_flat(&[(i * 64 + j) * 16 + 7, 0]).unwrap()[..2], item);
                }
            }
            assert!((1..=64 * BLOCK).contains(&cache.bytes()));
            // A change anywhere is seen at once.
            let at = ((round * 64 + 3) * 16 * 2) as usize;
            nd.set_item(&[round, 3, 0], &[0xee, round as u8]).unwrap();
            data[at..at + 2].copy_from_slice(&[0xee, round as u8]);
            assert_eq!(cache.bytes(), 0);
            assert_eq!(row(&nd, round, 3), data[at..at + 32]);
            // What was spent before the change is forgotten, too.
            assert_eq!(cache.bytes(), 0);
        }
        for _ in 0..40 {
            row(&nd, 63, 63);
        }
        assert!(cache.bytes() > 0);
        nd.resize(&[40, 64, 16]).unwrap();
        nd.resize(&[64, 64, 16]).unwrap();
        assert_eq!(row(&nd, 63, 63), [0; 32]);
        nd.set_slice(&[63..64, 63..64, 0..16], &[7; 32]).unwrap();
        assert_eq!(row(&nd, 63, 63), [7; 32]);
        nd.set_flat(&[(63 * 64 + 63) * 16], &[8, 8]).unwrap();
        assert_eq!(row(&nd, 63, 63)[..4], [8, 8, 7, 7]);
    }
}

#[test]
fn room_and_limits_are_kept() {
    let (mut nd, _) = array(Codec::Zstd);
    let tried = |nd: &NdArray<'_>, cache: &Cache, most: usize| {
        for n in 0..200 {
            row(nd, n / 2 * 16 % 64, n / 8 * 16 % 64);
            assert!(cache.bytes() <= most * BLOCK, "{most}");
        }
        assert_eq!(cache.bytes(), most * BLOCK);
    };
    for (room, most) in [(0, 0), (8191, 0), (8192, 1), (20_000, 2)] {
        let cache = Cache::new(room);
        nd.set_cache(cache.clone());
        tried(&nd, &cache, most);
    }
    let cache = Cache::default();
    nd.set_cache(cache.clone());
    nd.frame_mut().set_limits(&Limits::default().output(BLOCK as u64));
    tried(&nd, &cache, 1);
    // Blocks are searched one by one: of small ones there are 64 at most, of whatever room.
    let spec = Spec::new(&[3000], Dtype::parse("|u1").unwrap()).unwrap();
    let spec = spec.chunks(&[3000]).unwrap().blocks(&[30]).unwrap();
    let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &[1; 3000]).unwrap();
    let cache = Cache::default();
    nd.set_cache(cache.clone());
    for n in 0..3000 {
        nd.get_item(&[n / 30 * 30], &mut [0]).unwrap();
        assert!(cache.bytes() <= 64 * 30);
    }
    assert_eq!(cache.bytes(), 64 * 30);
}

#[test]
fn requests_that_do_not_come_back_keep_nothing() {
    let ((mut nd, data), cache) = (array(Codec::Zstd), Cache::default());
    nd.set_cache(cache.clone());
    for n in 0..16 {
        row(&nd, n / 4 * 16, n % 4 * 16);
    }
    assert_eq!((cache.bytes(), cache.misses()), (0, 16));
    // Nor do whole blocks, which neither look there.
    for _ in 0..5 {
        assert_eq!(nd.get_all().unwrap(), data);
        nd.get_chunk(0).unwrap();
        nd.for_each_piece(20_000, |_| Ok(())).unwrap();
        nd.frame().read_all().unwrap();
    }
    assert_eq!((cache.bytes(), cache.hits(), cache.misses()), (0, 0, 16));
}

/// Two arrays and one cache, beside a list of what it must hold: the second request for a block puts it there, in the
/// place of that which was not used for longest.
#[test]
fn arrays_share_a_cache() {
    const ROOM: usize = 5;
    let cache = Cache::new(ROOM * BLOCK + 100);
    let mut arrays = [array(Codec::Zstd), array(Codec::Zlib)];
    arrays.iter_mut().for_each(|(nd, _)| nd.set_cache(cache.clone()));
    let (mut kept, mut asked, mut hits, mut misses) = (Vec::new(), Vec::new(), 0, 0);
    let mut random = Random(9);
    for round in 0..3000 {
        let [a, i, j] = [2, 3, 3].map(|n| random.next() % n);
        let (nd, data) = &mut arrays[a as usize];
        let at = ((i * 16 * 64 + j * 16) * 16 * 2) as usize;
        assert_eq!(row(nd, i * 16, j * 16), data[at..at + 32], "{round}");
        let block = (a, i, j);
        if let Some(n) = kept.iter().position(|kept| *kept == block) {
            kept.remove(n);
            kept.push(block);
            hits += 1;
        } else if let Some(n) = asked.iter().position(|asked| *asked == block) {
            asked.remove(n);
            kept.push(block);
            misses += 1;
        } else {
            asked.push(block);
            misses += 1;
        }
        kept.drain(..kept.len().saturating_sub(ROOM));
        let now = (cache.hits(), cache.misses(), cache.bytes());
        assert_eq!(now, (hits, misses, kept.len() * BLOCK), "{round}");
        if round % 500 == 499 {
            // An edit drops the blocks of its array, and only those.
            nd.set_item(&[i * 16, j * 16, 0], &[round as u8, 1]).unwrap();
            data[at..at + 2].copy_from_slice(&[round as u8, 1]);
            kept.retain(|(of, ..)| *of != a);
            asked.retain(|(of, ..)| *of != a);
            assert_eq!(cache.bytes(), kept.len() * BLOCK);
        }
    }
    assert!(hits > 500 && misses > 500);
    // The blocks of an array go with it.
    let [(first, _), (second, _)] = arrays;
    drop(first);
    kept.retain(|(of, ..)| *of == 1);
    assert_eq!(cache.bytes(), kept.len() * BLOCK);
    drop(second);
    assert_eq!(cache.bytes(), 0);
}

/// Blocks of the state before a refresh are not given after it.
#[test]
fn a_refresh_drops_what_is_kept() {
    let (folder, (nd, _)) = (Folder::new("cache"), array(Codec::Zstd));
    folder.write("a.b2nd", &nd.into_frame().into_bytes().unwrap());
    let path = folder.path("a.b2nd");
    let (mut reader, cache) = (NdArray::open_path(&path).unwrap(), Cache::default());
    reader.set_cache(cache.clone());
    let before = row(&reader, 5, 5);
    assert!(row(&reader, 5, 5) == before && row(&reader, 5, 5) == before && cache.hits() == 1);
    let mut writer = NdArray::open_path_mut(&path).unwrap();
    writer.set_slice(&[5..6, 5..6, 0..16], &[9; 32]).unwrap();
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap() && cache.bytes() == 0);
    assert_eq!(row(&reader, 5, 5), [9; 32]);
}
