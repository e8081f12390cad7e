"""Prints the table of README.md: how each reader of Blosc does on all vectors.

    cargo build --release --bin peer --manifest-path fuzz/peers/Cargo.toml && cargo build --bin blosc -p blosc-cli
    python3 fuzz/vectors/table.py PYTHON...

The first PYTHON that has a package runs it, and lends the C library in it. What is not there is named, with the reason.
bloscpack 0.16.0 needs a Python before 3.10.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
root = here.parent.parent
# Each with what its Python says of itself.
PACKAGES = {
    "blosc2": "f'python-blosc2 {it.__version__} (C-Blosc2 {it.blosclib_version.split()[0]})'",
    "blosc": "f'python-blosc {it.__version__} (C-Blosc {it.blosclib_version.split()[0]})'",
    "bloscpack": "f'bloscpack {it.__version__}'",
    "numcodecs": "f'numcodecs {it.__version__}'",
    "imagecodecs": "f'imagecodecs {it.__version__} (C-Blosc2 {it.blosc2_version().split()[1]})'",
    "zarr": "f'zarr {it.__version__}'",
}
LIBRARIES = {
    "libblosc2": ("blosc2", "it.blosclib_version.split()[0]", "pathlib.Path(it.__file__).parent.glob('lib*/libblosc2.so')"),
    "libblosc": ("blosc", "it.blosclib_version.split()[0]", "pathlib.Path(sys.prefix).glob('lib*/libblosc.so')"),
}
# The command names what it takes with other words than the manifest.
OURS = """sh -c 'exec "$0" decompress "$2" --as "$(echo $1 | sed "s/chunk[12]/chunk/;s/cframe/frame/")" --offset "$3" --plain -o -' %s {format} {file} {offset}"""


def ask(pythons, package, expression):
    """What the first Python that has the package answers, and which it is."""
    for python in pythons:
        code = f"import pathlib, sys, {package} as it; print({expression})"
        run = subprocess.run([python, "-c", code], capture_output=True, text=True)
        if run.returncode == 0:
            return python, run.stdout.strip()
    raise FileNotFoundError(run.stderr.strip().splitlines()[-1])


def row(title, reader, python=sys.executable, program=None):
    if program and not program.exists():
        return missing(title, f"{program.relative_to(root)} is not built")
    run = subprocess.run([python, here / "run.py", reader], capture_output=True, text=True)
    found = re.search(r"^\| all \|(.*)\|$", run.stdout, re.M)
    if not found:
        return missing(title, run.stderr.strip().splitlines()[-1])
    *counts, unsupported = (cell.strip() for cell in found[1].split("|"))
    files = sum(int(count or 0) for count in counts)
    print(f"| {title} | {files} |", " | ".join(counts), "|", flush=True)


def missing(title, reason):
    print(f"| {title} | not run, because: {reason} |", flush=True)


def main(pythons):
    print("| reader | files | right | wrong bytes | refused wrongly | accepted wrongly | crashed | hung |")
    print("|---" + "|--:" * 7 + "|")
    ours = root / "target/debug/blosc"
    row("this library (`blosc decompress`)", OURS % ours, program=ours)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/reader"
        subprocess.run(["cc", "-O1", "-o", program, here / "reader.c", "-ldl"], check=True)
        for name, (package, version, path) in LIBRARIES.items():
            try:
                _, version = ask(pythons, package, version)
                _, library = ask(pythons, package, f"next({path})")
                row(f"{name} {version} (`reader.c`)", f"{program} {library} {{format}} {{file}} {{offset}}")
            except FileNotFoundError as error:
                missing(name, error)
    for package, title in PACKAGES.items():
        try:
            python, title = ask(pythons, package, title)
            row(title, package, python)
        except FileNotFoundError as error:
            missing(package, error)
    lock, peer = (root / "fuzz/peers/Cargo.lock").read_text(), root / "fuzz/peers/target/release/peer"
    for name in ("blosc2-pure-rs", "blusc", "openreadout-codecs"):
        version = re.search(f'name = "{name}"\nversion = "(.*)"', lock)[1]
        row(f"{name} {version}", f"{peer} {name} {{format}} {{file}} {{offset}}", program=peer)


main(sys.argv[1:] or [sys.executable])
