//! Histories of edits beside a plain model, on stores that fail and lose power.
//!
//! ```text
//! edit, edit, commit, edit, power fails inside the third write of a commit
//!     -> what the disk may hold then (io::FaultDir) opens as the last commit, or as the one that failed
//!     -> the history goes on from there
//! ```

use crate::frames::{params, pattern};
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::{Params, Special};
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::io::{DirFile, FaultDir};
use blosc_frame::{Error, IoKind, Limits, SuperChunk};

/// What a frame should hold.
#[derive(Clone, Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
    chunksize: usize,
}

impl Model {
    /// Fills up the last chunk of a regular frame, then adds chunks.
    fn append(&mut self, variable: bool, mut data: &[u8]) {
        let (size, last) = (self.chunksize, self.chunks.last_mut());
        if let Some(last) = last.filter(|last| !variable && last.len() < size) {
            let (now, rest) = data.split_at((size - last.len()).min(data.len()));
            last.extend(now);
            data = rest;
        }
        self.chunks.extend(data.chunks(size).map(<[u8]>::to_vec));
    }

    fn check(&self, sc: &mut SuperChunk<'_>) {
        if let Err(difference) = self.compare(sc) {
            panic!("{difference}");
        }
    }

    /// Whether a frame holds just this, and if not, what differs.
    fn compare(&self, sc: &mut SuperChunk<'_>) -> std::result::Result<(), String> {
        let same = |same: bool, what: &dyn Fn() -> String| if same { Ok(()) } else { Err(what()) };
        let sizes = (self.chunks.len() as u64, self.chunks.iter().map(|c| c.len() as u64).sum());
        same((sc.nchunks(), sc.nbytes()) == sizes, &|| {
            format!("{} chunks instead of {sizes:?}", sc.nchunks())
        })?;
        for (k, chunk) in (0..).zip(&self.chunks) {
            let read = sc.read_chunk(k);
            same(read.as_ref() == Ok(chunk), &|| format!("chunk {k}: {read:?} instead of {chunk:?}"))?;
        }
        let names =
            |list: &[(String, Vec<u8>)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let (fixed, variable): (Vec<_>, Vec<_>) =
            (sc.metalayer_names().collect(), sc.vlmetalayer_names().collect());
        same(fixed == names(&self.metalayers), &|| format!("metalayers {fixed:?}"))?;
        for (name, content) in &self.metalayers {
            same(sc.metalayer(name) == Some(&content[..]), &|| format!("metalayer {name}"))?;
        }
        same(variable == names(&self.vlmetalayers), &|| format!("vlmetalayers {variable:?}"))?;
        for (name, content) in &self.vlmetalayers {
            let read = sc.vlmetalayer(name);
            same(read.as_ref() == Ok(&Some(content.clone())), &|| format!("vlmetalayer {name}: {read:?}"))?;
        }
        Ok(())
    }
}

fn set(list: &mut Vec<(String, Vec<u8>)>, name: String, content: Vec<u8>) {
    match list.iter_mut().find(|(n, _)| *n == name) {
        Some(slot) => slot.1 = content,
        None => list.push((name, content)),
    }
}

/// Where a history takes place.
enum Place {
    /// Nothing can fail here.
    Memory,
    /// A contiguous frame in a file of this directory.
    File(FaultDir),
    /// A sparse frame.
    Directory(FaultDir),
}

const NAME: &str = "frame";

impl Place {
    fn choose(u: &mut Unstructured<'_>) -> Result<Place> {
        Ok(match u.int_in_range(0..=3)? {
            0 => Place::Memory,
            1 => Place::Directory(FaultDir::new()),
            _ => Place::File(FaultDir::new()),
        })
    }

    fn create(&self, params: &Params) -> std::result::Result<SuperChunk<'static>, Error> {
        match self {
            Place::Memory => SuperChunk::memory(params),
            Place::File(dir) => SuperChunk::create(DirFile::create(dir.clone(), NAME)?, params),
            Place::Directory(dir) => SuperChunk::create_dir(dir.clone(), params),
        }
    }

    /// The power fails; what is left opens again, in the same kind of place.
    fn after_power_failure(&self, seed: u64) -> (Place, std::result::Result<SuperChunk<'static>, Error>) {
        let left = |dir: &FaultDir| FaultDir::from_files(dir.crash(seed));
        match self {
            Place::Memory => unreachable!("memory does not fail"),
            Place::File(dir) => {
                let dir = left(dir);
                let opened = DirFile::open(dir.clone(), NAME)
                    .map_err(Error::from)
                    .and_then(|file| SuperChunk::open(file, &Limits::DEFAULT));
                (Place::File(dir), opened)
            }
            Place::Directory(dir) => {
                let dir = left(dir);
                let opened = SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT);
                (Place::Directory(dir), opened)
            }
        }
    }

    fn fail_after(&self, operations: u64) {
        if let Place::File(dir) | Place::Directory(dir) = self {
            dir.stop_after(operations);
        }
    }
}

/// A history of edits, compared with a vector of vectors after each, and after power failures with what
/// was committed.
pub fn edit_sequence(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = edits(&mut Unstructured::new(data));
}

