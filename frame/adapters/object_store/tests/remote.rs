//! Arrays behind a server of HTTP on loopback, which does as it should or one thing wrong.
#![cfg(feature = "remote")]

use blosc_frame::b2nd::{Element, NdArray, Selection, Spec};
use blosc_frame::io::ReadAt;
use blosc_frame::{Error, IoKind, Limits, SuperChunk};
use blosc_object_store::Remote;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a server may do wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// It sends all of the object, with status 200, whatever range was asked for.
    IgnoresRanges,
    /// It closes the connection a byte too early.
    CutsShort,
    /// It answers 503.
    Fails,
    /// It has another object once `Server::changed` is set, and looks at no conditions.
    Changes,
}

struct Server {
    fault: Fault,
    object: Vec<u8>,
    changed: AtomicBool,
    requests: AtomicUsize,
}

impl Server {
    /// Starts one, and gives the URL of its object.
    fn start(fault: Fault, object: &[u8]) -> (Arc<Server>, String) {
        let (changed, requests) = (AtomicBool::new(false), AtomicUsize::new(0));
        let server = Arc::new(Server { fault, object: object.to_vec(), changed, requests });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a/b.b2nd", listener.local_addr().unwrap());
        let shared = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = shared.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        (server, url)
    }

    /// Answers one request; each has a connection of its own.
    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
        let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let head = request.first()?.starts_with("HEAD");
        self.requests.fetch_add(usize::from(!head), Ordering::Relaxed);
        let tag = if self.changed.load(Ordering::Relaxed) { "new" } else { "old" };
        let common = format!("ETag: \"{tag}\"\r\nAccept-Ranges: bytes\r\nConnection: close\r\n");
        let all = self.object.len();
        if !request.first()?.contains(" /a/b.b2nd ") {
            return stream
                .write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .ok();
        }
        if head {
            return write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {all}\r\n{common}\r\n").ok();
        }
        let range = request
            .iter()
            .find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(String::from))?;
        let (start, last) = range.split_once('-')?;
        let (start, end) = (start.parse::<usize>().ok()?, last.parse::<usize>().ok()? + 1);
        match self.fault {
            Fault::Fails => {
                return stream
                    .write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .ok();
            }
            Fault::IgnoresRanges => {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {all}\r\n{common}\r\n").ok()?;
                return stream.write_all(&self.object).ok();
            }
            _ => {}
        }
        let len = end - start;
        let bytes = &self.object[start..end];
        let of = format!("Content-Range: bytes {start}-{}/{all}\r\nContent-Length: {len}\r\n", end - 1);
        write!(stream, "HTTP/1.1 206 Part\r\n{of}{common}\r\n").ok()?;
        let sent = if self.fault == Fault::CutsShort { len - 1 } else { len };
        stream.write_all(&bytes[..sent]).ok()
    }
}

/// A square array of stored numbers in chunks of 20 KB, as a frame; and its items.
fn array() -> (Vec<u8>, Vec<i32>) {
    let items: Vec<i32> = (0..300 * 300).map(|n: i32| n.wrapping_mul(-1_640_531_527)).collect();
    let spec = Spec::new(&[300, 300], i32::dtype()).unwrap().chunks(&[71, 71]).unwrap();
    let spec = spec.params_from(&blosc_core::Params::new(4).level(0));
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let array = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &bytes).unwrap();
    (array.into_frame().into_bytes().unwrap(), items)
}

fn open(remote: &Arc<Remote>) -> NdArray<'static> {
    NdArray::open(SuperChunk::open_read(remote.clone(), &Limits::default()).unwrap()).unwrap()
}

#[test]
fn an_array_is_read_in_few_requests() {
    let (frame, items) = array();
    let (server, url) = Server::start(Fault::None, &frame);
    let remote = Arc::new(Remote::open(&url).unwrap());
    assert!(remote.is_far() && remote.size() == Ok(frame.len() as u64));
    let array = open(&remote);
    // Both ends, which opening takes from memory.
    assert_eq!(server.requests.load(Ordering::Relaxed), 2);
    let selection = Selection::ranges(array.shape(), &[140..145, 10..300]).unwrap();
    let part: Vec<i32> = array
        .get(&selection)
        .unwrap()
        .chunks_exact(4)
        .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let want: Vec<i32> = (140..145).flat_map(|row| items[row * 300 + 10..(row + 1) * 300].to_vec()).collect();
    assert_eq!(part, want);
    assert!(remote.cause().is_none());
    assert!(matches!(Remote::open(&url.replace("b.b2nd", "c")), Err(blosc_object_store::Error::Store(_))));
    for wrong in ["a.b2nd", "ftp://host/a", "https://host"] {
        assert!(Remote::open(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_a_server_does_wrong_is_an_error() {
    let (frame, _) = array();
    for fault in [Fault::IgnoresRanges, Fault::CutsShort, Fault::Fails] {
        let (_, url) = Server::start(fault, &frame);
        let error = Remote::open(&url).map(drop).unwrap_err();
        println!("{fault:?}: {error}");
        assert!(matches!(
            error,
            blosc_object_store::Error::Store(_) | blosc_object_store::Error::Short { .. }
        ));
    }
    let (server, url) = Server::start(Fault::Changes, &frame);
    let remote = Arc::new(Remote::open(&url).unwrap());
    let array = open(&remote);
    server.changed.store(true, Ordering::Relaxed);
    let selection = Selection::ranges(array.shape(), &[140..145, 10..300]).unwrap();
    assert_eq!(array.get(&selection).map(drop), Err(Error::from(IoKind::Changed)));
    assert!(matches!(remote.cause(), Some(blosc_object_store::Error::Replaced)));
}
