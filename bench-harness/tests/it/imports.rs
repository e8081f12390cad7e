//! No files of the harness import each other in a circle.

use blosc_testkit::imports::{circles, imports};
use std::path::Path;

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(imports.values().map(|own| own.len()).sum::<usize>() > 100, "the parser finds imports");
    let found = circles(&imports);
    assert!(found.is_empty(), "files in circles, or between two:\n{}", found.join("\n"));
}
