//! Valid frames and arrays with some of their fields changed, and with the lengths and offsets around the
//! change put right again, so that what lies behind them is reached.
//!
//! ```text
//! a frame of ours = header | metalayers | chunks | index | trailer          (cut apart)
//! change one or more: a field, a byte, a cut, a chunk header's field, an index entry
//! put together: header_len, compressed_size, frame_len, trailer_len fit again (unless told not to)
//! ```

use crate::arrays;
use crate::frames::{self, LIMITS, OUTPUT, params, pattern};
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::{Params, Special};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::cframe::header::FIXED_LEN;
use blosc_frame::cframe::trailer::TAIL_LEN;
use blosc_frame::io::{Directory, MemDir};

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

/// Fields of a chunk header.
const CHUNK_FIELDS: [(usize, usize); 11] =
    [(0, 1), (1, 1), (2, 1), (3, 1), (4, 4), (8, 4), (12, 4), (16, 6), (24, 6), (30, 1), (31, 1)];

/// A frame cut apart.
struct Parts {
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
    fn of(frame: &[u8], sparse: bool) -> Parts {
        let len = frame.len();
        let (head, rest) = frame.split_at(big(&frame[0x0b..0x0f]));
        let trailer = big(&frame[len - TAIL_LEN + 1..][..4]);
        let (rest, trailer) = rest.split_at(rest.len() - trailer);
        let (payload, index) = rest.split_at(if sparse { 0 } else { big(&frame[0x27..0x2f]) });
        let index =
            if index.is_empty() { vec![] } else { blosc_core::decompress(index).expect("our own index") };
        let entries = index.as_chunks().0.iter().map(|e| i64::from_le_bytes(*e)).collect();
        Parts { head: head.into(), payload: payload.into(), entries, trailer: trailer.into(), sparse }
    }

