//! Notes the compiler, the commit and the target, for the machine record.
use std::process::Command;

fn said(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    (out.status.success() && !text.trim().is_empty()).then(|| text.trim().to_string())
}

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = said(&rustc, &["-V"]).unwrap_or_else(|| "unknown".into());
    let commit = said("git", &["describe", "--always", "--dirty", "--abbrev=12"]);
    println!("cargo::rustc-env=BLOSC_BENCH_RUSTC={version}");
    println!("cargo::rustc-env=BLOSC_BENCH_COMMIT={}", commit.unwrap_or_else(|| "unknown".into()));
    println!("cargo::rustc-env=BLOSC_BENCH_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    // A change that is not committed makes this another program than the commit says.
    ["src", "peers/src", "../core/src", "../frame/src"]
        .iter()
        .for_each(|of| println!("cargo::rerun-if-changed={of}"));
    if let Some(head) = said("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
}
