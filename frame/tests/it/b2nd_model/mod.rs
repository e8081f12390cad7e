//! Arrays against a naive model: random shapes, partitions and types, slices of every kind, histories of
//! edits; in memory, on disk, contiguous and sparse. `BLOSC_LONG` runs the full counts, `BLOSC_TENTH` a
//! tenth of them, neither a fiftieth; under an emulator (`BLOSC_EMULATED`) it is a hundredth.

mod model;

use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec, Take};
use blosc_frame::io::{FsDir, MemDir, PathFile};
use blosc_frame::{Limits, SuperChunk};
use model::{Model, Random};

/// `full` scaled down for everyday runs.
fn count(full: usize) -> usize {
    let set = |name| std::env::var_os(name).is_some();
    if set("BLOSC_LONG") {
        full
    } else if set("BLOSC_EMULATED") {
        full / 100
    } else if set("BLOSC_TENTH") {
        full / 10
    } else {
        full / 50
    }
}

fn frame(r: &mut Random, spec: &Spec, dir: &MemDir) -> SuperChunk<'static> {
    match r.below(2) {
        0 => SuperChunk::memory(&spec.params()).unwrap(),
        _ => SuperChunk::create_dir(dir.clone(), &spec.params()).unwrap(),
    }
}

#[test]
fn arrays_and_slices() {
    let mut r = Random::new(1);
    for round in 0..count(2000) {
        let ndim = r.below(9) as usize;
        let shape = r.shape(ndim);
        let spec = r.spec(&shape);
        let t = spec.geometry().typesize() as usize;
        let data = r.bytes(spec.geometry().nbytes() as usize);
        let model = Model { shape, t, data };
        let dir = MemDir::default();
        let frame = frame(&mut r, &spec, &dir);
        let sparse = frame.is_sparse();
        let context = format!("round {round}: {:?}", spec.geometry());
        let mut nd = if r.below(2) == 0 {
            NdArray::from_slice(frame, &spec, &model.data).unwrap()
        } else {
            let mut rest = &model.data[..];
            NdArray::from_stream(frame, &spec, |buf| {
                let (now, later) = rest.split_at(buf.len());
                buf.copy_from_slice(now);
                rest = later;
                Ok(())
            })
            .unwrap()
        };
        nd.commit().unwrap();
        if r.below(2) == 0 {
            let again = if sparse {
                SuperChunk::open_dir(dir, &Limits::DEFAULT).unwrap()
            } else {
                SuperChunk::from_bytes(nd.into_frame().into_bytes().unwrap(), &Limits::DEFAULT).unwrap()
            };
            nd = NdArray::open(again).unwrap();
        }
        nd.set_threads(1 + r.below(3) as usize);
        assert!(nd.get_all().unwrap() == model.data, "{context}");
        for _ in 0..10 {
            let (takes, lists): (Vec<Take>, Vec<Vec<u64>>) = model.shape.iter().map(|s| r.take(*s)).unzip();
            if lists.iter().map(Vec::len).product::<usize>() * t > 1 << 18 {
                continue;
            }
            let selection = Selection::new(nd.shape(), &takes).unwrap();
            assert!(nd.get(&selection).unwrap() == model.get(&lists), "{context} {takes:?}");
        }
        let items = model.data.len() as u64 / t as u64;
        if items > 0 {
            let positions: Vec<u64> = (0..r.below(30)).map(|_| r.below(items)).collect();
            let want: Vec<u8> =
                positions.iter().flat_map(|n| model.data[*n as usize * t..][..t].to_vec()).collect();
            assert!(nd.get_flat(&positions).unwrap() == want, "{context} {positions:?}");
        }
    }
}

