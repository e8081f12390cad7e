//! Items that `append`, `set`, `insert` and `edit` put into a container.
//!
//! ```text
//! --plain, or a file that begins like nothing known     its bytes, as they are
//! .npy, chunk, frame, array, bloscpack, bcolz, Blaze,
//! a leaf of a store                                     its items, which must be of the container's size and type
//! anything else that is known                           refused
//! ```

use crate::access::Intent;
use crate::args::Input;
use crate::cut::Cut;
use crate::failure::{Failure, Result, failure};
use crate::open;
use crate::opened::Opened;
use crate::paths::{is_stream, is_url, leaf};
use crate::readers::Items;
use crate::streams::{stream, unnamed, unnamed_of};
use blosc_frame::any::{Found, HEAD, Kind, Source};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{Offset, ReadAt};
use blosc_frame::npy::NpyHeader;
use blosc_frame::plain::Uncompressed;
use blosc_frame::reversed::AxesReversed;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Items to be put into a container.
pub struct NewItems {
    path: PathBuf,
    data: Data,
    /// What they are; `None` for plain bytes.
    pub items: Option<Items>,
}

enum Data {
    Stream(Box<dyn Read>),
    At(Box<dyn ReadAt>),
}

/// Opens the items in `input`.
///
/// # Errors
/// As [`open::open`], and for what holds no items.
pub fn open_items(input: &Input, plain: bool) -> Result<NewItems> {
    let path = input.input.as_path();
    let bytes = |data| Ok(NewItems { path: path.to_path_buf(), data, items: None });
    if !plain && (is_url(path) || leaf(path).is_some()) {
        return decoded(open::open(input, Intent::Read), path);
    }
    let found = match is_stream(path)? {
        true if plain => return bytes(Data::Stream(stream(path)?)),
        true => {
            let mut stream = stream(path)?;
            let mut head = Vec::new();
            (&mut stream).take(HEAD as u64).read_to_end(&mut head).map_err(Failure::io(path))?;
            let kind = Kind::of_head(&head, None);
            let mut whole = io::Cursor::new(head).chain(stream);
            if kind == Kind::Unknown {
                return bytes(Data::Stream(Box::new(whole)));
            }
            Found::of(path, unnamed(&mut whole, path)?, 0)
        }
        false => Found::at(path, 0, None),
    }
    .map_err(failure(path))?;
    match found.kind {
        Kind::Unknown => {}
        _ if plain => {}
        Kind::Npy => return npy(path, found.file),
        _ => return decoded(open::open_found(found, input, Intent::Read, None), path),
    }
    match found.file {
        Some(file) => bytes(Data::At(Box::new(file))),
        None => Err(Failure::at(path, "is a directory")),
    }
}

/// The items of a NumPy file, in C order.
fn npy(path: &Path, file: Option<Source>) -> Result<NewItems> {
    let Some(file) = file else { return Err(Failure::at(path, "is a directory")) };
    let size = file.size()?;
    let mut head = vec![0; size.min(66_000) as usize];
    file.read_exact_at(0, &mut head)?;
    let header = NpyHeader::parse(&head).map_err(failure(path))?;
    let offset = NpyHeader::length(&head).map_err(failure(path))? as u64;
    let (have, want) = (size.saturating_sub(offset), header.nbytes().unwrap_or(u64::MAX));
    if have != want {
        return Err(Failure::at(path, format!("has {have} bytes of items, its header says {want}")));
    }
    let data: Box<dyn ReadAt> = match header.fortran {
        true => {
            let items = Uncompressed::new(file, offset, want);
            Box::new(AxesReversed::new(items, &header.shape, header.dtype.itemsize())?)
        }
        false => Box::new(Offset::new(file, offset)?),
    };
    let (shape, size) = (header.shape.to_vec(), header.dtype.itemsize().into());
    let items = Items { dtype: Some(header.dtype), shape, size };
    Ok(NewItems { path: path.to_path_buf(), data: Data::At(data), items: Some(items) })
}

/// The decoded items of a container, kept in a file without a name.
fn decoded(opened: Result<Opened>, path: &Path) -> Result<NewItems> {
    let mut opened = opened.map_err(|failure| match failure {
        Failure::Data(text) => Failure::Data(format!("{text} (--plain takes the file's bytes as they are)")),
        Failure::Unable(text) => {
            Failure::Unable(format!("{text} (--plain takes the file's bytes as they are)"))
        }
        other => other,
    })?;
    let items = opened.reader()?.items();
    let data = unnamed_of(path, &mut |file| opened.reader()?.read(&Cut::ALL, file, &|_| {}))?;
    Ok(NewItems { path: path.to_path_buf(), data: Data::At(Box::new(data)), items: Some(items) })
}

impl NewItems {
    /// Refuses items that would be taken for something else in a container of items of `size` bytes.
    pub fn check(&self, dtype: Option<&Dtype>, size: u64) -> Result<()> {
        let Some(items) = &self.items else { return Ok(()) };
        let plain = "--plain takes the file's bytes as they are";
        if let (Some(new), Some(old)) = (&items.dtype, dtype)
            && new != old
        {
            return Err(Failure::at(
                &self.path,
                format!("items of {new}, but the container has {old} ({plain})"),
            ));
        }
        if items.size != size {
            let text = format!("items of {} bytes, but the container's have {size} ({plain})", items.size);
            return Err(Failure::at(&self.path, text));
        }
        Ok(())
    }

    /// Items per dimension, where they are known.
    pub fn shape(&self) -> Option<&[u64]> {
        self.items.as_ref().map(|items| items.shape.as_slice())
    }

    /// Bytes of all, if known beforehand.
    pub fn nbytes(&self) -> Option<u64> {
        match &self.data {
            Data::At(data) => data.size().ok(),
            Data::Stream(_) => None,
        }
    }

    /// Hands the bytes to `f`, piece by piece.
    pub fn each(self, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = vec![0; 1 << 20];
        let mut at = 0;
        let mut data = self.data;
        loop {
            let read = match &mut data {
                Data::At(data) => {
                    data.read_at(at, &mut buffer).map_err(|e| blosc_frame::Error::from(e).into())
                }
                Data::Stream(stream) => stream.read(&mut buffer),
            };
            match read {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    f(&buffer[..n])?;
                    at += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Failure::io(&self.path)(e)),
            }
        }
    }

    /// All bytes, which must be no more than `most`: a stream may have no end.
    pub fn read(self, most: u64) -> Result<Vec<u8>> {
        let (mut bytes, path) = (Vec::new(), self.path.clone());
        self.each(&mut |piece| {
            bytes.extend_from_slice(piece);
            match bytes.len() as u64 > most {
                true => Err(too_many(&path, most)),
                false => Ok(()),
            }
        })?;
        Ok(bytes)
    }

    /// The bytes at any position; a stream is kept in a file without a name. It may have no end, and no more than
    /// `most` bytes.
    pub fn at(self, most: u64) -> Result<Box<dyn ReadAt>> {
        match self.data {
            Data::At(data) => Ok(data),
            Data::Stream(stream) => {
                let file = unnamed(&mut stream.take(most.saturating_add(1)), &self.path)?;
                match file.size()? > most {
                    true => Err(too_many(&self.path, most)),
                    false => Ok(Box::new(file)),
                }
            }
        }
    }
}

fn too_many(path: &Path, most: u64) -> Failure {
    Failure::at(path, format!("more than the {most} bytes that there is room for"))
}
