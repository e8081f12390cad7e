//! Valid frames and arrays with some of their fields changed, and with the lengths and offsets around the
//! change put right again (`blosc_mutator`), so that what lies behind them is reached.

use crate::arrays;
use crate::frames::{self, LIMITS, OUTPUT, params, pattern};
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::Special;
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::io::{Directory, MemDir};
use blosc_mutator::{CHUNK_FIELDS, Parts, bytes, field};

/// A frame with something of everything, written into `sc`.
fn fill(u: &mut Unstructured<'_>, sc: &mut SuperChunk<'_>) -> Result<()> {
    let typesize = sc.typesize();
    // A few are so large that a reader of a file takes only the blocks it needs.
    let size = match u.int_in_range(1..=206u32)? {
        small @ ..=200 => small * typesize,
        large => (large - 200) * 32_000 / typesize * typesize,
    };
    sc.set_chunksize(size).expect("a size of a new frame");
    sc.set_checksums(u.ratio(1, 4)?);
    for name in ["first", "second"] {
        if u.arbitrary()? {
            let content = pattern(u, 9)?;
            sc.set_metalayer(name, &content).expect("a small metalayer");
            sc.set_vlmetalayer(name, &content).expect("a small metalayer");
        }
    }
    for _ in 0..u.int_in_range(0..=4)? {
        let mut data = pattern(u, size as usize)?;
        if size > 10_000 {
            // Some planes of bytes compress well, others not at all.
            data.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0);
        }
        sc.append(&data).expect("a chunk of a new frame");
    }
    if u.arbitrary()? {
        sc.fill_special(Special::Zeros, u64::from(size)).expect("a special chunk");
    }
    Ok(())
}

fn mutate(u: &mut Unstructured<'_>, frame: &[u8], sparse: bool) -> Result<Vec<u8>> {
    let mut parts = Parts::of(frame, sparse).expect("a frame of our own");
    for _ in 0..u.int_in_range(1..=4)? {
        parts.change(u)?;
    }
    parts.join(u, params)
}

/// A contiguous frame with changed fields.
pub fn frame(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let mut u = Unstructured::new(data);
    let mut made = || -> Result<Vec<u8>> {
        let mut sc = SuperChunk::memory(&params(&mut u)?).expect("parameters of our own");
        fill(&mut u, &mut sc)?;
        mutate(&mut u, &sc.into_bytes().expect("a frame of our own"), false)
    };
    if let Ok(frame) = made() {
        frames::open(&frame);
    }
}

/// A sparse frame whose index file has changed fields, or one of whose chunk files is changed.
pub fn sparse(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let mut u = Unstructured::new(data);
    let dir = MemDir::new();
    let mut made = || -> Result<()> {
        let mut sc = SuperChunk::create_dir(dir.clone(), &params(&mut u)?).expect("an empty directory");
        fill(&mut u, &mut sc)?;
        sc.commit().expect("a directory in memory");
        drop(sc);
        let names = dir.list().expect("a directory in memory");
        let name = if u.arbitrary()? { "chunks.b2frame" } else { u.choose(&names)?.as_str() };
        let mut content = dir.read(name, u64::MAX).expect("a file that is listed");
        match name {
            "chunks.b2frame" => content = mutate(&mut u, &content, true)?,
            _ => {
                let (at, width) = *u.choose(&CHUNK_FIELDS)?;
                field(&mut u, &mut content, at, width)?;
            }
        }
        dir.put(name, content);
        Ok(())
    };
    if made().is_ok()
        && let Ok(mut sc) = SuperChunk::open_dir(dir, &LIMITS)
    {
        frames::read(&mut sc);
    }
}

/// An array whose metalayer says something else than it did: other sides, other markers, another dtype.
pub fn array(data: &[u8]) {
    allow(64 << 20 | OUTPUT); // encoder contexts
    let mut u = Unstructured::new(data);
    let mut made = || -> Result<Vec<u8>> {
        let ndim = u.int_in_range(0..=4usize)?;
        // A few sides are so long that a reader of a file takes only the blocks it needs.
        let long = [0, 100_000, 300, 40, 16][ndim];
        let side =
            |u: &mut Unstructured<'_>| Ok(u.int_in_range(0..=10)?).map(|s| if s > 9 { long } else { s });
        let shape: Vec<u64> = (0..ndim).map(|_| side(&mut u)).collect::<Result<_>>()?;
        let dtype = *u.choose(&["|u1", "<i2", ">f8", "|S5"])?;
        let spec = Spec::new(&shape, Dtype::parse(dtype).expect("a dtype")).expect("a small array");
        let spec = spec.params_from(&params(&mut u)?);
        let dense = pattern(&mut u, spec.geometry().nbytes() as usize)?;
        let nd = NdArray::from_slice(
            SuperChunk::memory(&spec.params()).expect("parameters of our own"),
            &spec,
            &dense,
        );
        let mut sc = nd.expect("an array of our own").into_frame();
        let mut meta = sc.metalayer("b2nd").expect("the metalayer of an array").to_vec();
        for _ in 0..u.int_in_range(1..=3)? {
            // Markers and versions at the front, then the sides: 9 or 5 bytes each.
            let (at, width) = match u.int_in_range(0..=4)? {
                0 => (u.int_in_range(0..=3)?, 1),
                1 => (4 + 9 * u.int_in_range(0..=ndim)?, 8),
                2 => (5 + 9 * ndim + 5 * u.int_in_range(0..=2 * ndim)?, 4),
                3 => (u.choose_index(meta.len())?, 1),
                _ => {
                    bytes(&mut u, &mut meta, 0)?;
                    continue;
                }
            };
            field(&mut u, &mut meta, at, width)?;
        }
        let name = if u.ratio(1, 6)? { "caterva" } else { "b2nd" };
        sc.remove_metalayer("b2nd");
        sc.set_metalayer(name, &meta).expect("a small metalayer");
        let frame = sc.into_bytes().expect("a frame of our own");
        if u.ratio(1, 4)? { mutate(&mut u, &frame, false) } else { Ok(frame) }
    };
    if let Ok(frame) = made() {
        arrays::open(&frame);
    }
}
