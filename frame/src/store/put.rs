//! New leaves in a store that is there. Each is in force in one step, with the rename of one file or the commit of one
//! frame.

use super::embedded::{MAP, map_of};
use super::model::{ATTRIBUTES, Entry, Form, Leaf, Place, Store};
use super::save::{Appending, set_map};
use crate::error::{Error, FileError, IoKind};
use crate::io::{FsDir, NewDir, NewFile, PathFile, check_name, parent};
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

impl Store {
    /// Puts a copy of a frame under a key that is free. Chunks are copied as they are. Other writers are kept out
    /// meanwhile; a zip file is written anew.
    ///
    /// # Errors
    /// [`IoKind::AlreadyExists`] for a key that is taken, [`IoKind::Name`] for one that no file can have; what reading and
    /// writing give. Then the store is as it was.
    pub fn put(&mut self, key: &str, frame: &mut SuperChunk<'_>) -> Result<(), FileError> {
        let key = format!("{}/{}", self.prefix, key.trim_start_matches('/'));
        let path = self.path().to_path_buf();
        let done =
            self.put_frame(&key, frame).and_then(|()| Ok(Store::open_with(&path, &self.shared.limits)?));
        let at = FileError::at(PathBuf::from(format!("{}:{key}", path.display())));
        let whole = done.map_err(&at)?;
        let reading = self.reading;
        *self = whole.group(&self.prefix).ok_or_else(|| at(IoKind::NotFound.into()))?;
        self.reading = reading;
        Ok(())
    }

    fn put_frame(&self, key: &str, frame: &mut SuperChunk<'_>) -> Result<(), Error> {
        key.trim_start_matches('/').split('/').try_for_each(check_name)?;
        let leaf = match () {
            () if key.ends_with(ATTRIBUTES) => Leaf::Attributes,
            () if frame.metalayer("b2nd").is_some() => Leaf::Array,
            () if frame.metalayer("batcharray").is_some() => Leaf::Batches,
            () => Leaf::Frame,
        };
        let (path, limits) = (self.path(), &self.shared.limits);
        // What others did until the lock was held counts.
        let free = |store: &Store| match store.get(key) {
            Some(_) => Err(Error::from(IoKind::AlreadyExists)),
            None => Ok(()),
        };
        let write = |file: File, frame: &mut SuperChunk<'_>| -> Result<(), Error> {
            let mut copy = SuperChunk::create(file, &frame.params())?;
            copy.copy_from(frame)?;
            copy.commit()
        };
        let name = format!("{}{}", key.trim_start_matches('/'), leaf.extension());
        match self.form() {
            Form::B2d | Form::Folder => {
                let _lock = FsDir::open_rw(path)?;
                free(&Store::open_with(path, limits)?)?;
                let file = path.join(name);
                fs::create_dir_all(parent(&file))?;
                let mut new = NewFile::create(&file)?;
                write(new.file()?.try_clone()?, frame)?;
                new.finish()?;
            }
            Form::B2z => {
                let lock = PathFile::open_rw(path)?;
                let mut store = Store::of_file(path, lock.file().try_clone()?, limits)?;
                free(&store)?;
                let temp = NewDir::create(path)?;
                let file = temp.path().join("leaf");
                write(File::options().read(true).write(true).create_new(true).open(&file)?, frame)?;
                store.entries.push(Entry::new(format!("/{name}"), leaf, Place::Path(file)));
                let mut new = NewFile::create(path)?;
                store.save_zip(new.file()?.try_clone()?, path, temp.path())?;
                new.finish()?;
            }
            Form::B2e => {
                let mut root = SuperChunk::open(PathFile::open_rw(path)?, limits)?;
                let mut map = match map_of(&root, MAP)?.into_iter().find(|(name, _)| name == "embed_map") {
                    Some((_, Value::Object(map))) => map,
                    _ => Vec::new(),
                };
                if map.iter().any(|(other, _)| other == key) {
                    return Err(IoKind::AlreadyExists.into());
                }
                let offset = root.nbytes();
                io::copy(&mut frame.to_bytes()?.as_slice(), &mut Appending(&mut root))?;
                let end = root.nbytes();
                let place =
                    [("offset", Value::int(offset)), ("length", Value::int(end.saturating_sub(offset)))];
                map.push((key.to_string(), Value::object(place)));
                set_map(&mut root, map, end)?;
                root.commit()?;
            }
        }
        Ok(())
    }
}
