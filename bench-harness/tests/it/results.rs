//! Results files are read as they were written, and malformed ones refused. Contributed ones follow the schema, were measured
//! soundly, and stand on the page beside them.

use blosc_bench::machine::Machine;
use blosc_bench::result::Row;
use blosc_bench::result::file::{Results, Writer, comparable, contributable, join, read};
use std::path::{Path, PathBuf};

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

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("blosc-bench-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn written_files_are_read_back() {
    let path = file("back", "");
    let machine = Machine::detect();
    let mut writer = Writer::create(&path, &machine, "test").unwrap();
    let (verified, quartile_ns) = (true, Some(12.5));
    let row = Row { verified, quartile_ns, ..Row::plain("kernels", "ours", "shuffle", 4, 0) };
    writer.row(&Row { quartile_ns: Some(99.0), ..row.clone() }).unwrap();
    writer.finish(std::slice::from_ref(&row), true, &machine).unwrap();
    let read = read(&path).unwrap();
    assert_eq!((read.rows, read.complete, read.machine), (vec![row], true, machine));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn pieces_are_joined_and_nothing_counts_twice() {
    let piece = |op: &str, commit: &str| {
        let machine = Machine { commit: commit.into(), ..Machine::default() };
        let rows = vec![Row { op: op.into(), ..Row::default() }];
        let (path, command) = (PathBuf::from(op), format!("run {op}"));
        Results { path, machine, command, started: 0, rows, complete: true }
    };
    let whole = join(vec![piece("a", "1"), piece("b", "1")]).unwrap();
    assert_eq!((whole.rows.len(), whole.command.as_str()), (2, "run a; run b"));
    assert!(join(vec![piece("a", "1"), piece("b", "2")]).is_err());
    assert!(join(vec![piece("a", "1"), piece("a", "1")]).is_err());
    assert!(join(vec![piece("a", "1"), Results { complete: false, ..piece("b", "1") }]).is_err());
}

#[test]
fn malformed_files_are_refused_with_the_line() {
    let machine = r#"{"kind":"machine","schema":1,"command":"","started":0,"machine":{}}"#;
    let cases = [
        ("", "empty"),
        ("{", "line 1: not a results line"),
        (r#"{"kind":"end","schema":1,"complete":true,"seconds":1}"#, "line 1: the first line"),
        (&format!("{machine}\n{machine}"), "line 2: a second machine"),
        (&format!("{machine}\n{}", r#"{"kind":"row","schema":9}"#), "line 2: schema 9"),
        (&format!("{machine}\n{}", r#"{"kind":"row","schema":1}"#), "line 2: a row needs"),
        (&format!("{machine}\n{}", r#"{"kind":"rowe","schema":1}"#), "line 2: not a results line"),
        (
            &format!(
                "{machine}\n{}",
                r#"{"kind":"row","schema":4,"suite":"a","engine":"b","op":"c","data":"d","typesize":1,"threads":1,"round_trips":2}"#
            ),
            "line 2: a round trip has a request",
        ),
        (
            &format!(
                "{machine}\n{}",
                r#"{"kind":"row","schema":1,"suite":"a","engine":"b","op":"c","data":"d","typesize":1,"threads":1,"median_ns":4}"#
            ),
            "line 2: a row that is not verified",
        ),
    ];
    for (i, (text, told)) in cases.iter().enumerate() {
        let path = file(&format!("bad{i}"), text);
        let error = read(&path).unwrap_err();
        assert!(error.contains(told), "{error}");
        assert_eq!(error.lines().count(), 1);
        std::fs::remove_file(path).unwrap();
    }
}
