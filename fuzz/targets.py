"""Writes fuzz_targets/*.rs and the [[bin]] list of Cargo.toml from the registry in src/lib.rs.

    python3 fuzz/targets.py         # after adding a line to TARGETS
"""

import pathlib
import re

here = pathlib.Path(__file__).parent
names = re.findall(r'^\s*\("(\w+)", ', (here / "src/lib.rs").read_text(), re.M)
for name in names:
    (here / "fuzz_targets" / f"{name}.rs").write_text(
        f"""//! See `blosc_fuzz::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| blosc_fuzz::run("{name}", data));
"""
    )
cargo = here / "Cargo.toml"
head = cargo.read_text().split("\n[[bin]]")[0].rstrip() + "\n"
for name in names:
    head += f"""
[[bin]]
name = "{name}"
path = "fuzz_targets/{name}.rs"
test = false
doc = false
bench = false
required-features = ["libfuzzer"]
"""
cargo.write_text(head)
print(len(names), "targets")
