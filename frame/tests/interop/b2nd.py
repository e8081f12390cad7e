#!/usr/bin/env python3
"""Random arrays between NumPy, python-blosc2 and ours, both ways: contents, slices, histories of edits.

usage: BLOSC_BIN=path/to/blosc [BLOSC_SESSION=path] python b2nd.py [ARRAYS [HISTORIES]]      (default 2000 and 500)

BLOSC_SESSION is the built example `blosc_session`, which runs the same command lines without a process for each;
every twentieth is still given to the program itself.

Half of the arrays are written by python-blosc2 and read here, the other half the other way round, ten slices
each. Histories start on either side; every edit is made here or there, and both sides read the result each time.
Prints one line per mismatch and the counts; exit status 0 if there is none."""
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile

import blosc2
import numpy as np

BLOSC = os.path.abspath(os.environ.get("BLOSC_BIN", "blosc"))
SESSION = os.environ.get("BLOSC_SESSION")
ARRAYS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
HISTORIES = int(sys.argv[2]) if len(sys.argv) > 2 else 500
rnd = random.Random(2026)
memory = "/dev/shm"
folder = tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None)
complaints = open(os.path.join(folder, "complaints"), "w+b")
session = SESSION and subprocess.Popen([os.path.abspath(SESSION)], cwd=folder, text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints)
os.chdir(folder)
calls = itertools.count()
mismatches = []
counts = {"arrays": 0, "slices": 0, "histories": 0, "edits": 0}

DTYPES = ["u1", "i1", "<u2", ">i2", "<i4", ">u4", "<i8", "<f2", "<f4", ">f4", "<f8", ">f8", "<c8", "<c16", "?",
          "S1", "S5", "<U3", "<M8[ns]", "<m8[D]", "V7", "<M8[25s]",
          [("a", "<i4"), ("b", "<f8", (2,))], [("x", "u1"), ("n", [("p", ">i2"), ("q", "S3")])]]
CODECS = [blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD]


def ours(*words):
    """Runs our command; with `-o -` at the end returns what it puts out."""
    words = [str(word) for word in words]
    if words[-2:] == ["-o", "-"]:
        ours(*words[:-1], "out", "--force")
        with open("out", "rb") as out:
            return out.read()
    if session and next(calls) % 20:
        session.stdin.write("\t".join(words) + "\n")
        if session.stdout.readline() == "ok\n":
            return None
        said = complaints.read()
    else:
        run = subprocess.run([BLOSC, *words], capture_output=True, timeout=120)
        if run.returncode == 0:
            return None
        said = run.stderr
    raise RuntimeError(f"{' '.join(words)}: {said[-300:].decode()}")


