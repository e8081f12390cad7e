//! Times encoding, decoding and partial reads against zarrs' own codec (C-Blosc), in turns on one thread.
//!
//! ```text
//! cargo run --release --features compare --example speed [ROUNDS]
//! ```
//! A line shows the median time of a call of each, and the median over the rounds of theirs / ours. Results are compared
//! first. Decoding and partial reads use the chunk that C-Blosc wrote.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use zarrs::array::codec::BloscCodec as Theirs;
use zarrs::array::codec::api::{BytesToBytesCodecTraits, CodecOptions};
use zarrs::array::{Array, ArrayBuilder, ArraySubset, BytesRepresentation, data_type};
use zarrs::metadata_ext::codec::blosc::{BloscCodecConfiguration, BloscCodecConfigurationV1};
use zarrs::storage::store::MemoryStore;

type Failure = Box<dyn std::error::Error>;

const SIDE: u64 = 512;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Times two calls in turns.
fn duel(name: &str, rounds: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let time = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64() * 1e6
    };
    let times: Vec<(f64, f64)> = (0..rounds).map(|_| (time(&mut ours), time(&mut theirs))).collect();
    let mine = median(times.iter().map(|t| t.0).collect());
    let other = median(times.iter().map(|t| t.1).collect());
    let ratio = median(times.iter().map(|t| t.1 / t.0).collect());
    println!("{name:36} {mine:9.1} µs {other:9.1} µs {ratio:7.2}");
}

/// An array of one chunk in memory.
fn array(codec: Arc<dyn BytesToBytesCodecTraits>, items: &[f32]) -> Result<Array<MemoryStore>, Failure> {
    let array = ArrayBuilder::new(vec![SIDE, SIDE], vec![SIDE, SIDE], data_type::float32(), 0f32)
        .bytes_to_bytes_codecs(vec![codec])
        .build(Arc::new(MemoryStore::new()), "/")?;
    array.store_chunk(&[0, 0], items.to_vec())?;
    Ok(array)
}

fn main() -> Result<(), Failure> {
    let rounds = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let mut state = 1u64;
    let mut value = 0f32;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        value += ((state >> 33) % 200) as f32 / 100.0 - 1.0;
        (value * 10.0).round() / 10.0
    };
    let items: Vec<f32> = (0..SIDE * SIDE).map(|_| next()).collect();
    let data: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let (size, options) = (BytesRepresentation::FixedSize(data.len() as u64), CodecOptions::default());
    println!("{:36} {:>12} {:>12}   ratio   1 MiB of float32", "", "ours", "theirs");
    for (cname, level, shuffle) in [
        ("lz4", 5, "shuffle"),
        ("lz4", 5, "bitshuffle"),
        ("blosclz", 5, "shuffle"),
        ("zstd", 3, "shuffle"),
        ("zlib", 5, "shuffle"),
    ] {
        let text = format!(
            r#"{{"cname": "{cname}", "clevel": {level}, "shuffle": "{shuffle}", "typesize": 4, "blocksize": 0}}"#
        );
        let ours = Arc::new(blosc_zarrs::BloscCodec::new(
            &serde_json::from_str::<BloscCodecConfigurationV1>(&text)?,
        )?);
        let theirs: BloscCodecConfiguration = serde_json::from_str(&text)?;
        let theirs = Arc::new(Theirs::new_with_configuration(&theirs)?);
        let encoded = theirs.encode(Cow::Borrowed(&data), &options)?.into_owned();
        assert_eq!(ours.decode(Cow::Borrowed(&encoded), &size, &options)?, data);
        let own = ours.encode(Cow::Borrowed(&data), &options)?.into_owned();
        assert_eq!(theirs.decode(Cow::Borrowed(&own), &size, &options)?, data);
        let name = format!("{cname} {level} {shuffle}");
        println!("{name}: {} and {} bytes", own.len(), encoded.len());
        let encode = |codec: &dyn BytesToBytesCodecTraits| drop(codec.encode(Cow::Borrowed(&data), &options));
        duel(&format!("  encode {name}"), rounds, || encode(&*ours), || encode(&*theirs));
        let decode = |codec: &dyn BytesToBytesCodecTraits| {
            drop(codec.decode(Cow::Borrowed(&encoded), &size, &options))
        };
        duel(&format!("  decode {name}"), rounds, || decode(&*ours), || decode(&*theirs));
        let (mine, other) = (array(ours, &items)?, array(theirs, &items)?);
        let chunk = zarrs::storage::Bytes::from(encoded.clone());
        // Both arrays hold the chunk of C-Blosc.
        for array in [&mine, &other] {
            zarrs::storage::WritableStorageTraits::set(
                &*array.storage(),
                &array.chunk_key(&[0, 0]),
                chunk.clone(),
            )?;
        }
        for (what, rows, columns) in [("8 items", 300..301, 100..108), ("64 x 64 items", 300..364, 100..164)]
        {
            let subset = ArraySubset::new_with_ranges(&[rows, columns]);
            let read = |array: &Array<MemoryStore>| array.retrieve_array_subset::<Vec<f32>>(&subset);
            assert_eq!(read(&mine)?, read(&other)?);
            duel(&format!("  {what}"), rounds, || drop(read(&mine)), || drop(read(&other)));
        }
    }
    Ok(())
}
