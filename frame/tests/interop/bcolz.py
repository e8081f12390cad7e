#!/usr/bin/env python3
"""What we write for bcolz, read back by a small independent reader (json and the package blosc), and by bcolz.

usage: BLOSC_BIN=path/to/blosc python bcolz.py [N]      (N containers; default 20)
Needs the packages blosc and numpy. Prints one line per failure and a count; exit 0 if there is none.
BLOSC_BCOLZ_PYTHON names a Python that has the real bcolz 1.2.1, which then reads everything too, appends to it, and
writes containers for us to read; `bcolz.py --build FOLDER` makes one there (Python 3.11, a C compiler, some minutes).
"""
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.pop(0)  # this file has the name of a package

BUILD = """
set -e
python3.11 -m venv "$1/v"
"$1/v/bin/pip" install -q 'setuptools<60' wheel 'setuptools_scm<7' 'cython<3' numpy==1.23.5
"$1/v/bin/pip" download -q --no-deps --no-build-isolation --no-binary bcolz bcolz==1.2.1 -d "$1"
tar xf "$1/bcolz-1.2.1.tar.gz" -C "$1"
cd "$1/bcolz-1.2.1"
rm -f bcolz/carray_ext.c    # made by a Cython older than Python 3.11
DISABLE_BCOLZ_AVX2=true SETUPTOOLS_SCM_PRETEND_VERSION=1.2.1 "$1/v/bin/pip" install -q --no-build-isolation --no-deps .
echo "$1/v/bin/python"
"""
if sys.argv[1:2] == ["--build"]:
    sys.exit(subprocess.run(["bash", "-c", BUILD, "build", os.path.abspath(sys.argv[2])]).returncode)

import blosc
import numpy as np

BLOSC = os.environ.get("BLOSC_BIN", "blosc")
REAL = os.environ.get("BLOSC_BCOLZ_PYTHON")
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


# Runs in the other Python: one job a line, one answer a line.
SERVER = """
import hashlib, json, sys
import bcolz, numpy as np
def sha(a): return [list(a.shape), hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()]
for line in sys.stdin:
    what, root, more = json.loads(line)
    try:
        if what == "write":
            a = np.load(more)
            kind = bcolz.ctable if a.dtype.names else bcolz.carray
            kind(a, rootdir=root, mode="w").flush()
            answer = None
        else:
            c = bcolz.open(root, mode="a" if more else "r")
            if more:
                c.append(np.load(more))
                c.flush()
            answer = {n: sha(c[n][:]) for n in c.names} if hasattr(c, "names") else sha(c[:])
        print(json.dumps(["ok", answer]), flush=True)
    except BaseException as e:
        print(json.dumps(["error", repr(e)]), flush=True)
"""
server = REAL and subprocess.Popen([REAL, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def real(what, root, more=None):
    server.stdin.write(json.dumps([what, root, more]) + "\n")
    server.stdin.flush()
    state, answer = json.loads(server.stdout.readline())
    if state != "ok":
        raise RuntimeError(f"bcolz: {answer}")
    return answer


def sha(a):
    return [list(a.shape), hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()]


def check_real(root, want, more=None):
    got = real("read", root, more)
    names = want.dtype.names
    expected = {n: sha(want[n]) for n in names} if names else sha(want)
    assert got == expected, f"bcolz reads {got}, not {expected}"


def job_real(folder):
    """Written by bcolz, read and changed here, read and appended to by bcolz again."""
    array = random_array(rnd.choice([1, 7, 100, rnd.randrange(3000)]))
    np.save(f"{folder}/x.npy", array)
    root = f"{folder}/root"
    real("write", root, f"{folder}/x.npy")
    if not array.dtype.names:
        assert same(read_carray(root), array)
    assert ours("decompress", root, "-o", "-") == array.tobytes()
    ours("verify", root)
    for _ in range(2):
        more = array[:rnd.randrange(1, len(array) + 1)]
        np.save(f"{folder}/more.npy", more)
        ours("append", root, f"{folder}/more.npy")
        array = np.concatenate([array, more], dtype=array.dtype)
        check_real(root, array)
        array = np.concatenate([array, more], dtype=array.dtype)
        check_real(root, array, f"{folder}/more.npy")
        assert ours("decompress", root, "-o", "-") == array.tobytes()


def check(root, want):
    if server:
        check_real(root, want)
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


failed, jobs = 0, [job] * COUNT + [job_real] * (COUNT if server else 0)
for i, one in enumerate(jobs):
    with tempfile.TemporaryDirectory() as folder:
        try:
            one(folder)
        except Exception as e:
            failed += 1
            print(f"{one.__name__} {i}: {type(e).__name__}: {str(e)[:300]}")
if not server:
    print("skipped: the real bcolz 1.2.1 (BLOSC_BCOLZ_PYTHON is not set)")
print(f"bcolz interop: {len(jobs) - failed} of {len(jobs)} passed{', bcolz 1.2.1 included' if server else ''}")
sys.exit(1 if failed else 0)