def values(shape, dtype):
    n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    style = rnd.randrange(4)
    if style == 0:
        raw = bytes(n)
    elif style == 1:
        raw = (np.arange(n) // 37).astype("u1").tobytes()
    else:
        raw = np.random.default_rng(rnd.randrange(1 << 32)).integers(0, 4 if style == 2 else 256, n, "u1").tobytes()
    if dtype.kind == "b":
        raw = bytes(b & 1 for b in raw)
    if dtype.kind == "U":  # code points, not any bytes
        raw = np.frombuffer(raw[: n // 4], "u1").astype("<u4").tobytes()
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def random_array():
    ndim = rnd.randrange(9)
    most = [0, 900, 60, 16, 9, 6, 4, 4, 3][ndim]
    shape = [rnd.randrange(1, most + 1) for _ in range(ndim)]
    if ndim and rnd.randrange(20) == 0:
        shape[rnd.randrange(ndim)] = 0
    return values(tuple(shape), np.dtype(rnd.choice(DTYPES)))


def parts(shape):
    """Chunk and block shape, or neither for the defaults."""
    if rnd.randrange(4) == 0 or 0 in shape:
        return None, None
    chunks = [rnd.randrange(1, s + 1) for s in shape]
    return chunks, [rnd.randrange(1, c + 1) for c in chunks]


def write_theirs(path, x):
    chunks, blocks = parts(x.shape)
    cparams = {"codec": rnd.choice(CODECS), "clevel": rnd.randrange(1, 7),
               "filters": [rnd.choice([blosc2.Filter.NOFILTER, blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE])]}
    return blosc2.asarray(x, chunks=chunks, blocks=blocks, urlpath=path, mode="w", cparams=cparams,
                          contiguous=rnd.random() < 0.7)


def write_ours(path, x):
    chunks, blocks = parts(x.shape)
    np.save("in.npy", x)
    words = ["compress", "in.npy", "-o", path, "--force", "--codec", rnd.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
             "--level", rnd.randrange(10), "--filters", rnd.choice(["none", "shuffle", "bitshuffle", "shuffle,bytedelta:0"]),
             *(["--sparse"] if rnd.random() < 0.3 else [])]
    if chunks:
        words += ["--chunks", ",".join(map(str, chunks)), "--blocks", ",".join(map(str, blocks))]
    ours(*words)


def same(what, x, raw):
    if np.ascontiguousarray(x).tobytes() != raw:
        mismatches.append(what)
        print("mismatch:", what)


def theirs(path):
    return blosc2.open(path, mode="r")


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)


def arrays():
    for n in range(ARRAYS):
        x = random_array()
        path = "x.b2nd"
        remove(path)
        what = f"array {n} {x.dtype} {x.shape}"
        try:
            if n % 2:
                write_theirs(path, x)
                same(f"{what} written there", x, ours("decompress", path, "-o", "-"))
            else:
                write_ours(path, x)
                b = theirs(path)
                same(f"{what} written here", x, np.ascontiguousarray(b[...]).tobytes())
                if b.dtype != x.dtype or b.shape != x.shape:
                    mismatches.append(what)
                    print("mismatch:", what, b.dtype, b.shape)
            counts["arrays"] += 1
            for _ in range(10):
                start = [rnd.randrange(s + 1) for s in x.shape]
                stop = [rnd.randrange(a, s + 1) for a, s in zip(start, x.shape)]
                step = [rnd.choice([1, 1, 2, 3]) for _ in x.shape]
                part = tuple(slice(a, b, c) for a, b, c in zip(start, stop, step))
                if x.ndim == 0:
                    words = []
                else:
                    words = ["--start", ",".join(map(str, start)), "--stop", ",".join(map(str, stop))]
                    if max(step) > 1:
                        words += ["--step", ",".join(map(str, step))]
                same(f"{what} {part}", x[part] if x.ndim else x, ours("slice", path, *words, "-o", "-"))
                counts["slices"] += 1
        except Exception as error:
            mismatches.append(what)
            print("failed:", what, repr(error)[:300])


def edit_here(path, x, axis):
    """One edit by our command; returns what NumPy makes of it."""
    what = rnd.choice(["set", "resize", "append", "insert", "delete"])
    side, rows = x.shape[axis], rnd.randrange(1, 6)
    new = values(tuple(rows if d == axis else s for d, s in enumerate(x.shape)), x.dtype)
    np.save("rows.npy", new)
    if what == "set" and x.size:
        start = [rnd.randrange(s) for s in x.shape]
        stop = [rnd.randrange(a, s + 1) for a, s in zip(start, x.shape)]
        part = tuple(slice(a, b) for a, b in zip(start, stop))
        x = x.copy()
        x[part] = values(x[part].shape, x.dtype)
        np.save("rows.npy", x[part])
        ours("set", path, "rows.npy", "--start", ",".join(map(str, start)), "--stop", ",".join(map(str, stop)))
    elif what == "resize":
        shape = tuple(rnd.randrange(s + s // 2 + 2) for s in x.shape)
        ours("resize", path, "--shape", ",".join(map(str, shape)))
        x = resized(x, shape)
    elif what == "append" and new.size:
        ours("append", path, "rows.npy", "--axis", axis)
        x = np.concatenate([x, new], axis)
    elif what == "insert" and new.size:
        at = rnd.randrange(side + 1)
        ours("insert", path, "rows.npy", "--axis", axis, "--at", at)
        x = np.concatenate([x.take(range(at), axis), new, x.take(range(at, side), axis)], axis)
    elif what == "delete":
        a = rnd.randrange(side + 1)
        b = rnd.randrange(a, side + 1)
        ours("delete", path, "--axis", axis, "--start", a, "--stop", b)
        x = np.delete(x, range(a, b), axis)
    return x


def resized(x, shape):
    y = np.zeros(shape, x.dtype)
    common = tuple(slice(min(a, b)) for a, b in zip(x.shape, shape))
    y[common] = x[common]
    return y


def edit_there(path, x, axis):
    """One edit by python-blosc2. It shows old data after shrinking and growing, so it only grows."""
    b = blosc2.open(path, mode="a")
    if rnd.random() < 0.5 and x.size:
        start = [rnd.randrange(s) for s in x.shape]
        part = tuple(slice(a, rnd.randrange(a, s) + 1) for a, s in zip(start, x.shape))
        x = x.copy()
        x[part] = values(x[part].shape, x.dtype)
        b[part] = np.ascontiguousarray(x[part])
    elif x.size:
        shape = tuple(s + (rnd.randrange(4) if d == axis else 0) for d, s in enumerate(x.shape))
        b.resize(shape)
        x = resized(x, shape)
    return x


def histories():
    for n in range(HISTORIES):
        ndim = rnd.randrange(1, 5)
        most = [0, 90, 20, 9, 6][ndim]
        dtype = np.dtype(rnd.choice(DTYPES[:17]))
        x = values(tuple(rnd.randrange(1, most + 1) for _ in range(ndim)), dtype)
        path = "h.b2nd"
        remove(path)
        log = [f"history {n} {x.dtype} {x.shape}"]
        try:
            (write_theirs if n % 2 else write_ours)(path, x)
            for _ in range(6):
                axis = rnd.randrange(ndim)
                here = rnd.random() < 0.6
                before = x.shape
                # NumPy turns what it concatenates to the machine's byte order.
                x = np.ascontiguousarray((edit_here if here else edit_there)(path, x, axis), dtype)
                log.append(f"{'here' if here else 'there'} axis {axis}: {before} -> {x.shape}")
                same("; ".join(log) + " read here", x, ours("decompress", path, "-o", "-"))
                same("; ".join(log) + " read there", x, np.ascontiguousarray(theirs(path)[...]).tobytes())
                counts["edits"] += 1
            counts["histories"] += 1
        except Exception as error:
            mismatches.append(log)
            print("failed:", "; ".join(log), repr(error)[:300])


arrays()
histories()
if session:
    session.stdin.close()
    session.wait()
shutil.rmtree(folder)
print(", ".join(f"{v} {k}" for k, v in counts.items()) + f", {len(mismatches)} mismatches")
sys.exit(1 if mismatches else 0)
