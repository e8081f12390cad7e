//! The item size of raw bytes whose user gave none: what compresses a sample best.
//!
//! ```text
//! for each size of 1, 2, 4, 8, 16    shuffle the sample by it, compress with LZ4
//! the smallest result wins           if it is well below that of single bytes; the smaller size among equals
//! ```

use super::Input;
use crate::args::Compress;
use crate::failure::{Failure, Result};
use crate::output::notice;
use blosc_core::{Codec, Filter, Params, Pool};
use std::io::{Cursor, Read};

/// Bytes looked at. It holds thousands of items, and LZ4 compresses it five times in less than a millisecond.
const SAMPLE: u64 = 128 << 10;

/// The item size to use where `--typesize` does not say, with a notice if it is not 1.
pub fn typesize(args: &Compress, input: &mut Input) -> Result<Option<u32>> {
    // Without a filter the item size changes next to nothing.
    if args.filters.0.iter().all(|slot| slot.filter == Filter::None) || args.level == 0 {
        return Ok(None);
    }
    let mut sample = Vec::new();
    let read = input.data.by_ref().take(SAMPLE).read_to_end(&mut sample);
    read.map_err(|e| Failure::at(&input.path, e))?;
    let size = best(&sample, input.len)?;
    let rest = std::mem::replace(&mut input.data, Box::new(std::io::empty()));
    input.data = Box::new(Cursor::new(sample).chain(rest));
    if size > 1 {
        notice(format_args!(
            "{}: items look like {size} bytes; using --typesize {size}",
            input.path.display()
        ));
    }
    Ok((size > 1).then_some(size))
}

/// The item size that suits the sample of a file of `len` bytes.
fn best(sample: &[u8], len: Option<u64>) -> Result<u32> {
    // Fewer bytes say nothing.
    if sample.len() < 256 {
        return Ok(1);
    }
    let mut pool = Pool::new(1);
    let mut size = |typesize: u32| -> Result<usize> {
        let params = Params::new(typesize).codec(Codec::Lz4).level(5).shuffle();
        Ok(pool.compress(&params, sample)?.len())
    };
    let single = size(1)?;
    let mut best = (single, 1);
    for typesize in [2, 4, 8, 16] {
        if len.is_some_and(|len| !len.is_multiple_of(typesize.into())) {
            break;
        }
        let now = size(typesize)?;
        // Twice the item size must be worth 3 %: planes of 8 bytes do about as well for items of 4.
        if now.saturating_mul(100) < best.0.saturating_mul(97) {
            best = (now, typesize);
        }
    }
    // Below a tenth gained, the bytes are as likely to be something else.
    Ok(if best.0.saturating_mul(10) < single.saturating_mul(9) { best.1 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_told_by_their_planes() {
        let walk = |n: u32| (n.wrapping_mul(2_654_435_761) >> 20) + n * 7;
        let floats: Vec<u8> = (0..20_000u32).flat_map(|n| (f64::from(walk(n)) * 0.1).to_le_bytes()).collect();
        let ints: Vec<u8> = (0..40_000u32).flat_map(|n| walk(n).to_le_bytes()).collect();
        let shorts: Vec<u8> = (0..40_000u32).flat_map(|n| ((walk(n) >> 4) as u16).to_le_bytes()).collect();
        let text = "It was the best of times, it was the worst of times. ".repeat(500).into_bytes();
        let noise: Vec<u8> = (0..60_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for (data, size) in [(&floats, 8), (&ints, 4), (&shorts, 2), (&text, 1), (&noise, 1)] {
            assert_eq!(best(&data[..data.len().min(128 << 10)], None).unwrap(), size);
        }
        assert_eq!(best(&ints[..100_001], Some(100_001)).unwrap(), 1);
    }
}
