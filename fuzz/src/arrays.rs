//! Arrays: opening hostile ones, slices beside a naive model, and dtype texts.

use crate::frames::{LIMITS, OUTPUT, params, pattern};
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec, Take};

/// An array from bytes, read as a whole and in two halves along the first axis.
pub fn open(data: &[u8]) {
    allow(4 * OUTPUT + (16 << 20));
    let Ok(frame) = SuperChunk::from_bytes(data.to_vec(), &LIMITS) else { return };
    let Ok(mut nd) = NdArray::open(frame) else { return };
    let geometry = *nd.geometry();
    let _ = (nd.dtype_text(), nd.opaque().map(|o| o.to_string()), nd.dtype().to_string());
    for chunk in 0..geometry.nchunks().min(64) {
        let _ = nd.get_chunk(chunk);
    }
    let Ok(whole) = nd.get_all() else { return };
    assert_eq!(whole.len() as u64, geometry.nbytes());
    let Some(side) = geometry.shape().first().copied() else { return };
    let mut halves = Vec::new();
    for range in [0..side / 2, side / 2..side] {
        let mut ranges: Vec<_> = geometry.shape().iter().map(|s| 0..*s).collect();
        ranges[0] = range;
        let half = Selection::ranges(nd.shape(), &ranges).expect("a part of the shape");
        halves.extend(nd.get(&half).expect("a part of what was read"));
    }
    assert!(halves == whole, "the halves are not the whole");
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
    let frame = SuperChunk::memory(&spec.params());
    let mut nd = NdArray::from_slice(frame, &spec, &model.data).expect("an array of our own");
    assert_eq!(nd.get_all().as_ref(), Ok(&model.data));
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
        assert_eq!(nd.get(&selection), Ok(model.get(&lists)), "{takes:?} of {geometry:?}");
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
    let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params()), &spec, &model.data)
        .expect("an array of our own");
    for _ in 0..8 {
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

/// What parses is printed as a text that parses to the same; likewise as the `descr` of a `.npy` header.
pub fn dtype(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(dtype) = Dtype::parse(text) {
        let shown = dtype.to_string();
        assert_eq!(Dtype::parse(&shown).as_ref(), Ok(&dtype), "{text:?} is shown as {shown:?}");
    }
    if let Ok(dtype) = Dtype::parse_descr(text)
        && let Ok(shown) = dtype.to_descr()
    {
        let again = Dtype::parse_descr(&shown).expect("our own descr");
        assert_eq!(again.itemsize(), dtype.itemsize(), "{text:?} is shown as {shown:?}");
        assert_eq!(again.to_descr().as_ref(), Ok(&shown));
    }
}
