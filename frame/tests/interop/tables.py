#!/usr/bin/env python3
"""Tables of python-blosc2, read by our command and by python-blosc2; and stores that our command makes, opened there.

usage: BLOSC_BIN=path/to/blosc python tables.py [TABLES]      (default 20)
       BLOSC_BIN=path/to/blosc python tables.py --speed       figures, for README.md of the command line

Random tables with columns of every kind, nulls and deleted rows are written as JSON lines, CSV, `.npz` and, where pyarrow
is installed, Arrow, and compared with what python-blosc2 reads. Prints one line per mismatch; exit status 0 if there is
none."""
import csv
import dataclasses
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import blosc2
import numpy as np

try:
    import pyarrow.ipc
except ImportError:
    pyarrow = None
    print("skipped Arrow files of tables: pyarrow is not installed")

BLOSC = os.path.abspath(os.environ.get("BLOSC_BIN", "blosc"))
SPEED = sys.argv[1:] == ["--speed"]
TABLES = int(sys.argv[1]) if len(sys.argv) > 1 and not SPEED else 20
rnd = random.Random(2026)
os.chdir(tempfile.mkdtemp())
mismatches = 0


@dataclasses.dataclass
class Row:
    id: int = blosc2.field(blosc2.int64())
    flag: bool = blosc2.field(blosc2.bool(nullable=True), default=None)
    small: int = blosc2.field(blosc2.int8(null_value=-1), default=-1)
    x: float = blosc2.field(blosc2.float32(nullable=True), default=None)
    z: complex = blosc2.field(blosc2.complex128(), default=0j)
    word: str = blosc2.field(blosc2.string(max_length=4, nullable=True), default=None)
    raw: bytes = blosc2.field(blosc2.bytes(max_length=3), default=b"")
    text: str = blosc2.field(blosc2.utf8(nullable=True), default=None)
    free: str = blosc2.field(blosc2.vlstring(nullable=True), default=None)
    blob: bytes = blosc2.field(blosc2.vlbytes(nullable=True), default=None)
    kind: str = blosc2.field(blosc2.dictionary(), default=None)
    many: list[int] = blosc2.field(blosc2.list(blosc2.int64(), nullable=True), default=None)
    words: list[str] = blosc2.field(blosc2.list(blosc2.string(), nullable=True, storage="vl"), default=None)
    any: object = blosc2.field(blosc2.object(nullable=True), default=None)
    when: object = blosc2.field(blosc2.timestamp(unit="us", nullable=True), default=None)
    grid: object = blosc2.field(blosc2.NDArraySpec((2, 3), np.float32), default=None)


def wrong(*what):
    global mismatches
    mismatches += 1
    print("mismatch:", *what)


def ours(*words):
    run = subprocess.run([BLOSC, *words], capture_output=True, text=True)
    if run.returncode:
        wrong(words, run.stderr)
    return run.stderr


def text(most):
    return "".join(rnd.choice('aü,"\n 漢') for _ in range(rnd.randrange(most)))


