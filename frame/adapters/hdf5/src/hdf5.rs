//! The functions of HDF5 that are called, found in the process.
//!
//! Linking HDF5 would bind the plugin to one version of it, and h5py, PyTables and the system each bring their own. So the
//! functions are looked up in the libraries that are loaded already: first among the global names of the process, then in
//! each library whose file name has `hdf5` in it. Where several are loaded, the property list tells which of them called:
//! the one that finds this filter in it.

use blosc_frame::hdf5::Layout;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ffi::CString;

type Hid = i64;

/// `H5T_ARRAY`.
const CLASS_ARRAY: c_int = 10;
/// `H5E_DEFAULT`, the error stack of the thread.
const ERROR_STACK: Hid = 0;
/// Most numbers of a filter that are read.
const MOST_VALUES: usize = 64;
/// `H5S_MAX_RANK`.
const MOST_DIMENSIONS: usize = 32;

type GetFilter = unsafe extern "C" fn(
    Hid,
    c_int,
    *mut c_uint,
    *mut usize,
    *mut c_uint,
    usize,
    *mut c_char,
    *mut c_uint,
) -> c_int;
type ModifyFilter = unsafe extern "C" fn(Hid, c_int, c_uint, usize, *const c_uint) -> c_int;
type GetChunk = unsafe extern "C" fn(Hid, c_int, *mut u64) -> c_int;
type OfType = unsafe extern "C" fn(Hid) -> usize;
type ClassOf = unsafe extern "C" fn(Hid) -> c_int;
type SuperOf = unsafe extern "C" fn(Hid) -> Hid;
type Close = unsafe extern "C" fn(Hid) -> c_int;
type GetAuto = unsafe extern "C" fn(Hid, *mut *mut c_void, *mut *mut c_void) -> c_int;
type SetAuto = unsafe extern "C" fn(Hid, *mut c_void, *mut c_void) -> c_int;
type Push = unsafe extern "C" fn(
    Hid,
    *const c_char,
    *const c_char,
    c_uint,
    Hid,
    Hid,
    Hid,
    *const c_char,
    ...
) -> c_int;

/// The file that the code at `address` was loaded from.
pub fn path_of(address: *const c_void) -> Option<String> {
    // SAFETY: all-zero bytes are a value of this structure of pointers.
    let mut info: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: `dladdr` reads no memory at the address, and writes to `info` alone.
    let found = unsafe { libc::dladdr(address, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dladdr` gave the name of a loaded library, a C string that stays while the library, this one, is loaded.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}

/// A library that is loaded, kept loaded.
struct Handle(*mut c_void);

impl Drop for Handle {
    fn drop(&mut self) {
        if self.0 != libc::RTLD_DEFAULT {
            // SAFETY: a handle other than the default comes from `dlopen` in `candidates`, and is closed once.
            unsafe { libc::dlclose(self.0) };
        }
    }
}

impl Handle {
    /// A function or object by its name.
    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle is open as long as `self`, and the name is a C string.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
}

/// Names of loaded libraries that may be HDF5.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` passes a valid structure, and `names` is the vector of `candidates`.
    let (name, names) = unsafe { ((*info).dlpi_name, &mut *names.cast::<Vec<CString>>()) };
    if !name.is_null() {
        // SAFETY: the name of a loaded library is a C string, valid during this call.
        let name = unsafe { CStr::from_ptr(name) };
        let text = name.to_string_lossy();
        let file = text.rsplit('/').next().unwrap_or_default();
        if file.contains("hdf5") && !file.contains("hdf5_") {
            names.push(name.to_owned());
        }
    }
    0
}

/// Libraries that may be HDF5: the process as a whole first.
fn candidates() -> Vec<Handle> {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: `collect` has the type that is called, and `names` lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(collect), core::ptr::from_mut(&mut names).cast()) };
    let open = |name: CString| {
        // SAFETY: the name is a C string; `RTLD_NOLOAD` loads nothing, so no code of the library runs here.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        (!handle.is_null()).then_some(Handle(handle))
    };
    core::iter::once(Handle(libc::RTLD_DEFAULT)).chain(names.into_iter().filter_map(open)).collect()
}

/// The functions of the HDF5 that called.
pub struct Library {
    get_filter: GetFilter,
    modify_filter: ModifyFilter,
    get_chunk: GetChunk,
    get_size: OfType,
    get_class: ClassOf,
    get_super: SuperOf,
    close: Close,
    /// Keeps the functions in memory.
    handle: Handle,
}

impl Library {
    fn of(handle: Handle) -> Option<Library> {
        let find = |name: &CStr| handle.symbol(name);
        // SAFETY: these are functions of HDF5's public interface, with the types that its headers have had since 1.10:
        // an identifier is an `int64_t`.
        unsafe {
            Some(Library {
                get_filter: core::mem::transmute::<*mut c_void, GetFilter>(find(c"H5Pget_filter_by_id2")?),
                modify_filter: core::mem::transmute::<*mut c_void, ModifyFilter>(find(c"H5Pmodify_filter")?),
                get_chunk: core::mem::transmute::<*mut c_void, GetChunk>(find(c"H5Pget_chunk")?),
                get_size: core::mem::transmute::<*mut c_void, OfType>(find(c"H5Tget_size")?),
                get_class: core::mem::transmute::<*mut c_void, ClassOf>(find(c"H5Tget_class")?),
                get_super: core::mem::transmute::<*mut c_void, SuperOf>(find(c"H5Tget_super")?),
                close: core::mem::transmute::<*mut c_void, Close>(find(c"H5Tclose")?),
                handle,
            })
        }
    }