#[test]
fn histories_of_edits() {
    let mut r = Random::new(2);
    for round in 0..count(500) {
        let ndim = 1 + r.below(4) as usize;
        let shape: Vec<u64> = (0..ndim).map(|_| 1 + r.below([0, 90, 20, 9, 6][ndim])).collect();
        let mut spec = r.spec(&shape);
        if spec.geometry().chunks().contains(&0) {
            continue;
        }
        let t = spec.geometry().typesize() as usize;
        let mut model = Model { data: r.bytes(spec.geometry().nbytes() as usize), shape, t };
        spec = spec.metalayer("mine", b"kept");
        let dir = MemDir::default();
        let mut nd = NdArray::from_slice(frame(&mut r, &spec, &dir), &spec, &model.data).unwrap();
        nd.set_threads(1 + r.below(2) as usize);
        let mut log = format!("round {round}: {:?}", spec.geometry());
        for _ in 0..8 {
            let axis = r.below(ndim as u64) as usize;
            let side = model.shape[axis];
            let c = u64::from(spec.geometry().chunks()[axis]);
            let row = model.shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, s)| *s as usize);
            let row: usize = row.product::<usize>() * t;
            match r.below(7) {
                0 => {
                    let shape: Vec<u64> = model.shape.iter().map(|s| r.below(s + s / 2 + 2)).collect();
                    log += &format!("; resize {shape:?}");
                    nd.resize(&shape).unwrap();
                    model.resize(&shape);
                }
                1 if row > 0 => {
                    let rows = if r.below(2) == 0 { c } else { 1 + r.below(c + 2) };
                    let values = r.bytes(rows as usize * row);
                    log += &format!("; append {rows} on {axis}");
                    nd.append(axis, &values).unwrap();
                    model.insert(axis, side, rows, &values);
                }
                2 if row > 0 => {
                    let aligned = r.below(2) == 0;
                    let at = if aligned { r.below(side + 1) / c * c } else { r.below(side + 1) };
                    let rows = if aligned { c * (1 + r.below(2)) } else { 1 + r.below(c + 1) };
                    let values = r.bytes(rows as usize * row);
                    log += &format!("; insert {rows} at {at} on {axis}");
                    nd.insert(axis, at, &values).unwrap();
                    model.insert(axis, at, rows, &values);
                }
                3 => {
                    let aligned = r.below(2) == 0;
                    let start = if aligned { r.below(side + 1) / c * c } else { r.below(side + 1) };
                    let end = if aligned { (start + c).min(side) } else { start + r.below(side - start + 1) };
                    log += &format!("; delete {start}..{end} on {axis}");
                    nd.delete(axis, start..end).unwrap();
                    model.delete(axis, start..end);
                }
                4 | 5 => {
                    let (takes, lists): (Vec<Take>, Vec<Vec<u64>>) =
                        model.shape.iter().map(|s| r.take(*s)).unzip();
                    let items: usize = lists.iter().map(Vec::len).product();
                    let values = r.bytes(items * t);
                    log += &format!("; set {takes:?}");
                    nd.set(&Selection::new(nd.shape(), &takes).unwrap(), &values).unwrap();
                    model.set(&lists, &values);
                }
                _ => {
                    let items = model.data.len() as u64 / t as u64;
                    let positions: Vec<u64> =
                        (0..r.below(9)).filter(|_| items > 0).map(|_| r.below(items)).collect();
                    let values = r.bytes(positions.len() * t);
                    log += &format!("; set flat {positions:?}");
                    nd.set_flat(&positions, &values).unwrap();
                    for (n, value) in positions.iter().zip(values.chunks(t)) {
                        model.data[*n as usize * t..][..t].copy_from_slice(value);
                    }
                }
            }
            assert_eq!(nd.shape()[..], model.shape, "{log}");
            assert!(nd.get_all().unwrap() == model.data, "{log}");
            if r.below(3) == 0 {
                nd.commit().unwrap();
            }
            // Room for a few more edits: arrays must not grow without end.
            if model.data.len() > 100_000 {
                break;
            }
        }
        nd.commit().unwrap();
        let frame = nd.into_frame();
        let again = if frame.is_sparse() {
            SuperChunk::open_dir(dir, &Limits::DEFAULT).unwrap()
        } else {
            SuperChunk::from_bytes(frame.into_bytes().unwrap(), &Limits::DEFAULT).unwrap()
        };
        let nd = NdArray::open(again).unwrap();
        assert!(nd.get_all().unwrap() == model.data, "after reopening, {log}");
        assert_eq!(nd.frame().metalayer("mine"), Some(&b"kept"[..]));
        // What lies outside the shape is zero in every chunk.
        for chunk in 0..nd.geometry().nchunks() {
            let inside = nd.get_chunk(chunk).unwrap().data.iter().filter(|b| **b != 0).count();
            let mut all = 0;
            nd.for_each_block(chunk, |_, block| {
                all += block.iter().filter(|b| **b != 0).count();
                Ok(())
            })
            .unwrap();
            assert_eq!(all, inside, "chunk {chunk} holds something outside the array, {log}");
        }
    }
}