def row(k):
    """A row, and what it is as JSON."""
    full = {
        "id": k, "flag": rnd.random() < .5, "small": rnd.randrange(100), "x": float(np.float32(rnd.random())),
        "z": complex(k, rnd.random()), "word": text(4).strip("\0"), "raw": rnd.randbytes(rnd.randrange(4)).rstrip(b"\0"),
        "text": text(9), "free": text(20), "blob": rnd.randbytes(rnd.randrange(9)), "kind": rnd.choice(["p", "q", "rr"]),
        "many": [rnd.randrange(-9, 9) for _ in range(rnd.randrange(4))], "words": [text(5) for _ in range(rnd.randrange(3))],
        "any": rnd.choice([1, "x", [1, None], True, 2.5]), "when": rnd.randrange(-10**15, 10**15),
        "grid": np.full((2, 3), k, "f4"),
    }
    for name in full:
        if name not in ("id", "z", "raw", "grid") and rnd.random() < .2:
            full[name] = -1 if name == "small" else None
    shown = dict(full, z=[full["z"].real, full["z"].imag], raw=full["raw"].hex(), grid=full["grid"].tolist())
    shown["small"] = None if full["small"] == -1 else full["small"]
    shown["blob"] = None if full["blob"] is None else full["blob"].hex()
    shown["when"] = None if full["when"] is None else str(np.datetime64(full["when"], "us"))
    return full, shown


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def table(number):
    path = f"t{number}.{rnd.choice(['b2d', 'b2z'])}"
    written = [row(k) for k in range(rnd.choice([1, 7, 40, 300]))]
    with blosc2.CTable(Row, urlpath=path, mode="w") as rows:
        for full, _ in written:
            rows.append(full)
        dead = sorted({rnd.randrange(len(written)) for _ in range(rnd.randrange(5))})
        if len(dead) < len(written):
            rows.delete(dead)
        else:
            dead = []
    living = [shown for k, (_, shown) in enumerate(written) if k not in dead]
    for suffix in ["jsonl", "csv"]:
        ours("decompress", path, "-o", f"{path}.{suffix}")
    ours("decompress", path, "--partial", "-o", f"{path}.npz")
    with open(f"{path}.jsonl", encoding="utf8") as lines:
        found = [json.loads(line) for line in lines]
    if len(found) != len(living):
        return wrong(path, len(found), "rows of", len(living))
    for want, have in zip(living, found):
        for name in want:
            if not same(want[name], have[name]):
                wrong(path, "jsonl", name, want["id"], want[name], have[name])
    with open(f"{path}.csv", encoding="utf8", newline="") as lines:
        fields = list(csv.DictReader(lines))
    for want, have in zip(living, fields, strict=True):
        for name in ["text", "free", "word", "kind"]:
            if (want[name] or "") != have[name]:
                wrong(path, "csv", name, want["id"], want[name], have[name])
    with np.load(f"{path}.npz") as arrays:
        for name in ["flag", "small", "x", "word", "text", "free", "kind", "when"]:
            values = arrays[name]
            for want, null, value in zip(living, arrays[f"{name}.mask"], values, strict=True):
                value = str(value) if name == "when" else value.item()
                if null != (want[name] is None) or (not null and not same(want[name], value)):
                    wrong(path, "npz", name, want["id"], want[name], null, value)
    if pyarrow:
        ours("decompress", path, "--partial", "-o", f"{path}.arrow")
        mine = pyarrow.ipc.open_file(f"{path}.arrow").read_all()
        names = [name for name in mine.column_names if name not in ("any", "grid")]
        theirs = blosc2.open(path, mode="r").select(names).to_arrow()
        for name in names:
            if mine[name].to_pylist() != theirs[name].to_pylist():
                wrong(path, "arrow", name)


def stores():
    arrays = {"a": np.arange(10), "g/b": np.ones((3, 4), "f4"), "u": np.array(["ab", "c"]), "z": np.zeros((0, 3)),
              "s": np.float64(3), "c": np.array([1 + 2j]), "dt": np.array(["2020-01-01"], "M8[D]"),
              "st": np.array([(1, 2.0)], [("p", "i4"), ("q", "f8")]), "f": np.asfortranarray(np.arange(6).reshape(2, 3))}
    np.savez("w.npz", **arrays)
    np.save("w1.npy", np.arange(7))
    for source, wanted in [("w.npz", arrays), ("w1.npy", {"w1": np.arange(7)})]:
        for suffix in ["b2d", "b2z"]:
            path = f"{source}.{suffix}"
            ours("compress", source, "-o", path)
            with blosc2.TreeStore(path, mode="a") as store:
                for name, want in wanted.items():
                    have = np.asarray(store[f"/{name}"][()])
                    if have.dtype != want.dtype or not np.array_equal(have, want):
                        wrong(path, name, have, want)
                store["/new"] = np.arange(3)
            with blosc2.TreeStore(path, mode="r") as store:
                if not {f"/{name}" for name in [*wanted, "new"]} <= set(store.keys()):
                    wrong(path, sorted(store.keys()))


@dataclasses.dataclass
class Plain:
    id: int = blosc2.field(blosc2.int32())
    x: float = blosc2.field(blosc2.float64(nullable=True), default=None)
    n: int = blosc2.field(blosc2.int16(null_value=-1), default=-1)
    flag: bool = blosc2.field(blosc2.bool(nullable=True, null_storage="sentinel"), default=255)
    word: str = blosc2.field(blosc2.string(max_length=5, null_value="NA"), default="NA")
    text: str = blosc2.field(blosc2.utf8(nullable=True), default=None)
    when: object = blosc2.field(blosc2.timestamp(unit="ms", nullable=True), default=None)


