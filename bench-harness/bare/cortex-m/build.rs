//! Gives the linker `memory.x`, and writes `malformed.rs`: the table of all malformed chunks of
//! `core/tests/fixtures/malformed`, in the order of their names, so that they are compiled in.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    fs::copy("memory.x", out.join("memory.x"))?;

    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../../core/tests/fixtures/malformed");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|e| e == "chunk"));
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        writeln!(table, "    include_bytes!({file:?}),")?;
    }
    table.push_str("]\n");
    fs::write(out.join("malformed.rs"), table)?;

    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-changed={}", folder.display());
    Ok(())
}
