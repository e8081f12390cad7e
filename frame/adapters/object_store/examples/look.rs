//! Says what a frame behind a URL holds, and decodes all of it:
//! `cargo run --features remote --example look -- s3://days/today.b2nd`
use blosc_frame::{Limits, SuperChunk};
use blosc_object_store::Remote;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("usage: look URL")?;
    let remote = Arc::new(Remote::open(&url)?);
    let frame = SuperChunk::open_read(remote.clone(), &Limits::default())?;
    println!("{} bytes in {} chunks of {}", frame.nbytes(), frame.nchunks(), frame.params().codec.name());
    let all = frame.read_all().map_err(|error| match remote.cause() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    })?;
    let sum = all.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    println!("{} bytes decoded, sum {sum:x}", all.len());
    Ok(())
}
