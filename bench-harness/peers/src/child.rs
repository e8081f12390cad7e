//! libblosc2 in a process of its own, for input that may crash it: then the crash is an answer.
//!
//! ```text
//! request   op u8 | arguments                                    answer   status i32 | n u32 | n bytes
//! 0 decode  room u32 | n u32 | chunk of n bytes                  decoded bytes; status 1: some were not written,
//!                                                                 then decoded over zeros and again over ones
//! 1 encode  parameters, 29 bytes | n u32 | data of n bytes       chunk
//! ```
//! All integers are little-endian. Status 0 and 1 are successes, anything else is the library's error code.
//! The program is `blosc-oracle` of this package; it ends when its input does.

use crate::{CParams, Code, Libblosc2, blosc2::OVERHEAD};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Most bytes of a request or an answer.
const MOST: u32 = 64 << 20;
/// How long one call may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(120);
/// Exit status after a hang.
const HUNG: i32 = 99;
/// Status of a decode that left bytes of its destination as they were.
const UNWRITTEN: i32 = 1;

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bytes.
    Done(Vec<u8>),
    /// A success that left bytes of its destination as they were.
    Gaps {
        /// What stood there afterwards, if it held zeros before.
        zeros: Vec<u8>,
        /// What stood there if it held ones before: where the two differ, nothing was written.
        ones: Vec<u8>,
    },
    /// The library refused.
    Refused(Code),
    /// The process died, or hung and was ended.
    Crashed(String),
}

/// The other process; started anew after a crash.
pub struct Remote {
    program: PathBuf,
    running: Option<(Child, ChildStdin, ChildStdout)>,
}

impl Remote {
    /// A process of this program, `blosc-oracle`, which inherits `BLOSC_LIBBLOSC2`.
    pub fn new(program: impl AsRef<Path>) -> Remote {
        Remote { program: program.as_ref().into(), running: None }
    }

    /// The program that `BLOSC_ORACLE` names, if that and `BLOSC_LIBBLOSC2` are set.
    pub fn from_env() -> Option<Remote> {
        std::env::var_os("BLOSC_LIBBLOSC2")?;
        std::env::var_os("BLOSC_ORACLE").map(|program| Remote::new(PathBuf::from(program)))
    }

    /// Decodes a chunk to at most `room` bytes.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn decode(&mut self, chunk: &[u8], room: u32) -> io::Result<Answer> {
        let mut request = vec![0];
        request.extend(room.to_le_bytes());
        request.extend((chunk.len() as u32).to_le_bytes());
        request.extend_from_slice(chunk);
        self.ask(&request)
    }

    /// Compresses `data`.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn encode(&mut self, params: &CParams, data: &[u8]) -> io::Result<Answer> {
        let mut request = vec![1];
        request.extend(pack(params));
        request.extend((data.len() as u32).to_le_bytes());
        request.extend_from_slice(data);
        self.ask(&request)
    }

    /// Ends the process; the next call starts a new one, which has read nothing yet.
    pub fn restart(&mut self) {
        if let Some((mut child, to, from)) = self.running.take() {
            drop((to, from));
            let _ = child.wait();
        }
    }

    fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        if self.running.is_none() {
            let mut child = Command::new(&self.program)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            self.running = Some((child, to, from));
        }
        let Some((mut child, mut to, mut from)) = self.running.take() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut exchange = || -> io::Result<(i32, Vec<u8>)> {
            to.write_all(request)?;
            to.flush()?;
            let status = word(&mut from)? as i32;
            Ok((status, block(&mut from)?))
        };
        match exchange() {
            Ok((status, bytes)) => {
                self.running = Some((child, to, from));
                Ok(match status {
                    0 => Answer::Done(bytes),
                    UNWRITTEN => {
                        let (zeros, ones) = bytes.split_at(bytes.len() / 2);
                        Answer::Gaps { zeros: zeros.into(), ones: ones.into() }
                    }
                    code => Answer::Refused(Code(code)),
                })
            }
            Err(_) => {
                drop((to, from));
                Ok(Answer::Crashed(how(child.wait()?)))
            }
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.restart();
    }
}

fn how(status: ExitStatus) -> String {
    if status.code() == Some(HUNG) { "hung".into() } else { status.to_string() }
}

