//! Gives the linker `memory.x`, with the RAM of the board.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    let mut layout = fs::read_to_string("memory.x")?;
    if env::var("TARGET")?.starts_with("thumbv7em") {
        layout = layout.replace("64K", "128K");
    }
    fs::write(Path::new(&out).join("memory.x"), layout)?;
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rerun-if-changed=memory.x");
    Ok(())
}
