//! The generated parts are those that `targets.py` makes of the registry.

use std::fs;

#[test]
fn every_target_has_its_binary() {
    let here = blosc_fuzz::folder();
    let manifest = fs::read_to_string(here.join("Cargo.toml")).expect("a manifest");
    for (name, ..) in blosc_fuzz::TARGETS {
        let source = fs::read_to_string(here.join(format!("fuzz_targets/{name}.rs"))).unwrap_or_default();
        let call = format!("libfuzzer_sys::fuzz_target!(|data: &[u8]| blosc_fuzz::run(\"{name}\", data));");
        assert!(source.contains(&call), "fuzz_targets/{name}.rs: run `python3 fuzz/targets.py`");
        let listed = format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&listed), "{name} in Cargo.toml: run `python3 fuzz/targets.py`");
    }
}
