//! Power failures while arrays change: shape and items are then those before the change or those after it.
//!
//! Each change of a history runs once for every operation it makes on the store, and stops there; then states
//! that the disk may be left in are opened, as in `crash.rs`.

use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec};
use blosc_frame::io::{DirFile, Directory, FaultDir, MemDir};
use blosc_frame::{Error, IoKind, Limits, SuperChunk};

const NAME: &str = "a.b2nd";

/// Shape and items.
type State = (Vec<u64>, Vec<u16>);

fn open<D: Directory + Send + Sync + 'static>(dir: D, sparse: bool) -> Result<NdArray<'static>, Error> {
    NdArray::open(match sparse {
        false => SuperChunk::open(DirFile::open(dir, NAME)?, &Limits::DEFAULT)?,
        true => SuperChunk::open_dir(dir, &Limits::DEFAULT)?,
    })
}

fn state(nd: &mut NdArray<'_>) -> Result<State, Error> {
    Ok((nd.shape().to_vec(), nd.read()?))
}

/// The change number `step`, committed.
fn change(nd: &mut NdArray<'_>, step: u16) -> Result<State, Error> {
    let (rows, columns) = (nd.shape().at(0), nd.shape().at(1));
    let values = |n: u64| (0..n).flat_map(|i| (step * 1000 + i as u16).to_le_bytes()).collect::<Vec<u8>>();
    match step {
        0 => nd.append(0, &values(3 * columns))?,
        1 => nd.resize(&[rows - 4, columns + 5])?,
        2 => nd.insert(1, 2, &values(rows * 2))?,
        3 => nd.set_slice(&[1..rows, 0..columns - 1], &values((rows - 1) * (columns - 1)))?,
        4 => nd.delete(0, 1..3)?,
        // Blocks are read again and again in between: what is kept of them must go.
        5 => {
            for _ in 0..3 {
                nd.get(&Selection::ranges(nd.shape(), &[0..1, 0..columns])?)?;
            }
            nd.set_item(&[0, 0], &[7, 7])?;
        }
        6 => nd.resize(&[rows + 6, columns - 3])?,
        _ => nd.expand_dims(1)?,
    }
    nd.commit()?;
    state(nd)
}

fn run(sparse: bool) -> (usize, usize) {
    let spec = Spec::new(&[7, 6], Dtype::parse("<u2").unwrap()).unwrap();
    let spec = spec.chunks(&[3, 4]).unwrap().blocks(&[2, 2]).unwrap();
    let data: Vec<u8> = (0..42u16).flat_map(u16::to_le_bytes).collect();
    let dir = FaultDir::from_files(Vec::new());
    let frame = match sparse {
        false => SuperChunk::create(DirFile::create(dir.clone(), NAME).unwrap(), &spec.params()),
        true => SuperChunk::create_dir(dir.clone(), &spec.params()),
    };
    let mut nd = NdArray::from_slice(frame.unwrap(), &spec, &data).unwrap();
    nd.commit().unwrap();
    let mut before = state(&mut nd).unwrap();
    drop(nd);
    let (mut old, mut new) = (0, 0);
    let mut content = files(&dir);
    for step in 0..8 {
        let whole = FaultDir::from_files(content.clone());
        let after = change(&mut open(whole.clone(), sparse).unwrap(), step).unwrap();
        for stop in 0..=whole.operations() {
            let faulty = FaultDir::from_files(content.clone());
            faulty.stop_after(stop);
            let result = open(faulty.clone(), sparse).and_then(|mut nd| change(&mut nd, step));
            let injected = |error: &Error| error.is_in_force() || *error == IoKind::Injected.into();
            assert!(result.as_ref().err().is_none_or(injected), "{step}: {result:?}");
            if result.as_ref().is_err_and(Error::is_in_force) {
                let now = FaultDir::from_files(files(&faulty));
                let found = open(now, sparse).and_then(|mut nd| state(&mut nd)).unwrap();
                assert!(found == after, "step {step}, stopped after {stop}: said to be in force");
            }
            for chance in 0..12 {
                let left: MemDir = faulty.crash_dir(u64::from(step) * 10_000 + stop * 12 + chance);
                let found = open(left, sparse).and_then(|mut nd| state(&mut nd)).unwrap();
                let is_new = found == after;
                assert!(is_new || (found == before && result.is_err()), "step {step}, stopped after {stop}");
                new += usize::from(is_new);
                old += usize::from(!is_new);
            }
        }
        (content, before) = (files(&whole), after);
    }
    (old, new)
}

fn files(dir: &FaultDir) -> Vec<(String, Vec<u8>)> {
    let names = dir.list().unwrap();
    names.into_iter().map(|name| (name.clone(), dir.read(&name, u64::MAX).unwrap())).collect()
}

#[test]
fn arrays_survive_power_failures() {
    for sparse in [false, true] {
        let (old, new) = run(sparse);
        println!("sparse {sparse}: {old} crash states were the old array, {new} the new one");
        assert!(old > 100 && new > 100);
    }
}
