//! Contributed results follow the schema, and the README's figures come from one of them.

use std::path::Path;

#[test]
fn contributed_results_follow_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "jsonl")) {
        let results = blosc_bench::result::file::read(&path).unwrap();
        assert!(results.complete && results.rows.len() > 50, "{}", path.display());
        assert!(results.machine.emulator.is_none() && results.machine.optimised, "{}", path.display());
        assert!(results.rows.iter().all(|r| r.verified), "{}", path.display());
    }
}
