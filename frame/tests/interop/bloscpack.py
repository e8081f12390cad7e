#!/usr/bin/env python3
"""Random files between the real bloscpack 0.16 and ours, both ways, appends included.

usage: BLOSC_BIN=path/to/blosc python bloscpack.py [N]      (N files each way; default 30)
Needs the packages bloscpack, blosc and numpy. Prints one line per failure and a count; exit 0 if there is none.
"""
import collections
import collections.abc
import os
import random
import subprocess
import sys
import tempfile

# bloscpack 0.16 still takes these from where they were before Python 3.10.
for name in ("Mapping", "MutableMapping", "Callable", "Iterable", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))

sys.path.pop(0)  # this file has the name of the package

import numpy as np
import bloscpack
from bloscpack import args as bp_args, file_io, numpy_io
from bloscpack.append import append as bp_append

BLOSC = os.environ.get("BLOSC_BIN", "blosc")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 30
rnd = random.Random(2026)
failures = []


def ours(*words, stdin=None):
    run = subprocess.run([BLOSC, *map(str, words)], input=stdin, capture_output=True, timeout=10)
    if run.returncode:
        raise RuntimeError(f"{words}: {run.stdout[-200:]!r} {run.stderr[-200:]!r}")
    return run.stdout


def data(limit=20000):
    n = rnd.choice([0, 1, 15, 16, 17, 100, 1000, rnd.randrange(limit)])
    kind = rnd.randrange(4)
    if kind == 0:
        return rnd.randbytes(n)
    if kind == 1:
        return bytes(n)
    if kind == 2:
        return (np.arange(n // 4 + 1, dtype="<i4") * rnd.randrange(1, 1000)).tobytes()[:n]
    return (bytes(rnd.randrange(4) for _ in range(50)) * (n // 50 + 1))[:n]


CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
CHECKSUMS = ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]


def metadata():
    return rnd.choice([None, None, {}, {"a": 1}, {"k": "é" * rnd.randrange(200), "l": [1, 2.5, None, True]},
                       {"big": ["x" * 20] * rnd.randrange(1, 60)}])


def real_read(path):
    """What bloscpack decodes, its checksums verified."""
    return file_io.unpack_bytes_from_file(path)


def real_append(path, more):
    out = path + ".more"
    with open(out, "wb") as f:
        f.write(more)
    bp_append(path, out, blosc_args=bp_args.BloscArgs(
        typesize=rnd.randrange(1, 10), clevel=rnd.randrange(10), shuffle=rnd.random() < 0.7, cname=rnd.choice(CODECS)))
    os.remove(out)


def check(what, got, want):
    if got != want:
        raise RuntimeError(f"{what}: {len(got) if isinstance(got, bytes) else got!r} differs from what went in")


def real_to_ours(path):
    plain, meta = data(), metadata()
    chunk = rnd.choice(["1M", 100, 1000, 4096, rnd.randrange(16, 9000)])
    file_io.pack_bytes_to_file(
        plain, path, chunk_size=chunk, metadata=meta,
        blosc_args=bp_args.BloscArgs(typesize=rnd.choice([1, 2, 3, 4, 7, 8, 16, 255]), clevel=rnd.randrange(10),
                                     shuffle=rnd.randrange(3), cname=rnd.choice(CODECS)),
        bloscpack_args=bp_args.BloscpackArgs(offsets=rnd.random() < 0.8, checksum=rnd.choice(CHECKSUMS)))
    check("decompress", ours("decompress", path, "-o", "-"), plain)
    with open(path, "rb") as f:
        check("decompress of a pipe", ours("decompress", "-", "-o", "-", "--as", "bloscpack", stdin=f.read()), plain)
    ours("verify", path)
    ours("blpk", "info", path)
    for _ in range(rnd.randrange(3)):
        more = data(3000)
        try:
            if rnd.random() < 0.5 and plain and more:
                real_append(path, more)
            else:
                with open(path + ".more", "wb") as f:
                    f.write(more)
                ours("blpk", "append", path, path + ".more")
        except bloscpack.exceptions.NotEnoughSpace:
            continue
        except RuntimeError as e:
            if "offsets table" in str(e) or "without offsets" in str(e):
                continue
            raise
        except Exception as e:  # no offsets, an empty file: bloscpack's own limits
            if type(e).__module__.startswith("bloscpack") or isinstance(e, (RuntimeError, ZeroDivisionError)):
                continue
            raise
        plain += more
        check("decompress after append", ours("decompress", path, "-o", "-"), plain)
        check("the real reader after append", real_read(path)[0], plain)


def ours_to_real(path):
    plain, meta = data(), metadata()
    source = path[:-4]
    with open(source, "wb") as f:
        f.write(plain)
    words = ["blpk", "-f", "compress", "-z", rnd.choice(["1M", "100", "1000B", "4K", str(rnd.randrange(16, 9000))]),
             "-t", rnd.choice([1, 2, 3, 4, 7, 8, 16, 255]), "-l", rnd.randrange(10), "-c", rnd.choice(CODECS),
             "-k", rnd.choice(CHECKSUMS)]
    if rnd.random() < 0.2:
        words.append("-o")
    words += [[], ["-s"], ["--bitshuffle"]][rnd.randrange(3)]
    if rnd.random() < 0.3:
        words += ["--reserve", rnd.randrange(200)]
    if meta is not None:
        import json
        with open(source + ".json", "w") as f:
            json.dump(meta, f)
        words += ["-m", source + ".json"]
    ours(*words, source, path)
    got, got_meta = real_read(path)
    check("the real reader", got, plain)
    check("metadata", got_meta, meta)
    for _ in range(rnd.randrange(3)):
        more = data(3000)
        if not more or "-o" in words or not plain:
            break
        with open(path + ".more", "wb") as f:
            f.write(more)
        try:
            if rnd.random() < 0.5:
                ours("blpk", "append", path, path + ".more")
            else:
                real_append(path, more)
        except bloscpack.exceptions.NotEnoughSpace:
            continue
        except RuntimeError as e:
            if "offsets table" in str(e):
                continue
            raise
        plain += more
        check("the real reader after append", real_read(path)[0], plain)
        check("ours after append", ours("decompress", path, "-o", "-"), plain)


def numpy_both(path):
    dtype = rnd.choice(["<i2", ">f8", "|b1", "|S7", "<U5", "<M8[s]", "<c16", [("a", "<i4"), ("s", "S3")]])
    shape = rnd.choice([(7,), (3, 4), (2, 3, 5), (100,)])
    array = np.frombuffer(rnd.randbytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype="u1")
    if dtype in ("|b1", "<U5"):
        array = array % 2
        if dtype == "<U5":
            array = array.astype("<u4")[: int(np.prod(shape)) * 5]
    array = array.tobytes()[: int(np.prod(shape)) * np.dtype(dtype).itemsize]
    array = np.frombuffer(array, dtype=dtype).reshape(shape)
    if rnd.random() < 0.3:
        array = np.asfortranarray(array)
    numpy_io.pack_ndarray_to_file(array, path, chunk_size=np.dtype(dtype).itemsize * rnd.randrange(1, 50))
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    check("array", ours("decompress", path, "-o", "-"), array.tobytes(order=order))


with tempfile.TemporaryDirectory() as folder:
    jobs = [real_to_ours, ours_to_real] * COUNT + [numpy_both] * max(1, COUNT // 5)
    for i, job in enumerate(jobs):
        try:
            job(os.path.join(folder, f"{i}.blp"))
        except Exception as e:
            failures.append(i)
            print(f"{job.__name__} {i}: {type(e).__name__}: {str(e)[:300]}")
print(f"bloscpack interop: {len(jobs) - len(failures)} of {len(jobs)} passed")
sys.exit(1 if failures else 0)