    /// The HDF5 whose property list `dcpl` is, with the flags and numbers that it has for filter `id`.
    pub fn of_property_list(dcpl: Hid, id: c_int) -> Result<(Library, c_uint, Vec<u32>), String> {
        for library in candidates().into_iter().filter_map(Library::of) {
            if let Some((flags, values)) = library.quietly(|| library.filter(dcpl, id)) {
                return Ok((library, flags, values));
            }
        }
        Err("the functions of HDF5 were not found in this process".into())
    }

    /// Runs `work` without what HDF5 prints of errors: the list may be that of another library.
    fn quietly<T>(&self, work: impl FnOnce() -> T) -> T {
        let (get, set) = (self.handle.symbol(c"H5Eget_auto2"), self.handle.symbol(c"H5Eset_auto2"));
        let (Some(get), Some(set)) = (get, set) else { return work() };
        let (mut function, mut data) = (core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: both are functions of HDF5's public interface with these types; what the first writes, the second
        // takes back, and null pointers turn printing off.
        unsafe {
            let get = core::mem::transmute::<*mut c_void, GetAuto>(get);
            let set = core::mem::transmute::<*mut c_void, SetAuto>(set);
            get(ERROR_STACK, &mut function, &mut data);
            set(ERROR_STACK, core::ptr::null_mut(), core::ptr::null_mut());
            let result = work();
            set(ERROR_STACK, function, data);
            result
        }
    }

    fn filter(&self, dcpl: Hid, id: c_int) -> Option<(c_uint, Vec<u32>)> {
        let (mut flags, mut count, mut values) = (0, MOST_VALUES, vec![0; MOST_VALUES]);
        let (name, config) = (core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: `values` has room for `count` numbers, the name has room for 0 bytes, and null is allowed for both
        // the name and what is known of the filter.
        let status = unsafe {
            (self.get_filter)(dcpl, id, &mut flags, &mut count, values.as_mut_ptr(), 0, name, config)
        };
        values.truncate(count);
        (status >= 0).then_some((flags, values))
    }

    /// Sets the numbers of filter `id`.
    pub fn modify(&self, dcpl: Hid, id: c_int, flags: c_uint, values: &[u32]) -> Result<(), String> {
        // SAFETY: `values` holds `values.len()` numbers, which is what the call is told.
        let status = unsafe { (self.modify_filter)(dcpl, id, flags, values.len(), values.as_ptr()) };
        if status < 0 { Err("HDF5 did not take the numbers of the filter".into()) } else { Ok(()) }
    }

    /// Item size and chunks of a dataset with items of type `item`.
    pub fn layout(&self, dcpl: Hid, item: Hid) -> Result<Layout, String> {
        let mut shape = vec![0; MOST_DIMENSIONS];
        // SAFETY: `shape` has room for 32 dimensions, which is the most that HDF5 has.
        let rank = unsafe { (self.get_chunk)(dcpl, MOST_DIMENSIONS as c_int, shape.as_mut_ptr()) };
        shape.truncate(usize::try_from(rank).map_err(|_| "the dataset has no chunks")?);
        let size = self.size(item)?;
        let chunk = shape.iter().fold(size, |n, &side| n.saturating_mul(side));
        if chunk > i32::MAX as u64 {
            return Err(format!("a chunk of {chunk} bytes; Blosc takes less than 2 GiB"));
        }
        // SAFETY: `H5Tget_class` takes any identifier and answers with a negative number for one that is no type.
        let array = unsafe { (self.get_class)(item) } == CLASS_ARRAY;
        Ok(Layout { item: if array { self.size_of_super(item)? } else { size }, chunk, shape })
    }

    fn size(&self, item: Hid) -> Result<u64, String> {
        // SAFETY: `H5Tget_size` takes any identifier and answers with 0 for one that is no type.
        match unsafe { (self.get_size)(item) } {
            0 => Err("the item type has no size".into()),
            size => Ok(size as u64),
        }
    }

    /// The size of what an array type is an array of.
    fn size_of_super(&self, item: Hid) -> Result<u64, String> {
        // SAFETY: `H5Tget_super` takes any identifier and answers with a negative number for one that is no type.
        let base = unsafe { (self.get_super)(item) };
        if base < 0 {
            return Err("the array type has no item type".into());
        }
        let size = self.size(base);
        // SAFETY: `base` is an identifier that was opened above, and is closed once.
        unsafe { (self.close)(base) };
        size
    }
}

/// Puts `why` on the error stack of HDF5, where its functions are found.
pub fn report(filter: &CStr, why: &str) {
    let Ok(why) = CString::new(why) else { return };
    for handle in candidates() {
        let [push, class, major, minor] =
            [c"H5Epush2", c"H5E_ERR_CLS_g", c"H5E_PLINE_g", c"H5E_CANTFILTER_g"]
                .map(|name| handle.symbol(name));
        let (Some(push), Some(class), Some(major), Some(minor)) = (push, class, major, minor) else {
            continue;
        };
        // SAFETY: `H5Epush2` is a function of HDF5's public interface with this type, the three others are identifiers
        // of it (`hid_t`); the format takes one C string, and all strings are valid during the call.
        unsafe {
            let push = core::mem::transmute::<*mut c_void, Push>(push);
            let (class, major, minor) = (*class.cast::<Hid>(), *major.cast::<Hid>(), *minor.cast::<Hid>());
            let file = c"blosc-hdf5";
            push(
                ERROR_STACK,
                file.as_ptr(),
                filter.as_ptr(),
                0,
                class,
                major,
                minor,
                c"%s".as_ptr(),
                why.as_ptr(),
            );
        }
    }
}
