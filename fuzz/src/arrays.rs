//! Arrays: opening hostile ones, slices beside a naive model, and dtype texts.

use crate::frames::{LARGE, LIMITS, OUTPUT, finish, from_file, params, pattern, told};
use crate::primed::twice;
use crate::resources::{Counted, Tally, allow};
use arbitrary::{Result, Unstructured};
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec, Take};
use blosc_frame::io::MemDir;
use blosc_frame::npy::NpyHeader;
use blosc_frame::{Error, Limits, SuperChunk};

/// An array from bytes, read as a whole and in two halves along the first axis.
pub fn open(data: &[u8]) {
    allow(4 * OUTPUT + (16 << 20));
    let Ok(mut frame) = SuperChunk::from_bytes(data.to_vec(), &LIMITS) else { return };
    // What is read in memory in parts is read whole from a file, and only then held to its checksum.
    frame.set_verify(false);
    let Some(mut nd) = told(NdArray::open(frame)) else { return };
    let geometry = *nd.geometry();
    let _ = (nd.dtype_text(), nd.opaque().map(|o| o.to_string()), nd.dtype().to_string());
    assert_eq!(format!("{geometry:?}").is_empty(), geometry.shape().to_string().is_empty());
    for chunk in 0..geometry.nchunks().min(64) {
        let _ = nd.get_chunk(chunk);
    }
    let whole = twice(|_| nd.get_all());
    if geometry.items() > 0 {
        // It costs no more than its block may, however large the whole is.
        let first: Vec<_> = geometry.shape().iter().map(|_| 0..1).collect();
        let first = Selection::ranges(nd.shape(), &first).expect("the first item");
        let item = nd.get(&first);
        assert!(whole.is_err() || item.is_ok(), "an item of what can be read");
    }
    let Ok(whole) = whole else { return };
    assert_eq!(whole.len() as u64, geometry.nbytes());
    let tally = Tally::default();
    let mut held = from_file(data, &tally).expect("a frame that opened from memory");
    held.set_verify(false);
    items(&mut nd, &whole);
    let mut held = NdArray::open(held).expect("an array that opened from memory");
    items(&mut held, &whole);
    pieces(&mut nd, &whole);
    let model =
        Model { shape: geometry.shape().to_vec(), typesize: geometry.typesize() as usize, data: whole };
    let source = Counted { data, most: usize::MAX, tally: &tally };
    thin(&mut nd, &model, &source);
    if model.data.len() >= LARGE {
        held.set_threads(2);
        assert!(held.get_all().as_ref() == Ok(&model.data), "two threads read something else");
    }
    thin(&mut held, &model, &source);
    // Nobody has changed it.
    assert_eq!((held.refresh(), nd.refresh()), (Ok(false), Ok(false)));
    let frame = nd.into_frame();
    assert!(frame.metalayer(if held.is_caterva() { "caterva" } else { "b2nd" }).is_some());
}

/// Few items from everywhere, by a plan, then asked for again and again: in the end their blocks are kept.
fn thin(nd: &mut NdArray<'_>, model: &Model, source: &Counted<'_>) {
    let axes = model.shape.len();
    if model.data.is_empty() || axes == 0 {
        return;
    }
    let mut takes = Vec::new();
    for (axis, side) in model.shape.iter().enumerate() {
        let step = side.div_ceil(40) as i64;
        takes.push(match axis {
            0 => Take::slice(*side, None, None, -step).expect("a step"),
            _ if axis + 1 == axes => Take::slice(*side, None, None, step).expect("a step"),
            _ if *side > 1 => Take::List(vec![side - 1, 0]),
            _ => Take::range(0..1),
        });
    }
    // Three rows and a single column.
    let rows = (0..model.shape[0]).step_by(model.shape[0].div_ceil(3) as usize).collect();
    let column = model.shape[1..].iter().map(|side| Take::range(side / 2..side / 2 + 1));
    let few: Vec<Take> = std::iter::once(Take::List(rows)).chain(column).collect();
    for takes in [takes, few] {
        let selection = Selection::new(nd.shape(), &takes).expect("indices inside the shape");
        let truth = model.get(&takes.iter().map(indices).collect::<Vec<_>>());
        assert!(
            finish(nd.plan(&selection).ok(), truth.len(), source, |_| ()).as_ref() == Some(&truth),
            "a plan"
        );
        for _ in 0..if truth.len() < 5000 { 18 } else { 3 } {
            assert!(nd.get(&selection).as_ref() == Ok(&truth), "{takes:?} of what was read");
        }
    }
}

