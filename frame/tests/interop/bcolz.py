#!/usr/bin/env python3
"""What we write for bcolz, read back by a small independent reader: json and the package blosc.

usage: BLOSC_BIN=path/to/blosc python bcolz.py [N]      (N containers; default 20)
Needs the packages blosc and numpy. Prints one line per failure and a count; exit 0 if there is none.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.pop(0)  # this file has the name of a package

import blosc
import numpy as np

BLOSC = os.environ.get("BLOSC_BIN", "blosc")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 20
rnd = random.Random(415)


def ours(*words):
    run = subprocess.run([BLOSC, *map(str, words)], capture_output=True, timeout=30)
    if run.returncode:
        raise RuntimeError(f"{words}: {run.stderr[-200:]!r}")
    return run.stdout


def load(path):
    with open(path) as f:
        return json.load(f)


def read_carray(root):
    """The array in a carray root, by the rules of bcolz 1.2.1."""
    storage, sizes = load(f"{root}/meta/storage"), load(f"{root}/meta/sizes")
    load(f"{root}/__attrs__")
    text = storage["dtype"]
    dtype = np.dtype(eval(text) if text.startswith("[") else text)
    assert set(storage["cparams"]) == {"clevel", "shuffle", "cname", "quantize"}, storage
    assert {"chunklen", "expectedlen", "dflt"} <= set(storage), storage
    shape = tuple(sizes["shape"])
    atom = dtype.itemsize * int(np.prod(shape[1:], dtype=int))
    assert sizes["nbytes"] == shape[0] * atom and "cbytes" in sizes
    chunklen, out, cbytes = storage["chunklen"], b"", chunklen_bytes(storage, atom)
    full, left = divmod(shape[0], chunklen)
    for i in range(full + (left > 0)):
        with open(f"{root}/data/__{i}.blp", "rb") as f:
            file = f.read()
        assert file[:16] == struct.pack("<4sB3xq", b"blpk", 1, 1), file[:16]
        (ctbytes,) = struct.unpack_from("<I", file, 28)
        plain = blosc.decompress(file[16:16 + ctbytes])
        rows = chunklen if i < full else left
        assert len(plain) >= rows * atom if i == full else len(plain) == rows * atom
        out += plain[:rows * atom]
        cbytes += ctbytes if i < full else 0
    assert sizes["cbytes"] == cbytes, (sizes, cbytes)
    return np.frombuffer(out, dtype).reshape(shape)


def chunklen_bytes(storage, atom):
    return storage["chunklen"] * atom


def random_array(rows):
    dtype = rnd.choice(["<i4", "<i8", "|u1", ">f8", "<f4", "|S5", "<U3", "<M8[D]", "|b1", [("a", "<i4"), ("s", "|S3")]])
    shape = (rows,) if isinstance(dtype, list) or rnd.random() < 0.7 else (rows, 2, 3)
    item = np.dtype(dtype).itemsize
    n = int(np.prod(shape, dtype=int))
    raw = np.arange(n * item, dtype="u1") % rnd.randrange(1, 200)
    if np.dtype(dtype).kind in "Ub":
        raw = raw % 2 * 0 + (1 if np.dtype(dtype).kind == "b" else 0)
    return np.frombuffer(raw.tobytes(), dtype).reshape(shape)


def same(got, want):
    return got.dtype.itemsize == want.dtype.itemsize and got.shape == want.shape and got.tobytes() == want.tobytes()


def check(root, want):
    if want.dtype.names:
        names = load(f"{root}/__rootdirs__")["names"]
        load(f"{root}/__attrs__")
        assert tuple(names) == want.dtype.names, names
        for name in names:
            got, column = read_carray(f"{root}/{name}"), np.ascontiguousarray(want[name])
            assert got.tobytes() == column.tobytes() and got.shape == column.shape, name
    else:
        assert same(read_carray(root), want)
    assert ours("decompress", root, "-o", "-") == want.tobytes()


def job(folder):
    array = random_array(rnd.choice([0, 1, 7, 100, rnd.randrange(3000)]))
    np.save(f"{folder}/x.npy", array)
    root = f"{folder}/root"
    words = ["--chunksize", rnd.randrange(64, 5000)] if rnd.random() < 0.7 else []
    ours("compress", f"{folder}/x.npy", "-o", root, "--format", "bcolz", "--level", rnd.randrange(10),
         "--codec", rnd.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
         "--filters", rnd.choice(["none", "shuffle", "bitshuffle"]), *words)
    check(root, array)
    for _ in range(rnd.randrange(4)):
        kind = rnd.randrange(4)
        if kind == 0:
            more = array[:rnd.randrange(len(array) + 1)]
            np.save(f"{folder}/more.npy", more)
            ours("append", root, f"{folder}/more.npy")
            array = np.concatenate([array, more], dtype=array.dtype)
        elif kind == 1:
            n = rnd.randrange(len(array) + 1)
            ours("trim", root, n)
            array = array[:len(array) - n]
        elif kind == 2 and len(array):
            at = rnd.randrange(len(array))
            rows = array[:len(array) - at][::-1].copy()
            np.save(f"{folder}/set.npy", rows)
            ours("set", root, f"{folder}/set.npy", "--start", at)
            array = np.concatenate([array[:at], rows], dtype=array.dtype)
        elif len(array) > 2:
            a = rnd.randrange(len(array) - 1)
            b = rnd.randrange(a + 1, len(array))
            ours("delete", root, "--start", a, "--stop", b)
            array = np.concatenate([array[:a], array[b:]], dtype=array.dtype)
        check(root, array)


failed = 0
for i in range(COUNT):
    with tempfile.TemporaryDirectory() as folder:
        try:
            job(folder)
        except Exception as e:
            failed += 1
            print(f"{i}: {type(e).__name__}: {str(e)[:300]}")
print(f"bcolz interop: {COUNT - failed} of {COUNT} passed")
sys.exit(1 if failed else 0)
