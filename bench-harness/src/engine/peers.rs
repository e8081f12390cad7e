//! The C libraries, loaded at run time through `blosc-peers`.

use super::spec::{Engine, Spec};
use crate::measure::candidate::Work;
use blosc_peers::blosc2::Kernel;
use blosc_peers::{CParams, Libblosc, Libblosc2};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// C-Blosc2.
pub struct Blosc2(pub Libblosc2);
/// C-Blosc 1.
pub struct Blosc1(pub Rc<Libblosc>);

/// A spec as libblosc2 takes it.
pub fn cparams(spec: &Spec) -> CParams {
    CParams {
        codec: spec.codec.id(),
        clevel: spec.level,
        typesize: i32::try_from(spec.typesize).unwrap_or(1),
        nthreads: i16::try_from(spec.threads).unwrap_or(1),
        blocksize: spec.blocksize.and_then(|b| i32::try_from(b).ok()).unwrap_or(0),
        filters: spec.filter.slots(spec.typesize).map(|slot| slot.filter.id()),
        filters_meta: spec.filter.slots(spec.typesize).map(|slot| slot.meta),
        ..CParams::default()
    }
}

impl Engine for Blosc2 {
    fn name(&self) -> String {
        format!("libblosc2 {}", self.0.version())
    }

    fn library(&self) -> Option<Libblosc2> {
        Some(self.0.clone())
    }

    fn kernel(&self, name: &str, typesize: usize) -> Option<Work<'static>> {
        let kernel = match name {
            "shuffle" => Kernel::Shuffle,
            "unshuffle" => Kernel::Unshuffle,
            "bitshuffle" => Kernel::Bitshuffle,
            "bitunshuffle" => Kernel::Bitunshuffle,
            _ => return None,
        };
        let (library, typesize) = (self.0.clone(), i32::try_from(typesize).ok()?);
        Some(Box::new(move |src, dst| {
            library.kernel(kernel, typesize, src, dst).map_err(|e| e.to_string())?;
            Ok(src.len())
        }))
    }

    fn compressor(&self, spec: &Spec, _: usize) -> Result<Work<'static>, String> {
        let mut context = self.0.compressor(&cparams(spec)).map_err(|e| e.to_string())?;
        Ok(Box::new(move |src, dst| context.compress(src, dst).map_err(|e| e.to_string())))
    }

    fn decompress_any(&self, spec: &Spec) -> Result<Work<'static>, String> {
        let threads = i16::try_from(spec.threads).unwrap_or(1);
        let mut context = self.0.decompressor(threads).map_err(|e| e.to_string())?;
        Ok(Box::new(move |chunk, dst| context.decompress(chunk, dst).map_err(|e| e.to_string())))
    }

    fn getitem(&self, _: &Spec, chunk: Rc<[u8]>, items: Range<usize>) -> Result<Work<'static>, String> {
        let mut context = self.0.decompressor(1).map_err(|e| e.to_string())?;
        Ok(Box::new(move |_, dst| {
            context.getitem(&chunk, items.start, items.len(), dst).map_err(|e| e.to_string())
        }))
    }
}

impl Engine for Blosc1 {
    fn name(&self) -> String {
        format!("libblosc {}", self.0.version())
    }

    fn compressor(&self, spec: &Spec, _: usize) -> Result<Work<'static>, String> {
        one_thread(spec)?;
        let slots = spec.filter.slots(spec.typesize);
        let [.., before, last] = slots;
        if before.filter.id() != 0 {
            return Err("Blosc 1 has one filter".into());
        }
        let (library, spec, filter) = (Rc::clone(&self.0), *spec, last.filter.id());
        let block = spec.blocksize.map_or(0, |b| b as usize);
        Ok(Box::new(move |src, dst| {
            let codec = (spec.codec.name(), i32::from(spec.level));
            library.compress(codec, filter.into(), spec.typesize, block, src, dst).map_err(|e| e.to_string())
        }))
    }

    fn decompress_any(&self, spec: &Spec) -> Result<Work<'static>, String> {
        one_thread(spec)?;
        let library = Rc::clone(&self.0);
        Ok(Box::new(move |chunk, dst| library.decompress(chunk, dst).map_err(|e| e.to_string())))
    }

    fn reads(&self, chunk: &[u8]) -> bool {
        chunk.first().is_some_and(|version| *version <= 2)
    }

    fn getitem(&self, _: &Spec, chunk: Rc<[u8]>, items: Range<usize>) -> Result<Work<'static>, String> {
        let library = Rc::clone(&self.0);
        let start = i32::try_from(items.start).map_err(|e| e.to_string())?;
        let count = i32::try_from(items.len()).map_err(|e| e.to_string())?;
        Ok(Box::new(move |_, dst| library.getitem(&chunk, start, count, dst).map_err(|e| e.to_string())))
    }
}

