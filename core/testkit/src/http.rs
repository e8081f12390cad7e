//! A server of HTTP on loopback, which does as it should or one thing wrong.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a server may do wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nothing.
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

/// A server of one object or several, for as long as the program runs.
pub struct Server {
    fault: Fault,
    objects: Vec<(String, Vec<u8>)>,
    /// Whether there is another object now, for [`Fault::Changes`].
    pub changed: AtomicBool,
    /// Requests for bytes so far.
    pub requests: AtomicUsize,
}

impl Server {
    /// Starts one, and gives the URL of its object.
    ///
    /// # Panics
    /// Where no port can be had.
    pub fn start(fault: Fault, name: &str, object: &[u8]) -> (Arc<Server>, String) {
        let (server, root) = Server::of(fault, vec![(name.into(), object.to_vec())]);
        (server, root + name)
    }

    /// Starts one of these objects, and gives the URL before their names.
    ///
    /// # Panics
    /// Where no port can be had.
    pub fn of(fault: Fault, objects: Vec<(String, Vec<u8>)>) -> (Arc<Server>, String) {
        let (changed, requests) = (AtomicBool::new(false), AtomicUsize::new(0));
        let server = Arc::new(Server { fault, objects, changed, requests });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
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
        let named = |(name, _): &&(String, _)| request[0].contains(&format!(" /{name} "));
        let Some((_, object)) = self.objects.iter().find(named) else {
            return stream
                .write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .ok();
        };
        let all = object.len();
        if head {
            return write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {all}\r\n{common}\r\n").ok();
        }
        let range = request
            .iter()
            .find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(String::from));
        let Some(range) = range else {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {all}\r\n{common}\r\n").ok()?;
            return stream.write_all(object).ok();
        };
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
                return stream.write_all(object).ok();
            }
            _ => {}
        }
        let len = end - start;
        let bytes = &object[start..end];
        let of = format!("Content-Range: bytes {start}-{}/{all}\r\nContent-Length: {len}\r\n", end - 1);
        write!(stream, "HTTP/1.1 206 Part\r\n{of}{common}\r\n").ok()?;
        let sent = if self.fault == Fault::CutsShort { len - 1 } else { len };
        stream.write_all(&bytes[..sent]).ok()
    }
}
