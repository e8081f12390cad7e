//! [`Remote`]: an object behind a URL as a source of bytes, for code that is not asynchronous.
//!
//! ```text
//! open         one `head`: size and version; then both ends at once, which stay in memory
//! read_ranges  what is not in the ends is one round of requests, however many ranges there are
//! ```
//! [`RemoteDir`] has the files of a sparse frame, each of which is an object of its own.

use crate::{END, Error, Object, REQUESTS};
use blosc_frame::io::{Directory, Part, ReadAt, ReadOnly, WriteAt, check_name};
use blosc_frame::{IoError, IoKind};
use bytes::Bytes;
use futures::{StreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How often and how long a request that fails is tried again: 100 ms, then twice as long each time.
const RETRIES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(30);

/// One version of an object, pinned as [`Object`] is.
///
/// ```no_run
/// use blosc_frame::{Limits, SuperChunk};
/// use blosc_object_store::Remote;
/// use std::sync::Arc;
///
/// let remote = Arc::new(Remote::open("s3://days/today.b2frame")?);
/// let frame = SuperChunk::open_read(remote.clone(), &Limits::default())?;
/// let mut out = [0; 400];
/// if let Err(error) = frame.read_bytes(0..400, &mut out) {
///     // The library's error is a kind; the store's own words are here.
///     println!("{error}: {:?}", remote.cause());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Remote {
    object: Object,
    runtime: Arc<Runtime>,
    /// Where they start, and both ends of the object.
    ends: Vec<(u64, Bytes)>,
    cause: Mutex<Option<Error>>,
    tell: Tell,
}

/// Is told what the store says to a read that fails.
type Tell = Arc<dyn Fn(&Error) + Send + Sync>;

/// The store and the path in it that a URL names.
fn locate(url: &str) -> Result<(Arc<dyn ObjectStore>, Path), Error> {
    let failed =
        |why: &'static str| Error::Store(object_store::Error::Generic { store: "URL", source: why.into() });
    let (scheme, rest) = url.split_once("://").ok_or_else(|| failed("no URL"))?;
    let (host, path) = rest.split_once('/').ok_or_else(|| failed("the URL names no object"))?;
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
    // The first to install one wins, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (store, path): (Arc<dyn ObjectStore>, &str) = match scheme {
        "s3" => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(host).with_retry(retry);
            (Arc::new(builder.build()?), path)
        }
        "http" | "https" => {
            // What follows a question mark, such as a signature, goes with every request.
            let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
            let options = ClientOptions::new().with_allow_http(scheme == "http");
            let base = format!("{scheme}://{host}/{query}");
            let builder = HttpBuilder::new().with_url(base).with_client_options(options).with_retry(retry);
            (Arc::new(builder.build()?), path)
        }
        _ => return Err(failed("URLs of this kind are not read: s3, https and http are")),
    };
    Ok((store, Path::from_url_path(path).map_err(object_store::Error::from)?))
}

impl Remote {
    /// Opens `s3://BUCKET/KEY`, `https://HOST/PATH` or `http://HOST/PATH`, and fetches 64 KiB of each end. Credentials,
    /// region and endpoint of S3 are those of the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`,
    /// `AWS_SKIP_SIGNATURE`, …), as `AmazonS3Builder::from_env` reads them. Requests that fail are tried again for
    /// some seconds.
    ///
    /// It waits for the network, and must not be called from asynchronous code.
    ///
    /// # Errors
    /// What the store says; a URL of another kind.
    pub fn open(url: &str) -> Result<Remote, Error> {
        let (store, path) = locate(url)?;
        Remote::in_store(store, path, runtime()?)
    }

    fn in_store(store: Arc<dyn ObjectStore>, path: Path, runtime: Arc<Runtime>) -> Result<Remote, Error> {
        let object = runtime.block_on(Object::open(store, path))?;
        let (size, first) = (object.size(), END.min(object.size()));
        let ends = [0..first, first.max(size.saturating_sub(END))..size];
        let ends: Vec<_> = ends.into_iter().filter(|range| !range.is_empty()).collect();
        let bytes = runtime.block_on(object.fetch(&ends))?;
        let ends = ends.into_iter().map(|range| range.start).zip(bytes).collect();
        Ok(Remote { object, runtime, ends, cause: Mutex::default(), tell: Arc::new(|_| {}) })
    }

    /// This source, which tells `tell` as well when a read fails, on the thread that reads.
    pub fn telling(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Remote {
        Remote { tell: Arc::new(tell), ..self }
    }

    /// What the store said when a read failed, if one did since the last call.
    pub fn cause(&self) -> Option<Error> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Bytes of the ends.
    fn known(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.ends.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(at..at.checked_add(len)?)
        })
    }
}

fn runtime() -> Result<Arc<Runtime>, Error> {
    let failed =
        |error| Error::Store(object_store::Error::Generic { store: "tokio", source: Box::new(error) });
    Ok(Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(failed)?))
}

