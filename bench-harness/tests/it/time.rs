//! Every suite keeps its time, whatever the machine: it says before it starts what it needs, and what it did not reach.

use blosc_bench::suite::SUITES;
use std::process::Command;

#[test]
fn every_suite_keeps_a_short_time_and_has_rows() {
    let folder = std::env::temp_dir().join(format!("blosc-bench-time-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join("rows.jsonl");
    for suite in &SUITES {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc-bench"));
        command.args(["run", "--suite", suite.name, "--time", "2", "--out"]).arg(&out);
        command.args(["--size", "64K", "--data", "ecg,elevation", "--codec", "lz4", "--level", "5"]);
        let begun = std::time::Instant::now();
        let done = command.output().unwrap();
        let took = begun.elapsed();
        let told = String::from_utf8_lossy(&done.stdout).into_owned();
        println!("{}: {took:?}", suite.name);
        assert!(done.status.success(), "{}: {told}{}", suite.name, String::from_utf8_lossy(&done.stderr));
        let results = blosc_bench::result::file::read(&out).unwrap();
        let timed = results.rows.iter().filter(|r| r.suite == suite.name && r.quartile_ns.is_some()).count();
        // Beside the time: the program starts, looks at the machine, and works through a debug build's longest visit.
        assert!(took.as_secs_f64() < 1.2 * 2.0 + 2.0, "{}: {took:?}", suite.name);
        assert!(timed > 0, "{}: {told}", suite.name);
        assert_eq!(results.complete, !told.contains("not reached in this time"), "{}: {told}", suite.name);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