def appended(number):
    """Rows that our command and python-blosc2 append by turns: read by both, found by the indexes, too."""
    path = f"a{number}.b2d"
    rows, nulls = [], rnd.random() < .5

    def new():
        null = lambda value: None if nulls and rnd.random() < .3 else value
        k = len(rows)
        rows.append({"id": k, "x": null(k / 8), "n": null(k % 99), "flag": null(k % 2 == 1), "word": null(f"w{k % 1000}"),
                     "text": null(text(9)), "when": null(str(np.datetime64(rnd.randrange(10**12), "ms")))})
        return rows[-1]

    sentinels = {"n": -1, "flag": 255, "word": "NA"}

    def theirs(table):
        for _ in range(rnd.randrange(1, 30)):
            row = {name: sentinels.get(name) if value is None else value for name, value in new().items()}
            row["when"] = row["when"] and np.datetime64(row["when"], "ms").astype("i8").item()
            table.append(row)

    with blosc2.CTable(Plain, urlpath=path, mode="w") as table:
        theirs(table)
    for _ in range(4):
        batch = [new() for _ in range(rnd.randrange(1, 30))]
        if rnd.random() < .5:
            with open("rows.jsonl", "w", encoding="utf8") as out:
                out.writelines(json.dumps(row) + "\n" for row in batch)
            ours("append", path, "rows.jsonl")
        else:
            with open("rows.csv", "w", encoding="utf8", newline="") as out:
                # Nulls are empty, texts in quotes.
                lines = csv.DictWriter(out, list(batch[0]), quoting=csv.QUOTE_NOTNULL) if hasattr(csv, "QUOTE_NOTNULL") else None
                quote = lambda v: "" if v is None else '"' + str(v).replace('"', '""') + '"'
                if lines:
                    lines.writeheader()
                    lines.writerows(batch)
                else:
                    out.write(",".join(batch[0]) + "\n")
                    out.writelines(",".join(map(quote, row.values())) + "\n" for row in batch)
            ours("append", path, "rows.csv")
        with blosc2.open(path, mode="a") as table:
            if len(table) != len(rows):
                wrong(path, len(table), "rows of", len(rows))
            found = table.where(f"id >= {len(rows) - 3}")["id"][:].tolist()
            if found != [row["id"] for row in rows[-3:]]:
                wrong(path, "where", found)
            if rnd.random() < .7:
                theirs(table)
    ours("decompress", path, "-o", f"{path}.jsonl")
    with open(f"{path}.jsonl", encoding="utf8") as lines:
        for want, line in zip(rows, lines, strict=True):
            if not all(same(want[name], value) for name, value in json.loads(line).items()):
                wrong(path, want, line)
    table = blosc2.open(path, mode="r")
    for name in ["x", "n", "flag", "word", "text"]:
        have = table.select([name]).to_arrow()[name].to_pylist() if pyarrow else [row[name] for row in rows]
        if have != [row[name] for row in rows]:
            wrong(path, "theirs", name)
    ours("verify", path)


@dataclasses.dataclass
class Lengths:
    id: int = blosc2.field(blosc2.int64())
    x: float = blosc2.field(blosc2.float32(nullable=True), default=None)
    kind: str = blosc2.field(blosc2.dictionary(), default=None)
    text: str = blosc2.field(blosc2.utf8(nullable=True), default=None)
    free: str = blosc2.field(blosc2.vlstring(nullable=True), default=None)
    blob: bytes = blosc2.field(blosc2.vlbytes(nullable=True), default=None)
    many: list[int] = blosc2.field(blosc2.list(blosc2.int64(), nullable=True), default=None)
    words: list[str] = blosc2.field(blosc2.list(blosc2.string(), nullable=True, storage="vl"), default=None)
    when: object = blosc2.field(blosc2.timestamp(unit="ms", nullable=True), default=None)


PLAIN = ["id", "x", "kind", "text", "blob", "when"]


