//! Imports run from higher floors to lower ones, no files import each other in a circle, and one file dispatches.

use blosc_testkit::imports::{Module, circles, imports, name, sources};
use std::path::{Path, PathBuf};

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = imports(&src());
    assert!(imports.values().map(|own| own.len()).sum::<usize>() > 200, "the parser finds imports");
    let found = circles(&imports);
    assert!(found.is_empty(), "files in circles, or between two:\n{}", found.join("\n"));
}

/// The floors of the crate, lowest first. A file imports from its own floor and those below; all may import the error types.
const FLOORS: [&[&str]; 5] = [&["arch"], &["filter", "codec"], &["error", "names"], &["chunk"], &["pool"]];

#[test]
fn imports_run_downwards() {
    let floor = |module: &Module| {
        let first = module.first()?;
        Some(
            FLOORS
                .iter()
                .position(|floor| floor.contains(&first.as_str()))
                .unwrap_or_else(|| panic!("{first}?")),
        )
    };
    for (module, imports) in imports(&src()) {
        for import in
            imports.iter().filter(|import| name(import) != "codec::error" && name(import) != "error")
        {
            let (from, to) = (floor(&module), floor(import));
            // `lib` names what is public; nothing imports from it.
            assert!(from.is_none() || to.is_some(), "{} imports from lib", name(&module));
            assert!(
                from.is_none() || to <= from,
                "{} imports {}, which is above it",
                name(&module),
                name(import)
            );
        }
    }
}

/// One place dispatches: no other file than the kernel table asks a level which it is, and none but detection asks the CPU.
#[test]
fn one_file_dispatches() {
    for (module, text) in sources(&src()) {
        let file = name(&module);
        let asks = text.contains(".isa()") && file != "arch::kernels";
        let detects = text.contains("is_x86_feature_detected!") && !file.starts_with("arch::level");
        assert!(!asks && !detects, "{file} chooses instructions by itself: arch::kernels should");
    }
}
