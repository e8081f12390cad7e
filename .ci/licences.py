"""Fails when a locked package has a licence that this project has not accepted.

    python3 .ci/licences.py [FEATURES]

FEATURES are optional features, as `cargo --features` takes them, whose packages are looked at, too.
"""

import json
import re
import subprocess
import sys

ACCEPTED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    # Certificates of authorities, as data. Only with the feature `remote` of the command.
    "CDLA-Permissive-2.0",
    # As BSD-3-Clause. Only with the feature `zarr` of the command.
    "bzip2-1.0.6",
}


def accepted(expression):
    """SPDX: one alternative is enough, all parts of it are needed. Parentheses stand around single licences only here."""
    parts = re.split(r"\) AND |\) AND \(| AND \(", expression) if "(" in expression else [expression]
    return all(
        any(all(one.strip(" ()") in ACCEPTED for one in way.split(" AND ")) for way in re.split(r" OR |/", part.strip("()")))
        for part in parts
    )


features = [word for features in sys.argv[1:] for word in ("--features", features)]
command = ["cargo", "metadata", "--format-version", "1", "--locked", *features]
metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
packages = metadata["packages"]
bad = [f"{p['name']} {p['version']}: {p['license'] or p['license_file']}" for p in packages if not accepted(p["license"] or "")]
print(f"licences of {len(packages)} packages: {', '.join(sorted({p['license'] or '?' for p in packages}))}")
sys.exit("\n".join(bad) or None)
