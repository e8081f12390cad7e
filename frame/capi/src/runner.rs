//! Threads: how many, by `blosc2_set_nthreads`, and the caller's own, by `blosc2_set_threads_callback`.

use blosc_core::Runner;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI16, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

pub static THREADS: AtomicI16 = AtomicI16::new(1);

/// Threads of functions without a context.
pub fn threads() -> i16 {
    THREADS.load(Relaxed)
}

type DoJob = unsafe extern "C" fn(*mut c_void);
/// Calls the function for each of so many structures of such a size, and returns when all calls have.
pub type ThreadsCallback = unsafe extern "C" fn(*mut c_void, DoJob, c_int, usize, *mut c_void);

#[derive(Clone, Copy)]
struct Callback(ThreadsCallback, *mut c_void);

// SAFETY: the interface has the function called with its data from whichever thread compresses.
unsafe impl Send for Callback {}

static CALLBACK: Mutex<Option<Callback>> = Mutex::new(None);

fn callback() -> Option<Callback> {
    *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn set(function: Option<ThreadsCallback>, data: *mut c_void) {
    let new = function.map(|function| Callback(function, data));
    *CALLBACK.lock().unwrap_or_else(PoisonError::into_inner) = new;
}

/// The caller's threads, if it has some.
pub fn current() -> Option<&'static dyn Runner> {
    callback().map(|_| &CallerThreads as &dyn Runner)
}

struct CallerThreads;

/// What the caller hands to [`do_job`].
struct Job<'a> {
    number: usize,
    job: &'a (dyn Fn(usize) + Sync),
}

unsafe extern "C" fn do_job(job: *mut c_void) {
    // SAFETY: the interface has it called with the address of one of the jobs, while `run` waits.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    (job.job)(job.number);
}

impl Runner for CallerThreads {
    fn run(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        // A callback that has been taken back meanwhile leaves all the work to the caller.
        let (Some(Callback(function, data)), Ok(count)) = (callback(), c_int::try_from(jobs)) else { return };
        let mut all: Vec<Job<'_>> = (0..jobs).map(|number| Job { number, job }).collect();
        // SAFETY: the caller's function, with the data that it came with, and `count` jobs of the size told. It returns
        // when all calls have ended, as the interface says.
        unsafe { function(data, do_job, count, size_of::<Job<'_>>(), all.as_mut_ptr().cast()) };
    }
}