#[test]
fn made_from_others() {
    let mut r = Random::new(3);
    for round in 0..count(1500) {
        let ndim = 1 + r.below(4) as usize;
        let shape = r.shape(ndim);
        let spec = r.spec(&shape);
        let t = spec.geometry().typesize() as usize;
        let model = Model { data: r.bytes(spec.geometry().nbytes() as usize), shape: shape.clone(), t };
        let memory = |spec: &Spec| SuperChunk::memory(&spec.params()).unwrap();
        let nd = NdArray::from_slice(memory(&spec), &spec, &model.data).unwrap();
        let like = |r: &mut Random, shape: &[u64]| {
            let other = r.spec(shape);
            let spec = Spec::new(shape, nd_dtype(&spec)).unwrap().params_from(&other.params());
            let (c, b) = (*other.geometry().chunks(), *other.geometry().blocks());
            if shape.contains(&0) { spec } else { spec.chunks(&c).unwrap().blocks(&b).unwrap() }
        };
        let context = format!("round {round}: {:?}", spec.geometry());

        let to = like(&mut r, &shape);
        let copy = NdArray::copy(memory(&to), &to, &nd).unwrap();
        assert!(copy.get_all().unwrap() == model.data, "{context}");

        let mut axes: Vec<usize> = (0..ndim).collect();
        for i in (1..ndim).rev() {
            axes.swap(i, r.below(i as u64 + 1) as usize);
        }
        let turned: Vec<u64> = axes.iter().map(|a| shape[*a]).collect();
        let to = like(&mut r, &turned);
        let nd_t = NdArray::transpose(memory(&to), &to, &nd, &axes).unwrap();
        let back: Vec<usize> = (0..ndim).map(|d| axes.iter().position(|a| *a == d).unwrap()).collect();
        let to = like(&mut r, &shape);
        let again = NdArray::transpose(memory(&to), &to, &nd_t, &back).unwrap();
        assert!(again.get_all().unwrap() == model.data, "{context}");
        if let Some(first) = turned.iter().all(|s| *s > 0).then(|| vec![0u64; ndim]) {
            let mut index = first.clone();
            index[0] = turned[0] - 1;
            let mut source = first;
            source[axes[0]] = turned[0] - 1;
            let (mut a, mut b) = (vec![0; t], vec![1; t]);
            nd_t.get_item(&index, &mut a).unwrap();
            nd.get_item(&source, &mut b).unwrap();
            assert_eq!(a, b, "{context}");
        }

        let axis = r.below(ndim as u64) as usize;
        let mut joined = shape.clone();
        joined[axis] *= 2;
        let to = like(&mut r, &joined);
        let mut pair = [nd, copy];
        let both = NdArray::concatenate(memory(&to), &to, &mut pair, axis).unwrap();
        let mut want = model.clone();
        want.insert(axis, shape[axis], shape[axis], &model.data);
        assert!(both.get_all().unwrap() == want.data, "{context}");

        let mut stacked = shape.clone();
        stacked.insert(0, 2);
        let to = like(&mut r, &stacked);
        let stack = NdArray::stack(memory(&to), &to, &mut pair, 0).unwrap();
        assert!(stack.get_all().unwrap() == [&model.data[..], &model.data[..]].concat(), "{context}");

        let [mut nd, _] = pair;
        let at = r.below(ndim as u64 + 1) as usize;
        nd.expand_dims(at).unwrap();
        assert_eq!(nd.shape()[at], 1);
        assert!(nd.get_all().unwrap() == model.data, "{context}");
        let left: Vec<u64> = shape.iter().copied().filter(|s| *s != 1).collect();
        let to = like(&mut r, &left);
        let squeezed = NdArray::squeeze(memory(&to), &to, &nd).unwrap();
        assert!(squeezed.get_all().unwrap() == model.data, "{context}");
        if nd.can_squeeze() {
            nd.squeeze_axes().unwrap();
            assert_eq!(nd.shape()[..], left);
            assert!(nd.get_all().unwrap() == model.data, "{context}");
        }
    }
}

fn nd_dtype(spec: &Spec) -> Dtype {
    spec.dtype().clone()
}

