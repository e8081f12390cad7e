//! Codecs and filters that the caller registers by function pointers.

use crate::abi::{Backward, MAX_FILTERS};
use crate::abi::{CParams, Codec, DParams, Decoder, Encoder, Filter, Forward};
use crate::error::{
    CODEC_PARAM, Code, DATA, FAILURE, FILTER_PIPELINE, NULL_POINTER, Result, TUNER, WRITE_BUFFER, int,
};
use crate::memory::text;
use blosc_core::chunk::plugin::{UserCodec, UserFilter};
use blosc_core::error::CodecError;
use blosc_core::error::CodecErrorKind;
use blosc_core::filter::FilterError;
use core::ffi::{CStr, c_int, c_void};
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The first id that callers may register; those below are the library's.
pub const FIRST_ID: u8 = 160;

#[derive(Clone)]
pub struct Registered {
    id: u8,
    /// What callers are given: never freed, as a codec stays registered.
    name: &'static CStr,
    library: u8,
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
}

#[derive(Clone, Copy)]
struct RegisteredFilter {
    id: u8,
    forward: Option<Forward>,
    backward: Option<Backward>,
}

/// Id of a codec that stands for a bug in this library: it panics.
#[cfg(test)]
pub const PANICS: u8 = 251;

static CODECS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());
static FILTERS: Mutex<Vec<RegisteredFilter>> = Mutex::new(Vec::new());

fn codecs() -> Vec<Registered> {
    CODECS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Name of the registered codec `id`.
pub fn name_of(id: u8) -> Option<&'static CStr> {
    codecs().into_iter().find(|codec| codec.id == id).map(|codec| codec.name)
}

/// The number that the caller gave to the library of the registered codec `id`.
pub fn library_of(id: u8) -> Option<u8> {
    codecs().into_iter().find(|codec| codec.id == id).map(|codec| codec.library)
}

/// Id of the registered codec `name`.
pub fn id_of(name: &str) -> Option<u8> {
    codecs().into_iter().find(|codec| codec.name.to_bytes() == name.as_bytes()).map(|codec| codec.id)
}

/// Registers a codec under an id of 160 or more.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_codec(codec: *const Codec) -> c_int {
    int(|| {
        // SAFETY: the caller passes null or a valid structure.
        let codec = unsafe { codec.as_ref() }.ok_or(NULL_POINTER)?;
        if codec.compcode < FIRST_ID {
            return Err(CODEC_PARAM);
        }
        // SAFETY: the name is a string, as the interface says.
        let name = CString::new(unsafe { text(codec.compname) }?).map_err(|_| FAILURE)?;
        let mut list = CODECS.lock().map_err(|_| FAILURE)?;
        match list.iter().find(|old| old.id == codec.compcode) {
            // To register a codec again is no error, to register another one under its id is.
            Some(old) if old.name != name.as_c_str() => return Err(CODEC_PARAM),
            Some(_) => {}
            None => list.push(Registered {
                id: codec.compcode,
                name: Box::leak(name.into_boxed_c_str()),
                library: codec.complib,
                encoder: codec.encoder,
                decoder: codec.decoder,
            }),
        }
        Ok(0)
    })
}

/// Registers a filter under an id of 160 or more.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_filter(filter: *const Filter) -> c_int {
    int(|| {
        // SAFETY: the caller passes null or a valid structure.
        let filter = unsafe { filter.as_ref() }.ok_or(NULL_POINTER)?;
        if filter.id < FIRST_ID {
            return Err(FILTER_PIPELINE);
        }
        let new = RegisteredFilter { id: filter.id, forward: filter.forward, backward: filter.backward };
        let mut list = FILTERS.lock().map_err(|_| FAILURE)?;
        if list.iter().all(|old| old.id != new.id) {
            list.push(new);
        }
        Ok(0)
    })
}

/// Tuners are not called.
#[unsafe(no_mangle)]
extern "C" fn blosc2_register_tuner(_tuner: *const c_void) -> c_int {
    TUNER.0
}

/// The registered codecs and filters, with what their functions are passed in one call.
pub struct Plugins {
    codecs: Vec<CallCodec>,
    filters: Vec<CallFilter>,
}

/// What the functions of the caller get to see.
#[derive(Clone, Copy)]
struct Passed {
    cparams: *mut CParams,
    dparams: *mut DParams,
    chunk: *const c_void,
}

// SAFETY: the pointers are only handed to the caller's functions, which the interface allows to be called from several
// threads with the same structures.
unsafe impl Sync for Passed {}
// SAFETY: the interface allows the pointers to be handed to functions on other threads.
unsafe impl Send for Passed {}

/// The number is the error of its encoder, 0 without one.
struct CallCodec(Registered, Passed, AtomicI32);
struct CallFilter(RegisteredFilter, Passed);

