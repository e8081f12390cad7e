//! Gives the linker `memory.x`; also for `update`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    fs::copy("../lean/memory.x", Path::new(&out).join("memory.x"))?;
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rerun-if-changed=../lean/memory.x");
    Ok(())
}
