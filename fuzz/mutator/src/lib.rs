//! Mutators that know the formats: a field, a block start or a stream's length changes, and the lengths around the change are
//! put right again, so that what lies behind them is reached.
//!
//! ```text
//! frame  = header | metalayers | chunks | index | trailer      cut apart, changed somewhere, put together
//! chunk  = header | block starts | streams                     changed in place, or longer or shorter
//! other bytes                                                  changed anywhere
//! ```
//! [`mutate`] takes whatever bytes there are. Choices come from an [`Unstructured`], so the same ones give the same bytes.
//! Feature `entry` has the C function that libFuzzer looks for.

mod chunk;
#[cfg(feature = "entry")]
mod entry;
mod frame;

use arbitrary::{Result, Unstructured};
use blosc_core::Params;
pub use chunk::CHUNK_FIELDS;
pub use frame::Parts;

/// Changes bytes one to four times: as a frame if they are one, as a chunk if they begin with a header, anywhere otherwise.
///
/// # Errors
/// There are not enough choices; `input` may have been changed by then.
pub fn mutate(u: &mut Unstructured<'_>, input: &mut Vec<u8>) -> Result<()> {
    let turns = u.int_in_range(1..=4)?;
    if let Some(mut parts) = Parts::of(input, false).filter(|_| !u.ratio(1, 16).unwrap_or(true)) {
        for _ in 0..turns {
            parts.change(u)?;
        }
        *input = parts.join(u, |u| Ok(Params::new(8).level(u.int_in_range(0..=9)?)))?;
        return Ok(());
    }
    for _ in 0..turns {
        if chunk::is_chunk(input) && !u.ratio(1, 16)? {
            chunk::change(u, input)?;
        } else {
            bytes(u, input, 0)?;
        }
    }
    Ok(())
}

/// Gives a number somewhere another value: any, a little more or less, or an extreme.
///
/// # Errors
/// There are not enough choices.
pub fn field(u: &mut Unstructured<'_>, part: &mut [u8], at: usize, width: usize) -> Result<()> {
    let Some(place) = at.checked_add(width).and_then(|end| part.get_mut(at..end)) else { return Ok(()) };
    match u.int_in_range(0..=3)? {
        0 => u.fill_buffer(place)?,
        1 => {
            let last = if u.arbitrary()? { place.first_mut() } else { place.last_mut() };
            let by = u.int_in_range(-3..=3i8)?;
            last.into_iter().for_each(|b| *b = b.wrapping_add_signed(by));
        }
        2 => place.fill(*u.choose(&[0, 0xff, 0x7f, 0x80, 1])?),
        _ => {
            let bit = u.int_in_range(0..=7)?;
            let k = u.choose_index(width)?;
            place[k] ^= 1 << bit;
        }
    }
    Ok(())
}

/// Changes a byte of a part, cuts some out, or puts some in.
///
/// # Errors
/// There are not enough choices.
pub fn bytes(u: &mut Unstructured<'_>, part: &mut Vec<u8>, from: usize) -> Result<()> {
    let at = u.int_in_range(from.min(part.len())..=part.len())?;
    let end = (at + u.int_in_range(0..=6)?).min(part.len());
    match u.int_in_range(0..=2)? {
        0 => return field(u, part, at, 1),
        1 => drop(part.drain(at..end)),
        _ => {
            let new: [u8; 3] = u.arbitrary()?;
            part.splice(at..end, new);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(seed: u32) -> Vec<u8> {
        (0..512u32).map(|k| ((k ^ seed << 9).wrapping_mul(0x9E37_79B9) >> 13) as u8).collect()
    }

    #[test]
    fn mutants_of_a_chunk_fit_whatever_their_length() {
        let data: Vec<u8> = (0..2000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let params = Params::new(4).shuffle().blocksize(Some(1000));
        let chunk = blosc_core::compress(&params, &data).expect("a small chunk");
        let (mut parsed, mut longer) = (0, 0);
        for seed in 0..1000 {
            let mut mutant = chunk.clone();
            mutate(&mut Unstructured::new(&choices(seed)), &mut mutant).expect("enough choices");
            let sound = blosc_core::Chunk::parse(&mutant).is_ok();
            parsed += usize::from(sound);
            longer += usize::from(sound && mutant.len() != chunk.len());
        }
        assert!(parsed > 150 && longer > 50, "{parsed} of 1000 mutants parse, {longer} of another length");
    }

    #[test]
    fn any_bytes_are_taken() {
        for seed in 0..2000 {
            let mut input = choices(seed * 7 + 1);
            input.truncate(seed as usize % 200);
            if seed % 3 == 0 && input.len() > 20 {
                input[2..10].copy_from_slice(b"b2frame\0");
            }
            let _ = mutate(&mut Unstructured::new(&choices(seed)), &mut input);
        }
    }
}
