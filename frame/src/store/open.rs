//! How a store is opened, by what is at its path.

use super::embedded::is_root;
use super::list;
use super::model::{Form, Store};
use crate::error::{Error, FileError, Structure};
use crate::io::{PathFile, ReadAt};
use crate::kind::{HEAD, Kind};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::path::Path;

impl Store {
    /// Opens a store: a directory, a zip file, or a frame of frames. See [`Store::open_with`].
    ///
    /// # Errors
    /// What is no store; what reading gives; more entries than the limits.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, FileError> {
        Store::open_with(path, &Limits::default())
    }

    /// [`Store::open`] within other limits. They hold for the frames in it, too.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: &Limits) -> Result<Store, FileError> {
        let path = path.as_ref();
        let opened = match path.is_dir() {
            true => list::directory(path, limits),
            false => {
                PathFile::open(path).map_err(Error::from).and_then(|file| Store::of_file(path, file, limits))
            }
        };
        opened.map_err(FileError::at(path))
    }

    /// A store in an open file or in other bytes, which `path` names in messages.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn of_file(
        path: &Path,
        file: impl ReadAt + Send + Sync + 'static,
        limits: &Limits,
    ) -> Result<Store, Error> {
        let mut head = [0; HEAD];
        let len = ReadAt::read_at(&file, 0, &mut head)?;
        match Kind::of_head(head.get(..len).unwrap_or_default(), None) {
            Kind::Zip => list::zip(path, Arc::new(file), limits),
            _ => Store::of_frame(path, SuperChunk::open_read(file, limits)?),
        }
    }

    /// A store in a frame, which `path` names in messages.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a frame that is not the root of a store.
    pub fn of_frame(path: &Path, frame: SuperChunk<'static>) -> Result<Store, Error> {
        if !is_root(&frame) {
            return Err(Error::Unsupported {
                structure: Structure::Store,
                what: "a frame without frames in it",
            });
        }
        let limits = *frame.limits();
        list::finished(path, Form::B2e, &limits, None, Some(frame), Vec::new(), Vec::new())
    }
}
