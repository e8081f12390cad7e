"""The tables of figures in core/README.md and README.md, from what `run` prints.

    tables.py compare|write ROOT FOLDER PART...     FOLDER has PART.figures and rustc.figures

`compare` fails where a figure is more than 2 % off. Another compiler makes other code, so nothing is compared where the tables
are from another one.
"""

import pathlib
import re
import sys

ROOM = 0.02
TEXT = re.compile(r"figure text of decoding, (\S+), (\S+): (\d+) bytes")
STACK = re.compile(r"figure lean firmware with (\S+): (\w+), (\d+) bytes (\w+(?: by \d+)?): (.*)")
PART = re.compile(r"figure part of decoding, (\S+), (.+): (\d+) bytes")
BOARD = re.compile(r"figure mps2-an386: (.+): (\d+) bytes")
WASM = re.compile(r"figure wasm, (\S+): module that decodes (.+) (\d+) bytes, and (.+) (\d+) bytes")
UPDATE = re.compile(r"figure ([\w-]+): (flash .*|peak stack .*)")
NAMES = {"codec": "an LZ4 stream, without any chunk", "lz4": "`lz4` (and byte shuffle)", "codecs": "`codecs` (everything)"}


def name(features):
    known = [NAMES.get(features, f"`{features}`")]
    if features.endswith(",push"):
        plain = features.removesuffix(",push")
        known = [f"{NAMES.get(plain, f'`{plain}`')}, in pieces"]
    return known[0]


def by_target(head, found, name=str):
    """Rows of what was found as (target, what, figure)."""
    rows, targets = {}, ("thumbv7em", "riscv32imac")
    for target, what, figure in found:
        rows.setdefault(name(what), {})[target.split("-")[0]] = int(figure)
    return (head, *targets), [(what, *(row.get(target, "") for target in targets)) for what, row in rows.items()]


def size(lines):
    return by_target("features", TEXT.findall(lines), name)


def parts(lines):
    return by_target("part", PART.findall(lines))


def stack(lines):
    found = {}
    for features, codec, length, how, figure in STACK.findall(lines):
        row = found.setdefault((codec, length, features, how), {})
        if match := re.match(r"peak stack (\d+) bytes", figure):
            row["stack"] = int(match[1])
        elif match := re.match(r"([\d.]+) instructions per byte", figure):
            row["instructions"] = float(match[1])
    rows = [
        (f"{codec}, {length} bytes", f"`{features}`", how, row.get("stack", ""), row.get("instructions", ""))
        for (codec, length, features, how), row in found.items()
    ]
    return ("chunk", "features", "how", "peak stack", "instructions per byte"), rows


def firmware(lines):
    return ("firmware with all codecs", "Cortex-M4F, bytes"), BOARD.findall(lines)


def wasm(lines):
    rows = {}
    for simd, chunks, small, files, large in WASM.findall(lines):
        rows.setdefault(chunks, {})[simd], rows.setdefault(files, {})[simd] = small, large
    columns = ("no-simd", "simd128")
    return ("module, bytes", "without simd128", "with"), [(what, *map(row.get, columns)) for what, row in rows.items()]


def update(lines):
    found = {}
    for board, figures in UPDATE.findall(lines):
        found.setdefault(board, {}).update((words, int(n)) for words, n in re.findall(r"([A-Za-z ]+) (\d+),? ?", figures))
    head = ("flash", "static RAM", "peak stack", "instructions per KiB")
    return ("board", *head), [(board, *(row.get(column, "") for column in head)) for board, row in found.items()]


def table(head, rows, compiler):
    lines = [f"{compiler}:", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def cells(line):
    """The words of a row, which name it, and its figures."""
    row = [cell.strip() for cell in line.strip("| ").split("|")]
    figures = [cell for cell in row if re.fullmatch(r"[\d.]+", cell)]
    return tuple(cell for cell in row if cell not in figures), [float(cell) for cell in figures]


def compare(before, after):
    """Rows whose figures differ by more than the room, or that are new."""
    old = dict(cells(line) for line in before if line.startswith("| "))
    for words, figures in (cells(line) for line in after if line.startswith("| ")):
        was = old.get(words, [])
        if len(was) != len(figures) or any(abs(a - b) > ROOM * a for a, b in zip(was, figures)):
            yield f"{' '.join(words)}: {was} in the table, now {figures}"


CORE, BARE = "core/README.md", "bench-harness/bare/README.md"
# What makes the table, from what part of `run`, in which file.
PARTS = {
    "size": (size, "size", CORE),
    "parts": (parts, "size", BARE),
    "stack": (stack, "stack", CORE),
    "firmware": (firmware, "m4", BARE),
    "wasm": (wasm, "wasm", BARE),
    "update": (update, "update", BARE),
}
how, root, folder, *asked = sys.argv[1:]
root, folder, status = pathlib.Path(root), pathlib.Path(folder), 0
compiler = (folder / "rustc.figures").read_text().split(" (")[0].strip()
for part, (make, source, readme) in PARTS.items():
    if source not in asked:
        continue
    readme = root / readme
    text = readme.read_text()
    made = table(*make((folder / f"{source}.figures").read_text()), compiler)
    start, end = f"<!-- {part}: written by bench-harness/bare/run --write -->\n", f"<!-- end of {part} -->\n"
    head, rest = text.split(start)
    body, tail = rest.split(end)
    if how == "write":
        readme.write_text(head + start + "\n".join(made) + "\n" + end + tail)
        continue
    before = body.splitlines()
    if before[:1] != made[:1]:
        print(f"the table of {part} is by {before[0] if before else 'nothing'} this compiler is {compiler}: not compared")
        continue
    for line in compare(before, made):
        print("FAILED", line, "(bench-harness/bare/run --write)")
        status = 1
sys.exit(status)
