//! An allocator that counts what each thread holds, and has held at most.
//!
//! ```text
//! #[global_allocator]
//! static ALLOCATOR: blosc_testkit::memory::Counting = blosc_testkit::memory::Counting;
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static TOTAL: Cell<usize> = const { Cell::new(0) };
    static FILL: Cell<Option<u8>> = const { Cell::new(None) };
}

/// The system's allocator, which also counts. A program that wants the figures of [`used`] makes it its global one.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

// SAFETY: every call goes to the system's allocator unchanged, so its guarantees hold; the counters are thread-local cells with
// constant initialisers, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: `layout` is not of size 0, which this function requires of its caller as `System.alloc` does.
        let memory = unsafe { System.alloc(layout) };
        if let Some(fill) = FILL.try_with(Cell::get).ok().flatten().filter(|_| !memory.is_null()) {
            // SAFETY: the line above has checked that `memory` is what was allocated, `layout.size()` bytes.
            unsafe { memory.write_bytes(fill, layout.size()) };
        }
        memory
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: `ptr` came from `System` with this layout, since every function here hands out memory of `System`.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: as in `alloc`, `layout` is not of size 0.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size as isize - layout.size() as isize);
        // SAFETY: `ptr` came from `System` with this layout, and `new_size` is not 0, which this function requires too.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

fn note(change: isize) {
    // Memory is also given back while a thread ends, when its cells are gone.
    let _ = HELD.try_with(|held| {
        let now = held.get().saturating_add_signed(change);
        held.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
    let _ = TOTAL.try_with(|total| total.set(total.get().saturating_add_signed(change.max(0))));
}

/// What a piece of work used, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// The most it held at one time, beyond what this thread held before.
    pub peak: usize,
    /// The sum of all it allocated.
    pub total: usize,
}

/// Runs `work` and says what this thread allocated meanwhile: nothing, unless [`Counting`] is the global allocator.
pub fn used<R>(work: impl FnOnce() -> R) -> (Used, R) {
    let (before, total) = (HELD.get(), TOTAL.get());
    PEAK.set(before);
    let result = work();
    (Used { peak: PEAK.get().saturating_sub(before), total: TOTAL.get() - total }, result)
}

/// Runs `work` with `fill` in all memory that this thread allocates meanwhile, but for what is asked for as zeros or grows: bytes
/// that are read before they are written then differ from those under another `fill`. Needs [`Counting`], as [`used`] does.
pub fn filled<R>(fill: u8, work: impl FnOnce() -> R) -> R {
    let before = FILL.replace(Some(fill));
    let result = work();
    FILL.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn new_memory_is_filled() {
        for fill in [0x00, 0xFF, 0x5A] {
            let memory = filled(fill, || vec![std::mem::MaybeUninit::<u8>::uninit(); 100]);
            // SAFETY: the allocator has written these bytes, on the line above.
            assert!(memory.iter().all(|byte| unsafe { byte.assume_init() } == fill));
        }
    }

    #[test]
    fn peak_and_total() {
        let (used, _) = used(|| {
            drop(std::hint::black_box(vec![1u8; 1000]));
            std::hint::black_box(vec![1u8; 500]).len()
        });
        assert_eq!(used, Used { peak: 1000, total: 1500 });
    }
}
