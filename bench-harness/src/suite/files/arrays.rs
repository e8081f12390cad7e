//! Suite `array-files`: boxes of a 4-D array are read from a file, and the whole array is written.

use super::operation::{BYTES, CODECS, Folder, Op, number, open, opponent, refused, run, smooth, spec, text};
use crate::data::Data;
use crate::engine::Spec;
use crate::engine::peers::cparams;
use crate::measure::candidate::Work;
use crate::measure::check::expect;
use crate::suite::choice::{Choice, Job};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{self, Dtype, NdArray};
use blosc_peers::blosc2::ArraySpec;
use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Shape of the array: 256 MiB of items of four bytes.
const SHAPE: [u64; 4] = [64, 128, 128, 64];

/// Jobs of `array-files`.
pub fn arrays(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for codec in CODECS.into_iter().filter(|c| choice.codecs.contains(c)) {
        for threads in choice.threads.iter().copied() {
            jobs.push(Job {
                label: format!("array-files {codec}, 4-D float32, {threads} threads"),
                run: Box::new(move |setting, plan, stop| {
                    let data = smooth(BYTES);
                    let spec = spec(codec, data.typesize, threads);
                    match boxes(&spec, &data, choice) {
                        Ok((_folder, ops)) => run("array-files", &spec, &data, ops, (setting, plan, stop)),
                        Err(why) => refused("array-files", &spec, &data, why),
                    }
                }),
            });
        }
    }
    jobs
}

/// A box: one range per axis.
type Box4 = [Range<u64>; 4];

/// Random numbers that are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    /// A box with the sides `sides`; 0 stands for the whole axis.
    fn place(&mut self, sides: [u64; 4]) -> Box4 {
        std::array::from_fn(|d| {
            let side = if sides[d] == 0 { SHAPE[d] } else { sides[d] };
            let start = self.below(SHAPE[d] - side + 1);
            start..start + side
        })
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

fn boxes<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<(Folder, Vec<Op<'a>>), String> {
    let folder = Folder::new()?;
    let path = folder.file("array.b2nd");
    let (spec, t, threads) = (*spec, data.typesize, spec.threads);
    let dtype = Dtype::parse(&format!("<{}", data.dtype)).map_err(text)?;
    let nd = b2nd::Spec::new(&SHAPE, dtype).map_err(text)?.params_from(&spec.params());
    let (chunks, blocks) = (nd.geometry().chunks().to_vec(), nd.geometry().blocks().to_vec());
    let opponent = opponent(choice);
    let write = {
        let nd = nd.clone();
        move |path: &Path| -> Result<(), String> {
            let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
            let frame = SuperChunk::create(file.map_err(text)?, &nd.params()).map_err(text)?;
            let mut frame = frame;
            frame.set_threads(threads);
            NdArray::from_slice(frame, &nd, &data.bytes).and_then(|mut a| a.commit()).map_err(text)
        }
    };
    let signed = |v: &[u32]| -> Vec<i32> { v.iter().map(|n| n.cast_signed()).collect() };
    let (chunks, blocks) = (signed(&chunks), signed(&blocks));
    let foreign = opponent.clone().map(|(name, lib)| {
        let write = move |path: &Path| -> Result<(), String> {
            let _ = fs::remove_file(path);
            let shape = SHAPE.map(u64::cast_signed);
            let what = ArraySpec { shape: &shape, chunks: &chunks, blocks: &blocks, dtype: "<f4" };
            lib.write_array(path, &cparams(&spec), &what, &data.bytes).map_err(text)
        };
        (name, write)
    });
    match &foreign {
        Some((_, write)) => write(&path)?,
        None => write(&path)?,
    }
    let mut ops = Vec::new();
    for (name, sides, count) in READS {
        let mut dice = Dice(7);
        let list: Rc<[Box4]> = (0..count).map(|_| dice.place(sides)).collect();
        let each: u64 = sides.iter().zip(SHAPE).map(|(s, n)| if *s == 0 { n } else { *s }).product();
        let each = usize::try_from(each).unwrap_or(0) * t;
        let mut array = NdArray::open(open(&path, threads)?).map_err(text)?;
        array.set_threads(threads);
        let mine = Rc::clone(&list);
        let ours: Work<'a> = Box::new(move |_, dst| {
            for (b, to) in mine.iter().zip(dst.chunks_exact_mut(each)) {
                match each == t {
                    true => array.get_item(&[b[0].start, b[1].start, b[2].start, b[3].start], to),
                    false => array.get_slice(b, to),
                }
                .map_err(text)?;
            }
            Ok(dst.len())
        });
        let mut theirs = None;
        if let Some((name, lib)) = &opponent {
            let mut array = lib.open_array(&path, i16::try_from(threads).unwrap_or(1)).map_err(text)?;
            let list = Rc::clone(&list);
            let work: Work<'a> = Box::new(move |_, dst| {
                for (b, to) in list.iter().zip(dst.chunks_exact_mut(each)) {
                    let start = [0, 1, 2, 3].map(|d| b[d].start.cast_signed());
                    let stop = [0, 1, 2, 3].map(|d| b[d].end.cast_signed());
                    array.slice(t, &start, &stop, to).map_err(text)?;
                }
                Ok(dst.len())
            });
            theirs = Some((name.clone(), work));
        }
        let check = Rc::new(move |got: &[u8]| {
            let mut right = Vec::with_capacity(got.len());
            list.iter().for_each(|b| cut(&data.bytes, t, b, &mut right));
            expect(&right)(got)
        });
        let bytes = each * count;
        ops.push(Op { name: name.into(), ours, theirs, check, bytes, room: bytes });
    }
    let (mine, there) = (folder.file("mine.b2nd"), folder.file("theirs.b2nd"));
    let back = move |path: &Path, dst: &mut [u8]| -> Result<usize, String> {
        number(fs::metadata(path).map_err(text)?.len(), dst)
    };
    ops.push(Op {
        name: "write all".into(),
        ours: Box::new(move |_, dst| write(&mine).and_then(|()| back(&mine, dst))),
        theirs: foreign.map(|(name, write)| -> (String, Work<'a>) {
            (name, Box::new(move |_, dst| write(&there).and_then(|()| back(&there, dst))))
        }),
        check: Rc::new(|got| if got.len() == 8 { Ok(()) } else { Err("wrote nothing".into()) }),
        bytes: data.bytes.len(),
        room: 64,
    });
    Ok((folder, ops))
}

/// Appends the items of a box to `out`.
fn cut(data: &[u8], t: usize, b: &Box4, out: &mut Vec<u8>) {
    let at = |i: u64, j: u64, k: u64, l: u64| {
        usize::try_from(((i * SHAPE[1] + j) * SHAPE[2] + k) * SHAPE[3] + l).unwrap_or(0) * t
    };
    for i in b[0].clone() {
        for j in b[1].clone() {
            for k in b[2].clone() {
                let line = at(i, j, k, b[3].start)..at(i, j, k, b[3].end);
                out.extend_from_slice(data.get(line).unwrap_or_default());
            }
        }
    }
}