/// The whole in pieces of either order, and the items that a mask leaves.
fn pieces(nd: &mut NdArray<'_>, whole: &[u8]) {
    let geometry = *nd.geometry();
    let (size, items) = (geometry.typesize() as usize, geometry.items() as usize);
    // A piece smaller than a row of blocks decodes blocks again.
    for piece in [(whole.len() as u64 / 64).max(1000), 1].into_iter().take(if items > 2000 { 1 } else { 2 }) {
        let (mut all, mut turned) = (Vec::new(), Vec::new());
        let taken = nd.for_each_piece(piece, |bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        });
        assert!((taken, &all[..]) == (Ok(()), whole), "in pieces of {piece}");
        let taken = nd.for_each_piece_fortran(piece, |bytes| {
            turned.extend_from_slice(bytes);
            Ok(())
        });
        assert!(taken == Ok(()) && turned.len() == whole.len(), "in pieces of {piece} in Fortran order");
        for (k, item) in turned.chunks(size.max(1)).enumerate() {
            let (mut rest, mut at, mut step) = (k, 0, items);
            for side in geometry.shape().iter().map(|side| *side as usize) {
                step /= side;
                (at, rest) = (at + rest % side * step, rest / side);
            }
            assert!(whole[at * size..].starts_with(item), "item {k} in Fortran order");
        }
    }
    if items <= 3000 && size > 0 {
        let mask: Vec<bool> = (0..items).map(|k| k % 3 == 1).collect();
        let truth: Vec<u8> = whole
            .chunks(size)
            .zip(&mask)
            .filter(|(_, set)| **set)
            .flat_map(|(item, _)| item)
            .copied()
            .collect();
        assert!(nd.get_mask(&mask).as_ref() == Ok(&truth), "the items of a mask");
        assert!(nd.get_mask(&[&mask[..], &[true]].concat()).is_err());
    }
}

/// Some single items and a row, which need few blocks, are those of the whole.
fn items(nd: &mut NdArray<'_>, whole: &[u8]) {
    let geometry = *nd.geometry();
    let (size, shape) = (geometry.typesize() as usize, geometry.shape().to_vec());
    for at in [0, geometry.items() / 3, geometry.items().saturating_sub(1)] {
        let Some(truth) = whole.chunks_exact(size.max(1)).nth(at as usize) else { return };
        let (mut index, mut rest) = (vec![0; shape.len()], at);
        for (place, side) in index.iter_mut().zip(&shape).rev() {
            (*place, rest) = (rest % side, rest / side);
        }
        let mut item = vec![0xA5; size];
        assert_eq!((nd.get_item(&index, &mut item), &item[..]), (Ok(()), truth), "{index:?}");
        let located = geometry.locate(&index).expect("an index inside");
        assert!(located.0 < geometry.nchunks() && located.1 < geometry.nblocks());
        assert!(nd.get_flat(&[at, at]).expect("a position inside") == [truth, truth].concat());
    }
    if let Some(side) = shape.first() {
        assert!(geometry.locate(&vec![*side; shape.len()]).is_none());
        let rows: Vec<_> =
            std::iter::once(side / 2..side / 2 + 1).chain(shape[1..].iter().map(|s| 0..*s)).collect();
        let row = whole.len() / *side as usize;
        let mut out = vec![0xA5; row];
        nd.get_slice(&rows, &mut out).expect("a row of what was read");
        assert!(out == whole[(side / 2) as usize * row..][..row], "row {}", side / 2);
    }
}

