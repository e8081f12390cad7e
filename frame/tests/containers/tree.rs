//! A tree of directories laid flat in one [`FaultDir`]: `data!__0.blp` is `__0.blp` in `data`.
#![allow(dead_code)]

use blosc_frame::bcolz::Tree;
use blosc_frame::io::{Directory, FaultDir, WriteAt, check_name};
use blosc_frame::{IoError, IoKind};

#[derive(Clone)]
pub struct FlatTree {
    pub dir: FaultDir,
    prefix: String,
}

impl FlatTree {
    pub fn new(dir: FaultDir) -> FlatTree {
        FlatTree { dir, prefix: String::new() }
    }
    fn full(&self, name: &str) -> Result<String, IoError> {
        check_name(name)?;
        Ok(format!("{}{name}", self.prefix))
    }
}

impl Directory for FlatTree {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send>, IoError> {
        self.dir.open(&self.full(name)?, write)
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send>, IoError> {
        self.dir.create(&self.full(name)?)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (from, to) = (self.full(from)?, self.full(to)?);
        match self.dir.contains(&from)? {
            true => self.dir.rename(&from, &to),
            false => self
                .dir
                .list()?
                .iter()
                .filter(|n| n.starts_with(&format!("{from}!")))
                .try_for_each(|n| self.dir.rename(n, &n.replacen(&from, &to, 1))),
        }
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        self.dir.remove(&self.full(name)?)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let all = self.dir.list()?;
        Ok(all.iter().filter_map(|n| n.strip_prefix(&self.prefix)).map(String::from).collect())
    }
    fn sync(&self) -> Result<(), IoError> {
        self.dir.sync()
    }
}

impl Tree for FlatTree {
    fn enter(&self, name: &str) -> Result<Self, IoError> {
        let marker = format!("{}!", self.full(name)?);
        match self.dir.contains(&marker)? {
            true => Ok(FlatTree { dir: self.dir.clone(), prefix: marker }),
            false => Err(IoKind::NotFound.into()),
        }
    }
    fn make(&self, name: &str) -> Result<Self, IoError> {
        let marker = format!("{}!", self.full(name)?);
        self.dir.create(&marker)?;
        Ok(FlatTree { dir: self.dir.clone(), prefix: marker })
    }
    fn remove_tree(&self, name: &str) -> Result<(), IoError> {
        let marker = format!("{}!", self.full(name)?);
        self.dir.list()?.iter().filter(|n| n.starts_with(&marker)).try_for_each(|n| self.dir.remove(n))
    }
}