fn edits(u: &mut Unstructured<'_>) -> Result<()> {
    let params = params(u)?;
    let typesize = params.typesize as usize;
    let mut model = Model { chunksize: u.int_in_range(1..=60)? * typesize, ..Model::default() };
    let mut place = Place::choose(u)?;
    let mut sc = place.create(&params).expect("an empty place");
    sc.set_chunksize(model.chunksize as u32).expect("a size of a new frame");
    sc.set_checksums(u.arbitrary()?);
    sc.commit().expect("a store that works");
    let mut committed = model.clone();
    for _ in 0..40 {
        if u.is_empty() {
            break;
        }
        let before = model.clone();
        if u.ratio(1, 4)? {
            place.fail_after(u.int_in_range(0..=15)?);
        }
        let made = step(u, &mut sc, &mut model)?;
        let published = matches!(made, Made::Commit(_));
        match made {
            Made::Edit(Ok(())) => {}
            Made::Commit(Ok(())) => committed = model.clone(),
            Made::Edit(Err(Error::Io(e))) | Made::Commit(Err(Error::Io(e)))
                if e.kind == IoKind::Injected || published && e.kind == IoKind::NotConfirmed =>
            {
                drop(sc);
                let (left, opened) = place.after_power_failure(u64::from(u.arbitrary::<u16>()?));
                (place, sc) = (left, opened.expect("a frame survives a power failure"));
                // A frame without chunks does not tell their size.
                let _ = sc.set_chunksize(model.chunksize as u32);
                let old = committed.compare(&mut sc);
                match old {
                    Ok(()) => model = committed.clone(),
                    Err(old) => {
                        assert!(published, "an edit that was not committed is seen: {old}");
                        let new = model.compare(&mut sc);
                        assert!(new.is_ok(), "neither old ({old}) nor new ({new:?})");
                        committed = model.clone();
                    }
                }
                continue;
            }
            Made::Edit(Err(error)) | Made::Commit(Err(error)) => {
                assert!(
                    matches!(error, Error::Param { .. } | Error::Capacity { .. } | Error::Limit { .. }),
                    "{error}"
                );
                model = before;
            }
        }
        model.check(&mut sc);
    }
    place.fail_after(u64::MAX);
    let bytes = sc.to_bytes().expect("a frame of our own");
    let mut again = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).expect("a frame of our own");
    model.check(&mut again);
    let report = again.verify(|_| {}).expect("a frame of our own");
    assert!(report.damage.is_empty(), "{report:?}");
    Ok(())
}

/// What became of an edit.
enum Made {
    /// One that stays in memory, or out of readers' sight, until the next commit.
    Edit(std::result::Result<(), Error>),
    /// One that readers may see.
    Commit(std::result::Result<(), Error>),
}

/// Makes one edit in both.
fn step(u: &mut Unstructured<'_>, sc: &mut SuperChunk<'_>, model: &mut Model) -> Result<Made> {
    let typesize = sc.typesize() as usize;
    let (n, most) = (model.chunks.len(), 2 * model.chunksize / typesize);
    let variable = sc.chunksize() == ChunkSize::Variable;
    let len = match u.arbitrary()? {
        true => model.chunksize,
        false => u.int_in_range(0..=most)? * typesize,
    };
    let k = u.int_in_range(0..=n.max(1) - 1)?;
    Ok(Made::Edit(match u.int_in_range(0..=9)? {
        0 => {
            let data = pattern(u, len)?;
            model.chunks.push(data.clone());
            sc.append_data(&data)
        }
        1 => {
            let data = pattern(u, 2 * len)?;
            model.append(variable, &data);
            sc.append(&data)
        }
        2 => {
            let data = pattern(u, len)?;
            model.chunks.insert(k, data.clone());
            sc.insert(k as u64, &data)
        }
        3 if n > 0 => {
            let data = pattern(u, len)?;
            model.chunks[k].clone_from(&data);
            sc.update(k as u64, &data)
        }
        4 if n > 0 => {
            model.chunks.remove(k);
            sc.delete(k as u64)
        }
        5 if n > 1 => {
            let mut order: Vec<u64> = (0..n as u64).collect();
            order.rotate_left(k);
            order.swap(0, u.int_in_range(0..=n - 1)?);
            model.chunks = order.iter().map(|k| model.chunks[*k as usize].clone()).collect();
            sc.reorder(&order)
        }
        6 => {
            model.append(variable, &vec![0; len]);
            sc.fill_special(*u.choose(&[Special::Zeros, Special::Uninit])?, len as u64)
        }
        7 => {
            let (name, content) = (format!("m{}", u.int_in_range(0..=3)?), pattern(u, len)?);
            set(&mut model.metalayers, name.clone(), content.clone());
            sc.set_metalayer(&name, &content)
        }
        8 => {
            let (name, content) = (format!("v{}", u.int_in_range(0..=5)?), pattern(u, len)?);
            set(&mut model.vlmetalayers, name.clone(), content.clone());
            sc.set_vlmetalayer(&name, &content)
        }
        _ => {
            return Ok(Made::Commit(match u.arbitrary()? {
                true => sc.commit(),
                false => sc.compact().map(drop),
            }));
        }
    }))
}