fn one_thread(spec: &Spec) -> Result<(), String> {
    if spec.threads == 1 { Ok(()) } else { Err("Blosc 1 is measured with one thread".into()) }
}

/// A library by the name given to `--engine`: `libblosc2=PATH`, `libblosc=PATH`, `libblosc2` or
/// `libblosc` (the environment variable, then the usual places), `python:blosc2` and `python:blosc` (the
/// library inside that wheel). `None` for any other name.
///
/// # Errors
/// One line: what was looked for and where.
pub fn open(name: &str) -> Option<Result<Rc<dyn Engine>, String>> {
    let (kind, path) = match name.split_once('=') {
        Some((kind, path)) => (kind, Some(PathBuf::from(path))),
        None => (name, None),
    };
    let found = match kind {
        "libblosc2" | "libblosc" => {
            let missing = || format!("--engine {name}: {kind} not found; give {kind}=PATH");
            path.or_else(|| usual_place(kind)).ok_or_else(missing).map(|path| (kind, path))
        }
        "python:blosc2" => inside_wheel("blosc2", "libblosc2").map(|path| ("libblosc2", path)),
        "python:blosc" => inside_wheel("blosc", "libblosc").map(|path| ("libblosc", path)),
        _ => return None,
    };
    Some(found.and_then(|(library, path)| load(name, library, &path)))
}

/// A libblosc2 of this machine: of the environment variable, in the usual places, or inside the wheel of the Python at hand.
pub fn found() -> Option<Rc<dyn Engine>> {
    ["libblosc2", "python:blosc2"].iter().find_map(|name| open(name)?.ok())
}

fn load(name: &str, library: &str, path: &Path) -> Result<Rc<dyn Engine>, String> {
    let fail = |e: &dyn std::fmt::Display| format!("--engine {name}: {}", e.to_string().replace('\n', " "));
    if !path.exists() {
        return Err(fail(&"no such file"));
    }
    if library == "libblosc2" {
        Ok(Rc::new(Blosc2(Libblosc2::open(path).map_err(|e| fail(&e))?)))
    } else {
        Ok(Rc::new(Blosc1(Rc::new(Libblosc::open(path).map_err(|e| fail(&e))?))))
    }
}

fn usual_place(library: &str) -> Option<PathBuf> {
    let variable = if library == "libblosc2" { "BLOSC_LIBBLOSC2" } else { "BLOSC_LIBBLOSC" };
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let folders = [
        "/usr/local/lib",
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/opt/homebrew/lib",
    ];
    let newest = |folder: &&str| {
        let names = std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path()));
        let prefixes = [format!("{library}.so"), format!("{library}.dylib")];
        let fits = |p: &PathBuf| prefixes.iter().any(|prefix| file_name(p).starts_with(prefix.as_str()));
        names.filter(fits).max_by_key(|path| (version(path), path.clone()))
    };
    folders.iter().find_map(newest)
}

/// The numbers of a name such as `libblosc2.so.10.1`: a newer library has larger ones, whatever their digits.
fn version(path: &Path) -> Vec<u32> {
    file_name(path).split('.').filter_map(|part| part.parse().ok()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Asks Python where a package lies, and looks for the shared library in it.
fn inside_wheel(package: &str, library: &str) -> Result<PathBuf, String> {
    let script = format!(
        "import importlib.util as u; print(list(u.find_spec('{package}').submodule_search_locations)[0])"
    );
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let told = |what: &str| format!("--engine python:{package}: {} {what}", python.display());
    let output = Command::new(&python)
        .args(["-c", &script])
        .output()
        .map_err(|e| told(&format!("cannot run: {e}")))?;
    if !output.status.success() {
        return Err(told(&format!("has no package {package}; set PYTHON to one that has")));
    }
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let mut folders = vec![folder.clone()];
    if let Some(site) = folder.parent() {
        // Older wheels have the library beside the package.
        folders.extend([&*format!("{package}.libs"), "lib", "lib64"].map(|beside| site.join(beside)));
    }
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let mut entries: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        entries.sort();
        for path in entries {
            let name = file_name(&path);
            if path.is_dir() {
                folders.push(path);
            } else if name.starts_with(library) && [".so", ".dylib", ".dll"].iter().any(|e| name.contains(e))
            {
                return Ok(path);
            }
        }
    }
    Err(told(&format!("has no {library} inside {}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_has_the_largest_numbers() {
        let names = ["libblosc2.so", "libblosc2.so.10.1", "libblosc2.so.9.12.3"].map(PathBuf::from);
        let newest = names.iter().max_by_key(|path| version(path)).unwrap();
        assert_eq!(file_name(newest), "libblosc2.so.10.1");
    }
}
