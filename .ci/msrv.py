"""Fails when a package in Cargo.lock asks for a newer compiler than this workspace promises."""

import json
import subprocess
import sys


def version(text):
    return tuple(int(part) for part in text.split("-")[0].split("."))


metadata = json.loads(
    subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True
    ).stdout
)
members = set(metadata["workspace_members"])
promised = min(version(p["rust_version"]) for p in metadata["packages"] if p["id"] in members)
newer = [
    f"{p['name']} {p['version']} needs {p['rust_version']}"
    for p in metadata["packages"]
    if p.get("rust_version") and version(p["rust_version"]) > promised
]
print(f"promised: {'.'.join(map(str, promised))}; packages checked: {len(metadata['packages'])}")
if newer:
    sys.exit("\n".join(newer))
