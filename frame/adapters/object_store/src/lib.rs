//! Frames and b2nd arrays in object stores (S3, GCS, Azure, HTTP, memory), read in few rounds of requests.
//!
//! ```text
//! Object::open    one `head`: size and version, to which every later request is pinned
//! frame, array    one round: both ends at once (a second one where index or trailer is longer than 64 KiB)
//! read            one or two rounds for any number of chunks; the requests of a round run side by side
//! ```
//! `blosc-frame` plans and decodes without input of its own ([`Plan`]); this crate fetches. Retries, credentials and
//! timeouts are those of the crate `object_store`. The feature `remote` has `Remote`: an `s3://` or `https://` URL as a
//! source of bytes for code that is not asynchronous, in which all containers of `blosc-frame` are opened.
//!
//! ```
//! use blosc_frame::b2nd::{Element, NdArray, Selection, Spec};
//! use blosc_frame::{Limits, SuperChunk};
//! use blosc_object_store::{Object, write};
//! use object_store::{memory::InMemory, path::Path};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Arc::new(InMemory::new());
//! let spec = Spec::new(&[1000, 1000], f32::dtype())?;
//! let array = NdArray::zeros(SuperChunk::memory(&spec.params())?, &spec)?;
//! write(&*store, &Path::from("a.b2nd"), array.into_frame().into_bytes()?).await?;
//!
//! let object = Object::open(store, Path::from("a.b2nd")).await?;
//! let array = object.array(&Limits::default()).await?;
//! let selection = Selection::ranges(array.shape(), &[0..2, 5..8])?;
//! let mut items = [1; 2 * 3 * 4];
//! object.read(array.plan(&selection)?, &mut items).await?;
//! assert_eq!(items, [0; 24]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "remote")]
mod remote;

use blosc_frame::b2nd::NdArray;
use blosc_frame::io::Pieces;
use blosc_frame::schunk::Plan;
use blosc_frame::{Limits, SuperChunk};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload};
#[cfg(feature = "remote")]
pub use remote::{Remote, RemoteDir};
use std::ops::Range;
use std::sync::Arc;

/// Requests of one round that run at a time, unless [`Object::requests`] says otherwise.
pub const REQUESTS: usize = 16;
/// Bytes from each end that are fetched when a frame is opened.
const END: u64 = 64 << 10;
/// Bytes of the parts in which a large object is written.
const PART: usize = 8 << 20;

/// What can go wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The store answered with an error: network, credentials, no such object.
    Store(object_store::Error),
    /// The frame is damaged, beyond the limits or of a form that is not read.
    Frame(blosc_frame::Error),
    /// The object was replaced after it was opened. Open it again.
    Replaced,
    /// The store sent another number of bytes than was asked for.
    Short {
        /// What was asked for.
        range: Range<u64>,
        /// Bytes that came.
        len: usize,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::Frame(error) => error.fmt(f),
            Error::Replaced => f.write_str("the object was replaced after it was opened: open it again"),
            Error::Short { range, len } => {
                write!(f, "{len} bytes came for the range {} to {}", range.start, range.end)
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Store(error) => Some(error),
            Error::Frame(error) => Some(error),
            _ => None,
        }
    }
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Error {
        match error {
            object_store::Error::Precondition { .. } => Error::Replaced,
            error => Error::Store(error),
        }
    }
}

impl From<blosc_frame::Error> for Error {
    fn from(error: blosc_frame::Error) -> Error {
        Error::Frame(error)
    }
}

/// One version of an object.
#[derive(Clone, Debug)]
pub struct Object {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    requests: usize,
}

impl Object {
    /// Asks the store for size and version of an object.
    ///
    /// # Errors
    /// What the store says.
    pub async fn open(store: Arc<dyn ObjectStore>, path: Path) -> Result<Object, Error> {
        let meta = store.head(&path).await?;
        Ok(Object { store, meta, requests: REQUESTS })
    }

    /// This object, with at most so many requests at a time.
    pub fn requests(mut self, requests: usize) -> Object {
        self.requests = requests.max(1);
        self
    }