#[test]
fn filled_arrays() {
    let dtype = || Dtype::parse("<f4").unwrap();
    let spec = Spec::new(&[30, 7], dtype()).unwrap().chunks(&[8, 4]).unwrap().blocks(&[3, 3]).unwrap();
    let memory = || SuperChunk::memory(&spec.params()).unwrap();
    for (mut nd, item) in [
        (NdArray::zeros(memory(), &spec).unwrap(), 0f32.to_le_bytes()),
        (NdArray::uninit(memory(), &spec).unwrap(), 0f32.to_le_bytes()),
        (NdArray::nans(memory(), &spec).unwrap(), 0x7fc0_0000u32.to_le_bytes()),
        (NdArray::full(memory(), &spec, &1.5f32.to_le_bytes()).unwrap(), 1.5f32.to_le_bytes()),
    ] {
        assert_eq!(nd.get_all().unwrap(), item.repeat(210));
        nd.set_item(&[29, 6], &[1, 2, 3, 4]).unwrap();
        let mut got = [0; 4];
        nd.get_item(&[29, 6], &mut got).unwrap();
        assert_eq!(got, [1, 2, 3, 4]);
        let mask: Vec<bool> = (0..210).map(|n| n % 100 == 9).collect();
        nd.set_mask(&mask, &[9; 12]).unwrap();
        assert_eq!(nd.get_mask(&mask).unwrap(), [9; 12]);
        let frame = nd.into_frame().into_bytes().unwrap();
        let nd = NdArray::open(SuperChunk::from_slice(&frame).unwrap()).unwrap();
        assert_eq!(nd.get_flat(&[209, 9, 10]).unwrap()[..8], [9; 8]);
    }
    let zeros = NdArray::zeros(memory(), &spec).unwrap().into_frame().into_bytes().unwrap();
    assert!(zeros.len() < 400, "zeros take no space: {}", zeros.len());
    assert!(NdArray::full(memory(), &spec, &[1]).is_err());
    assert!(NdArray::from_slice(memory(), &spec, &[1]).is_err());
    let mut nd = NdArray::zeros(memory(), &spec).unwrap();
    assert!(NdArray::open(SuperChunk::memory(&spec.params()).unwrap()).is_err());
    assert!(nd.resize(&[3]).is_err() && nd.append(2, &[]).is_err() && nd.append(0, &[0; 5]).is_err());
    assert!(nd.delete(0, 20..31).is_err() && nd.insert(0, 31, &[0; 28]).is_err());
    assert!(nd.set(&Selection::all(&[30, 7]), &[0; 4]).is_err());
}

#[test]
fn files_are_reopened_and_refreshed() {
    let folder = std::env::temp_dir().join(format!("blosc-b2nd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.b2nd");
    let spec = Spec::new(&[10], Dtype::parse("<i4").unwrap()).unwrap().chunks(&[4]).unwrap();
    let data: Vec<u8> = (0..40).collect();
    let store = PathFile::create_new(&path).unwrap();
    let mut nd =
        NdArray::from_slice(SuperChunk::create(store, &spec.params()).unwrap(), &spec, &data).unwrap();
    nd.commit().unwrap();
    let open = || {
        let store = PathFile::open(&path).unwrap();
        NdArray::open(SuperChunk::open(store, &Limits::DEFAULT).unwrap()).unwrap()
    };
    let mut reader = open();
    assert_eq!(reader.get_all().unwrap(), data);
    nd.append(0, &[7; 8]).unwrap();
    assert!(!reader.refresh().unwrap(), "not committed yet");
    nd.commit().unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.shape()[..], [12]);
    assert_eq!(reader.get_slice_vec(9..12), [&data[36..], &[7; 8]].concat());

    let sparse = folder.join("b.b2nd");
    let dir = FsDir::create(&sparse).unwrap();
    let mut nd =
        NdArray::from_slice(SuperChunk::create_dir(dir, &spec.params()).unwrap(), &spec, &data).unwrap();
    nd.resize(&[3]).unwrap();
    nd.resize(&[11]).unwrap();
    nd.commit().unwrap();
    let frame = SuperChunk::open_dir(FsDir::open(&sparse).unwrap(), &Limits::DEFAULT).unwrap();
    let nd = NdArray::open(frame).unwrap();
    assert_eq!(
        nd.get_all().unwrap(),
        [&data[..12], &[0; 32]].concat(),
        "no old data after shrinking and growing"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

trait SliceVec {
    fn get_slice_vec(&mut self, range: std::ops::Range<u64>) -> Vec<u8>;
}

impl SliceVec for NdArray<'_> {
    fn get_slice_vec(&mut self, range: std::ops::Range<u64>) -> Vec<u8> {
        let selection = Selection::new(self.shape(), &[Take::range(range)]).unwrap();
        self.get(&selection).unwrap()
    }
}
