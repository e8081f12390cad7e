//! Arrays in a store in memory that counts requests, and that fails, lies and replaces objects.

use blosc_frame::b2nd::{Element, NdArray, Selection, Spec};
use blosc_frame::{Limits, SuperChunk};
use blosc_object_store::{Error, Object, write};
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a server may do wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The whole object, whatever range was asked for.
    IgnoresRanges,
    /// A byte less than it says.
    CutsShort,
    /// Status 503.
    Fails,
    /// Conditions are not looked at.
    IgnoresConditions,
    /// Conditions are not looked at, and objects have no ETags.
    HasNoTags,
}

/// Counts requests, and how many of them run at the same time.
#[derive(Debug)]
struct Server {
    inner: InMemory,
    fault: Fault,
    requests: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Server {
    fn new(fault: Fault) -> Arc<Server> {
        let zero = || AtomicUsize::new(0);
        Arc::new(Server { inner: InMemory::new(), fault, requests: zero(), running: zero(), most: zero() })
    }
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a server of the tests")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Server {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(path, payload, options).await
    }
    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }
    async fn get_opts(&self, path: &Path, mut options: GetOptions) -> Result<GetResult> {
        if options.head {
            let mut got = self.inner.get_opts(path, options).await?;
            got.meta.e_tag = got.meta.e_tag.filter(|_| self.fault != Fault::HasNoTags);
            return Ok(got);
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.most.fetch_max(self.running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        // Others begin meanwhile.
        tokio::task::yield_now().await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        match self.fault {
            Fault::IgnoresRanges => options.range = None,
            Fault::IgnoresConditions | Fault::HasNoTags => {
                (options.if_match, options.if_unmodified_since) = (None, None)
            }
            Fault::Fails => {
                return Err(object_store::Error::Generic { store: "server", source: "503".into() });
            }
            _ => {}
        }
        let mut got = self.inner.get_opts(path, options).await?;
        got.meta.e_tag = got.meta.e_tag.filter(|_| self.fault != Fault::HasNoTags);
        if self.fault == Fault::CutsShort {
            let (meta, range, attributes) = (got.meta.clone(), got.range.clone(), got.attributes.clone());
            let bytes = got.bytes().await?;
            let cut = bytes.slice(..bytes.len() - 1);
            let payload = GetResultPayload::Stream(Box::pin(futures::stream::iter([Ok(cut)])));
            got = GetResult { payload, meta, range, attributes, extensions: Default::default() };
        }
        Ok(got)
    }
    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }
    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }
    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn path() -> Path {
    Path::from("a/b.b2nd")
}

/// A square array of stored numbers, in chunks of 20 KB, as a frame; and its items.
fn array(side: u64, first: i32) -> (Bytes, Vec<i32>) {
    let spec = Spec::new(&[side, side], i32::dtype()).unwrap().chunks(&[71, 71]).unwrap();
    let number = |i: i32| i.wrapping_mul(0x2C9277B5).rotate_left(9).wrapping_add(first);
    let items: Vec<i32> = (0..(side * side) as i32).map(number).collect();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_ne_bytes()).collect();
    let array =
        NdArray::from_slice(SuperChunk::memory(&spec.params().level(0)).unwrap(), &spec, &bytes).unwrap();
    (array.into_frame().into_bytes().unwrap().into(), items)
}

async fn block(object: &Object, array: &NdArray<'_>, side: u64) -> std::result::Result<Vec<i32>, Error> {
    let selection = Selection::ranges(array.shape(), &[0..side, 60..80]).unwrap();
    let mut bytes = vec![0; (side * 20 * 4) as usize];
    let len = object.read(array.plan(&selection)?, &mut bytes).await?;
    assert_eq!(len, bytes.len());
    Ok(bytes.chunks_exact(4).map(|item| i32::from_ne_bytes(item.try_into().unwrap())).collect())
}

