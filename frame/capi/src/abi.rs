//! The structures of `blosc2.h` and `b2nd.h` 3.3. Their layout is the interface; the tests below hold every offset.

use core::ffi::{c_char, c_int, c_void};

pub const MAX_FILTERS: usize = 6;
pub const MAX_METALAYERS: usize = 16;
pub const MAX_VLMETALAYERS: usize = 8 * 1024;
pub const MAX_DIM: usize = 16;

pub type Prefilter = unsafe extern "C" fn(*mut PrefilterParams) -> c_int;
pub type Postfilter = unsafe extern "C" fn(*mut PostfilterParams) -> c_int;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PrefilterParams {
    pub user_data: *mut c_void,
    pub input: *const u8,
    pub output: *mut u8,
    pub output_size: i32,
    pub output_typesize: i32,
    pub output_offset: i32,
    pub nchunk: i64,
    pub nblock: i32,
    pub tid: i32,
    pub ttmp: *mut u8,
    pub ttmp_nbytes: usize,
    pub ctx: *mut c_void,
    pub output_is_disposable: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PostfilterParams {
    pub user_data: *mut c_void,
    pub input: *const u8,
    pub output: *mut u8,
    pub size: i32,
    pub typesize: i32,
    pub offset: i32,
    pub nchunk: i64,
    pub nblock: i32,
    pub tid: i32,
    pub ttmp: *mut u8,
    pub ttmp_nbytes: usize,
    pub ctx: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CParams {
    pub compcode: u8,
    pub compcode_meta: u8,
    pub clevel: u8,
    pub use_dict: c_int,
    pub typesize: i32,
    pub nthreads: i16,
    pub blocksize: i32,
    pub splitmode: i32,
    pub schunk: *mut c_void,
    pub filters: [u8; MAX_FILTERS],
    pub filters_meta: [u8; MAX_FILTERS],
    pub prefilter: Option<Prefilter>,
    pub preparams: *mut PrefilterParams,
    pub tuner_params: *mut c_void,
    pub tuner_id: c_int,
    pub instr_codec: bool,
    pub codec_params: *mut c_void,
    pub filter_params: [*mut c_void; MAX_FILTERS],
}

impl CParams {
    pub const DEFAULT: CParams = CParams {
        compcode: 0,
        compcode_meta: 0,
        clevel: 5,
        use_dict: 0,
        typesize: 8,
        nthreads: 1,
        blocksize: 0,
        splitmode: 4,
        schunk: core::ptr::null_mut(),
        filters: [0, 0, 0, 0, 0, 1],
        filters_meta: [0; MAX_FILTERS],
        prefilter: None,
        preparams: core::ptr::null_mut(),
        tuner_params: core::ptr::null_mut(),
        tuner_id: 0,
        instr_codec: false,
        codec_params: core::ptr::null_mut(),
        filter_params: [core::ptr::null_mut(); MAX_FILTERS],
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DParams {
    pub nthreads: i16,
    pub schunk: *mut c_void,
    pub postfilter: Option<Postfilter>,
    pub postparams: *mut PostfilterParams,
    pub typesize: i32,
}

impl DParams {
    pub const DEFAULT: DParams = DParams {
        nthreads: 1,
        schunk: core::ptr::null_mut(),
        postfilter: None,
        postparams: core::ptr::null_mut(),
        typesize: 8,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Io {
    pub id: u8,
    pub name: *const c_char,
    pub params: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Storage {
    pub contiguous: bool,
    pub urlpath: *mut c_char,
    pub cparams: *mut CParams,
    pub dparams: *mut DParams,
    pub io: *mut Io,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct StdioMmap {
    pub mode: *const c_char,
    pub initial_mapping_size: usize,
    pub needs_free: bool,
    pub addr: *mut c_char,
    pub urlpath: *mut c_char,
    pub file_size: usize,
    pub mapping_size: usize,
    pub is_memory_only: bool,
    pub file: *mut c_void,
    pub fd: c_int,
    pub access_flags: i64,
    pub map_flags: i64,
}

#[repr(C)]
pub struct StdioFile {
    pub file: *mut c_void,
}

#[repr(C)]
pub struct StdioParams {
    pub locking: bool,
}

/// The functions of a back end for files.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoCb {
    pub id: u8,
    pub name: *mut c_char,
    pub is_allocation_necessary: bool,
    pub open: Option<unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void>,
    pub close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub size: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub write: Option<unsafe extern "C" fn(*const c_void, i64, i64, i64, *mut c_void) -> i64>,
    pub read: Option<unsafe extern "C" fn(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64>,
    pub truncate: Option<unsafe extern "C" fn(*mut c_void, i64) -> c_int>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

// SAFETY: functions and a name, neither of which is changed through it.
unsafe impl Sync for IoCb {}
// SAFETY: as for `Sync`.
unsafe impl Send for IoCb {}

#[repr(C)]
pub struct Metalayer {
    pub name: *mut c_char,
    pub content: *mut u8,
    pub content_len: i32,
}

#[repr(C)]
pub struct Schunk {
    pub version: u8,
    pub compcode: u8,
    pub compcode_meta: u8,
    pub clevel: u8,
    pub splitmode: u8,
    pub typesize: i32,
    pub blocksize: i32,
    pub chunksize: i32,
    pub flags2: u8,
    pub use_dict: u8,
    pub filters: [u8; MAX_FILTERS],
    pub filters_meta: [u8; MAX_FILTERS],
    pub nchunks: i64,
    pub current_nchunk: i64,
    pub nbytes: i64,
    pub cbytes: i64,
    pub data: *mut *mut u8,
    pub data_len: usize,
    pub storage: *mut Storage,
    pub frame: *mut c_void,
    pub cctx: *mut c_void,
    pub dctx: *mut c_void,
    pub metalayers: [*mut Metalayer; MAX_METALAYERS],
    pub nmetalayers: u16,
    pub vlmetalayers: [*mut Metalayer; MAX_VLMETALAYERS],
    pub nvlmetalayers: i16,
    pub tuner_params: *mut c_void,
    pub tuner_id: c_int,
    pub ndim: i8,
    pub blockshape: *mut i64,
    pub view: bool,
    pub change_tick: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timestamp {
    pub seconds: i64,
    pub nanoseconds: i64,
}

#[repr(C)]
pub struct Codec {
    pub compcode: u8,
    pub compname: *mut c_char,
    pub complib: u8,
    pub version: u8,
    pub encoder: Option<Encoder>,
    pub decoder: Option<Decoder>,
}

pub type Encoder =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut CParams, *const c_void) -> c_int;
pub type Decoder =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut DParams, *const c_void) -> c_int;
pub type Forward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut CParams, u8) -> c_int;
pub type Backward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut DParams, u8) -> c_int;

#[repr(C)]
pub struct Filter {
    pub id: u8,
    pub name: *mut c_char,
    pub version: u8,
    pub forward: Option<Forward>,
    pub backward: Option<Backward>,
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    macro_rules! layout {
        ($type:ty, $size:literal: $($field:ident $offset:literal),+) => {
            assert_eq!(size_of::<$type>(), $size, stringify!($type));
            $(assert_eq!(offset_of!($type, $field), $offset, concat!(stringify!($type), ".", stringify!($field)));)+
        };
    }

    #[test]
    fn structures_are_laid_out_as_in_c() {
        layout!(PrefilterParams, 88: user_data 0, input 8, output 16, output_size 24, output_typesize 28,
            output_offset 32, nchunk 40, nblock 48, tid 52, ttmp 56, ttmp_nbytes 64, ctx 72, output_is_disposable 80);
        layout!(PostfilterParams, 80: user_data 0, input 8, output 16, size 24, typesize 28, offset 32, nchunk 40,
            nblock 48, tid 52, ttmp 56, ttmp_nbytes 64, ctx 72);
        layout!(CParams, 136: compcode 0, compcode_meta 1, clevel 2, use_dict 4, typesize 8, nthreads 12, blocksize 16,
            splitmode 20, schunk 24, filters 32, filters_meta 38, prefilter 48, preparams 56, tuner_params 64,
            tuner_id 72, instr_codec 76, codec_params 80, filter_params 88);
        layout!(DParams, 40: nthreads 0, schunk 8, postfilter 16, postparams 24, typesize 32);
        layout!(Storage, 40: contiguous 0, urlpath 8, cparams 16, dparams 24, io 32);
        layout!(Io, 24: id 0, name 8, params 16);
        layout!(StdioMmap, 96: mode 0, initial_mapping_size 8, needs_free 16, addr 24, urlpath 32, file_size 40,
            mapping_size 48, is_memory_only 56, file 64, fd 72, access_flags 80, map_flags 88);
        layout!(StdioFile, 8: file 0);
        layout!(StdioParams, 1: locking 0);
        layout!(IoCb, 80: id 0, name 8, is_allocation_necessary 16, open 24, close 32, size 40, write 48, read 56,
            truncate 64, destroy 72);
        layout!(Metalayer, 24: name 0, content 8, content_len 16);
        layout!(Schunk, 65840: version 0, compcode 1, compcode_meta 2, clevel 3, splitmode 4, typesize 8, blocksize 12,
            chunksize 16, flags2 20, use_dict 21, filters 22, filters_meta 28, nchunks 40, current_nchunk 48, nbytes 56,
            cbytes 64, data 72, data_len 80, storage 88, frame 96, cctx 104, dctx 112, metalayers 120, nmetalayers 248,
            vlmetalayers 256, nvlmetalayers 65792, tuner_params 65800, tuner_id 65808, ndim 65812, blockshape 65816,
            view 65824, change_tick 65832);
        layout!(Codec, 40: compcode 0, compname 8, complib 16, version 17, encoder 24, decoder 32);
        layout!(Filter, 40: id 0, name 8, version 16, forward 24, backward 32);
    }
}
