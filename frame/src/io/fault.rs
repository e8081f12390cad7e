//! A directory that stops working after a chosen number of operations, and then shows what a power
//! failure may have left behind. For tests of whatever claims to be crash-safe.
//!
//! The model: every write, truncation, flush, creation, rename and removal is one operation.
//! Until a file is flushed, each 512-byte sector of it independently holds any of the versions it had
//! since the last flush (writes tear at sector boundaries and reorder), and the file has any of the
//! lengths it had. Until the directory is flushed, its operations survive as any prefix of their order.

use super::dir::{Directory, check_name};
use super::memory::MemDir;
use super::traits::{ReadAt, WriteAt, read_slice};
use crate::error::{IoError, IoKind};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECTOR: usize = 512;

enum FileOp {
    Write { offset: usize, data: Vec<u8> },
    Truncate(usize),
}

impl FileOp {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            FileOp::Write { offset, data } => {
                let _ = content.write_at(*offset as u64, data);
            }
            FileOp::Truncate(len) => content.resize(*len, 0),
        }
    }
}

#[derive(Default)]
struct Inode {
    /// What is on the platter.
    durable: Vec<u8>,
    /// What the program sees.
    current: Vec<u8>,
    /// What happened since the last flush.
    pending: Vec<FileOp>,
}

enum DirOp {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

type Names = BTreeMap<String, usize>;

impl DirOp {
    fn apply(&self, names: &mut Names) {
        match self {
            DirOp::Create(name, inode) => drop(names.insert(name.clone(), *inode)),
            DirOp::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            DirOp::Remove(name) => drop(names.remove(name)),
        }
    }
}

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    durable: Names,
    current: Names,
    pending: Vec<DirOp>,
    operations: u64,
    stop_after: Option<u64>,
}

impl State {
    /// Counts one operation. The one that hits the limit fails, but may still reach the platter.
    fn count(&mut self) -> Result<bool, IoError> {
        match self.stop_after {
            Some(limit) if self.operations > limit => Err(IoKind::Injected.into()),
            Some(limit) => {
                self.operations = self.operations.saturating_add(1);
                Ok(self.operations <= limit)
            }
            None => {
                self.operations = self.operations.saturating_add(1);
                Ok(true)
            }
        }
    }

    fn file_op(&mut self, inode: usize, op: FileOp) -> Result<(), IoError> {
        let whole = self.count()?;
        let node = self.inodes.get_mut(inode).ok_or(IoKind::NotFound)?;
        if whole {
            op.apply(&mut node.current);
        }
        node.pending.push(op);
        if whole { Ok(()) } else { Err(IoKind::Injected.into()) }
    }

    fn dir_op(&mut self, op: DirOp) -> Result<(), IoError> {
        let whole = self.count()?;
        if whole {
            op.apply(&mut self.current);
        }
        self.pending.push(op);
        if whole { Ok(()) } else { Err(IoKind::Injected.into()) }
    }
}

/// A directory in memory with failing operations; see the module's description.
#[derive(Clone, Default)]
pub struct FaultDir {
    state: Arc<Mutex<State>>,
}

impl FaultDir {
    /// An empty directory that works.
    pub fn new() -> FaultDir {
        FaultDir::default()
    }
    /// A directory that holds `files`, all of them flushed.
    pub fn from_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> FaultDir {
        let dir = FaultDir::new();
        let mut state = dir.lock();
        for (name, content) in files {
            let inode = state.inodes.len();
            state.inodes.push(Inode { durable: content.clone(), current: content, pending: Vec::new() });
            state.durable.insert(name.clone(), inode);
            state.current.insert(name, inode);
        }
        drop(state);
        dir
    }
    /// Operations counted so far.
    pub fn operations(&self) -> u64 {
        self.lock().operations
    }
    /// From now on only `operations` more succeed.
    pub fn stop_after(&self, operations: u64) {
        let mut state = self.lock();
        state.stop_after = Some(state.operations.saturating_add(operations));
    }
    /// One of the states a power failure now could leave, chosen by `seed`.
    pub fn crash(&self, seed: u64) -> Vec<(String, Vec<u8>)> {
        let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
        let state = self.lock();
        let mut names = state.durable.clone();
        let survive = random.below(state.pending.len().saturating_add(1));
        for op in state.pending.iter().take(survive) {
            op.apply(&mut names);
        }
        let mut files = Vec::new();
        for (name, inode) in names {
            if let Some(node) = state.inodes.get(inode) {
                files.push((name, after_crash(node, &mut random)));
            }
        }
        files
    }
    /// What a power failure now could leave, as a working directory.
    pub fn crash_dir(&self, seed: u64) -> MemDir {
        let dir = MemDir::new();
        for (name, content) in self.crash(seed) {
            dir.put(&name, content);
        }
        dir
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// xorshift64*: tests need repeatable choices, nothing more.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let wide = u128::from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)) * n as u128;
        (wide >> 64) as usize
    }
}

