//! What the numbers of HDF5's filters 32001 and 32026 mean, as the documents of these filters have them, and their chunks.

use blosc_core::{Codec, Filter, Params};
use blosc_frame::b2nd::{Selection, Spec};
use blosc_frame::dtype::Dtype;
use blosc_frame::hdf5::{BLOSC, BLOSC2, CdValues, decode_frame};
use blosc_frame::{Error, NdArray, SuperChunk};

/// Level, filter, codec, block size, item size, bytes of a chunk, dimensions.
type Meaning = (u32, Result<Filter, u32>, Result<Codec, u32>, Option<u32>, u32, Option<u64>, u32);

#[test]
fn every_number_has_its_meaning() {
    use Codec::{BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd};
    use Filter::{BitShuffle, Delta, Shuffle, TruncPrec};
    let table: [(&[u32], Meaning); 10] = [
        (&[], (5, Ok(Shuffle), Ok(BloscLz), None, 1, None, 1)),
        (&[1, 0, 0, 0], (5, Ok(Shuffle), Ok(BloscLz), None, 1, None, 1)),
        (&[1, 4096, 4, 80, 0, 0, 0], (0, Ok(Filter::None), Ok(BloscLz), Some(4096), 4, Some(80), 1)),
        (&[1, 1, 255, 1, 1, 1, 1], (1, Ok(Shuffle), Ok(Lz4), Some(1), 255, Some(1), 1)),
        (&[1, 0, 8, 800, 9, 2, 2, 2, 5, 20], (9, Ok(BitShuffle), Ok(Lz4Hc), None, 8, Some(800), 2)),
        (&[1, 0, 8, 800, 3, 3, 3, 8], (3, Ok(Delta), Ok(Snappy), None, 8, Some(800), 8)),
        (&[1, 0, 8, 800, 2, 4, 4, 9], (2, Ok(TruncPrec), Ok(Zlib), None, 8, Some(800), 8)),
        (&[1, 0, 8, 800, 7, 1, 5, 0], (7, Ok(Shuffle), Ok(Zstd), None, 8, Some(800), 1)),
        (&[1, 0, 8, 800, 10, 5, 6], (10, Err(5), Err(6), None, 8, Some(800), 1)),
        (&[1, 0, 8, 800, 5, 257, 261], (5, Err(257), Err(261), None, 8, Some(800), 1)),
    ];
    for (numbers, meaning) in table {
        let values = CdValues(numbers);
        let (block, item) = values.sizes();
        let found = (values.level(), values.filter(), values.codec(), block, item);
        let found = (found.0, found.1, found.2, found.3, found.4, values.chunk(), values.dimensions());
        assert_eq!(found, meaning, "{numbers:?}");
        // What is one byte short is not all that HDF5 will read.
        for nbytes in meaning.5.into_iter().flat_map(|size| [size - 1, size, size + 1]) {
            assert_eq!(values.check(nbytes).is_ok(), Some(nbytes) >= meaning.5, "{numbers:?} {nbytes}");
        }
    }
}

#[test]
fn parameters_are_those_that_the_filter_has() {
    let of = |id, level, filter, codec| CdValues(&[1, 0, 4, 80, level, filter, codec]).params(id, 4);
    for id in [BLOSC, BLOSC2] {
        for (filter, slot) in [(0, Filter::None), (1, Filter::Shuffle), (2, Filter::BitShuffle)] {
            let params = of(id, 9, filter, 5).unwrap();
            assert_eq!((params.codec, params.level, params.filters[5].filter), (Codec::Zstd, 9, slot));
        }
        let delta = of(id, 0, 3, 0).map(|params| params.filters[5].filter);
        assert_eq!(delta.ok(), (id == BLOSC2).then_some(Filter::Delta));
        for (level, filter, codec, name) in
            [(10, 1, 1, "level"), (256, 1, 1, "level"), (5, 4, 1, "filter"), (5, 1, 6, "codec")]
        {
            let refused = of(id, level, filter, codec);
            assert!(matches!(refused, Err(Error::Param { name: named, .. }) if named == name), "{refused:?}");
        }
    }
}

#[test]
fn a_chunk_is_a_frame_of_bytes_or_of_an_array() {
    let items: Vec<u8> = (0..35u16).flat_map(|k| (k * 7).to_le_bytes()).collect();
    let mut frame = SuperChunk::memory(&Params::new(2)).unwrap();
    frame.append(&items).unwrap();
    // Chunks of 4 x 4 items are padded: 64 items, of which 35 are the array's.
    let spec = Spec::new(&[5, 7], Dtype::parse("<u2").unwrap()).unwrap();
    let spec = spec.chunks(&[4, 4]).unwrap().blocks(&[2, 4]).unwrap();
    let mut array = NdArray::zeros(SuperChunk::memory(&spec.params()).unwrap(), &spec).unwrap();
    array.set(&Selection::all(&[5, 7]), &items).unwrap();
    array.commit().unwrap();
    for stored in [frame.into_bytes().unwrap(), array.into_frame().into_bytes().unwrap()] {
        let mut asked = 0;
        let decoded = decode_frame(&stored, 70, 2, |nbytes| {
            asked = nbytes;
            Ok(vec![0; nbytes as usize])
        });
        assert_eq!((decoded.unwrap(), asked), (items.clone(), 70));
        let refused = decode_frame(&stored, 69, 2, |nbytes| Ok(vec![0; nbytes as usize]));
        assert!(matches!(refused, Err(Error::Limit { .. })), "{refused:?}");
        assert!(decode_frame(&stored[..50], 70, 2, |_| Ok(vec![0; 70])).is_err());
    }
}
