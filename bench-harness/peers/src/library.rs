//! Loading a shared library, and the return codes of the Blosc libraries.

use std::ffi::CStr;
use std::fmt;
use std::path::Path;

/// A library or one of its functions could not be found.
#[derive(Debug)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// What a Blosc function returned instead of a size: its own error code, 0 for "does not fit".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub i32);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error code {}", self.0)
    }
}

impl std::error::Error for Code {}

impl Code {
    /// INVALID_PARAM: what this wrapper returns when it refuses a call itself.
    pub const REFUSED: Code = Code(-12);

    /// `returned` as a size, if it is one of at most `most` bytes.
    pub(crate) fn size(returned: i32, most: usize) -> Result<usize, Code> {
        usize::try_from(returned).ok().filter(|&n| n <= most).ok_or(Code(returned))
    }
}

/// A length as the C interface wants it.
pub(crate) fn c_len(len: usize) -> Result<i32, Code> {
    i32::try_from(len).map_err(|_| Code::REFUSED)
}

/// Loads a library for as long as the process lives: threads that libblosc2 made may still be on their way
/// out of it when its last context is gone, and would return into nothing.
pub(crate) fn open(path: &Path) -> Result<&'static libloading::Library, LoadError> {
    // SAFETY: running the initialisers of a Blosc library has no effect on this program. That the file
    // is such a library is what the caller of this tool asserts by naming it.
    let library = unsafe { libloading::Library::new(path) };
    let library = library.map_err(|e| LoadError(format!("{}: {}", path.display(), why(&e))))?;
    Ok(Box::leak(Box::new(library)))
}

/// What the system's loader said, where it said anything.
fn why(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The function `name` as a value of type `F`.
///
/// # Safety
/// `F` must be the type that the library's header gives the function.
pub(crate) unsafe fn function<F: Copy>(
    library: &'static libloading::Library,
    name: &str,
) -> Result<F, LoadError> {
    // SAFETY: the caller vouches for the type.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol.map(|s| *s).map_err(|e| LoadError(format!("{name}: {}", why(&e))))
}

/// The text a library function returned.
///
/// # Safety
/// `text` must be null or a C string that lives at least until this returns.
pub(crate) unsafe fn text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a C string by the contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