fn after_crash(node: &Inode, random: &mut Random) -> Vec<u8> {
    // All versions since the flush. A coin decides whether everything or nothing survived, so that
    // the plain outcomes are common too.
    let mut versions = Vec::new();
    versions.push(node.durable.clone());
    for op in &node.pending {
        let mut next = versions.last().cloned().unwrap_or_default();
        op.apply(&mut next);
        versions.push(next);
    }
    match random.below(4) {
        0 => return versions.into_iter().next().unwrap_or_default(),
        1 => return versions.into_iter().next_back().unwrap_or_default(),
        _ => {}
    }
    let len = versions.get(random.below(versions.len())).map_or(0, Vec::len);
    let mut content = alloc::vec![0; len];
    for (i, sector) in content.chunks_mut(SECTOR).enumerate() {
        if let Some(version) = versions.get(random.below(versions.len())) {
            read_slice(version, i.saturating_mul(SECTOR) as u64, sector);
        }
    }
    content
}

struct FaultFile {
    dir: FaultDir,
    inode: usize,
}

impl FaultFile {
    fn with<T>(&self, f: impl FnOnce(&Vec<u8>) -> T) -> Result<T, IoError> {
        let state = self.dir.lock();
        state.inodes.get(self.inode).map(|node| f(&node.current)).ok_or(IoKind::NotFound.into())
    }
}

impl ReadAt for FaultFile {
    fn size(&self) -> Result<u64, IoError> {
        self.with(|content| content.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.with(|content| read_slice(content, offset, buf))
    }
}

impl WriteAt for FaultFile {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        let offset = usize::try_from(offset).map_err(|_| IoKind::OutOfMemory)?;
        self.dir.lock().file_op(self.inode, FileOp::Write { offset, data: data.into() })
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        let len = usize::try_from(len).map_err(|_| IoKind::OutOfMemory)?;
        self.dir.lock().file_op(self.inode, FileOp::Truncate(len))
    }
    fn sync(&mut self) -> Result<(), IoError> {
        let mut state = self.dir.lock();
        // A flush that fails has written nothing for certain; all stays pending.
        if !state.count()? {
            return Err(IoKind::Injected.into());
        }
        let node = state.inodes.get_mut(self.inode).ok_or(IoKind::NotFound)?;
        node.durable.clone_from(&node.current);
        node.pending.clear();
        Ok(())
    }
}

impl Directory for FaultDir {
    fn open(&self, name: &str, _write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        check_name(name)?;
        let inode = self.lock().current.get(name).copied().ok_or(IoKind::NotFound)?;
        Ok(Box::new(FaultFile { dir: self.clone(), inode }))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        check_name(name)?;
        let mut state = self.lock();
        if state.current.contains_key(name) {
            return Err(IoKind::AlreadyExists.into());
        }
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.dir_op(DirOp::Create(name.into(), inode))?;
        Ok(Box::new(FaultFile { dir: self.clone(), inode }))
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        check_name(from)?;
        check_name(to)?;
        let mut state = self.lock();
        if !state.current.contains_key(from) {
            return Err(IoKind::NotFound.into());
        }
        state.dir_op(DirOp::Rename(from.into(), to.into()))
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        check_name(name)?;
        let mut state = self.lock();
        if !state.current.contains_key(name) {
            return Err(IoKind::NotFound.into());
        }
        state.dir_op(DirOp::Remove(name.into()))
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        Ok(self.lock().current.keys().cloned().collect())
    }
    fn sync(&self) -> Result<(), IoError> {
        let mut state = self.lock();
        if !state.count()? {
            return Err(IoKind::Injected.into());
        }
        state.durable = state.current.clone();
        state.pending.clear();
        Ok(())
    }
}
