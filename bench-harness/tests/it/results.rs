//! Contributed results follow the schema and were measured soundly.

use std::path::Path;

#[test]
fn contributed_results_follow_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "jsonl")) {
        let results = blosc_bench::result::file::read(&path).unwrap();
        let verdict = blosc_bench::result::file::contributable(&results);
        assert_eq!(verdict, Ok(()), "{}", path.display());
    }
}