def lengths(number):
    """Rows of values of their own lengths, from files of each kind, in each kind of store, alone or in a tree."""
    suffix, alone, full = rnd.choice(["b2d", "b2z"]), rnd.random() < .5, rnd.random() < .7
    path = f"l{number}.{suffix}"
    rows = []

    def new(names=None):
        null = lambda value: None if rnd.random() < .2 else value
        k = len(rows)
        row = {"id": k, "x": null(k / 8), "kind": null(rnd.choice("pqr") + str(number * rnd.randrange(2))), "text": null(text(9)),
               "free": null(text(20)), "blob": null(rnd.randbytes(rnd.randrange(9))), "many": null([rnd.randrange(-9, 9) for _ in range(rnd.randrange(4))]),
               "words": null([text(5) for _ in range(rnd.randrange(3))]), "when": null(rnd.randrange(10**12))}
        rows.append(row)
        return row

    made = blosc2.CTable(Lengths, urlpath=path, mode="w") if alone else blosc2.CTable(Lengths)
    for _ in range(rnd.randrange(1, 9) if full else 0):
        made.append(new())
    if not alone:
        with blosc2.TreeStore(path, mode="w") as store:
            store["/x"] = np.arange(9)
            store["/g/t"] = made
    made.close()
    name = path if alone else f"{path}:/g/t"
    for kind in rnd.sample(["jsonl", "csv", "arrow", "npz"], 3):
        batch = [new() for _ in range(rnd.choice([1, 5, 3000]))]
        if kind in ("arrow", "npz"):
            if kind == "arrow" and not pyarrow:
                kind = "jsonl"
        shown = [dict(row, blob=row["blob"] if row["blob"] is None else row["blob"].hex(),
                      when=row["when"] if row["when"] is None else str(np.datetime64(row["when"], "ms"))) for row in batch]
        if kind == "jsonl":
            with open("new.jsonl", "w", encoding="utf8") as out:
                out.writelines(json.dumps(row) + "\n" for row in shown)
        elif kind == "csv":
            quote = lambda v: "" if v is None else '"' + (json.dumps(v) if isinstance(v, list) else str(v)).replace('"', '""') + '"'
            with open("new.csv", "w", encoding="utf8", newline="") as out:
                out.write(",".join(shown[0]) + "\n")
                out.writelines(",".join(map(quote, row.values())) + "\n" for row in shown)
        elif kind == "arrow":
            types = {"id": pyarrow.int64(), "x": pyarrow.float32(), "kind": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
                     "text": pyarrow.large_string(), "free": pyarrow.string(), "blob": pyarrow.binary(),
                     "many": pyarrow.list_(pyarrow.int32()), "words": pyarrow.large_list(pyarrow.string()),
                     "when": pyarrow.timestamp("us")}
            columns = {key: [row[key] for row in batch] for key in types}
            columns["when"] = [None if value is None else value * 1000 for value in columns["when"]]
            arrays = [pyarrow.array(columns[key], of) for key, of in types.items()]
            made = pyarrow.table(arrays, names=list(types))
            with pyarrow.ipc.new_file("new.arrow", made.schema) as out:
                out.write_table(made, max_chunksize=rnd.choice([7, 10000]))
        else:
            # Lists are no arrays: rows without them are refused by name.
            for row in batch:
                row["text"] = row["text"] and row["text"].rstrip("\0")
            arrays = {key: np.array([row[key] if row[key] is not None else {"x": 0, "when": 0, "blob": b""}.get(key, "") for row in batch],
                                    {"when": "M8[ms]", "x": "f4", "id": "i8", "blob": "S9"}.get(key)) for key in PLAIN}
            arrays |= {f"{key}.mask": np.array([row[key] is None for row in batch]) for key in PLAIN[1:]}
            np.savez("new.npz", **arrays)
            run = subprocess.run([BLOSC, "append", name, "new.npz"], capture_output=True, text=True)
            if run.returncode != 1 or "has no field for column free" not in run.stderr:
                wrong(path, "npz", run.returncode, run.stderr)
            del rows[len(rows) - len(batch):]
            continue
        ours("append", name, f"new.{kind}")
        with blosc2.open(path, mode="a") as opened:
            table = opened if alone else opened["/g/t"]
            if len(table) != len(rows):
                wrong(path, kind, len(table), "rows of", len(rows))
            if rnd.random() < .5 and alone:
                table.append(new())
    ours("verify", path)
    with blosc2.open(path, mode="r") as opened:
        table = opened if alone else opened["/g/t"]
        for key in rows[0]:
            have = [value for value in table[key][:]]
            for row, value in zip(rows, have, strict=True):
                want = row[key]
                if value is np.ma.masked:
                    value = None
                elif key == "when":
                    value = np.datetime64(value, "ms").astype("i8").item()
                elif hasattr(value, "item"):
                    value = value.item()
                if value != want:
                    wrong(path, key, row["id"], want, value)
                    break
    ours("decompress", name, "--partial", "-o", f"{path}.jsonl")
    with open(f"{path}.jsonl", encoding="utf8") as lines:
        for want, line in zip(rows, lines, strict=True):
            have = json.loads(line)
            for key in ["id", "x", "kind", "text", "free", "many", "words"]:
                if not same(want[key], have[key]):
                    wrong(path, "ours", key, want, have[key])


