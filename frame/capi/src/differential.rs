//! The C library and ours side by side in one process: the same random calls to both, the same answers, and frames of each
//! that the other reads. It runs where `BLOSC_LIBBLOSC2` names the C library; 2,000 sequences of a group with
//! `BLOSC_LONG=1`, a tenth otherwise.

use crate::abi::{CParams, MAX_DIM, Schunk, Storage};
use crate::b2nd::Array;
use crate::calls::api::Api;
use crate::memory::release;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, PoisonError};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The C library is used by one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Both libraries, ours first; `None` where the C library is not there.
fn both() -> Option<([Api; 2], MutexGuard<'static, ()>)> {
    let Ok(path) = std::env::var("BLOSC_LIBBLOSC2") else {
        println!("skipped: BLOSC_LIBBLOSC2 names no libblosc2");
        return None;
    };
    let path = CString::new(path).expect("no NUL");
    // SAFETY: a string. The library finds its own functions before those of the process (RTLD_NOW, RTLD_DEEPBIND).
    let library = unsafe { dlopen(path.as_ptr(), 0x2 | 0x8) };
    assert!(!library.is_null(), "{path:?} cannot be loaded");
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let find = |name: &str| {
        let symbol = CString::new(name).expect("no NUL");
        // SAFETY: an open library (compared with null above) and a string.
        let found = unsafe { dlsym(library, symbol.as_ptr()) };
        assert!(!found.is_null(), "{name}");
        found
    };
    // SAFETY: the variable names a libblosc2, in which `find` looks; it wants to be initialised before anything else.
    unsafe {
        let theirs = Api::of(find);
        (theirs.blosc2_init)();
        Some(([Api::ours(), theirs], alone))
    }
}

fn sequences() -> u64 {
    if std::env::var("BLOSC_LONG").is_ok_and(|long| long == "1") { 2000 } else { 200 }
}

struct Random(blosc_testkit::Random);

impl Random {
    fn new(seed: u64) -> Random {
        Random(blosc_testkit::Random(seed))
    }

    fn below(&mut self, n: i64) -> i64 {
        self.0.below(n.max(1) as usize) as i64
    }

    fn items(&mut self, n: i64) -> Vec<i32> {
        let (step, noise) = (self.below(9) as i32, self.below(2) * 1000 + 1);
        (0..n as i32).map(|i| i * step + self.below(noise) as i32).collect()
    }
}

/// The answer of both, which must be the same, or an error of both.
fn same(what: &str, seed: u64, [ours, theirs]: [i64; 2]) -> i64 {
    assert!(ours == theirs || (ours < 0 && theirs < 0), "sequence {seed}, {what}: {ours}, C: {theirs}");
    ours
}

/// # Safety
/// `schunk` is one of `api`'s.
unsafe fn content(api: Api, schunk: *mut Schunk) -> Vec<i32> {
    // SAFETY: as the caller promises; the buffer has room for all items.
    unsafe {
        let n = (*schunk).nbytes / 4;
        let mut out = vec![0i32; n as usize];
        let got = (api.blosc2_schunk_get_slice_buffer)(schunk, 0, n, out.as_mut_ptr().cast());
        assert!(got == 0 || n == 0, "{got}");
        out
    }
}

