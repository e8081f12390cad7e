"""What each part of decoding takes of the text, from the line tables of the program that `run size` links.

    parts.py TARGET ELF [NAME...]      NAME is a file of core/src, as far as it decides: codec=codec/,arch/lz

Each instruction counts for the innermost function of core/src that it was inlined from.
"""

import collections
import re
import subprocess
import sys

PARTS = {
    "header and its checks": r"chunk/(header|limits)|names|filter/(mod|slot|id)",
    "offsets: chunk, block starts, streams": r"chunk/(view|blocks|mod)",
    "blocks: what goes where": r"chunk/|filter/blocksplit|error",
    "filters": r"filter/|arch/(scalar|level|simd)",
    "codec": r"codec/|arch/(lz|out|input)",
}

target, elf = sys.argv[1:]
code = subprocess.run(["arm-none-eabi-nm", "-S", elf], capture_output=True, text=True, check=True).stdout
spans = [(int(a, 16) & ~1, int(n, 16)) for a, n, kind, *_ in (line.split() for line in code.splitlines() if line.count(" ") == 3) if kind in "tT"]
addresses = [at for start, size in spans for at in range(start, start + size, 2)]
lines = subprocess.run(
    ["arm-none-eabi-addr2line", "-a", "-i", "-e", elf], input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True
).stdout
sizes = collections.Counter()
for frames in re.split(r"^0x.*\n", lines, flags=re.M)[1:]:
    found = re.search(r"(?<!library)/core/src/((?:chunk|codec|filter|arch|error|names)\S*)", frames)
    part = next((part for part, files in PARTS.items() if found and re.match(files, found[1])), "compiler's library and the call")
    sizes[part] += 2
for part in [*PARTS, "compiler's library and the call"]:
    print(f"figure part of decoding, {target}, {part}: {sizes[part]} bytes")
