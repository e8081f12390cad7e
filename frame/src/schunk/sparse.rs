//! The chunks of a sparse frame: one file each in a directory, and the index file (docs/formats/sframe.md).

use super::checksum;
use super::draft::Draft;
use super::index::Index;
use super::once::Once;
use super::store::{ChunkStore, Located, OTHER_FILE, OTHER_STATE, Source, read_part, says};
use crate::cframe::header::{FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::{Opened, open_at};
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Directory, Pieces, WriteAt};
use crate::limits::Limits;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The index file of a sparse frame.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";

/// Names the files of others, one on each line, while a writer that holds the lock adds chunk files: what nothing refers to
/// beside them is the writer's, should it die.
const PENDING: &str = "__pending__";

/// The name of chunk file `id`: a number, so nothing read from a file can become a path.
fn chunk_name(id: u32) -> String {
    format!("{id:08X}.chunk")
}

/// The number of a chunk file.
fn number_of(name: &str) -> Option<u32> {
    let id = u32::from_str_radix(name.strip_suffix(".chunk")?, 16).ok()?;
    (chunk_name(id) == *name).then_some(id)
}

/// A directory. Entries are numbers of chunk files.
pub(super) struct Sparse<'a> {
    dir: Box<dyn Directory + Send + Sync + 'a>,
    /// Files written since the last commit.
    fresh: Vec<u32>,
    /// Files that lost their entry since the last commit.
    obsolete: Vec<u32>,
    /// Files that nothing refers to and that are of others; they stay.
    foreign: Vec<String>,
    /// [`PENDING`] is there.
    announced: bool,
    /// The next number to use; never one that this handle has seen in use.
    next_id: u32,
    /// Stored bytes of all chunks.
    live: u64,
    /// The checksum of the index file as last read or written: a commit may leave its header as it was.
    index_sum: u64,
}

