#!/usr/bin/env python3
"""The adapters beside what they stand in for, in one run: a table of ratios, theirs / ours (above 1: the adapter is faster).

usage: python speed.py [ROUNDS]

Runs the speed programs of the wheel (beside numcodecs), of the codec for zarrs (beside zarrs' own) and of the HDF5 plugin (beside
hdf5plugin), each on one thread over 1 MiB of float32; what they compare stands at their heads. Builds the last two, so it needs cargo
and a C compiler; this Python must have blosc_frame, numcodecs, zarr and hdf5plugin.
"""

import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINE = re.compile(r"\s*(encode|decode) (?:(32001|32026) )?(\w+ \d)(?: (\w+))?\s+[\d.]+ µs\s+[\d.]+ µs\s+([\d.]+)")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def built(package, *arguments):
    """Builds an adapter; the folder of the release."""
    manifest = ["--locked", "--manifest-path", HERE / package / "Cargo.toml"]
    output("cargo", "build", "-q", "--release", *manifest, *arguments)
    metadata = json.loads(output("cargo", "metadata", "--no-deps", "--format-version=1", *manifest))
    return pathlib.Path(metadata["target_directory"]) / "release"


def main():
    rounds = sys.argv[1] if len(sys.argv) > 1 else "30"
    plugin = built("hdf5") / "libh5blosc_rust.so"
    zarrs = built("zarrs", "--features", "compare", "--example", "speed") / "examples" / "speed"
    wheel = HERE / "python" / "examples" / "speed.py"
    programs = {
        "numcodecs": [sys.executable, wheel, "--mebibytes", "1", "--rounds", rounds],
        "zarrs": [zarrs, rounds],
        "hdf5plugin": [sys.executable, HERE / "hdf5" / "tests" / "speed.py", plugin, rounds],
    }
    table, columns = {}, {}
    for theirs, command in programs.items():
        told = output(*command)
        print(told, file=sys.stderr)
        for operation, number, codec, shuffle, ratio in (found.groups() for found in map(LINE.match, told.splitlines()) if found):
            column = f"{theirs} {number or ''}".strip() + f", {operation}"
            columns[column] = None
            table.setdefault(f"{codec} {shuffle or 'shuffle'}", {})[column] = ratio
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numcodecs", "zarr", "hdf5plugin")))
    print(f"\n| codec, level, filter | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
    for codec, row in sorted(table.items()):
        print(f"| {codec} | {' | '.join(row.get(column, '') for column in columns)} |")


if __name__ == "__main__":
    main()
