#!/usr/bin/env python3
"""Tensors that python-blosc2's save_tensor and pack_array2 wrote: read, edited and converted by the command, and loaded
again by python-blosc2 and NumPy.

usage: BLOSC_BIN=path/to/blosc python tensors.py"""
import os
import subprocess
import tempfile

import blosc2
import numpy as np

BLOSC = os.path.abspath(os.environ["BLOSC_BIN"])
os.chdir(tempfile.mkdtemp())
RECORD = np.dtype([("a", "<i4"), (("title", "b"), "<f8", (2,)), ("n", [("x", "u1"), ("y", ">i2")])])
DTYPES = ["?", "u1", "<i2", ">i4", "<u8", "<f2", "<f4", ">f8", "<c8", "<c16", "S3", "<U5", "<M8[ns]", "<m8[s]",
          RECORD, np.dtype([("a", "u1"), ("b", "<f8")], align=True)]
SHAPES = [(7,), (5, 3), (4, 2, 3), (), (0,), (0, 3), (3, 0)]
rng = np.random.default_rng(7)
checked = refused = 0


def run(*words):
    done = subprocess.run([BLOSC, *words], capture_output=True, text=True)
    return done.returncode, done.stderr


def array(shape, dtype):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    raw = rng.integers(0, 2 if dtype.kind in "bUS" else 100, count * dtype.itemsize, dtype="u1")
    if dtype.kind == "U":
        return np.array([f"t{n}" for n in range(count)], dtype).reshape(shape)
    return np.frombuffer(raw.tobytes(), dtype, count).reshape(shape)


def leaves(a):
    if a.dtype.names:
        return [(name, leaves(a[name])) for name in a.dtype.names]
    return a.dtype.str, a.shape, np.ascontiguousarray(a).tobytes()


def same(want, got, what):
    global checked
    assert want.shape == got.shape and leaves(want) == leaves(got), (what, want.dtype, got.dtype, want.shape, got.shape)
    checked += 1


def pack(a, packed):
    if os.path.exists("t.b2frame"):
        os.remove("t.b2frame")
    if packed:
        with open("t.b2frame", "wb") as file:
            file.write(blosc2.pack_array2(a, chunksize=64))
    else:
        blosc2.save_tensor(a, "t.b2frame", mode="w", chunksize=64)


def check(want, what):
    same(want, blosc2.load_tensor("t.b2frame"), what)
    assert run("verify", "t.b2frame")[0] == 0, what


for dtype in DTYPES:
    for shape in SHAPES:
        a, what = array(shape, dtype), (dtype, shape)
        for packed in (False, True):
            pack(a, packed)
            for out in ("o.npy", "o.npz"):
                for verb in ("decompress", "convert"):
                    assert run(verb, "t.b2frame", "-o", out, "--force") == (0, ""), (verb, out, what)
                    got = np.load(out)
                    same(a, got["arr_0"] if out == "o.npz" else got, (verb, out, what))
            for out in ("o.b2nd", "o.b2frame", "o.blp", "o.bcolz", "o.b2z", "o.b2d"):
                status, text = run("convert", "t.b2frame", "-o", out, "--force")
                if status:
                    assert "not kept" in text or "rows without items" in text or "not allowed" in text, (what, out, text)
                    refused += 1
                    continue
                if out == "o.b2frame":
                    same(a, blosc2.load_tensor(out), (out, what))
                leaf = f"{out}:/t" if out in ("o.b2z", "o.b2d") else out
                assert run("decompress", leaf, "-o", "back.npy", "--force") == (0, ""), (out, what)
                same(a, np.load("back.npy"), (out, what))
        if not shape:
            continue
        rows = array((2, *shape[1:]), dtype)
        np.save("rows.npy", rows)
        n = len(a)
        edits = [(["append", "t.b2frame", "rows.npy"], lambda: np.concatenate([a, rows])),
                 (["insert", "t.b2frame", "--at", "0", "rows.npy"], lambda: np.concatenate([rows, a]))]
        if n >= 3:
            edits += [(["delete", "t.b2frame", "--start", "1", "--stop", "3"], lambda: np.delete(a, [1, 2], 0)),
                      (["set", "t.b2frame", "--start", "1", "--stop", "3", "rows.npy"],
                       lambda: np.concatenate([a[:1], rows, a[3:]])),
                      (["delete", "t.b2frame", "--start", "0", "--stop", str(n)], lambda: a[:0]),
                      (["trim", "t.b2frame", "1"], lambda: a[:-1]),
                      (["resize", "t.b2frame", "--shape", str(n - 2)], lambda: a[:-2])]
        for words, want in edits:
            pack(a, False)
            before = open("t.b2frame", "rb").read()
            status, text = run(*words)
            if status:
                assert 0 in shape[1:] and text, (words, what, text)
                assert open("t.b2frame", "rb").read() == before
                refused += 1
            else:
                check(want().astype(a.dtype), (words, what))
        if len(shape) > 1 and 0 not in shape:
            pack(a, False)
            cut = ["--start", "1" + ",0" * (len(shape) - 1), "--stop", ",".join(map(str, shape)),
                   "--step", ",".join(["2"] * len(shape))]
            assert run("slice", "t.b2frame", *cut, "-o", "o.npy", "--force") == (0, ""), what
            same(a[(slice(1, None, 2), *[slice(None, None, 2)] * (len(shape) - 1))], np.load("o.npy"), ("slice", what))
print(f"tensors: {checked} arrays as python-blosc2 and NumPy have them; {refused} refused by name")