/// The chunk files in use, in ascending order.
fn referenced(index: &Index) -> Vec<u32> {
    let mut ids: Vec<u32> = index.entries.stored().filter_map(|id| u32::try_from(id).ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

impl<'a> Sparse<'a> {
    pub(super) fn new(dir: Box<dyn Directory + Send + Sync + 'a>) -> Sparse<'a> {
        Sparse {
            dir,
            fresh: Vec::new(),
            obsolete: Vec::new(),
            foreign: Vec::new(),
            announced: false,
            next_id: 0,
            live: 0,
            index_sum: 0,
        }
    }

    /// Creates a chunk file; the first one since the last commit is announced.
    fn create(&mut self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        if self.dir.is_locked() && !self.announced {
            self.dir.create(PENDING)?.write_at(0, self.foreign.join("\n").as_bytes())?;
            self.announced = true;
        }
        self.dir.create(name)
    }

    /// All chunk files are those of the state in force, or of others.
    fn settled(&mut self) {
        if core::mem::take(&mut self.announced) {
            let _ = self.dir.remove(PENDING);
        }
    }

    /// Removes what a writer left that died; learns what is of others.
    fn tidy(&mut self, index: &Index) {
        self.foreign = self.strays(index).unwrap_or_default();
        let Ok(of_others) = self.dir.read(PENDING, u64::MAX) else { return };
        let of_others = String::from_utf8_lossy(&of_others).into_owned();
        for name in self.foreign.extract_if(.., |name| !of_others.lines().any(|other| other == name)) {
            let _ = self.dir.remove(&name);
        }
        let _ = self.dir.remove(PENDING);
    }

    /// The largest number for which C-Blosc2 does not refuse the directory: `C - 32` (docs/formats/sframe.md §4).
    fn most(&self) -> u64 {
        self.live.saturating_sub(32)
    }

    /// Copies chunks whose numbers are too high to the lowest numbers that neither the old nor the new index uses.
    /// Every chunk has 32 bytes, so that where the old one uses none all of them find one.
    fn renumber(&mut self, index: &mut Index) -> Result<(), Error> {
        let most = self.most();
        let mut used = referenced(index);
        let too_high: Vec<u32> = used.iter().copied().filter(|id| u64::from(*id) > most).collect();
        used.extend(&self.obsolete);
        used.sort_unstable();
        let mut free =
            (0u32..).take_while(|id| u64::from(*id) <= most).filter(|id| used.binary_search(id).is_err());
        let mut moved = Vec::new();
        for old in too_high {
            let content = self.dir.read(&chunk_name(old), u64::MAX)?;
            // What others have put under a number stays.
            let mut created = None;
            while let (None, Some(new)) = (&created, free.next()) {
                created = match self.create(&chunk_name(new)) {
                    Err(IoError { kind: IoKind::AlreadyExists, .. }) => None,
                    file => Some((new, file?)),
                };
            }
            let Some((new, mut file)) = created else { break };
            self.fresh.push(new);
            file.write_at(0, &content)?;
            self.obsolete.push(old);
            moved.push((u64::from(old), new));
        }
        let numbers = if moved.is_empty() { 0..0 } else { index.numbers() };
        for k in numbers {
            let Entry::Stored(old) = index.entry(k)? else { continue };
            let at = moved.binary_search_by_key(&old, |(old, _)| *old).ok();
            if let Some((_, new)) = at.and_then(|at| moved.get(at)) {
                index.point(k, i64::from(*new), None)?;
            }
        }
        Ok(())
    }

    /// Flushes the new chunk files, replaces the index file, removes files no longer used.
    fn replace_index(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        self.renumber(draft.index)?;
        let live = self.live;
        let written = draft.assemble(live, |_, _| Ok(live))?;
        let referenced = referenced(draft.index);
        let is_used = |id: &u32| referenced.binary_search(id).is_ok();
        let dir = &self.dir;
        let fresh = self.fresh.iter().filter(|id| is_used(id)).map(|id| chunk_name(*id));
        dir.sync_files(&fresh.collect::<Vec<_>>())?;
        let replaced = dir.replace(INDEX_NAME, &mut |file| {
            file.write_at(0, &written.head)?;
            Ok(file.write_at(written.head.len() as u64, &written.rest)?)
        });
        if !replaced.as_ref().map_or_else(Error::is_in_force, |()| true) {
            // What was written for it goes when this is dropped, unless it is in force all the same.
            let old = match dir.read(INDEX_NAME, u64::MAX) {
                Ok(index) => index.strip_prefix(&*written.head) != Some(&*written.rest),
                Err(error) => error == IoKind::NotFound.into(),
            };
            self.fresh.retain(|id| old || !is_used(id));
            return replaced;
        }
        // The new state is in force; what it does not use goes. A file that stays is only garbage.
        let gone = self.fresh.extract_if(.., |id| !is_used(id)).collect::<Vec<_>>();
        self.obsolete.extend(gone);
        self.fresh.clear();
        // After a power failure the state before may be back: until a flush succeeds, nothing of it goes.
        if replaced.is_ok() {
            for id in self.obsolete.drain(..).filter(|id| !is_used(id)) {
                let _ = dir.remove(&chunk_name(id));
            }
        }
        self.index_sum = checksum::of_parts(&[&written.head, &written.rest]);
        draft.in_force = Some(written);
        replaced
    }
}

impl ChunkStore for Sparse<'_> {
    fn open(&self, limits: &Limits) -> Result<Opened, Error> {
        open_at(&self.dir.open(INDEX_NAME, false)?, FrameType::Sparse, limits)
    }

    /// Where the directory is locked, what a dead writer left in it is removed. A file that stays is only garbage.
    fn opened(&mut self, opened: &Opened, index: &Index) {
        self.fresh.clear();
        self.obsolete.clear();
        self.live = opened.header.cbytes;
        self.index_sum = checksum::of_parts(&[&opened.head, &opened.index, &opened.trailer]);
        let next = index.entries.stored().max().and_then(|max| max.checked_add(1)).unwrap_or(0);
        self.next_id = self.next_id.max(u32::try_from(next).unwrap_or(0));
        if self.dir.is_locked() {
            self.tidy(index);
        }
    }

    fn locate(&self, entry: u64) -> Result<Located<'_>, Error> {
        let invalid =
            |field| Error::Invalid { structure: Structure::Index, field, offset: 0, value: entry as i64 };
        let id = u32::try_from(entry).map_err(|_| invalid("entry (chunk file)"))?;
        let file = self.dir.open(&chunk_name(id), false).map_err(|error| match error.kind {
            IoKind::NotFound => invalid("entry (chunk file that does not exist)"),
            _ => error.into(),
        })?;
        let limit = file.size()?;
        Ok(Located::new(Source::File(file), 0, limit, Structure::ChunkFile))
    }

    fn is_far(&self) -> bool {
        self.dir.is_far()
    }

    /// A file that cannot be read is left out: reading it says why.
    fn files(&self, mut entries: Vec<u64>, most: u64) -> Option<Pieces> {
        entries.sort_unstable();
        entries.dedup();
        let names: Vec<String> = entries.iter().map(|id| chunk_name(*id as u32)).collect();
        let files = entries.into_iter().zip(self.dir.read_files(&names, most));
        Some(Pieces::of_files(files.filter_map(|(id, file)| Some((id, file.ok()?.into())))))
    }

    fn place<'p>(&'p self, entry: u64, pieces: Option<&'p Pieces>) -> Result<Located<'p>, Error> {
        let Some(file) = pieces.and_then(|pieces| pieces.file(entry)) else { return self.locate(entry) };
        Ok(Located::new(Source::Shared(file), 0, file.len() as u64, Structure::ChunkFile))
    }

    fn add(&mut self, chunk: &[u8]) -> Result<i64, Error> {
        let (id, mut file) = loop {
            let (id, most) = (self.next_id, 1 << 31);
            if u64::from(id) >= most {
                return Err(Error::Capacity { what: "numbers of chunk files", asked: id.into(), most });
            }
            self.next_id = id.saturating_add(1);
            match self.create(&chunk_name(id)) {
                // Another writer made this file: it stays as it is.
                Err(IoError { kind: IoKind::AlreadyExists, .. }) => {}
                file => break (id, file?),
            }
        };
        self.fresh.push(id);
        file.write_at(0, chunk)?;
        self.live = self.live.saturating_add(chunk.len() as u64);
        Ok(i64::from(id))
    }

    fn release(&mut self, entry: u64, cbytes: u64) {
        // What another writer says its chunks take may be wrong.
        self.live = self.live.saturating_sub(cbytes);
        self.obsolete.extend(u32::try_from(entry));
    }

    fn commit(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        self.replace_index(draft)?;
        // The low numbers may have been those of the state before.
        if self.number_too_high(draft.index).is_some() {
            self.replace_index(draft)?;
        }
        self.settled();
        Ok(())
    }

    fn compact(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let mut changed = self.number_too_high(draft.index).is_some();
        let (mut buf, mut sums) = (Vec::new(), Once::new(draft.index)?);
        for k in draft.index.numbers() {
            if let (true, entry @ Entry::Stored(id)) = (draft.checksums.enabled, draft.index.entry(k)?) {
                let known = draft.index.sum(k);
                let sum = match sums.get(Some(entry)) {
                    Some(sum) if known.is_none_or(|known| known == sum) => sum,
                    _ => {
                        let chunk = self.locate(id)?.held_to(known);
                        checksum::of(chunk.whole(k, &Limits::NONE, &mut buf)?)
                    }
                };
                sums.note(Some(entry), sum);
                if known.is_none() {
                    draft.index.point(k, id as i64, Some(sum))?;
                    changed = true;
                }
            }
        }
        if changed {
            self.commit(draft)?;
        }
        Ok(())
    }

    fn remove_strays(&mut self, index: &Index) -> Result<(), Error> {
        for name in self.strays(index)? {
            self.dir.remove(&name)?;
        }
        self.foreign.clear();
        Ok(self.dir.sync()?)
    }

    fn discard(&mut self, committed: Option<&Header>) {
        if committed.is_some() || self.dir.contains(INDEX_NAME).is_ok_and(|there| !there) {
            for id in self.fresh.drain(..) {
                let _ = self.dir.remove(&chunk_name(id));
            }
            self.settled();
        }
    }

    fn changed(&self, committed: &Header, whole: bool) -> Result<Option<&'static str>, Error> {
        if !self.dir.is_current()? {
            return Ok(Some(OTHER_FILE));
        }
        let (file, mut index) = (self.dir.open(INDEX_NAME, false)?, Vec::new());
        let mut same = says(&*file, committed)?;
        if same && whole {
            read_part(&*file, 0..committed.frame_len, &mut index)?;
            same = checksum::of(&index) == self.index_sum;
        }
        Ok((!same).then_some(OTHER_STATE))
    }

    fn size(&self) -> Result<u64, Error> {
        let (mut names, known) = if self.is_far() { (Vec::new(), self.live) } else { (self.dir.list()?, 0) };
        names.retain(|name| name == INDEX_NAME || number_of(name).is_some());
        names.iter().try_fold(known, |sum, name| Ok(sum.saturating_add(self.dir.open(name, false)?.size()?)))
    }

    /// Chunks and temporary index files that nothing refers to: of a writer that died, or is at work.
    fn strays(&self, index: &Index) -> Result<Vec<String>, Error> {
        let referenced = referenced(index);
        let mut names = self.dir.list()?;
        names.retain(|name| {
            let temporary = name.strip_prefix('.').unwrap_or(name).strip_prefix(INDEX_NAME);
            temporary.is_some_and(|rest| rest.starts_with(".tmp"))
                || number_of(name).is_some_and(|id| referenced.binary_search(&id).is_err())
        });
        names.sort_unstable();
        Ok(names)
    }

    fn number_too_high(&self, index: &Index) -> Option<u32> {
        let highest = index.entries.stored().filter_map(|id| u32::try_from(id).ok()).max();
        highest.filter(|id| u64::from(*id) > self.most())
    }
}
