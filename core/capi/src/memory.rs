//! From pointers and lengths to slices, and where scratch memory comes from.

use crate::status::Status;
use blosc_core::{Isa, Level};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

/// Returns `len` bytes of any alignment, or null. They are zeroed here before they are used.
pub type Allocate = unsafe extern "C" fn(user: *mut c_void, len: usize) -> *mut c_void;
/// Takes back what [`Allocate`] returned, with the same length.
pub type Release = unsafe extern "C" fn(user: *mut c_void, ptr: *mut c_void, len: usize);

/// Where scratch memory comes from, and what may run: `blosc_core_env`.
#[repr(C)]
pub struct Env {
    /// Scratch of the caller, with whatever values were written to it before; used where it is large enough.
    pub work: *mut c_void,
    /// Bytes at `work`.
    pub work_len: usize,
    /// Asked once per call where `work` is too small; may be null.
    pub alloc: Option<Allocate>,
    /// The inverse of `alloc`.
    pub free: Option<Release>,
    /// Handed to both.
    pub user: *mut c_void,
    /// [`Env::SCALAR`], [`Env::HOST_CODECS`].
    pub flags: u32,
}

impl Env {
    /// Never touch a vector register.
    pub const SCALAR: u32 = 1;
    /// Let zstd and zlib use the contexts of the host's libraries, which come from the process's heap. Needed to
    /// compress with them; decoding is faster with them.
    pub const HOST_CODECS: u32 = 2;

    /// The level that `flags` allow.
    pub(crate) fn level(env: Option<&Env>) -> Level {
        let scalar = env.is_some_and(|e| e.flags & Env::SCALAR != 0);
        if scalar { Level::new(Isa::Scalar).unwrap_or(Level::SCALAR) } else { Level::best() }
    }

    /// Whether contexts from the process's heap may be made; without an `Env` they may.
    pub(crate) fn host_codecs(env: Option<&Env>) -> bool {
        cfg!(feature = "std") && env.is_none_or(|e| e.flags & Env::HOST_CODECS != 0)
    }
}

/// The bytes at `ptr`, which may be null if there are none.
///
/// # Safety
/// `len` bytes at `ptr` are readable and stay unchanged for `'a`.
pub(crate) unsafe fn bytes<'a>(ptr: *const c_void, len: usize) -> Result<&'a [u8], Status> {
    match NonNull::new(ptr.cast_mut().cast::<u8>()) {
        _ if len == 0 => Ok(&[]),
        _ if isize::try_from(len).is_err() => Err(Status::Param),
        None => Err(Status::Null),
        // SAFETY: not null, a possible length, readable as the caller promises.
        Some(ptr) => Ok(unsafe { slice::from_raw_parts(ptr.as_ptr(), len) }),
    }
}

/// The writable bytes at `ptr`, initialised or not.
///
/// # Safety
/// `len` bytes at `ptr` are writable and nobody else's for `'a`.
pub(crate) unsafe fn room<'a>(ptr: *mut c_void, len: usize) -> Result<&'a mut [MaybeUninit<u8>], Status> {
    match NonNull::new(ptr.cast::<MaybeUninit<u8>>()) {
        _ if len == 0 => Ok(&mut []),
        _ if isize::try_from(len).is_err() => Err(Status::Param),
        None => Err(Status::Null),
        // SAFETY: not null, a possible length, writable as the caller promises.
        Some(ptr) => Ok(unsafe { slice::from_raw_parts_mut(ptr.as_ptr(), len) }),
    }
}

/// The writable bytes at `ptr`, every one written before by its owner, which the library may also read.
///
/// # Safety
/// As [`room`], and the bytes are initialised.
pub(crate) unsafe fn filled<'a>(ptr: *mut c_void, len: usize) -> Result<&'a mut [u8], Status> {
    // SAFETY: as the caller promises.
    let room = unsafe { room(ptr, len) }?;
    // SAFETY: initialised, as the caller promises; the borrow is handed on.
    Ok(unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), room.len()) })
}

/// [`filled`] with zeros here, as C hands over memory that was perhaps never written.
///
/// # Safety
/// As [`room`].
pub(crate) unsafe fn zeroed<'a>(ptr: *mut c_void, len: usize) -> Result<&'a mut [u8], Status> {
    // SAFETY: as the caller promises.
    unsafe { room(ptr, len) }?.fill(MaybeUninit::new(0));
    // SAFETY: as the caller promises, and every byte was just written.
    unsafe { filled(ptr, len) }
}

/// Fails if two of the regions share a byte. A C program that passes one buffer twice gets an error, not
/// undefined behaviour.
pub(crate) fn apart(regions: &[(*const c_void, usize)]) -> Result<(), Status> {
    for (k, &(a, a_len)) in regions.iter().enumerate() {
        for &(b, b_len) in regions.iter().skip(k + 1) {
            let (a, b) = (a.addr(), b.addr());
            if a_len > 0 && b_len > 0 && a < b.saturating_add(b_len) && b < a.saturating_add(a_len) {
                return Err(Status::Overlap);
            }
        }
    }
    Ok(())
}

/// Runs `body` with `needed` bytes of scratch: the caller's, or his allocator's, or, without an `Env` on a host,
/// the heap's. `others` are the buffers of the call, which the caller's scratch must not overlap.
///
/// # Safety
/// What `env` says is true: `work` is writable and nobody else's, `alloc` and `free` keep their contracts.
pub(crate) unsafe fn with_work<T>(
    env: Option<&Env>,
    needed: usize,
    others: [(*const c_void, usize); 2],
    body: impl FnOnce(&mut [u8]) -> Result<T, Status>,
) -> Result<T, Status> {
    let [first, second] = others;
    let Some(env) = env else {
        apart(&[first, second])?;
        #[cfg(feature = "std")]
        return body(&mut std::vec![0; needed]);
        #[cfg(not(feature = "std"))]
        return if needed == 0 { body(&mut []) } else { Err(Status::Work) };
    };
    if needed <= env.work_len {
        apart(&[first, second, (env.work, needed)])?;
        // SAFETY: the caller's scratch, initialised as `Env` asks, apart from everything else.
        return body(unsafe { filled(env.work, needed) }?);
    }
    apart(&[first, second])?;
    let (Some(alloc), Some(free)) = (env.alloc, env.free) else { return Err(Status::Work) };
    // SAFETY: as its contract says.
    let ptr = unsafe { alloc(env.user, needed) };
    if ptr.is_null() {
        return Err(Status::Memory);
    }
    /// Gives the memory back, also when `body` panics.
    struct Held<'e>(&'e Env, Release, *mut c_void, usize);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            // SAFETY: what `alloc` returned, with its length, once.
            unsafe { (self.1)(self.0.user, self.2, self.3) };
        }
    }
    let held = Held(env, free, ptr, needed);
    // SAFETY: fresh memory of the allocator, `needed` bytes.
    body(unsafe { zeroed(held.2, needed) }?)
}
