"""What documents name is there: files, command line options, features of packages, methods of types.

    python3 .ci/documents.py

Only what stands in backquotes is looked up. CHANGELOG.md tells of the past, and docs/formats of other programs' names.
"""

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


files = listed()
paths = {path[:end] for path in files for end in [len(path), *(m.start() for m in re.finditer("/", path))]}
tails = {path[start:] for path in paths for start in [0, *(m.end() for m in re.finditer("/", path))]}
code = "\n".join(read(path) for path in files if path.endswith((".rs", ".py", ".sh", ".toml", ".c", ".h", ".cmake.in", ".cmake")) or "." not in path.rsplit("/", 1)[-1])
names = set(re.findall(r"\w+", code))
options = set(re.findall(r"--[a-z][\w-]*", code))
features = {name for path in files if path.endswith("Cargo.toml") for name in re.findall(r"^([\w-]+) *=", read(path), re.M)}

faults, looked = [], 0
for path in listed("*.md"):
    if path == "CHANGELOG.md" or path.startswith("docs/formats/"):
        continue
    for number, line in enumerate(read(path).splitlines(), 1):
        def wrong(what):
            faults.append(f"{path}:{number}: {what}")

        for quoted in re.findall(r"`([^`]+)`", line):
            if found := re.fullmatch(r"((?:\.\./)*[\w.-]+(?:/[\w.-]+)+)/?(?::\d+)?", quoted):
                looked += 1
                name = re.sub(r"^(\.\./)+", "", found[1])
                if not (name in tails or PLACEHOLDER.search(name) or name.startswith(BUILT)):
                    wrong(f"there is no file {quoted}")
            elif found := re.fullmatch(r"([A-Z]\w+)::(\w+)(?:\(.*\))?", quoted):
                looked += 1
                for name in found.groups():
                    if name not in names and name not in ELSEWHERE:
                        wrong(f"nothing is called {name}, of {quoted}")
            for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", quoted):
                looked += 1
                if option not in (*options, *ELSEWHERE) and option[2:].replace("-", "_") not in names:
                    wrong(f"nothing takes {option}")
        for found in re.findall(r"\bfeatures? (`[\w-]+`(?:(?:, | and | or )`[\w-]+`)*)", line):
            for name in re.findall(r"`([\w-]+)`", found):
                looked += 1
                if name not in (*features, *ELSEWHERE):
                    wrong(f"no package has a feature {name}")
print(f"{looked} names in documents")
sys.exit("\n".join(faults) or None)