/// The objects whose URLs begin alike as the files of a directory, which is only read: a sparse frame in an object store.
///
/// Opening takes the index file as [`Remote`] does; a read takes one request for each chunk file that it needs, side by side.
/// Each file is of one version, but nothing pins them to each other: where writers are at work, only the checksums of the frame
/// ([`set_verify`](blosc_frame::SuperChunk::set_verify)) tell that a chunk is of another state than the index.
///
/// ```no_run
/// use blosc_frame::{Limits, SuperChunk};
/// use blosc_object_store::RemoteDir;
///
/// let dir = RemoteDir::open("s3://days/today.b2frame/")?;
/// let frame = SuperChunk::open_dir(dir, &Limits::default())?;
/// frame.read_bytes(0..400, &mut [0; 400])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RemoteDir {
    store: Arc<dyn ObjectStore>,
    path: Path,
    runtime: Arc<Runtime>,
    tell: Tell,
}

impl RemoteDir {
    /// Names a directory by its URL, of the kinds that [`Remote::open`] takes. Nothing is asked of the store yet.
    ///
    /// # Errors
    /// A URL of another kind.
    pub fn open(url: &str) -> Result<RemoteDir, Error> {
        let (store, path) = locate(url.trim_end_matches('/'))?;
        Ok(RemoteDir { store, path, runtime: runtime()?, tell: Arc::new(|_| {}) })
    }

    /// This directory, which tells `tell` as well when a read of one of its files fails, on the thread that reads. That there
    /// is no such file is not told.
    pub fn telling(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> RemoteDir {
        RemoteDir { tell: Arc::new(tell), ..self }
    }

    fn file(&self, name: &str) -> Result<Path, IoError> {
        check_name(name)?;
        Ok(self.path.clone().join(name))
    }
}

impl Directory for RemoteDir {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = self.file(name)?;
        if write {
            return Err(IoKind::ReadOnly.into());
        }
        let remote = Remote::in_store(self.store.clone(), path, self.runtime.clone());
        let remote = remote.map_err(|error| {
            let kind = kind(&error);
            if kind != IoKind::NotFound {
                (self.tell)(&error);
            }
            kind
        })?;
        Ok(Box::new(ReadOnly(Remote { tell: self.tell.clone(), ..remote })))
    }
    fn read_files(&self, names: &[String], limit: u64) -> Vec<Result<Vec<u8>, blosc_frame::Error>> {
        let one = |path: Result<Path, IoError>| async move {
            let failed = |error: object_store::Error| IoError::from(kind(&error.into()));
            let file = self.store.get(&path?).await.map_err(failed)?;
            if file.meta.size > limit {
                let (what, asked) = ("bytes of a file", file.meta.size);
                return Err(blosc_frame::Error::Limit { what, asked, limit });
            }
            Ok(file.bytes().await.map_err(failed)?.to_vec())
        };
        let paths: Vec<_> = names.iter().map(|name| self.file(name)).collect();
        self.runtime.block_on(stream::iter(paths.into_iter().map(one)).buffered(REQUESTS).collect())
    }
    fn is_far(&self) -> bool {
        true
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let all = self.store.list_with_delimiter(Some(&self.path));
        let all = self.runtime.block_on(all).map_err(|error| kind(&error.into()))?;
        Ok(all.objects.iter().filter_map(|object| Some(object.location.filename()?.into())).collect())
    }
    fn create(&self, _: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn rename(&self, _: &str, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn remove(&self, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn sync(&self) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
}

/// Which kind of error that is to the library.
fn kind(error: &Error) -> IoKind {
    use object_store::Error as Store;
    match error {
        Error::Replaced => IoKind::Changed,
        Error::Store(Store::NotFound { .. }) => IoKind::NotFound,
        Error::Store(Store::PermissionDenied { .. } | Store::Unauthenticated { .. }) => {
            IoKind::PermissionDenied
        }
        _ => IoKind::Other,
    }
}

impl ReadAt for Remote {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.object.size())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let left = usize::try_from(self.object.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = left.min(buf.len());
        self.read_ranges(&mut [(offset, &mut buf[..n])])?;
        Ok(n)
    }

    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let (mut ranges, mut unknown) = (Vec::new(), Vec::new());
        for (offset, buf) in parts.iter_mut() {
            let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.object.size());
            let end = end.ok_or(IoKind::UnexpectedEnd)?;
            match self.known(*offset, buf.len()) {
                Some(bytes) => buf.copy_from_slice(bytes),
                None if buf.is_empty() => {}
                None => {
                    ranges.push(*offset..end);
                    unknown.push(buf);
                }
            }
        }
        let fetched = self.runtime.block_on(self.object.fetch(&ranges)).map_err(|error| {
            let kind = kind(&error);
            (self.tell)(&error);
            *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            kind
        })?;
        unknown.into_iter().zip(fetched).for_each(|(buf, bytes)| buf.copy_from_slice(&bytes));
        Ok(())
    }

    fn is_far(&self) -> bool {
        true
    }
}
