//! An HDF5 filter plugin: filters 32001 (Blosc) and 32026 (Blosc2).
//!
//! ```text
//! blosc1.rs   filter 32001: a stored chunk is a Blosc1 chunk
//! blosc2.rs   filter 32026: a stored chunk is a Blosc2 frame of one chunk, of a b2nd array where it has dimensions
//! memory.rs   buffers that HDF5 frees
//! hdf5.rs     the few functions of HDF5 that are called, found in the process: nothing is linked
//! lib.rs      what HDF5 calls
//! ```
//! A plugin library has one filter. So this one is installed as two copies, and each is the filter that its own file name
//! says: one whose name has `blosc2` in it is 32026, any other 32001.

mod blosc1;
mod blosc2;
mod hdf5;
mod memory;

use blosc_frame::hdf5::{BLOSC, BLOSC2, CdValues, new_blosc1, new_blosc2};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use memory::CBuffer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// `H5Z_FLAG_REVERSE`: decode.
const REVERSE: c_uint = 0x0100;
/// `H5PL_TYPE_FILTER`.
const TYPE_FILTER: c_int = 0;
/// `H5Z_CLASS_T_VERS`.
const CLASS_VERSION: c_int = 1;

/// An identifier of HDF5 1.10 and later.
type Hid = i64;
type SetLocal = unsafe extern "C" fn(Hid, Hid, Hid) -> c_int;
type Filter =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// `H5Z_class2_t`.
#[repr(C)]
struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: *const c_void,
    set_local: Option<SetLocal>,
    filter: Option<Filter>,
}

// SAFETY: the name is a literal and `can_apply` is null; nothing that the pointers lead to is ever written.
unsafe impl Sync for Class {}
// SAFETY: `Class` holds no data of the thread that made it: its pointers lead to statics, or are null.
unsafe impl Send for Class {}

/// Which filter this copy of the library is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Blosc1,
    Blosc2,
}

impl Which {
    fn id(self) -> c_int {
        match self {
            Which::Blosc1 => BLOSC.into(),
            Which::Blosc2 => BLOSC2.into(),
        }
    }

    fn name(self) -> &'static CStr {
        match self {
            Which::Blosc1 => c"blosc",
            Which::Blosc2 => c"blosc2",
        }
    }

    /// As the name of the file that this code was loaded from says.
    fn this() -> Which {
        static THIS: OnceLock<Which> = OnceLock::new();
        *THIS.get_or_init(|| {
            let path = hdf5::path_of(H5PLget_plugin_info as *const c_void).unwrap_or_default();
            let file = path.rsplit('/').next().unwrap_or_default();
            if file.contains("blosc2") { Which::Blosc2 } else { Which::Blosc1 }
        })
    }
}

/// The kind of this plugin: a filter.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    TYPE_FILTER
}

/// The filter's `H5Z_class2_t`.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    static CLASS: OnceLock<Class> = OnceLock::new();
    let class = catch_unwind(|| {
        let which = Which::this();
        CLASS.get_or_init(|| Class {
            version: CLASS_VERSION,
            id: which.id(),
            encoder_present: 1,
            decoder_present: 1,
            name: which.name().as_ptr(),
            can_apply: core::ptr::null(),
            set_local: Some(set_local),
            filter: Some(filter),
        })
    });
    class.map_or(core::ptr::null(), |class| core::ptr::from_ref(class).cast())
}

/// Called when a dataset is made: adds item size and chunk size to the numbers that the user gave.
unsafe extern "C" fn set_local(dcpl: Hid, item: Hid, _space: Hid) -> c_int {
    let which = Which::this();
    let done = catch_unwind(|| {
        let (library, flags, given) = hdf5::Library::of_property_list(dcpl, which.id())?;
        let layout = library.layout(dcpl, item)?;
        let values = match which {
            Which::Blosc1 => new_blosc1(&given, &layout),
            Which::Blosc2 => new_blosc2(&given, &layout),
        };
        // Most programs make filters optional. Then HDF5 would store plain chunks where the encoder refuses the numbers.
        let checked = CdValues(&values);
        match which {
            Which::Blosc1 => blosc1::params(checked)?,
            Which::Blosc2 => blosc2::params(checked, checked.sizes().1)?,
        };
        library.modify(dcpl, which.id(), flags, &values)
    });
    match done {
        Ok(Ok(())) => 0,
        Ok(Err(why)) => {
            hdf5::report(which.name(), &why);
            -1
        }
        Err(_) => -1,
    }
}

/// Encodes or decodes one chunk; replaces the buffer and returns the new length, or 0.
///
/// # Safety
/// The contract of `H5Z_func_t`: `values` holds `count` numbers, `*buffer` was allocated by `malloc` and holds `nbytes`
/// bytes, and no other thread uses these or `*size` during the call.
unsafe extern "C" fn filter(
    flags: c_uint,
    count: usize,
    values: *const c_uint,
    nbytes: usize,
    size: *mut usize,
    buffer: *mut *mut c_void,
) -> usize {
    let which = Which::this();
    if size.is_null() || buffer.is_null() {
        return 0;
    }
    // SAFETY: `buffer` is not null, and by the contract of the call it points to a pointer that may be read.
    let old = unsafe { *buffer };
    if (values.is_null() && count > 0) || (old.is_null() && nbytes > 0) {
        return 0;
    }
    let (values, data) = match (count, nbytes) {
        (_, 0) => return 0,
        // SAFETY: `old` is not null and holds `nbytes` bytes by the contract of the call.
        (0, _) => (&[][..], unsafe { core::slice::from_raw_parts(old.cast::<u8>(), nbytes) }),
        // SAFETY: neither `old` nor `values` is null (compared above); by the contract of the call they hold `nbytes` bytes
        // and `count` numbers.
        _ => unsafe {
            (
                core::slice::from_raw_parts(values, count),
                core::slice::from_raw_parts(old.cast::<u8>(), nbytes),
            )
        },
    };
    let done = catch_unwind(AssertUnwindSafe(|| run(which, flags & REVERSE != 0, CdValues(values), data)));
    match done {
        Ok(Ok(new)) => {
            let (start, len) = new.into_raw();
            // SAFETY: `size` and `buffer` are not null and may be written by the contract of the call; the old buffer
            // came from `malloc`, and the slice of it that `data` was is not used any more.
            unsafe {
                libc::free(old);
                *buffer = start.cast();
                *size = len;
            }
            len
        }
        Ok(Err(why)) => {
            hdf5::report(which.name(), &why);
            0
        }
        Err(_) => 0,
    }
}

fn run(which: Which, decode: bool, values: CdValues<'_>, data: &[u8]) -> Result<CBuffer, String> {
    match (which, decode) {
        (Which::Blosc1, true) => blosc1::decode(values, data),
        (Which::Blosc1, false) => blosc1::encode(values, data),
        (Which::Blosc2, true) => blosc2::decode(values, data),
        (Which::Blosc2, false) => blosc2::encode(values, data),
    }
}
