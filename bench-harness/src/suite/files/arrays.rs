//! Suites `arrays` and `array-files`: a 4-D array is written to a file and read whole, and boxes of it are read. The boxes lie
//! elsewhere in each sample: what is read twice comes out of a cache of decoded blocks, on either side.

use super::operation::{CODECS, Folder, Op, Side, arrays_of, job, new_file, number, open, opponent, text};
use crate::data::Data;
use crate::data::generate::Xorshift;
use crate::engine::Spec;
use crate::engine::peers::cparams;
use crate::measure::candidate::Work;
use crate::measure::check::expect;
use crate::suite::choice::{Choice, Job};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{self, Dtype, NdArray};
use blosc_peers::blosc2::ArraySpec;
use std::cell::RefCell;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Jobs of `arrays` or `array-files`.
pub fn arrays<'a>(suite: &'static str, choice: &'a Choice) -> Vec<Job<'a>> {
    let (all, threads) = match suite {
        "arrays" => (arrays_of(choice, &[], 4 << 20), &[1][..]),
        _ => (arrays_of(choice, &["smooth_f4"], 256 << 20), &choice.threads[..]),
    };
    let mut jobs = Vec::new();
    for data in all {
        for codec in CODECS.into_iter().filter(|c| choice.codecs.contains(c)) {
            let each = threads.iter().map(|n| Spec::new(codec, 5, data.0.typesize, *n));
            jobs.extend(each.map(|spec| job(suite, spec, data.clone(), choice, boxes)));
        }
    }
    jobs
}

/// Sides of an array of this many items, or fewer: powers of two, the middle ones largest. 2^26 items are 64 x 128 x 128 x 64.
fn shape_of(items: usize) -> [u64; 4] {
    let bits = items.max(1).ilog2();
    [2, 0, 1, 3].map(|late| 1 << ((bits + 3 - late) / 4))
}

/// A box: one range per axis.
pub type Box4 = [Range<u64>; 4];

/// Boxes of one kind in an array, in other places each time; the same ones on every machine.
pub struct Places {
    shape: [u64; 4],
    sides: [u64; 4],
    numbers: Xorshift,
    pub list: Vec<Box4>,
}

impl Places {
    /// `count` boxes; a side of 0 stands for the whole axis.
    pub fn new(shape: [u64; 4], sides: [u64; 4], count: usize) -> Places {
        let side = |d: usize| if sides[d] == 0 { shape[d] } else { sides[d].min(shape[d]) };
        let nowhere = [0, 0, 0, 0].map(|n| n..n);
        let sides = [0, 1, 2, 3].map(side);
        let mut places = Places { shape, sides, numbers: Xorshift::new(7), list: vec![nowhere; count] };
        places.move_on();
        places
    }

    fn move_on(&mut self) {
        for place in &mut self.list {
            *place = [0, 1, 2, 3].map(|d| {
                let start = self.numbers.below(self.shape[d] - self.sides[d] + 1);
                start..start + self.sides[d]
            });
        }
    }

    /// Items of a box.
    pub fn items(&self) -> usize {
        self.sides.iter().product::<u64>() as usize
    }

    /// The bytes of all boxes, one after the other.
    fn cut(&self, data: &[u8], t: usize) -> Vec<u8> {
        let shape = self.shape;
        let at = |i, j, k, l| ((((i * shape[1] + j) * shape[2] + k) * shape[3] + l) as usize) * t;
        let mut out = Vec::with_capacity(self.items() * self.list.len() * t);
        for [a, b, c, d] in &self.list {
            for (i, j) in a.clone().flat_map(|i| b.clone().map(move |j| (i, j))) {
                for k in c.clone() {
                    let line = at(i, j, k, d.start)..at(i, j, k, d.end);
                    out.extend_from_slice(data.get(line).unwrap_or_default());
                }
            }
        }
        out
    }
}

/// What is read: a name, the sides of a box, how many boxes.
const READS: [(&str, [u64; 4], usize); 9] = [
    ("read all", [0, 0, 0, 0], 1),
    ("rows along the last axis", [1, 1, 1, 0], 50),
    ("rows along axis 2", [1, 1, 0, 1], 50),
    ("columns along the first axis", [0, 1, 1, 1], 20),
    ("planes of the last axes", [1, 1, 0, 0], 20),
    ("planes of the first axes", [0, 0, 1, 1], 1),
    ("planes of axes 1 and 3", [1, 0, 1, 0], 10),
    ("random 3-D boxes", [1, 20, 20, 20], 50),
    ("random items", [1, 1, 1, 1], 100),
];

/// Reads one box.
pub type Read<'a> = Box<dyn FnMut(&Box4, &mut [u8]) -> Result<(), String> + 'a>;

/// A side that reads boxes in other places in each sample.
pub fn reader<'a>(
    engine: Option<String>,
    mut read: Read<'a>,
    places: Places,
    bytes: &'a [u8],
    t: usize,
) -> Side<'a> {
    let each = places.items() * t;
    let here = Rc::new(RefCell::new(places));
    let (judged, moved) = (Rc::clone(&here), Rc::clone(&here));
    let work: Work<'a> = Box::new(move |_, dst| {
        for (place, to) in here.borrow().list.iter().zip(dst.chunks_exact_mut(each)) {
            read(place, to)?;
        }
        Ok(dst.len())
    });
    let check = Box::new(move |got: &[u8]| expect(&judged.borrow().cut(bytes, t))(got));
    Side { engine, work, check, before: Some(Box::new(move || moved.borrow_mut().move_on())) }
}

