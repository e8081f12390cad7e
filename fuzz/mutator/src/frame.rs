//! Frames: cut apart, changed, and put together with lengths that fit.

use crate::{CHUNK_FIELDS, bytes, field};
use arbitrary::{Result, Unstructured};
use blosc_core::{Chunk, Limits, Params, Pool};

/// Bytes of a header without metalayers, and those at the end of a trailer.
const FIXED_LEN: usize = 87;
const TAIL_LEN: usize = 23;
/// Most bytes of an index that is read.
const MOST_INDEX: u64 = 1 << 20;

/// Fields of the frame header: offset and width of the value behind its marker. In the order of the format: lengths;
/// flags (general, frame type, codec, others); sizes, plain and compressed; type, block and chunk size; threads; whether
/// there are vlmetalayers; filters (slots, ids), codec (id, parameter), filter parameters, other flags; then the
/// metalayers' array marker and the size of their map.
#[rustfmt::skip]
const FIELDS: [(usize, usize); 22] = [
    (0x0b, 4), (0x10, 8), (0x19, 1), (0x1a, 1), (0x1b, 1), (0x1c, 1), (0x1e, 8), (0x27, 8), (0x30, 4), (0x35, 4),
    (0x3a, 4), (0x3f, 2), (0x42, 2), (0x44, 1), (0x46, 1), (0x47, 2), (0x4d, 1), (0x4e, 1), (0x4f, 4), (0x55, 1),
    (0x57, 1), (0x58, 3),
];

/// A frame cut apart.
pub struct Parts {
    head: Vec<u8>,
    payload: Vec<u8>,
    entries: Vec<i64>,
    trailer: Vec<u8>,
    sparse: bool,
}

fn big(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b))
}

impl Parts {
    /// Cuts a frame apart, or an index file of a `sparse` one; `None` for what is neither.
    pub fn of(frame: &[u8], sparse: bool) -> Option<Parts> {
        let number = |at: usize, width: usize| frame.get(at..)?.get(..width).map(big);
        frame.get(2..9).filter(|magic| *magic == b"b2frame")?;
        let tail = frame.len().checked_sub(TAIL_LEN)?;
        let (head, rest) = frame.split_at_checked(number(0x0b, 4)?)?;
        let (rest, trailer) = rest.split_at_checked(rest.len().checked_sub(number(tail + 1, 4)?)?)?;
        let payload = if sparse { 0 } else { number(0x27, 8)? };
        let (payload, index) = rest.split_at_checked(payload)?;
        let index = match index {
            [] => vec![],
            _ => {
                let limits = Limits::DEFAULT.output(MOST_INDEX);
                Pool::new(1).decompress(&Chunk::parse_with(index, &limits).ok()?).ok()?
            }
        };
        let entries = index.as_chunks().0.iter().map(|e| i64::from_le_bytes(*e)).collect();
        let whole = head.len() >= FIXED_LEN && trailer.len() >= TAIL_LEN;
        whole.then(|| Parts {
            head: head.into(),
            payload: payload.into(),
            entries,
            trailer: trailer.into(),
            sparse,
        })
    }

    /// Changes one thing.
    ///
    /// # Errors
    /// There are not enough choices.
    pub fn change(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=7)? {
            0 | 1 => {
                let (at, width) = *u.choose(&FIELDS)?;
                field(u, &mut self.head, at, width)
            }
            2 => bytes(u, &mut self.head, FIXED_LEN),
            3 => bytes(u, &mut self.trailer, 0),
            4 if !self.payload.is_empty() => bytes(u, &mut self.payload, 0),
            5 if !self.entries.is_empty() && !self.sparse => {
                let start = usize::try_from(*u.choose(&self.entries)?).unwrap_or(0);
                let (at, width) = *u.choose(&CHUNK_FIELDS)?;
                field(u, &mut self.payload, start.saturating_add(at), width)
            }
            6 if !self.entries.is_empty() => {
                let k = u.choose_index(self.entries.len())?;
                self.entries[k] = match u.int_in_range(0..=4)? {
                    0 => u.arbitrary()?,
                    1 => self.entries[k] + i64::from(u.arbitrary::<i8>()?),
                    2 => i64::MIN | i64::from(u.arbitrary::<u8>()?) << 56,
                    3 => (self.payload.len() as i64).saturating_sub(u.int_in_range(0..=64)?),
                    _ => *u.choose(&self.entries)?,
                };
                Ok(())
            }
            _ => {
                let entry = u.int_in_range(0..=self.payload.len() as i64)?;
                match u.arbitrary()? {
                    true => self.entries.push(entry),
                    false => drop(self.entries.pop()),
                }
                Ok(())
            }
        }
    }

    /// Puts the parts together; lengths and offsets fit, but now and then one. `params` are those of another index.
    ///
    /// # Errors
    /// There are not enough choices.
    pub fn join<'a>(
        mut self,
        u: &mut Unstructured<'a>,
        params: impl FnOnce(&mut Unstructured<'a>) -> Result<Params>,
    ) -> Result<Vec<u8>> {
        let index: Vec<u8> = self.entries.iter().flat_map(|e| e.to_le_bytes()).collect();
        let index = match index.is_empty() {
            true => vec![],
            false => {
                let params = if u.ratio(1, 4)? { params(u)? } else { Params::new(8) };
                blosc_core::compress(&params.typesize(8), &index).expect("a small index")
            }
        };
        let (head, trailer) = (self.head.len(), self.trailer.len());
        let len = head + self.payload.len() + index.len() + trailer;
        // Mostly everything fits; now and then one length is left as it was.
        let wrong = if u.ratio(1, 8)? { u.int_in_range(0..=3)? } else { 4 };
        let put = |which: u8, part: &mut [u8], at: usize, value: &[u8]| {
            if which != wrong
                && let Some(place) = part.get_mut(at..at + value.len())
            {
                place.copy_from_slice(value);
            }
        };
        put(0, &mut self.head, 0x0b, &(head as u32).to_be_bytes());
        put(1, &mut self.head, 0x10, &(len as u64).to_be_bytes());
        if !self.sparse {
            put(2, &mut self.head, 0x27, &(self.payload.len() as u64).to_be_bytes());
        }
        let tail = trailer.saturating_sub(TAIL_LEN);
        put(3, &mut self.trailer, tail + 1, &(trailer as u32).to_be_bytes());
        Ok([self.head, self.payload, index, self.trailer].concat())
    }
}
