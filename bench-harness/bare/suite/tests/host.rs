//! The checks themselves, on the host that builds them: `cargo test -p blosc-suite --features all,frame`.

use blosc_core::Level;
use blosc_suite::{GUARD, Memory};

#[test]
fn every_level_of_this_machine() {
    let (mut work, mut out, mut chunk) = (vec![0; 1 << 20], vec![0; (1 << 16) + GUARD], vec![0; 1 << 16]);
    for level in Level::available() {
        let mut memory = Memory { work: &mut work, out: &mut out, chunk: &mut chunk };
        let mut log = String::new();
        let held = blosc_suite::run(level, &mut memory, &mut log);
        print!("{log}");
        assert!(held, "{log}");
    }
}