/// One change of both super-chunks.
///
/// # Safety
/// Each is one of its library's.
unsafe fn edit(random: &mut Random, seed: u64, apis: [Api; 2], schunks: [*mut Schunk; 2]) {
    let (n, name) = (random.below(6), [c"a", c"b", c"c"][random.below(3) as usize].as_ptr());
    // SAFETY: as the caller promises; every length is that of its buffer.
    unsafe {
        let nchunks = (*schunks[0]).nchunks;
        let k = random.below(nchunks + 1) - i64::from(random.below(20) == 0);
        let data = random.items(500);
        let both = |call: &dyn Fn(Api, *mut Schunk) -> i64| [0, 1].map(|i| call(apis[i], schunks[i]));
        let what = random.below(9);
        let answers = match what {
            0 | 1 => both(&|api, s| (api.blosc2_schunk_append_buffer)(s, data.as_ptr().cast(), 2000)),
            2 | 3 if nchunks > 0 => both(&|api, s| {
                let (mut chunk, mut owned) = (null_mut(), false);
                let from = n % nchunks;
                assert!((api.blosc2_schunk_get_chunk)(s, from, &raw mut chunk, &raw mut owned) > 0);
                let put =
                    if what == 2 { api.blosc2_schunk_insert_chunk } else { api.blosc2_schunk_update_chunk };
                let done = put(s, k, chunk, true);
                if owned {
                    release(chunk);
                }
                done
            }),
            4 => both(&|api, s| (api.blosc2_schunk_delete_chunk)(s, k)),
            5 if nchunks > 0 => {
                let start = random.below(nchunks * 500);
                let stop = start + random.below((nchunks * 500 - start).min(499)) + 1;
                both(&|api, s| {
                    (api.blosc2_schunk_set_slice_buffer)(s, start, stop, data.as_ptr().cast()).into()
                })
            }
            6 => both(&|api, s| {
                i64::from((api.blosc2_vlmeta_add)(s, name, data.as_ptr().cast(), 40 * n as i32 + 1, null()))
            }),
            7 => both(&|api, s| {
                i64::from((api.blosc2_vlmeta_update)(
                    s,
                    name,
                    data.as_ptr().cast(),
                    30 * n as i32 + 1,
                    null(),
                ))
            }),
            8 => both(&|api, s| i64::from((api.blosc2_vlmeta_delete)(s, name))),
            _ => [0, 0],
        };
        same(&format!("edit {what}"), seed, answers);
    }
}

/// # Safety
/// Each super-chunk is one of its library's.
unsafe fn compare(seed: u64, apis: [Api; 2], schunks: [*mut Schunk; 2]) {
    // SAFETY: as the caller promises.
    unsafe {
        let fields = schunks.map(|s| {
            let s = &*s;
            [
                s.nchunks,
                s.nbytes,
                s.chunksize.into(),
                s.typesize.into(),
                s.nvlmetalayers.into(),
                s.nmetalayers.into(),
            ]
        });
        assert_eq!(fields[0], fields[1], "sequence {seed}: fields, C: right");
        let [ours, theirs] = [0, 1].map(|i| content(apis[i], schunks[i]));
        assert!(ours == theirs, "sequence {seed}: the data differ");
        for name in [c"a", c"b", c"c"] {
            let layer = [0, 1].map(|i| {
                let (mut bytes, mut len) = (null_mut(), 0);
                let at = (apis[i].blosc2_vlmeta_get)(schunks[i], name.as_ptr(), &raw mut bytes, &raw mut len);
                if at < 0 {
                    return None;
                }
                let copy = core::slice::from_raw_parts(bytes, len as usize).to_vec();
                release(bytes);
                Some(copy)
            });
            assert_eq!(layer[0], layer[1], "sequence {seed}: layer {name:?}");
        }
    }
}

/// Lets each library read the frame of the other, and compares again.
///
/// # Safety
/// Each super-chunk is one of its library's.
unsafe fn exchange(seed: u64, apis: [Api; 2], schunks: [*mut Schunk; 2]) {
    // SAFETY: as the caller promises; frames are released once.
    unsafe {
        for i in [0, 1] {
            let (mut frame, mut owned) = (null_mut(), false);
            let len = (apis[i].blosc2_schunk_to_buffer)(schunks[i], &raw mut frame, &raw mut owned);
            assert!(len > 0, "sequence {seed}: {len}");
            let other = apis[1 - i];
            let read = (other.blosc2_schunk_from_buffer)(frame, len, true);
            assert!(!read.is_null(), "sequence {seed}: library {} does not read the other's frame", 1 - i);
            let mut pair = schunks;
            pair[1 - i] = read;
            compare(seed, apis, pair);
            (other.blosc2_schunk_free)(read);
            if owned {
                release(frame);
            }
        }
    }
}

