//! Whatever a path holds: hostile files and folders on a disk, opened, read and changed as the command line does it.

use crate::frames::{LIMITS, OUTPUT, files, told};
use crate::primed::twice;
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::Pool;
use blosc_frame::any::{open_any_at, open_raw};
use blosc_frame::plain::Plain;
use blosc_frame::rows::Rows;
use blosc_frame::{open_any, open_any_mut};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A folder of its own, in memory where the system has such; it goes when this does.
pub struct Folder(pub PathBuf);

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Folder {
    /// Makes one.
    ///
    /// # Panics
    /// If there is no place for it.
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let name = format!("blosc-fuzz-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let folder = base.join(name);
        fs::create_dir_all(&folder).expect("a place for files");
        Folder(folder)
    }

    /// Puts a file there, unless its name leads elsewhere.
    pub fn put(&self, name: &str, content: &[u8]) {
        let inside = |c: Component<'_>| matches!(c, Component::Normal(_));
        if name.is_empty() || name.len() > 100 || !Path::new(name).components().all(inside) {
            return;
        }
        let path = self.0.join(name);
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(path, content);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Eight bytes of choices, then files: the folder of these and all that lies in it is opened and changed.
pub fn any(data: &[u8]) {
    allow(8 * OUTPUT + (64 << 20));
    let Some((choices, data)) = data.split_first_chunk::<8>() else { return };
    let folder = Folder::new();
    for (name, content) in files(data).into_iter().take(24) {
        folder.put(name, content);
    }
    let mut paths = vec![folder.0.clone()];
    let inner = fs::read_dir(&folder.0).expect("a folder of our own");
    paths.extend(inner.flatten().map(|entry| entry.path()));
    paths[1..].sort();
    for path in paths.iter().take(4) {
        one(&mut Unstructured::new(choices), path).expect("choices repeat");
    }
}

/// All bytes, if they could be read and are not too many.
fn all(pool: &mut Pool, plain: &dyn Plain) -> Option<Vec<u8>> {
    let n = usize::try_from(plain.nbytes()).ok().filter(|n| *n <= OUTPUT)?;
    let bytes = told(twice(|before| {
        let mut bytes = before.bytes(n);
        plain.read_plain(&mut before.pool(), 0, &mut bytes).map(|()| bytes)
    }))?;
    let mut part = vec![0x5A; n - n / 3 - n / 4];
    plain.read_plain(pool, (n / 3) as u64, &mut part).expect("a part of what was read");
    assert!(part == bytes[n / 3..][..part.len()], "a part differs from the whole");
    assert!(plain.read_plain(pool, n as u64, &mut [0]).is_err(), "read beyond the end");
    Some(bytes)
}

/// What no container takes: rows that are not there, and room for parts of rows.
fn refused(pool: &mut Pool, rows: &mut dyn Rows) {
    let (width, now) = (rows.row_nbytes(), rows.rows());
    let edits = [
        rows.trim(pool, now + 1),
        rows.remove(pool, u64::MAX - 1..u64::MAX),
        rows.insert(pool, now + 1, &&vec![0; width.min(4096) as usize][..]),
        rows.read_rows(pool, 0..1, &mut []),
        rows.read_rows(pool, now..now + 1, &mut vec![0; width.min(4096) as usize]),
    ];
    if (1..=4096).contains(&width) {
        assert!(edits.iter().all(|edit| told(*edit).is_none()), "{edits:?} of {now} rows of {width}");
        assert_eq!((rows.row_nbytes(), rows.rows()), (width, now));
    }
}

fn one(u: &mut Unstructured<'_>, path: &Path) -> Result<()> {
    let mut pool = Pool::new(1);
    let _ = (told(open_any_at(path, 3, &LIMITS)), told(open_raw(path, None, None, 1)));
    let Some(opened) = told(open_any(path, &LIMITS)) else { return Ok(()) };
    let whole = all(&mut pool, &opened.data);
    assert!(!format!("{:?}", opened.about).is_empty() && opened.data.chunk_nbytes() > 0);
    drop(opened);
    if whole.is_none() {
        return Ok(());
    }
    let Some(mut opened) = told(open_any_mut(path, &LIMITS)) else { return Ok(()) };
    let rows = &mut opened.data;
    refused(&mut pool, &mut **rows);
    for _ in 0..4 {
        let (width, now) = (rows.row_nbytes(), rows.rows());
        if width > 4096 {
            return Ok(());
        }
        let some = u64::from(u.arbitrary::<u8>()? % 40);
        let at = if u.arbitrary()? { now } else { now / 2 };
        let data: Vec<u8> = (0..some * width).map(|k| (k / 3) as u8).collect();
        let data = &&data[..];
        rows.set_reserve(u32::from(u.ratio(1, 3)?) * 100);
        let done = match u.int_in_range(0..=6)? {
            0 => rows.append(&mut pool, data),
            1 => rows.insert(&mut pool, at, data),
            2 => rows.set(&mut pool, at.saturating_sub(some), data),
            3 => rows.set_in_place(&mut pool, at.saturating_sub(some), data),
            4 => rows.remove(&mut pool, at.saturating_sub(some)..at),
            5 => rows.resize(&mut pool, at + some),
            _ => rows.trim(&mut pool, some),
        };
        told(done);
        let Some(held) = all(&mut pool, rows) else { return Ok(()) };
        // Who opens it now sees the same.
        let again = open_any(path, &LIMITS).expect("what could be read and was changed");
        assert!(all(&mut pool, &again.data).as_ref() == Some(&held), "opened again, it differs");
    }
    Ok(())
}
