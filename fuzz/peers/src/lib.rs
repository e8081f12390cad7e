//! Chunks that this library and others in Rust read: all must agree.
//!
//! ```text
//! input     parameters | data | changes
//! chunk     the data, compressed here with the parameters
//! valid     the other library decodes the chunk to the data
//! changed   bytes of the chunk differ: what both libraries decode, they decode to the same bytes
//! theirs    a chunk that the other library made of the data is read here
//! ```
//! Both functions take any bytes, as a fuzz target does. They return what they compared, so that a caller can see that they
//! compared something.

use arbitrary::{Result, Unstructured};
use blosc_core::{Chunk, Codec, Limits, Params};
use blosc2_pure_rs::compress::{CParams, compress_chunk, decompress_chunk};
use openreadout_codecs::blosc_decode;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most bytes of the data of a chunk.
const MOST: usize = 1 << 16;

/// What became of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Chunks that both libraries decoded to the same bytes.
    pub equal: u32,
    /// Valid chunks that the other library refused, or panicked on.
    pub refused_there: u32,
    /// Changed chunks that only one of the two decoded.
    pub one_sided: u32,
    /// Valid chunks that the other library decoded to other bytes.
    pub wrong_there: u32,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.equal += other.equal;
        self.refused_there += other.refused_there;
        self.one_sided += other.one_sided;
        self.wrong_there += other.wrong_there;
    }
}

/// Blosc1 chunks beside `openreadout-codecs`, which only reads.
///
/// # Panics
/// Both libraries decode a changed chunk, to different bytes.
pub fn blosc1(input: &[u8]) -> Compared {
    let mut u = Unstructured::new(input);
    let Ok((params, data)) = case(&mut u, true) else { return Compared::default() };
    let chunk = blosc_core::compress(&params, &data).expect("legal parameters");
    let theirs = |chunk: &[u8]| quiet(|| blosc_decode(chunk).ok());
    compare(&mut u, &data, chunk, theirs)
}

/// Blosc2 chunks beside `blosc2-pure-rs`, in both directions.
///
/// # Panics
/// Both libraries decode a changed chunk, to different bytes; or a chunk of theirs, which they read, is not read here.
pub fn blosc2(input: &[u8]) -> Compared {
    let mut u = Unstructured::new(input);
    let Ok((params, data)) = case(&mut u, false) else { return Compared::default() };
    let chunk = blosc_core::compress(&params, &data).expect("legal parameters");
    let theirs = |chunk: &[u8]| quiet(|| decompress_chunk(chunk).ok());
    let mut compared = compare(&mut u, &data, chunk, theirs);
    let cparams = CParams {
        compcode: params.codec.id(),
        clevel: params.level,
        typesize: params.typesize as i32,
        filters: params.filters.map(|slot| slot.filter.id()),
        filters_meta: params.filters.map(|slot| slot.meta),
        ..CParams::default()
    };
    let made = quiet(|| compress_chunk(&data, &cparams).ok());
    if let Some(chunk) = made.filter(|chunk| theirs(chunk).is_some_and(|got| got == data)) {
        let got = blosc_core::decompress(&chunk);
        assert!(got.as_ref().is_ok_and(|got| *got == data), "{params:?}: theirs, {:?}", got.err());
        compared.equal += 1;
    }
    compared
}

/// Parameters and the data they are for.
fn case(u: &mut Unstructured<'_>, blosc1: bool) -> Result<(Params, Vec<u8>)> {
    let typesize = *u.choose(&[1, 2, 3, 4, 7, 8, 16, 32, 255])?;
    let codec = *u.choose(&[Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd])?;
    let params = Params::new(typesize).codec(codec).level(u.int_in_range(0..=9)?).blosc1(blosc1);
    let params = match u.int_in_range(0..=2)? {
        0 => params.no_filter(),
        1 => params.shuffle(),
        _ => params.bitshuffle(),
    };
    let blocksize = *u.choose(&[None, None, Some(256), Some(4096), Some(10_000)])?;
    let len = u.int_in_range(0..=MOST)?;
    let step: u32 = u.arbitrary()?;
    // Counters, whose high bytes seldom change, with noise in the low bits of some.
    let noise = u.int_in_range(0..=12)?;
    let mut seed = step | 1;
    let data = (0..len)
        .map(|i| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let item = (i / typesize as usize) as u32;
            let value = item.wrapping_mul(step >> 16).wrapping_add(seed >> 16 >> (16 - noise).min(15));
            value.to_le_bytes()[i % typesize as usize % 4]
        })
        .collect::<Vec<u8>>();
    let params = params.blocksize(blocksize).fit(data.len());
    Ok((params, data))
}

/// The valid chunk, and up to eight changed ones.
fn compare(
    u: &mut Unstructured<'_>,
    data: &[u8],
    chunk: Vec<u8>,
    theirs: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Compared {
    let mut compared = Compared::default();
    assert_eq!(blosc_core::decompress(&chunk).as_deref(), Ok(data), "our own chunk");
    match theirs(&chunk) {
        Some(got) if got == data => compared.equal += 1,
        Some(_) => compared.wrong_there += 1,
        None => compared.refused_there += 1,
    }
    let is_read_there = compared.equal == 1;
    for _ in 0..8 {
        let (Ok(at), Ok(byte)) = (u.choose_index(chunk.len()), u.arbitrary::<u8>()) else { break };
        let mut changed = chunk.clone();
        changed[at] ^= byte;
        let limits = Limits::DEFAULT.output(4 << 20);
        let ours = Chunk::parse_with(&changed, &limits)
            .ok()
            .and_then(|chunk| blosc_core::Pool::new(1).decompress(&chunk).ok());
        match (ours, theirs(&changed)) {
            (Some(ours), Some(theirs)) if ours == theirs => compared.equal += 1,
            (Some(_), Some(_)) if is_read_there => {
                panic!("byte {at} of {} changed by {byte:#04x}: other bytes", changed.len())
            }
            (None, None) => {}
            _ => compared.one_sided += 1,
        }
    }
    compared
}

/// `work`, or `None` where it panics.
fn quiet(work: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(None)
}