    /// Bytes of the object.
    pub fn size(&self) -> u64 {
        self.meta.size
    }

    /// Opens the object as a frame. Only its header, index and trailer are fetched: to read chunks, make a plan and hand it
    /// to [`Object::read`].
    ///
    /// # Errors
    /// What the store says; what is wrong with the frame.
    pub async fn frame(&self, limits: &Limits) -> Result<SuperChunk<'static>, Error> {
        let mut pieces = Pieces::new(self.size());
        pieces.want(0..END.min(self.size()));
        pieces.want(self.size().saturating_sub(END)..self.size());
        loop {
            let ranges = pieces.missed(Pieces::GAP);
            if ranges.is_empty() {
                return Ok(SuperChunk::open_read(pieces, limits)?);
            }
            for (range, bytes) in ranges.iter().zip(self.fetch(&ranges).await?) {
                pieces.put(range.clone(), bytes)?;
            }
            // What it misses is noted; what else is wrong shows when nothing is missing.
            let _ = SuperChunk::open_read(&pieces, limits);
        }
    }

    /// Opens the object as a b2nd array. See [`Object::frame`].
    ///
    /// # Errors
    /// As [`Object::frame`]; a frame that is no array.
    pub async fn array(&self, limits: &Limits) -> Result<NdArray<'static>, Error> {
        Ok(NdArray::open(self.frame(limits).await?)?)
    }

    /// Fetches what a plan needs and decodes it to the start of `out`; tells how many bytes that is.
    ///
    /// # Errors
    /// What the store says; [`Error::Replaced`]; what decoding gives. What is in `out` is then not defined.
    pub async fn read(&self, mut plan: Plan<'_>, out: &mut [u8]) -> Result<usize, Error> {
        while !plan.ranges().is_empty() {
            let pieces = self.fetch(plan.ranges()).await?;
            plan.take(pieces)?;
        }
        Ok(plan.finish(out)?)
    }

    /// One round of requests, side by side. Each is refused by the store where the object is another one than was opened.
    async fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, Error> {
        let one = |range: Range<u64>| async move {
            let (meta, asked) = (&self.meta, range.end.saturating_sub(range.start));
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                if_match: meta.e_tag.clone(),
                version: meta.version.clone(),
                // Only where there is no better sign: it counts seconds.
                if_unmodified_since: meta.e_tag.is_none().then_some(meta.last_modified),
                ..GetOptions::default()
            };
            let got = self.store.get_opts(&meta.location, options).await?;
            // A server may know no conditions.
            let same_time = meta.e_tag.is_some() || got.meta.last_modified == meta.last_modified;
            if got.meta.size != meta.size || got.meta.e_tag != meta.e_tag || !same_time {
                return Err(Error::Replaced);
            }
            let bytes = got.bytes().await?;
            match bytes.len() as u64 == asked {
                true => Ok(bytes),
                false => Err(Error::Short { range, len: bytes.len() }),
            }
        };
        stream::iter(ranges.iter().cloned().map(one)).buffered(self.requests).try_collect().await
    }
}

/// Writes a finished frame as one object: readers see all of it or what was there before.
///
/// # Errors
/// What the store says.
pub async fn write(store: &dyn ObjectStore, path: &Path, frame: impl Into<Bytes>) -> Result<(), Error> {
    let frame: Bytes = frame.into();
    if frame.len() <= PART {
        store.put(path, PutPayload::from_bytes(frame)).await?;
        return Ok(());
    }
    let mut upload = store.put_multipart(path).await?;
    let parts = async {
        for at in (0..frame.len()).step_by(PART) {
            let part = frame.slice(at..frame.len().min(at + PART));
            upload.put_part(PutPayload::from_bytes(part)).await?;
        }
        upload.complete().await
    };
    if let Err(error) = parts.await {
        // What was sent costs room until it is given up; the first error is what counts.
        let _ = upload.abort().await;
        return Err(error.into());
    }
    Ok(())
}