/// The indices that a selection of an axis stands for.
fn indices(take: &Take) -> Vec<u64> {
    match take {
        Take::Run { start, step, count } => {
            (0..*count).map(|k| start.wrapping_add_signed(k as i64 * step)).collect()
        }
        Take::List(list) => list.clone(),
    }
}

/// A dense array.
struct Model {
    shape: Vec<u64>,
    typesize: usize,
    data: Vec<u8>,
}

impl Model {
    /// Byte offsets of the items at the product of `lists`, in C order.
    fn places(&self, lists: &[Vec<u64>]) -> Vec<usize> {
        let mut all = vec![0];
        for (list, side) in lists.iter().zip(&self.shape) {
            all = all.iter().flat_map(|n| list.iter().map(move |i| n * side + i)).collect();
        }
        all.iter().map(|n| *n as usize * self.typesize).collect()
    }

    fn get(&self, lists: &[Vec<u64>]) -> Vec<u8> {
        self.places(lists)
            .into_iter()
            .flat_map(|at| self.data[at..at + self.typesize].iter().copied())
            .collect()
    }

    /// Puts rows of an axis into another order; new ones come from `new`, then are zero.
    fn reorder(&mut self, axis: usize, order: &[Option<u64>], new: &[u8]) {
        let inner = self.shape[axis + 1..].iter().product::<u64>() as usize * self.typesize;
        let (outer, side) = (self.shape[..axis].iter().product::<u64>() as usize, self.shape[axis] as usize);
        let (mut data, mut new) = (Vec::new(), new.chunks(inner.max(1)));
        for o in 0..outer {
            for from in order {
                match from {
                    Some(k) => {
                        data.extend_from_slice(&self.data[(o * side + *k as usize) * inner..][..inner])
                    }
                    None if inner == 0 => {}
                    None => data.extend_from_slice(new.next().unwrap_or(&vec![0; inner])),
                }
            }
        }
        self.data = data;
        self.shape[axis] = order.len() as u64;
    }

    fn set(&mut self, lists: &[Vec<u64>], values: &[u8]) {
        for (at, value) in self.places(lists).into_iter().zip(values.chunks(self.typesize)) {
            self.data[at..at + self.typesize].copy_from_slice(value);
        }
    }
}

/// Selections of an array of any partition are those of a dense one, read and written.
pub fn slice(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = slices(&mut Unstructured::new(data));
}

