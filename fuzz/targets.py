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
# Each target's code is the whole library: one binary for all of them takes a 36th of the links and of the disk.
(here / "fuzz_targets/every.rs").write_text(
    """//! Any target, named by `BLOSC_FUZZ_TARGET`: see `blosc_fuzz::TARGETS`. `smoke` and `campaign` run this one.
#![no_main]

use std::sync::LazyLock;

static NAME: LazyLock<String> = LazyLock::new(|| {
    std::env::var("BLOSC_FUZZ_TARGET").expect("BLOSC_FUZZ_TARGET must name a target of blosc_fuzz::TARGETS")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| blosc_fuzz::run(&NAME, data));
"""
)
cargo = here / "Cargo.toml"
head = cargo.read_text().split("\n[[bin]]")[0].rstrip() + "\n"
for name in [*names, "every"]:
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