    fn change(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
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

    fn join(mut self, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
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

/// Gives a number somewhere another value: any, a little more or less, or an extreme.
fn field(u: &mut Unstructured<'_>, part: &mut [u8], at: usize, width: usize) -> Result<()> {
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
fn bytes(u: &mut Unstructured<'_>, part: &mut Vec<u8>, from: usize) -> Result<()> {
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

/// A frame with something of everything, written into `sc`.
fn fill(u: &mut Unstructured<'_>, sc: &mut SuperChunk<'_>) -> Result<()> {
    let typesize = sc.typesize();
    // A few are so large that a reader of a file takes only the blocks it needs.
    let size = match u.int_in_range(1..=206u32)? {
        small @ ..=200 => small * typesize,
        large => (large - 200) * 32_000 / typesize * typesize,
    };
    sc.set_chunksize(size).expect("a size of a new frame");
    sc.set_checksums(u.ratio(1, 4)?);
    for name in ["first", "second"] {
        if u.arbitrary()? {
            let content = pattern(u, 9)?;
            sc.set_metalayer(name, &content).expect("a small metalayer");
            sc.set_vlmetalayer(name, &content).expect("a small metalayer");
        }
    }
    for _ in 0..u.int_in_range(0..=4)? {
        let mut data = pattern(u, size as usize)?;
        if size > 10_000 {
            // Some planes of bytes compress well, others not at all.
            data.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0);
        }
        sc.append(&data).expect("a chunk of a new frame");
    }
    if u.arbitrary()? {
        sc.fill_special(Special::Zeros, u64::from(size)).expect("a special chunk");
    }
    Ok(())
}

fn mutate(u: &mut Unstructured<'_>, frame: &[u8], sparse: bool) -> Result<Vec<u8>> {
    let mut parts = Parts::of(frame, sparse);
    for _ in 0..u.int_in_range(1..=4)? {
        parts.change(u)?;
    }
    parts.join(u)
}

/// A contiguous frame with changed fields.
pub fn frame(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let mut u = Unstructured::new(data);
    let mut made = || -> Result<Vec<u8>> {
        let mut sc = SuperChunk::memory(&params(&mut u)?).expect("parameters of our own");
        fill(&mut u, &mut sc)?;
        mutate(&mut u, &sc.into_bytes().expect("a frame of our own"), false)
    };
    if let Ok(frame) = made() {
        frames::open(&frame);
    }
}

/// A sparse frame whose index file has changed fields, or one of whose chunk files is changed.
pub fn sparse(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let mut u = Unstructured::new(data);
    let dir = MemDir::new();
    let mut made = || -> Result<()> {
        let mut sc = SuperChunk::create_dir(dir.clone(), &params(&mut u)?).expect("an empty directory");
        fill(&mut u, &mut sc)?;
        sc.commit().expect("a directory in memory");
        drop(sc);
        let names = dir.list().expect("a directory in memory");
        let name = if u.arbitrary()? { "chunks.b2frame" } else { u.choose(&names)?.as_str() };
        let mut content = dir.read(name, u64::MAX).expect("a file that is listed");
        match name {
            "chunks.b2frame" => content = mutate(&mut u, &content, true)?,
            _ => {
                let (at, width) = *u.choose(&CHUNK_FIELDS)?;
                field(&mut u, &mut content, at, width)?;
            }
        }
        dir.put(name, content);
        Ok(())
    };
    if made().is_ok()
        && let Ok(mut sc) = SuperChunk::open_dir(dir, &LIMITS)
    {
        frames::read(&mut sc);
    }
}

/// An array whose metalayer says something else than it did: other sides, other markers, another dtype.
pub fn array(data: &[u8]) {
    allow(64 << 20 | OUTPUT); // encoder contexts
    let mut u = Unstructured::new(data);
    let mut made = || -> Result<Vec<u8>> {
        let ndim = u.int_in_range(0..=4usize)?;
        // A few sides are so long that a reader of a file takes only the blocks it needs.
        let long = [0, 100_000, 300, 40, 16][ndim];
        let side =
            |u: &mut Unstructured<'_>| Ok(u.int_in_range(0..=10)?).map(|s| if s > 9 { long } else { s });
        let shape: Vec<u64> = (0..ndim).map(|_| side(&mut u)).collect::<Result<_>>()?;
        let dtype = *u.choose(&["|u1", "<i2", ">f8", "|S5"])?;
        let spec = Spec::new(&shape, Dtype::parse(dtype).expect("a dtype")).expect("a small array");
        let spec = spec.params_from(&params(&mut u)?);
        let dense = pattern(&mut u, spec.geometry().nbytes() as usize)?;
        let nd = NdArray::from_slice(
            SuperChunk::memory(&spec.params()).expect("parameters of our own"),
            &spec,
            &dense,
        );
        let mut sc = nd.expect("an array of our own").into_frame();
        let mut meta = sc.metalayer("b2nd").expect("the metalayer of an array").to_vec();
        for _ in 0..u.int_in_range(1..=3)? {
            // Markers and versions at the front, then the sides: 9 or 5 bytes each.
            let (at, width) = match u.int_in_range(0..=4)? {
                0 => (u.int_in_range(0..=3)?, 1),
                1 => (4 + 9 * u.int_in_range(0..=ndim)?, 8),
                2 => (5 + 9 * ndim + 5 * u.int_in_range(0..=2 * ndim)?, 4),
                3 => (u.choose_index(meta.len())?, 1),
                _ => {
                    bytes(&mut u, &mut meta, 0)?;
                    continue;
                }
            };
            field(&mut u, &mut meta, at, width)?;
        }
        let name = if u.ratio(1, 6)? { "caterva" } else { "b2nd" };
        sc.remove_metalayer("b2nd");
        sc.set_metalayer(name, &meta).expect("a small metalayer");
        let frame = sc.into_bytes().expect("a frame of our own");
        if u.ratio(1, 4)? { mutate(&mut u, &frame, false) } else { Ok(frame) }
    };
    if let Ok(frame) = made() {
        arrays::open(&frame);
    }
}
