//! The resource oracle: an allocator that remembers the peak and the sum, and the CPU's clock.
//!
//! A target may hold some memory ([`Bounds`]), some more per byte of input, and what it announced with
//! [`allow`] (the output limit it set). Two bounds hold super-linear work: all bytes ever allocated, which is
//! the same on every run, and the CPU time of this thread, which a loaded or a stopped machine lengthens
//! little. Where a source of bytes is read piecewise, [`Counted`] bounds the reads as well.

use blosc_frame::IoError;
use blosc_frame::io::ReadAt;
use blosc_testkit::memory::{Counting, Used, used};
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// What a target may use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Memory any input may use at one time.
    pub memory: usize,
    /// Memory per byte of input.
    pub memory_per_byte: usize,
    /// How often all of that memory may be allocated anew: a target decodes at several levels, in several ways.
    pub turns: usize,
    /// CPU time any input may take (under sanitizers).
    pub time: Duration,
    /// CPU time per byte of input.
    pub time_per_byte: Duration,
    /// CPU time per byte that was announced: output to write, tables to set up.
    pub time_per_allowed: Duration,
}

impl Bounds {
    /// Bounds of every target.
    pub const DEFAULT: Bounds = Bounds {
        memory: 8 << 20,
        memory_per_byte: 64,
        turns: 64,
        time: Duration::from_secs(2),
        time_per_byte: Duration::from_micros(2),
        time_per_allowed: Duration::from_nanos(100),
    };
}

thread_local! {
    static ALLOWED: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Announces that the target will use `bytes` more: the output limit it sets, a scratch buffer.
pub fn allow(bytes: usize) {
    ALLOWED.set(ALLOWED.get() + bytes);
}

/// CPU time of this thread so far.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// How much slower than a plain build this one may be: an emulator sets `BLOSC_EMULATED`.
fn patience() -> u32 {
    static FACTOR: OnceLock<u32> = OnceLock::new();
    *FACTOR.get_or_init(|| if std::env::var_os("BLOSC_EMULATED").is_some() { 20 } else { 1 })
}

/// Runs `target` on an input of `len` bytes and checks what it used.
///
/// # Panics
/// If it used more memory or time than its input warrants.
pub fn within(len: usize, target: impl FnOnce()) {
    within_bounds(&Bounds::DEFAULT, len, target);
}

/// Runs `target` within bounds of the caller's.
///
/// # Panics
/// If it used more.
pub fn within_bounds(bounds: &Bounds, len: usize, target: impl FnOnce()) {
    ALLOWED.set(0);
    let start = cpu_time();
    let (Used { peak: held, total: turned }, ()) = used(target);
    let took = cpu_time().saturating_sub(start);
    let bytes = bounds.memory + bounds.memory_per_byte * len + ALLOWED.get();
    assert!(held <= bytes, "{held} bytes of memory for an input of {len}; {bytes} allowed");
    assert!(turned / bounds.turns <= bytes, "{turned} bytes allocated in all for an input of {len}");
    let [size, allowed] = [len, ALLOWED.get()].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let time = bounds.time + bounds.time_per_byte * size + bounds.time_per_allowed * allowed;
    let time = time * patience();
    assert!(took <= time, "{took:?} of CPU time for an input of {len}; {time:?} allowed");
}

/// What was read from a [`Counted`] source.
#[derive(Default)]
pub struct Tally {
    reads: AtomicUsize,
    bytes: AtomicUsize,
}

/// A source that counts what is read from it, gives few bytes at a time, and never a slice.
pub struct Counted<'d> {
    /// The bytes.
    pub data: &'d [u8],
    /// How many are given at a time, at most.
    pub most: usize,
    /// Where reads are counted.
    pub tally: &'d Tally,
}

impl Counted<'_> {
    /// Fails if each byte was read more than `turns` times, or in more reads than that takes.
    ///
    /// # Panics
    /// As said.
    pub fn check(&self, turns: usize) {
        let Tally { reads, bytes } = self.tally;
        let (reads, bytes, len) = (reads.load(Relaxed), bytes.load(Relaxed), self.data.len());
        assert!(bytes <= turns * (len + 64), "{bytes} bytes read of {len}; {turns} times each allowed");
        let most = turns * (len / self.most + 8);
        assert!(reads <= most, "{reads} reads of {len} bytes by {}; {most} allowed", self.most);
    }
}

impl ReadAt for Counted<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.data.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = buf.len().min(self.most);
        let n = self.data.read_at(offset, &mut buf[..n])?;
        self.tally.reads.fetch_add(1, Relaxed);
        self.tally.bytes.fetch_add(n, Relaxed);
        Ok(n)
    }
}
