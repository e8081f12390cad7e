//! What sequences of calls are made of: data, parameters, damage, and a folder.

use crate::abi::CParams;
use arbitrary::{Result, Unstructured};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Most bytes of a buffer that is made, and of what hostile data may announce before it is left alone.
pub const LARGE: i64 = 1 << 18;

/// A folder of a sequence's own, made when it is needed.
#[derive(Default)]
pub struct Folder(Option<PathBuf>);

impl Folder {
    pub fn path(&mut self) -> &Path {
        self.0.get_or_insert_with(|| {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let memory = Path::new("/dev/shm");
            let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
            let name = format!("blosc-calls-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
            let folder = base.join(name);
            std::fs::create_dir_all(&folder).expect("a place for files");
            folder
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Changes some bytes, most of them near the start, where headers are, or cuts the end off.
pub fn damage(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    if u.ratio(1, 6)? {
        bytes.truncate(u.choose_index(bytes.len() + 1)?);
    }
    for _ in 0..u.int_in_range(1..=4)? {
        let len = if u.ratio(2, 3)? { bytes.len().min(130) } else { bytes.len() };
        if len > 0 {
            let at = u.choose_index(len)?;
            bytes[at] = if u.arbitrary()? { *u.choose(&[0, 1, 127, 128, 255])? } else { u.arbitrary()? };
        }
    }
    Ok(())
}

/// `len` bytes that compress more or less well.
pub fn pattern(u: &mut Unstructured<'_>, len: usize) -> Result<Vec<u8>> {
    let (step, noise) = (u.arbitrary::<u8>()? % 5, u32::from(u.arbitrary::<u8>()? % 4) * 85 + 1);
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) % noise
    };
    Ok((0..len).map(|i| ((i / 16 * usize::from(step)) as u8).wrapping_add(next() as u8)).collect())
}

/// Parameters of compression, in part such as cannot be.
pub fn cparams(u: &mut Unstructured<'_>) -> Result<CParams> {
    let mut cparams = CParams {
        compcode: *u.choose(&[0, 1, 2, 4, 5])?,
        clevel: *u.choose(&[0, 1, 5, 9])?,
        typesize: *u.choose(&[1, 2, 4, 8, 3, 255, 300])?,
        nthreads: *u.choose(&[1, 1, 1, 2])?,
        blocksize: *u.choose(&[0, 0, 64, 1000, 4096])?,
        splitmode: *u.choose(&[4, 1, 2, 3])?,
        ..CParams::DEFAULT
    };
    cparams.filters[5] = *u.choose(&[0, 1, 2, 3])?;
    if !u.ratio(1, 3)? {
        return Ok(cparams);
    }
    for _ in 0..u.int_in_range(1..=2)? {
        let slot = u.choose_index(6)?;
        match u.int_in_range(0..=8)? {
            0 => cparams.compcode = *u.choose(&[32, 33, 34, 35, 7, 200])?,
            1 => cparams.compcode_meta = u.arbitrary()?,
            2 => cparams.clevel = 10,
            3 => cparams.typesize = *u.choose(&[0, -1, i32::MAX, i32::MIN])?,
            4 => cparams.nthreads = *u.choose(&[0, -5])?,
            5 => cparams.blocksize = *u.choose(&[-1, i32::MAX])?,
            6 => cparams.use_dict = 1,
            7 => cparams.filters[slot] = *u.choose(&[2, 3, 4, 35, 36, 32, 99])?,
            _ => cparams.filters_meta[slot] = u.arbitrary()?,
        }
    }
    Ok(cparams)
}

/// Whether what was compressed with these parameters comes back as it was.
pub fn is_exact(cparams: &CParams) -> bool {
    !matches!(cparams.compcode, 33..=35) && !cparams.filters.iter().any(|f| matches!(f, 4 | 36))
}
