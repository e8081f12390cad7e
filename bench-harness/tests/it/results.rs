//! Contributed results follow the schema, were measured soundly, and stand on the page beside them.

use blosc_bench::result::file::{Results, comparable, contributable, read};
use std::path::Path;

#[test]
fn contributed_results_follow_the_schema_and_are_on_the_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let files = files.filter(|p| p.extension().is_some_and(|e| e == "jsonl"));
    let records: Vec<Results> = files.map(|path| read(&path).unwrap()).collect();
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    for record in &records {
        assert_eq!(contributable(record), Ok(()), "{}", record.path.display());
        let name = format!("<h1>{}</h1>", record.machine.name);
        assert!(
            page.contains(&name),
            "{name}: blosc-bench report bench-harness/results -o bench-harness/results/index.html"
        );
    }
    assert_eq!(comparable(&records), Ok(()));
    let loaded = |busy| {
        let mut other = records[0].clone();
        (other.machine.busy_cpus_most, other.machine.commit) = (Some(busy), "b".into());
        other
    };
    assert!(contributable(&loaded(2.0)).is_err_and(|why| why.contains("others used 2.00 CPUs")));
    assert!(contributable(&loaded(0.3)).is_ok() && comparable(&[records[0].clone(), loaded(0.3)]).is_err());
}