impl Plugins {
    /// All that are registered, for a call with these parameters on `chunk`.
    pub fn of(cparams: *mut CParams, dparams: *mut DParams, chunk: *const c_void) -> Plugins {
        let passed = Passed { cparams, dparams, chunk };
        let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Plugins {
            codecs: codecs().into_iter().map(|codec| CallCodec(codec, passed, AtomicI32::new(0))).collect(),
            filters: filters.into_iter().map(|filter| CallFilter(filter, passed)).collect(),
        }
    }

    /// The error of an encoder, which stored its block instead; any of them where several failed.
    pub fn check(&self) -> Result<()> {
        let errors = self.codecs.iter().map(|codec| codec.2.load(Ordering::Relaxed));
        errors.filter(|&error| error != 0).map(|error| Err(Code(error))).next().unwrap_or(Ok(()))
    }

    /// As `blosc-core` takes them.
    pub fn as_dyn(&self) -> (Vec<&dyn UserCodec>, Vec<&dyn UserFilter>) {
        (
            self.codecs.iter().map(|codec| codec as &dyn UserCodec).collect(),
            self.filters.iter().map(|filter| filter as &dyn UserFilter).collect(),
        )
    }
}

fn len(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).unwrap_or(i32::MAX)
}

impl UserCodec for CallCodec {
    fn id(&self) -> u8 {
        self.0.id
    }

    fn encode(&self, meta: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        #[cfg(test)]
        assert!(self.0.id != PANICS, "a bug, for a test");
        let encoder = self.0.encoder?;
        let Passed { cparams, chunk, .. } = self.1;
        // SAFETY: the function was registered for this; both buffers have the lengths passed.
        let n = unsafe { encoder(src.as_ptr(), len(src), dst.as_mut_ptr(), len(dst), meta, cparams, chunk) };
        match usize::try_from(n) {
            Ok(n) if n <= dst.len() => return Some(n).filter(|&n| n > 0),
            Ok(_) => self.2.store(WRITE_BUFFER.0, Ordering::Relaxed),
            Err(_) => self.2.store(DATA.0, Ordering::Relaxed),
        }
        None
    }

    fn decode(&self, meta: u8, src: &[u8], dst: &mut [u8]) -> core::result::Result<(), CodecError> {
        let failed = CodecError { kind: CodecErrorKind::Corrupt, offset: 0 };
        #[cfg(test)]
        assert!(self.0.id != PANICS, "a bug, for a test");
        let decoder = self.0.decoder.ok_or(failed)?;
        let Passed { dparams, chunk, .. } = self.1;
        // SAFETY: as in `encode`.
        let n = unsafe { decoder(src.as_ptr(), len(src), dst.as_mut_ptr(), len(dst), meta, dparams, chunk) };
        if usize::try_from(n) == Ok(dst.len()) { Ok(()) } else { Err(failed) }
    }
}

impl UserFilter for CallFilter {
    fn id(&self) -> u8 {
        self.0.id
    }

    fn forward(&self, meta: u8, _: u8, src: &[u8], dst: &mut [u8]) -> core::result::Result<(), FilterError> {
        let forward = self.0.forward.ok_or(FilterError("the filter has no forward function"))?;
        // SAFETY: the function was registered for this; both buffers have the length passed.
        let n = unsafe { forward(src.as_ptr(), dst.as_mut_ptr(), len(src), meta, self.1.cparams, self.0.id) };
        if n == 0 { Ok(()) } else { Err(FilterError("the filter's forward function failed")) }
    }

    fn backward(&self, meta: u8, _: u8, src: &[u8], dst: &mut [u8]) -> core::result::Result<(), FilterError> {
        let backward = self.0.backward.ok_or(FilterError("the filter has no backward function"))?;
        // SAFETY: as in `forward`.
        let n =
            unsafe { backward(src.as_ptr(), dst.as_mut_ptr(), len(src), meta, self.1.dparams, self.0.id) };
        if n == 0 { Ok(()) } else { Err(FilterError("the filter's backward function failed")) }
    }
}

/// Whether this is the id of a codec that can be written.
pub fn is_known(id: u8) -> bool {
    matches!(id, 0 | 1 | 2 | 4 | 5 | 32..=35)
        || codecs().iter().any(|codec| codec.id == id && codec.encoder.is_some())
}

/// The slots in use.
pub fn check_filters(filters: &[u8; MAX_FILTERS]) -> Result<()> {
    let list = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = |id: u8| {
        matches!(id, 0..=4 | 32 | 33 | 35 | 36)
            || list.iter().any(|filter| filter.id == id && filter.forward.is_some())
    };
    if filters.iter().all(|&id| known(id)) { Ok(()) } else { Err(FILTER_PIPELINE) }
}
