//! A program for `vectors/run.py`: decodes a file with a crate and writes the bytes to standard output.
//!
//! ```text
//! python3 fuzz/vectors/run.py 'peer CRATE {format} {file} {offset}'
//! ```
//! Status 77: the crate does not read this format. A panic ends the program by a signal, for it is counted as a crash.

use std::error::Error;
use std::io::Write;

fn decode(name: &str, format: &str, path: &str, offset: i64) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    let chunk = || std::fs::read(path);
    Ok(Some(match (name, format) {
        ("openreadout-codecs", "chunk1") => openreadout_codecs::blosc_decode(&chunk()?)?,
        ("blusc", "chunk1") => blusc::convenience::blosc1_decompress(&chunk()?)?,
        ("blusc", "chunk2") => blusc::convenience::blosc2_decompress(&chunk()?)?,
        ("blosc2-pure-rs", "chunk1" | "chunk2") => blosc2_pure_rs::compress::decompress_chunk(&chunk()?)?,
        ("blosc2-pure-rs", "cframe" | "sframe") => {
            blosc2_pure_rs::schunk::blosc2_schunk_open_offset(path, offset)?.decompress_all()?
        }
        ("blosc2-pure-rs", "b2nd") => {
            blosc2_pure_rs::b2nd::b2nd_open_offset(path, offset)?.to_dense_buffer()?
        }
        _ => return Ok(None),
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, format, path, offset] = &words[..] else { return Err("CRATE FORMAT FILE OFFSET".into()) };
    match decode(name, format, path, offset.parse()?)? {
        Some(bytes) => std::io::stdout().write_all(&bytes)?,
        None => std::process::exit(77),
    }
    Ok(())
}