fn slices(u: &mut Unstructured<'_>) -> Result<()> {
    let ndim = u.int_in_range(0..=4)?;
    let most = [0, 300, 30, 9, 6][ndim];
    let shape: Vec<u64> = (0..ndim).map(|_| u.int_in_range(0..=most)).collect::<Result<_>>()?;
    let dtype = *u.choose(&["|u1", "<i2", ">f8", "|S5", "<c16", "[('a', '<i4'), ('b', '|V3', (2,))]"])?;
    let spec = Spec::new(&shape, Dtype::parse(dtype).expect("a dtype")).expect("a small array");
    let mut spec = spec.params_from(&params(u)?);
    if u.arbitrary()? {
        let mut side = |s: u64| Ok(u.int_in_range(1..=s + 3)? as u32);
        let chunks: Vec<u32> = shape.iter().map(|s| side(*s)).collect::<Result<_>>()?;
        let blocks: Vec<u32> = chunks.iter().map(|c| u.int_in_range(1..=*c)).collect::<Result<_>>()?;
        spec = spec.chunks(&chunks).expect("chunks").blocks(&blocks).expect("blocks");
    }
    let geometry = *spec.geometry();
    let typesize = geometry.typesize() as usize;
    let mut model = Model { data: pattern(u, geometry.nbytes() as usize)?, shape, typesize };
    let frame = SuperChunk::memory(&spec.params()).expect("parameters of our own");
    let mut nd = NdArray::from_slice(frame, &spec, &model.data).expect("an array of our own");
    assert_eq!(nd.get_all().as_ref(), Ok(&model.data));
    assert!(Selection::new(nd.shape(), &vec![Take::range(0..1); ndim + 1]).is_err());
    if let Some(side) = model.shape.first() {
        for outside in [
            Take::range(0..side + 1),
            Take::List(vec![*side]),
            Take::Run { start: 0, step: -1, count: 2 },
            Take::Run { start: 0, step: 0, count: 1 },
            Take::Run { start: 0, step: i64::MAX, count: 4 },
        ] {
            let others = model.shape[1..].iter().map(|_| Take::range(0..0));
            let takes: Vec<Take> = std::iter::once(outside).chain(others).collect();
            assert!(Selection::new(nd.shape(), &takes).is_err(), "{takes:?} of {geometry:?}");
        }
    }
    for _ in 0..8 {
        if u.is_empty() {
            break;
        }
        let (mut takes, mut lists) = (Vec::new(), Vec::new());
        for side in &model.shape {
            let (take, list) = take(u, *side)?;
            takes.push(take);
            lists.push(list);
        }
        let selection = Selection::new(nd.shape(), &takes).expect("indices inside the shape");
        // Thin ones are read from blocks that are kept when they come back.
        let truth = model.get(&lists);
        for _ in 0..if truth.len() * 2 < model.data.len() { 3 } else { 1 } {
            assert_eq!(nd.get(&selection).as_ref(), Ok(&truth), "{takes:?} of {geometry:?}");
        }
        if u.arbitrary()? {
            let values = pattern(u, selection.items() as usize * typesize)?;
            nd.set(&selection, &values).expect("indices inside the shape");
            model.set(&lists, &values);
            assert_eq!(nd.get_all().as_ref(), Ok(&model.data), "after writing {takes:?} of {geometry:?}");
        }
    }
    Ok(())
}

/// Rows inserted, deleted, appended and cut along any axis are those of a dense array.
pub fn resize(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = resizes(&mut Unstructured::new(data));
}

fn resizes(u: &mut Unstructured<'_>) -> Result<()> {
    let ndim = u.int_in_range(1..=3)?;
    let shape: Vec<u64> = (0..ndim).map(|_| u.int_in_range(0..=12)).collect::<Result<_>>()?;
    let spec = Spec::new(&shape, Dtype::parse("<i2").expect("a dtype")).expect("a small array");
    let chunks: Vec<u32> = shape.iter().map(|_| u.int_in_range(1..=6)).collect::<Result<_>>()?;
    let blocks: Vec<u32> = chunks.iter().map(|c| u.int_in_range(1..=*c)).collect::<Result<_>>()?;
    let spec =
        spec.params_from(&params(u)?).chunks(&chunks).expect("chunks").blocks(&blocks).expect("blocks");
    let mut model = Model { data: pattern(u, spec.geometry().nbytes() as usize)?, shape, typesize: 2 };
    // In files that somebody else reads.
    let dir = MemDir::new();
    let frame = SuperChunk::create_dir(dir.clone(), &spec.params()).expect("an empty directory");
    let mut nd = NdArray::from_slice(frame, &spec, &model.data).expect("an array of our own");
    nd.commit().expect("a directory that does not fail");
    let reader = SuperChunk::open_dir(dir, &Limits::DEFAULT).and_then(NdArray::open);
    let mut reader = reader.expect("an array that was committed");
    for step in 0..8 {
        if u.is_empty() {
            break;
        }
        let axis = u.choose_index(ndim)?;
        let side = model.shape[axis];
        let at = u.int_in_range(0..=side)?;
        let rows = u.int_in_range(0..=7)?;
        // Which old row stands where; `None` is a new one.
        let old = |range: std::ops::Range<u64>| range.map(Some).collect::<Vec<_>>();
        let mut shape = model.shape.clone();
        let (order, new) = match u.int_in_range(0..=2)? {
            0 => {
                shape[axis] = rows;
                let data = pattern(u, shape.iter().product::<u64>() as usize * 2)?;
                if data.is_empty() {
                    continue;
                }
                nd.insert(axis, at, &data).expect("whole rows");
                ([old(0..at), vec![None; rows as usize], old(at..side)].concat(), data)
            }
            1 => {
                let end = (at + rows).min(side);
                nd.delete(axis, at..end).expect("rows that exist");
                ([old(0..at), old(end..side)].concat(), vec![])
            }
            _ => {
                let to = at + rows;
                shape[axis] = to;
                nd.resize(&shape).expect("a small shape");
                ((0..to).map(|k| (k < side).then_some(k)).collect(), vec![])
            }
        };
        model.reorder(axis, &order, &new);
        assert_eq!(nd.shape()[..], model.shape[..]);
        assert!(nd.get_all().as_ref() == Ok(&model.data), "axis {axis}, {at}, {rows} of {:?}", nd.geometry());
        if step % 2 == 0 {
            nd.commit().expect("a directory that does not fail");
            reader.refresh().expect("the same array of another shape");
            assert_eq!(reader.shape(), nd.shape());
            assert!(reader.get_all().as_ref() == Ok(&model.data), "a reader sees something else");
        }
    }
    Ok(())
}

