//! The resource oracle: an allocator that remembers the peak, and a clock.
//!
//! A target may use [`BASE`] bytes plus [`PER_BYTE`] per byte of input plus what it announced with
//! [`allow`] (the output limit it set). Time is bounded likewise, generously, so that only
//! super-linear behaviour trips it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Memory any input may use.
pub const BASE: usize = 8 << 20;
/// Memory per byte of input.
pub const PER_BYTE: usize = 64;
/// Time any input may take (under sanitizers, on a loaded machine).
const BASE_TIME: Duration = Duration::from_secs(5);
/// Time per byte of input or permitted output.
const TIME_PER_BYTE: Duration = Duration::from_nanos(2_000);

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static ALLOWED: Cell<usize> = const { Cell::new(0) };
}

/// Counts what each thread has allocated.
struct Counting;

// SAFETY: every call goes to the system allocator unchanged; the counters are thread-local cells, which
// allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(change: isize) {
    let _ = LIVE.try_with(|live| {
        let now = live.get().saturating_add_signed(change);
        live.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

/// Announces that the target will use `bytes` more: the output limit it sets, a scratch buffer.
pub fn allow(bytes: usize) {
    ALLOWED.set(ALLOWED.get() + bytes);
}

/// Runs `target` on an input of `len` bytes and checks what it used.
///
/// # Panics
/// If it used more memory or time than its input warrants.
pub fn within(len: usize, target: impl FnOnce()) {
    let before = LIVE.get();
    PEAK.set(before);
    ALLOWED.set(0);
    let start = Instant::now();
    target();
    let (used, took) = (PEAK.get() - before, start.elapsed());
    let bytes = BASE + PER_BYTE * len + ALLOWED.get();
    assert!(used <= bytes, "{used} bytes of memory for an input of {len}; {bytes} allowed");
    let time = BASE_TIME + TIME_PER_BYTE * u32::try_from(len + ALLOWED.get()).unwrap_or(u32::MAX);
    assert!(took <= time, "{took:?} for an input of {len}; {time:?} allowed");
}