def made(number):
    """Tables that our command makes of files of rows, read by python-blosc2, which then appends to them."""
    path, kind = f"m{number}.{rnd.choice(['b2d', 'b2z'])}", rnd.choice(["csv", "jsonl", "arrow"] if pyarrow else ["csv", "jsonl"])
    null = lambda value: None if rnd.random() < .2 else value
    rows = [{"id": k, "x": null(k / 8), "flag": null(k % 3 == 0), "text": null(text(9) + "x"),
             "when": null(str(np.datetime64(rnd.randrange(10**12) * 1000 + 1, "ms")))} for k in range(rnd.choice([1, 30, 3000]))]
    file = f"made.{kind}"
    if kind == "jsonl":
        with open(file, "w", encoding="utf8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    elif kind == "csv":
        quote = lambda v: "" if v is None else '"' + str(v).replace('"', '""') + '"'
        with open(file, "w", encoding="utf8", newline="") as out:
            out.write("\ufeff" + ",".join(rows[0]) + "\r\n")
            out.writelines(",".join(map(quote, row.values())) + "\r\n" for row in rows)
    else:
        for row in rows:
            row |= {"blob": null(rnd.randbytes(3)), "many": null([1, -k]) if (k := row["id"]) % 2 else [], "kind": null(rnd.choice("pq"))}
        types = {"id": pyarrow.int64(), "x": pyarrow.float64(), "flag": pyarrow.bool_(), "text": pyarrow.string(), "when": pyarrow.timestamp("ms"),
                 "blob": pyarrow.binary(), "many": pyarrow.list_(pyarrow.int64()), "kind": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}
        value = lambda key, v: v if key != "when" or v is None else np.datetime64(v, "ms").astype("i8").item()
        table = pyarrow.table([pyarrow.array([value(key, row[key]) for row in rows], of) for key, of in types.items()], names=list(types))
        with pyarrow.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    ours("compress", file, "-o", path)
    with blosc2.open(path, mode="a") as table:
        if len(table) != len(rows):
            wrong(path, kind, len(table), "rows of", len(rows))
        for key in rows[0]:
            for row, value in zip(rows, list(table[key][:]), strict=True):
                want = row[key]
                if value is np.ma.masked:
                    value = None
                elif hasattr(value, "dtype") and value.dtype.kind == "M" or key == "when" and not isinstance(value, str) and value is not None:
                    value = str(np.datetime64(value, "ms"))
                elif hasattr(value, "item"):
                    value = value.item()
                if value is not None and isinstance(value, str) and key == "when":
                    want = want and str(np.datetime64(want, "ms"))
                if value != want:
                    wrong(path, kind, key, row["id"], want, value)
                    break
        last = dict(rows[-1], id=10**6)
        if last["when"] and kind != "jsonl":
            last["when"] = np.datetime64(last["when"], "ms").astype("i8").item()
        table.append(last)
    ours("append", path, file)
    with blosc2.open(path, mode="r") as table:
        if len(table) != 2 * len(rows) + 1:
            wrong(path, kind, len(table), "rows after appends of", len(rows))
    ours("verify", path)


def speed():
    """Seconds to write a table of a million rows, our command and python-blosc2 by turns, as often as fits a minute."""
    import time

    n = 10**6
    noise = np.random.default_rng(1)
    data = {"id": np.arange(n), "x": noise.normal(size=n).round(2), "flag": noise.integers(0, 2, n).astype(bool),
            "word": noise.integers(0, 1000, n).astype("U4")}

    @dataclasses.dataclass
    class Fixed:
        id: int = blosc2.field(blosc2.int64())
        x: float = blosc2.field(blosc2.float64())
        flag: bool = blosc2.field(blosc2.bool())
        word: str = blosc2.field(blosc2.string(max_length=4))

    with blosc2.CTable(Fixed, urlpath="speed.b2d", mode="w") as table:
        table.extend(data)

    def arrow(path):
        made = blosc2.open("speed.b2d", mode="r").to_arrow()
        with pyarrow.ipc.new_file(path, made.schema) as out:
            out.write_table(made)

    def clocked(work):
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    for suffix, theirs in [("csv", lambda path: blosc2.open("speed.b2d", mode="r").to_csv(path)), ("arrow", arrow)]:
        pairs, end = [], time.monotonic() + 25
        while len(pairs) < 3 or (time.monotonic() < end and len(pairs) < 15):
            ours_took = clocked(lambda: ours("decompress", "speed.b2d", "--force", "-o", f"ours.{suffix}"))
            pairs.append((ours_took, clocked(lambda: theirs(f"theirs.{suffix}"))))
        mine, other = (float(np.median(column)) for column in zip(*pairs))
        print(f"figure {suffix}: {mine:.2f} s, python-blosc2 {other:.2f} s, ratio {np.median([b / a for a, b in pairs]):.2f}, {len(pairs)} turns")


if SPEED:
    speed()
    sys.exit(mismatches > 0)
stores()
for number in range(TABLES):
    appended(number)
for number in range(TABLES):
    lengths(number)
for number in range(TABLES):
    table(number)
for number in range(TABLES):
    made(number)
print(f"{TABLES} tables, 4 stores, {mismatches} mismatches")
sys.exit(mismatches > 0)