/// An array of four axes, and how it is written.
pub struct Array<'a> {
    pub shape: [u64; 4],
    pub bytes: &'a [u8],
    pub nd: b2nd::Spec,
    dtype: String,
}

impl<'a> Array<'a> {
    /// The items of `data`, in chunks of the shape that `chunks` makes of the array's, or of the default one.
    pub fn new(
        data: &'a Data,
        spec: &Spec,
        chunks: Option<&dyn Fn([u64; 4]) -> [u64; 4]>,
    ) -> Result<Array<'a>, String> {
        let shape = shape_of(data.bytes.len() / data.typesize);
        let bytes = data.bytes.get(..shape.iter().product::<u64>() as usize * data.typesize);
        let dtype = format!("<{}", data.dtype);
        let nd = b2nd::Spec::new(&shape, Dtype::parse(&dtype).map_err(text)?).map_err(text)?;
        let mut nd = nd.params_from(&spec.params());
        if let Some(chunks) = chunks {
            nd = nd.chunks(&chunks(shape).map(|side| side as u32)).map_err(text)?;
        }
        Ok(Array { shape, bytes: bytes.unwrap_or_default(), nd, dtype })
    }

    /// Writes it; gives the bytes of the file.
    pub fn write(&self, path: &Path, threads: usize) -> Result<u64, String> {
        let mut frame = SuperChunk::create(new_file(path)?, &self.nd.params()).map_err(text)?;
        frame.set_threads(threads);
        NdArray::from_slice(frame, &self.nd, self.bytes).and_then(|mut a| a.commit()).map_err(text)?;
        length(path)
    }
}

fn length(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|m| m.len()).map_err(text)
}

fn boxes<'a>(folder: &Folder, spec: &Spec, data: &'a Data, choice: &Choice) -> Result<Vec<Op<'a>>, String> {
    let path = folder.file("array.b2nd");
    let (spec, t, threads) = (*spec, data.typesize, spec.threads);
    let made = Array::new(data, &spec, None)?;
    let (shape, bytes, name) = (made.shape, made.bytes, made.dtype.clone());
    let opponent = opponent(choice);
    let signed = |v: &[u32]| -> Vec<i32> { v.iter().map(|n| n.cast_signed()).collect() };
    let (chunks, blocks) = (signed(made.nd.geometry().chunks()), signed(made.nd.geometry().blocks()));
    let write = move |path: &Path| made.write(path, threads);
    let foreign = opponent.clone().map(|(engine, lib)| {
        let write = move |path: &Path| -> Result<u64, String> {
            let _ = fs::remove_file(path);
            let shape = shape.map(u64::cast_signed);
            let what = ArraySpec { shape: &shape, chunks: &chunks, blocks: &blocks, dtype: &name };
            lib.write_array(path, &cparams(&spec), &what, bytes).map_err(text)?;
            length(path)
        };
        (engine, write)
    });
    match &foreign {
        Some((_, write)) => write(&path)?,
        None => write(&path)?,
    };
    let mut ops = Vec::new();
    for (name, sides, count) in READS {
        let places = || Places::new(shape, sides, count);
        let mut array = NdArray::open(open(&path, threads)?).map_err(text)?;
        array.set_threads(threads);
        let read: Read<'a> = Box::new(move |place, to| {
            match to.len() == t {
                true => array.get_item(&place.clone().map(|range| range.start), to),
                false => array.get_slice(place, to),
            }
            .map_err(text)
        });
        let mut sides = vec![reader(None, read, places(), bytes, t)];
        if let Some((engine, lib)) = &opponent {
            let mut array = lib.open_array(&path, i16::try_from(threads).unwrap_or(1)).map_err(text)?;
            let read: Read<'a> = Box::new(move |place, to| {
                let start = place.clone().map(|range| range.start.cast_signed());
                let stop = place.clone().map(|range| range.end.cast_signed());
                array.slice(t, &start, &stop, to).map(|_| ()).map_err(text)
            });
            sides.push(reader(Some(engine.clone()), read, places(), bytes, t));
        }
        let room = places().items() * count * t;
        ops.push(Op { name: name.into(), bytes: room, room, sides, ..Op::default() });
    }
    let (mine, there) = (folder.file("mine.b2nd"), folder.file("theirs.b2nd"));
    let ours: Work<'a> = Box::new(move |_, dst| number(write(&mine)?, dst));
    let theirs = foreign.map(|(engine, write)| -> (String, Work<'a>) {
        (engine, Box::new(move |_, dst| number(write(&there)?, dst)))
    });
    let wrote = |got: &[u8]| if got.len() == 8 { Ok(()) } else { Err("wrong: wrote nothing".into()) };
    ops.push(Op::new("write all", (bytes.len(), 64), wrote, ours, theirs));
    Ok(ops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_move_within_the_array() {
        assert_eq!(shape_of(1 << 26), [64, 128, 128, 64]);
        assert_eq!(shape_of((1 << 20) + 5).iter().product::<u64>(), 1 << 20);
        let shape = shape_of(1 << 13);
        let items: Vec<u8> = (0..1u16 << 13).flat_map(u16::to_le_bytes).collect();
        for (_, sides, count) in READS {
            let mut places = Places::new(shape, sides, count);
            let before = places.list.clone();
            places.move_on();
            assert!(sides == [0; 4] || sides[1] == 20 || before != places.list);
            assert_eq!(places.cut(&items, 2).len(), places.items() * count * 2);
        }
        let one = Places { list: vec![[0..1, 0..1, 0..1, 3..4]], ..Places::new(shape, [1; 4], 1) };
        assert_eq!(one.cut(&items, 2), [3, 0]);
    }
}
