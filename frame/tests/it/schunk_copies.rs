//! Frames put together from others: concatenated, copied, compressed anew, and made of ready chunks.

use crate::common;

use blosc_core::chunk::special;
use blosc_core::{Codec, Params, Pool, Special};
use blosc_frame::io::MemDir;
use blosc_frame::schunk::RawChunk;
use blosc_frame::{Error, SuperChunk};
use common::Random;

const C: usize = 800;

/// Contiguous or sparse, with chunks of all kinds; and its decoded bytes.
fn made(random: &mut Random, sparse: bool, params: &Params) -> (SuperChunk<'static>, Vec<u8>) {
    let mut sc = match sparse {
        true => SuperChunk::create_dir(MemDir::new(), params).unwrap(),
        false => SuperChunk::memory(params).unwrap(),
    };
    sc.set_chunksize(C as u32).unwrap();
    sc.set_metalayer("m", b"\xa1m").unwrap();
    sc.set_vlmetalayer("v", b"\xa1v").unwrap();
    let mut data: Vec<u8> = (0..2 * C).map(|i| (i / 50) as u8 ^ u8::from(random.below(40) == 0)).collect();
    sc.append(&data).unwrap();
    sc.fill_special(Special::Nan, C as u64).unwrap();
    data.extend(f64::NAN.to_le_bytes().repeat(C / 8));
    sc.fill_value(&[1, 2, 3, 4, 5, 6, 7, 8], (C / 8) as u64).unwrap();
    data.extend([1, 2, 3, 4, 5, 6, 7, 8].repeat(C / 8));
    let more = random.bytes(C / 2);
    sc.append(&more).unwrap();
    data.extend(more);
    sc.commit().unwrap();
    (sc, data)
}

fn read(sc: &mut SuperChunk<'_>) -> Vec<u8> {
    sc.read_all().unwrap()
}

#[test]
fn frames_are_concatenated_copied_and_compressed_anew() {
    let mut random = Random(21);
    let params = Params::new(8).codec(Codec::Lz4);
    for (from, to) in [(false, false), (false, true), (true, false), (true, true)] {
        let (a, first) = made(&mut random, from, &params);
        let (mut b, second) = made(&mut random, to, &Params::new(8).codec(Codec::Zstd));

        // As they are: chunks keep their bytes, this frame its parameters.
        b.append_from(&a).unwrap();
        b.commit().unwrap();
        assert!(read(&mut b) == [&second[..], &first].concat());
        assert_eq!(b.params().codec, Codec::Zstd);
        assert_eq!(b.chunk_header(5).unwrap(), a.chunk_header(0).unwrap());

        let mut copy = match to {
            true => SuperChunk::create_dir(MemDir::new(), &params).unwrap(),
            false => SuperChunk::memory(&params).unwrap(),
        };
        copy.copy_from(&b).unwrap();
        copy.commit().unwrap();
        assert!(read(&mut copy) == read(&mut b));
        assert_eq!(copy.metalayer("m"), Some(&b"\xa1m"[..]));
        assert_eq!(copy.vlmetalayer("v").unwrap().unwrap(), b"\xa1v");
        assert!(matches!(copy.copy_from(&b), Err(Error::Param { .. })), "not into a frame that has chunks");

        let new = Params::new(8).codec(Codec::BloscLz).level(9);
        let mut again = SuperChunk::memory(&new).unwrap();
        again.recompress_from(&b).unwrap();
        let bytes = again.into_bytes().unwrap();
        let mut again = SuperChunk::from_slice(&bytes).unwrap();
        assert!(read(&mut again) == read(&mut b));
        let codecs = |sc: &SuperChunk<'_>| {
            (0..sc.nchunks()).map(|k| sc.chunk_header(k).unwrap().map(|h| h.codec)).collect::<Vec<_>>()
        };
        assert!(codecs(&again).iter().flatten().all(|codec| *codec == Codec::BloscLz));
        assert!(codecs(&b).contains(&Some(Codec::Lz4)) && codecs(&b).contains(&Some(Codec::Zstd)));
        // The frames joined have a short chunk inside, so special chunks had to be written out there.
        let mut again = SuperChunk::memory(&new).unwrap();
        again.recompress_from(&a).unwrap();
        assert_eq!(again.special(2), Some(Special::Nan));
        assert!(read(&mut again) == first);
    }
    let mut other = SuperChunk::memory(&Params::new(4)).unwrap();
    let (a, _) = made(&mut random, false, &params);
    assert!(matches!(other.append_from(&a), Err(Error::Param { name: "typesize", .. })));
}

#[test]
fn ready_chunks_of_any_codec_are_appended_inserted_and_put_in_place() {
    let mut random = Random(22);
    let mut pool = Pool::new(1);
    for sparse in [false, true] {
        let (mut sc, data) = made(&mut random, sparse, &Params::new(8));
        let mut chunks: Vec<Vec<u8>> = data.chunks(C).map(<[u8]>::to_vec).collect();
        let new = [Codec::Lz4, Codec::Zlib, Codec::Zstd].map(|codec| {
            let data = random.bytes(C);
            (pool.compress(&Params::new(8).codec(codec), &data).unwrap(), data)
        });
        let [(a, x), (b, y), (c, z)] = new;
        sc.append_chunk(&a).unwrap();
        chunks.push(x);
        sc.insert_chunk(1, &b).unwrap();
        chunks.insert(1, y);
        sc.update_chunk(0, &c).unwrap();
        chunks[0] = z;
        assert!(sc.append_chunk(&a[..a.len() - 1]).is_err(), "cut off");
        assert!(sc.update_chunk(99, &a).is_err());
        sc.commit().unwrap();
        let got: Vec<Vec<u8>> = sc.chunks().map(Result::unwrap).collect();
        assert!(got == chunks);
        let bytes = sc.to_bytes().unwrap();
        assert!(read(&mut SuperChunk::from_slice(&bytes).unwrap()) == chunks.concat());
    }
}

#[test]
fn an_empty_special_chunk_is_stored_in_its_plain_form() {
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    sc.append_data(&[1; 40]).unwrap();
    sc.append_chunk(&special::zeros(4, 0).unwrap()).unwrap();
    sc.append_chunk(&special::uninit(4, 0).unwrap()).unwrap();
    let mut buf = Vec::new();
    for k in [1, 2] {
        let RawChunk::Stored(chunk) = sc.raw_chunk(k, &mut buf).unwrap() else {
            panic!("chunk {k} is not stored")
        };
        assert_eq!((chunk.len(), chunk[2], chunk[8], chunk[31]), (32, 7, 1, 0));
    }
}