/// One request for both ends, and one round for a slice through all rows of chunks, at most so many requests at a time.
#[tokio::test(flavor = "current_thread")]
async fn a_slice_takes_one_round() {
    let server = Server::new(Fault::None);
    let (frame, items) = array(1000, 0);
    assert!(frame.len() > 2 << 20);
    write(&*server, &path(), frame).await.unwrap();
    let object = Object::open(server.clone(), path()).await.unwrap().requests(5);
    let array = object.array(&Limits::default()).await.unwrap();
    assert_eq!(server.requests.swap(0, Ordering::Relaxed), 2);
    let got = block(&object, &array, 1000).await.unwrap();
    let want: Vec<i32> = (0..1000).flat_map(|row| items[row * 1000 + 60..row * 1000 + 80].to_vec()).collect();
    assert!(got == want);
    // Two columns of 15 chunks; neighbours are one request.
    let requests = server.requests.load(Ordering::Relaxed);
    assert!((15..=30).contains(&requests), "{requests}");
    assert!((2..=5).contains(&server.most.load(Ordering::Relaxed)));
}

/// What a server does wrong is an error, never other items.
#[tokio::test(flavor = "current_thread")]
async fn faults_of_servers_are_errors() {
    for fault in [Fault::IgnoresRanges, Fault::CutsShort, Fault::Fails] {
        let server = Server::new(fault);
        write(&*server, &path(), array(300, 0).0).await.unwrap();
        let object = Object::open(server, path()).await.unwrap();
        let error = object.array(&Limits::default()).await.map(drop).unwrap_err();
        let said = error.to_string();
        match fault {
            Fault::Fails => assert!(matches!(error, Error::Store(_)) && said.contains("503"), "{said}"),
            _ => assert!(matches!(error, Error::Short { .. } | Error::Store(_)), "{fault:?}: {said}"),
        }
    }
    let none = Object::open(Server::new(Fault::None), Path::from("none")).await.map(drop);
    assert!(matches!(none, Err(Error::Store(object_store::Error::NotFound { .. }))));
}

/// An object that is replaced is an error, whether or not the server looks at conditions.
#[tokio::test(flavor = "current_thread")]
async fn an_object_that_is_replaced_is_an_error() {
    for fault in [Fault::None, Fault::IgnoresConditions, Fault::HasNoTags] {
        let server = Server::new(fault);
        let (old, new) = (array(300, 0), array(300, 1));
        assert_eq!(old.0.len(), new.0.len(), "the size does not tell");
        write(&*server, &path(), old.0).await.unwrap();
        let object = Object::open(server.clone(), path()).await.unwrap();
        let opened = object.array(&Limits::default()).await.unwrap();
        write(&*server, &path(), new.0).await.unwrap();
        assert!(matches!(block(&object, &opened, 300).await, Err(Error::Replaced)), "{fault:?}");
        let object = Object::open(server, path()).await.unwrap();
        let opened = object.array(&Limits::default()).await.unwrap();
        let want: Vec<i32> =
            (0..300).flat_map(|row| new.1[row * 300 + 60..row * 300 + 80].to_vec()).collect();
        assert!(block(&object, &opened, 300).await.unwrap() == want);
    }
}

/// A frame of many parts is written whole, and damage is an error.
#[tokio::test(flavor = "current_thread")]
async fn large_frames_are_written_in_parts() {
    let server = Server::new(Fault::None);
    let mut frame = SuperChunk::memory(&blosc_core::Params::new(4).level(0)).unwrap();
    let noise: Vec<u8> = (0..5_000_000u32).flat_map(|i| i.wrapping_mul(0x9E37_79B1).to_le_bytes()).collect();
    frame.append_data(&noise).unwrap();
    let bytes = frame.into_bytes().unwrap();
    assert!(bytes.len() > 9 << 20);
    write(&*server, &path(), bytes.clone()).await.unwrap();
    let object = Object::open(server.clone(), path()).await.unwrap();
    assert_eq!(object.size(), bytes.len() as u64);
    let frame = object.frame(&Limits::default()).await.unwrap();
    let mut part = vec![0; 4000];
    let len = object.read(frame.plan_items(2_000_000..2_001_000).unwrap(), &mut part).await.unwrap();
    assert!(len == 4000 && part == noise[8_000_000..8_004_000]);
    server.put(&path(), PutPayload::from_bytes(Bytes::from_static(b"no frame at all"))).await.unwrap();
    let object = Object::open(server, path()).await.unwrap();
    assert!(matches!(object.frame(&Limits::default()).await, Err(Error::Frame(_))));
}