fn word(from: &mut impl Read) -> io::Result<u32> {
    let mut word = [0; 4];
    from.read_exact(&mut word)?;
    Ok(u32::from_le_bytes(word))
}

fn block(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let len = word(from)?;
    if len > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

const PACKED: usize = 29;

fn pack(p: &CParams) -> [u8; PACKED] {
    let mut out = [0; PACKED];
    out[..4].copy_from_slice(&[p.codec, p.codec_meta, p.clevel, u8::from(p.use_dict)]);
    out[4..8].copy_from_slice(&p.typesize.to_le_bytes());
    out[8..12].copy_from_slice(&p.blocksize.to_le_bytes());
    out[12..16].copy_from_slice(&p.splitmode.to_le_bytes());
    out[16..22].copy_from_slice(&p.filters);
    out[22..28].copy_from_slice(&p.filters_meta);
    out[28] = p.nthreads.clamp(1, 4) as u8;
    out
}

fn unpack(b: &[u8; PACKED]) -> CParams {
    let int = |at: usize| i32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
    let six = |at: usize| std::array::from_fn(|i| b[at + i]);
    CParams {
        codec: b[0],
        codec_meta: b[1],
        clevel: b[2],
        use_dict: b[3] != 0,
        typesize: int(4),
        blocksize: int(8),
        splitmode: int(12),
        filters: six(16),
        filters_meta: six(22),
        nthreads: i16::from(b[28]),
    }
}

/// Answers requests until the input ends: what `blosc-oracle` does.
///
/// # Errors
/// A request that is cut off or too large, an output that is closed.
pub fn serve(lib: &Libblosc2, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let calls = watchdog();
    loop {
        let mut op = [0];
        if from.read(&mut op)? == 0 {
            return Ok(());
        }
        let result = match op {
            [0] => {
                let room = word(&mut from)?.min(MOST) as usize;
                let chunk = block(&mut from)?;
                calls.fetch_add(1, Relaxed);
                decode(lib, &chunk, room)
            }
            _ => {
                let mut packed = [0; PACKED];
                from.read_exact(&mut packed)?;
                let data = block(&mut from)?;
                calls.fetch_add(1, Relaxed);
                encode(lib, &unpack(&packed), &data).map(|chunk| (0, chunk))
            }
        };
        calls.fetch_add(1, Relaxed);
        let (status, bytes) = result.unwrap_or_else(|code| (if code.0 == 0 { -1 } else { code.0 }, vec![]));
        to.write_all(&status.to_le_bytes())?;
        to.write_all(&(bytes.len() as u32).to_le_bytes())?;
        to.write_all(&bytes)?;
        to.flush()?;
    }
}

/// Ends the process when a call takes too long. The count is odd inside a call.
fn watchdog() -> &'static AtomicU64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    std::thread::spawn(|| {
        let (mut last, mut since) = (0, Duration::ZERO);
        let tick = Duration::from_secs(1);
        loop {
            // Ticks are counted, not the clock: a stopped process does not age.
            std::thread::sleep(tick);
            let now = CALLS.load(Relaxed);
            since = if now == last && now % 2 == 1 { since + tick } else { Duration::ZERO };
            last = now;
            if since > PATIENCE {
                std::process::exit(HUNG);
            }
        }
    });
    &CALLS
}

/// Decodes over two patterns, to see whether the library wrote all of what it says it did. Each time in a new
/// context: an old one remembers some of the chunk before.
fn decode(lib: &Libblosc2, chunk: &[u8], room: usize) -> Result<(i32, Vec<u8>), Code> {
    let (mut one, mut two) = (vec![0x00; room], vec![0xff; room]);
    let n = lib.decompressor(1)?.decompress(chunk, &mut one)?;
    one.truncate(n);
    let again = lib.decompressor(1)?.decompress(chunk, &mut two)?;
    two.truncate(again);
    if one == two {
        return Ok((0, one));
    }
    one.resize(n.max(again), 0);
    two.resize(n.max(again), 0);
    one.append(&mut two);
    Ok((UNWRITTEN, one))
}

fn encode(lib: &Libblosc2, params: &CParams, data: &[u8]) -> Result<Vec<u8>, Code> {
    let mut chunk = vec![0; data.len() + OVERHEAD];
    let len = lib.compressor(params)?.compress(data, &mut chunk)?;
    chunk.truncate(len);
    Ok(chunk)
}
