"""What documents name is there: files, options, features, methods of types, tests that a command runs, variables of the
environment. What should stand in a document does: commands, features, suites, fuzz targets. Counts are those of what is there.

    python3 .ci/documents.py

Only what stands in backquotes is looked up, and not in docs/formats, which has names of other programs.
"""

import json
import re
import subprocess
import sys

# In `core/src/codec/NAME.rs` the reader puts a name; what a build writes lies under these.
PLACEHOLDER, BUILT = re.compile(r"\b[A-Z]{3,}\b"), ("target/", "dist/", "artifacts/", "corpus/")

# Names that maturin and the crate zarrs have, and two that CMake puts together.
ELSEWHERE = ("--compatibility", "blosc", "blosc_shared", "blosc_static")


def listed(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], check=True, capture_output=True, text=True).stdout.split()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def features_of(package):
    section = read(f"{package}/Cargo.toml").split("[features]")[1].split("\n[")[0]
    return [name for name in re.findall(r"^([\w-]+) *=", section, re.M) if name != "default"]


def commands_of(path):
    """The variants of `enum Command` that help shows."""
    body = re.sub(r"hide = true\)\]\n +\w+", "", re.search(r"enum Command \{\n(.*?)\n\}", read(path), re.S)[1])
    return [name.lower() for name in re.findall(r"^    ([A-Z]\w+)[ (,{]", body, re.M)]


files = listed()
paths = {path[:end] for path in files for end in [len(path), *(m.start() for m in re.finditer("/", path))]}
tails = {path[start:] for path in paths for start in [0, *(m.end() for m in re.finditer("/", path))]}
code = "\n".join(read(path) for path in files if path.endswith((".rs", ".py", ".sh", ".toml", ".c", ".h", ".cmake.in", ".cmake")) or "." not in path.rsplit("/", 1)[-1])
names = set(re.findall(r"\w+", code))
options = set(re.findall(r"--[a-z][\w-]*", code))
features = {name for path in files if path.endswith("Cargo.toml") for name in re.findall(r"^([\w-]+) *=", read(path), re.M)}
packages = {re.search(r'^name = "(.*)"', read(path), re.M)[1]: path.removesuffix("Cargo.toml") for path in files if path.endswith("Cargo.toml") and "[package]" in read(path)}
suites = re.findall(r'name: "([\w-]+)"', read("bench-harness/src/suite/mod.rs").split("const SUITES")[1])
targets = re.findall(r'^    \("(\w+)", ', read("fuzz/src/lib.rs").split("const TARGETS")[1], re.M)
# Each of these names has a place in the document, written as the pattern has it.
PLACES = (
    ("frame/cli/README.md", r"\bblosc {}\b", commands_of("frame/cli/src/args.rs")),
    ("bench-harness/README.md", r"blosc-bench\b.*\b{}\b", commands_of("bench-harness/src/cli/mod.rs")),
    ("bench-harness/README.md", r"^\|.*`{}`.*\|", suites),
    ("fuzz/README.md", r"^\| .*`{}`.* \|", targets),
    ("core/README.md", r"^\| .*`{}`.* \|", features_of("core")),
    ("frame/README.md", r"^\| .*`{}`.* \|", features_of("frame")),
    ("frame/cli/README.md", r"`{}`", features_of("frame/cli")),
)
# How many there are of something, as these documents say.
vectors = len(json.loads(read("fuzz/vectors/manifest.json")))
COUNTS = (
    ("fuzz/README.md", r"has ([\d,]+) files of all formats", vectors),
    ("fuzz/vectors/README.md", r"^([\d,]+) files with what", vectors),
)

faults, looked = [], 0
for path in listed("*.md"):
    if path.startswith("docs/formats/"):
        continue
    for number, line in enumerate(read(path).splitlines(), 1):
        def wrong(what):
            faults.append(f"{path}:{number}: {what}")

        for variable in re.findall(r"\bBLOSC_[A-Z0-9_]+\b", line):
            looked += 1
            if variable not in names:
                wrong(f"nothing reads {variable}")
        for quoted in re.findall(r"`([^`]+)`", line):
            if found := re.fullmatch(r"([\w./-]+/)\{([\w,]+)\}", quoted):
                looked += 1
                for name in found[2].split(","):
                    if not {found[1] + name, f"{found[1]}{name}.rs"} & tails:
                        wrong(f"there is no {name} of {quoted}")
            elif found := re.fullmatch(r"((?:\.\./)*[\w.-]+(?:/[\w.-]+)+)/?(?::\d+)?", quoted):
                looked += 1
                name = re.sub(r"^(\.\./)+", "", found[1])
                if not (name in tails or PLACEHOLDER.search(name) or name.startswith(BUILT)):
                    wrong(f"there is no file {quoted}")
            elif found := re.fullmatch(r"([A-Z]\w+)::(\w+)(?:\(.*\))?", quoted):
                looked += 1
                for name in found.groups():
                    if name not in names and name not in ELSEWHERE:
                        wrong(f"nothing is called {name}, of {quoted}")
            elif found := re.match(r"cargo test -p ([\w-]+) --test it(.*)", quoted):
                modules = [file.replace("/", "::") for file in files if file.startswith(f"{packages[found[1]]}tests/it/")]
                for name in re.findall(r"(?<![\w-])(\w+)(?:::)?(?![\w-])", found[2]):
                    looked += 1
                    if not any(name in module for module in modules):
                        wrong(f"{quoted} runs no test")
            for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", quoted):
                looked += 1
                if option not in (*options, *ELSEWHERE) and option[2:].replace("-", "_") not in names:
                    wrong(f"nothing takes {option}")
        for found in re.findall(r"\bfeatures? (`[\w-]+`(?:(?:, | and | or )`[\w-]+`)*)", line):
            for name in re.findall(r"`([\w-]+)`", found):
                looked += 1
                if name not in (*features, *ELSEWHERE):
                    wrong(f"no package has a feature {name}")
for path, pattern, every in PLACES:
    looked += len(every)
    assert every, f"{path}: nothing is looked for"
    faults += [f"{path}: {name} is missing" for name in every if not re.search(pattern.format(name), read(path), re.M)]
for path, pattern, count in COUNTS:
    looked += 1
    found = re.search(pattern, read(path), re.M)
    if not found or int(found[1].replace(",", "")) != count:
        faults.append(f"{path}: there are {count:,}, it says {found and found[1]}")
print(f"{looked} names in documents")
sys.exit("\n".join(faults) or None)