/// Random changes of super-chunks that are kept as `contiguous` and `in_files` say.
fn super_chunks(contiguous: bool, in_files: bool) {
    let Some((apis, _alone)) = both() else { return };
    let folder = std::env::temp_dir().join(format!("blosc2-side-{contiguous}-{}", std::process::id()));
    let paths = ["ours", "theirs"].map(|name| {
        let path = folder.join(name);
        CString::new(path.to_str().expect("UTF-8")).expect("no NUL")
    });
    for seed in 0..sequences() {
        let mut random = Random::new(seed * 7919 + u64::from(contiguous) + 2 * u64::from(in_files));
        let mut cparams = CParams { typesize: 4, compcode: random.below(3) as u8, ..CParams::DEFAULT };
        cparams.clevel = random.below(10) as u8;
        // SAFETY: the structures are valid while they are used, and every super-chunk is freed once.
        unsafe {
            if in_files {
                std::fs::create_dir_all(&folder).expect("a temporary folder");
            }
            let mut schunks = [0, 1].map(|i| {
                if in_files {
                    (apis[i].blosc2_remove_urlpath)(paths[i].as_ptr());
                }
                let urlpath = if in_files { paths[i].as_ptr().cast_mut() } else { null_mut() };
                let storage = Storage {
                    contiguous,
                    urlpath,
                    cparams: &raw mut cparams,
                    dparams: null_mut(),
                    io: null_mut(),
                };
                (apis[i].blosc2_schunk_new)(&raw const storage)
            });
            let first = random.items(500);
            for i in [0, 1] {
                (apis[i].blosc2_schunk_append_buffer)(schunks[i], first.as_ptr().cast(), 2000);
            }
            for _ in 0..12 {
                edit(&mut random, seed, apis, schunks);
            }
            compare(seed, apis, schunks);
            if (*schunks[0]).nchunks > 0 {
                exchange(seed, apis, schunks);
            }
            if in_files {
                // Each opens the other's file.
                for i in [0, 1] {
                    (apis[i].blosc2_schunk_free)(schunks[i]);
                }
                if random.below(2) == 0 {
                    schunks = [0, 1].map(|i| (apis[i].blosc2_schunk_open)(paths[1 - i].as_ptr()));
                } else {
                    schunks = [0, 1].map(|i| (apis[i].blosc2_schunk_open)(paths[i].as_ptr()));
                }
                assert!(!schunks[0].is_null() && !schunks[1].is_null(), "sequence {seed}: {schunks:?}");
                edit(&mut random, seed, apis, schunks);
                compare(seed, apis, schunks);
            }
            for i in [0, 1] {
                (apis[i].blosc2_schunk_free)(schunks[i]);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn super_chunks_in_memory() {
    super_chunks(false, false);
}

#[test]
fn contiguous_frames_in_memory() {
    super_chunks(true, false);
}

#[test]
fn contiguous_frames_in_files() {
    super_chunks(true, true);
}

#[test]
fn sparse_frames_in_files() {
    super_chunks(false, true);
}

/// All items of an array.
///
/// # Safety
/// `array` is one of `api`'s.
unsafe fn items(api: Api, array: *mut Array) -> (Vec<i64>, Vec<i32>) {
    // SAFETY: as the caller promises; the buffer has room for all items.
    unsafe {
        let shape = (&(*array).shape)[..(*array).ndim as usize].to_vec();
        let n: i64 = shape.iter().product();
        let (mut out, start) = (vec![0i32; n as usize], [0i64; MAX_DIM]);
        if n > 0 {
            let got = (api.b2nd_get_slice_cbuffer)(
                array,
                start.as_ptr(),
                shape.as_ptr(),
                out.as_mut_ptr().cast(),
                shape.as_ptr(),
                n * 4,
            );
            assert_eq!(got, 0);
        }
        (shape, out)
    }
}

/// One change of both arrays. Axes grow and shrink by whole chunks: what the C library leaves in the padding of a chunk
/// when an axis ends inside it is not what the array had.
///
/// # Safety
/// Each array is one of its library's.
unsafe fn edit_array(random: &mut Random, seed: u64, apis: [Api; 2], arrays: [*mut Array; 2]) {
    // SAFETY: as the caller promises; every length is that of its buffer.
    unsafe {
        let (shape, chunks) = (
            [(*arrays[0]).shape[0], (*arrays[0]).shape[1]],
            [(*arrays[0]).chunkshape[0], (*arrays[0]).chunkshape[1]],
        );
        let axis = random.below(2) as usize;
        let unit = i64::from(chunks[axis]);
        let both =
            |call: &dyn Fn(Api, *mut Array) -> c_int| [0, 1].map(|i| i64::from(call(apis[i], arrays[i])));
        let what = random.below(5);
        let whole = shape[axis] % unit == 0;
        let rows = unit * shape[1 - axis];
        let data = random.items(rows.max(1));
        let answers = match what {
            0 | 1 => {
                let start = shape.map(|n| random.below(n));
                let stop = [0, 1].map(|k| start[k] + random.below((shape[k] - start[k]).min(20)) + 1);
                let part = [stop[0] - start[0], stop[1] - start[1]];
                let data = random.items(part[0] * part[1]);
                both(&|api, a| {
                    let len = part[0] * part[1] * 4;
                    (api.b2nd_set_slice_cbuffer)(
                        data.as_ptr().cast(),
                        part.as_ptr(),
                        len,
                        start.as_ptr(),
                        stop.as_ptr(),
                        a,
                    )
                })
            }
            2 if whole => both(&|api, a| (api.b2nd_append)(a, data.as_ptr().cast(), rows * 4, axis as i8)),
            3 if whole => {
                let at = random.below(shape[axis] / unit + 1) * unit;
                both(&|api, a| (api.b2nd_insert)(a, data.as_ptr().cast(), rows * 4, axis as i8, at))
            }
            4 if whole && shape[axis] > unit => {
                let at = random.below(shape[axis] / unit) * unit;
                both(&|api, a| (api.b2nd_delete)(a, axis as i8, at, unit))
            }
            _ => {
                let mut wider = shape;
                wider[axis] += if whole { unit } else { unit - shape[axis] % unit };
                both(&|api, a| (api.b2nd_resize)(a, wider.as_ptr(), null()))
            }
        };
        assert_eq!(same(&format!("edit {what}"), seed, answers), 0);
    }
}

#[test]
fn arrays() {
    let Some((apis, _alone)) = both() else { return };
    for seed in 0..sequences() {
        let mut random = Random::new(seed * 104729 + 1);
        let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
        let chunks = [random.below(9) as i32 + 1, random.below(9) as i32 + 1];
        let blocks = chunks.map(|c| random.below(c.into()) as i32 + 1);
        let shape = [random.below(30) + 1, random.below(30) + 1];
        let data = random.items(shape[0] * shape[1]);
        let contiguous = random.below(2) == 1;
        // SAFETY: the structures are valid while they are used; contexts and arrays are freed once.
        unsafe {
            let storage = Storage {
                contiguous,
                urlpath: null_mut(),
                cparams: &raw mut cparams,
                dparams: null_mut(),
                io: null_mut(),
            };
            let arrays = [0, 1].map(|i| {
                let api = apis[i];
                let (s, c, b) = (shape.as_ptr(), chunks.as_ptr(), blocks.as_ptr());
                let ctx =
                    (api.b2nd_create_ctx)(&raw const storage, 2, s, c, b, c"<i4".as_ptr(), 0, null(), 0);
                let mut array = null_mut();
                let made = (api.b2nd_from_cbuffer)(
                    ctx,
                    &raw mut array,
                    data.as_ptr().cast(),
                    shape[0] * shape[1] * 4,
                );
                assert_eq!(made, 0);
                (api.b2nd_free_ctx)(ctx);
                array
            });
            for _ in 0..8 {
                edit_array(&mut random, seed, apis, arrays);
                let [ours, theirs] = [0, 1].map(|i| items(apis[i], arrays[i]));
                assert!(ours == theirs, "sequence {seed}: {:?} {:?}", ours.0, theirs.0);
            }
            for i in [0, 1] {
                let (mut frame, mut len, mut owned, mut read) = (null_mut(), 0, false, null_mut());
                assert_eq!(
                    (apis[i].b2nd_to_cframe)(arrays[i], &raw mut frame, &raw mut len, &raw mut owned),
                    0
                );
                let other = apis[1 - i];
                assert_eq!((other.b2nd_from_cframe)(frame, len, true, &raw mut read), 0, "sequence {seed}");
                assert!(
                    items(other, read) == items(apis[i], arrays[i]),
                    "sequence {seed}: frame of library {i}"
                );
                (other.b2nd_free)(read);
                if owned {
                    release(frame);
                }
            }
            for i in [0, 1] {
                (apis[i].b2nd_free)(arrays[i]);
            }
        }
    }
}