/// A selection of an axis, and the indices it stands for.
fn take(u: &mut Unstructured<'_>, len: u64) -> Result<(Take, Vec<u64>)> {
    let (a, b) = (u.int_in_range(0..=len)?, u.int_in_range(0..=len)?);
    let (low, high) = (a.min(b), a.max(b));
    Ok(match u.int_in_range(0..=3)? {
        0 => (Take::range(low..high), (low..high).collect()),
        1 if len > 0 => {
            let count = u.int_in_range(0..=9)?;
            let list = (0..count).map(|_| u.int_in_range(0..=len - 1)).collect::<Result<Vec<_>>>()?;
            (Take::List(list.clone()), list)
        }
        2 => {
            let step = u.int_in_range(1..=5)?;
            let take = Take::slice(len, Some(low as i64), Some(high as i64), step).expect("a step");
            (take, (low..high).step_by(step as usize).collect())
        }
        _ => {
            let step = u.int_in_range(1..=5)?;
            let take = Take::slice(len, None, Some(low as i64), -step).expect("a step");
            (take, (low + 1..len).rev().step_by(step as usize).collect())
        }
    })
}

/// What parses is printed as a text that parses to the same; likewise as the `descr` of a `.npy` header, and
/// whole such headers.
pub fn dtype(data: &[u8]) {
    if let Some(header) = told(NpyHeader::parse(data)) {
        assert!(NpyHeader::length(data).is_ok_and(|len| len <= data.len()));
        if let Some(bytes) = told(header.to_bytes()) {
            let again = NpyHeader::parse(&bytes).expect("our own header");
            assert_eq!((again.shape, again.fortran), (header.shape, header.fortran));
            assert_eq!(again.dtype.itemsize(), header.dtype.itemsize());
            assert_eq!(again.to_bytes(), Ok(bytes));
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(dtype) = told(Dtype::parse(text).map_err(Error::Dtype)) {
        let shown = dtype.to_string();
        assert_eq!(Dtype::parse(&shown), Ok(dtype), "{text:?} is shown as {shown:?}");
    }
    if let Ok(dtype) = Dtype::parse_descr(text)
        && let Ok(shown) = dtype.to_descr()
    {
        let again = Dtype::parse_descr(&shown).expect("our own descr");
        assert_eq!(again.itemsize(), dtype.itemsize(), "{text:?} is shown as {shown:?}");
        assert_eq!(again.to_descr().as_ref(), Ok(&shown));
    }
}
