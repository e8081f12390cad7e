//! The scratch memory that decoding and encoding take, by block size: the tables of the README.
//!
//! `cargo run -p blosc-core --no-default-features --features alloc,codecs --example scratch`

use blosc_core::chunk::Plan;
use blosc_core::{Chunk, Codec, Decoder, Filter, Params};

const BLOCKS: [u32; 5] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10];

fn main() -> Result<(), blosc_core::Error> {
    println!(
        "| Block | decode, shuffle | with delta | any codec (`work_max`) | encode BloscLZ | encode LZ4 | encode LZ4HC | encode zlib |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for block in BLOCKS {
        let mut row = vec![block as usize];
        for typesize in [4, 8] {
            let shuffle = Params::new(typesize).codec(Codec::Lz4).blocksize(Some(block));
            let delta = shuffle.slot(4, Filter::Delta, 0);
            let found = [decode_work(&shuffle, block)?, decode_work(&delta, block)?];
            // The item size makes no difference: where it did, this table would be wrong.
            assert!(row.len() == 1 || row[1..3] == found);
            row.truncate(1);
            row.extend(found);
        }
        row.push(Decoder::work_max(block as usize));
        for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib] {
            let params = Params::new(4).codec(codec).blocksize(Some(block));
            row.push(Plan::work_len_for(&params, 2 * block as usize));
        }
        let cells: Vec<String> = row.iter().map(usize::to_string).collect();
        println!("| {} |", cells.join(" | "));
    }
    Ok(())
}

/// Scratch for a chunk of two blocks of counting numbers.
fn decode_work(params: &Params, block: u32) -> Result<usize, blosc_core::Error> {
    let data: Vec<u8> = (0..block / 2).flat_map(u32::to_le_bytes).collect();
    let bytes = blosc_core::compress(params, &data)?;
    Ok(Decoder::work_len(&Chunk::parse(&bytes)?))
}
