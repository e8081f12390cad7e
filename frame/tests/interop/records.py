#!/usr/bin/env python3
"""Records of every form, written by the command into every container and compared by name with NumPy's."""
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

BLOSC = os.environ["BLOSC_BIN"]
RNG = np.random.default_rng(20260728)
SCALARS = ["u1", "<i2", ">i4", "<f8", "S3", "<U2", "?", "<M8[ns]", "<c8"]


def form(depth=0):
    """A random record: packed, padded, permuted or overlapping, with titles and sub-arrays now and then."""
    names = ["a", "b", "c", "d"][: RNG.integers(1, 5)]
    formats, offsets, end = [], [], 0
    for _ in names:
        inner = form(depth + 1) if depth < 2 and RNG.random() < 0.2 else np.dtype(str(RNG.choice(SCALARS)))
        formats.append(np.dtype((inner, (2,))) if RNG.random() < 0.2 else inner)
        offsets.append(end + int(RNG.integers(0, 4)) * int(RNG.random() < 0.4))
        end = offsets[-1] + formats[-1].itemsize
    if RNG.random() < 0.4:
        order = RNG.permutation(len(names))
        lengths, at = [formats[k].itemsize for k in order], 0
        for k, length in zip(order, lengths):
            offsets[k], at = at, at + length
    if RNG.random() < 0.2:
        offsets = [int(RNG.integers(0, max(end - f.itemsize, 0) + 1)) for f in formats]
    size = max(o + f.itemsize for o, f in zip(offsets, formats)) + int(RNG.integers(0, 5)) * int(RNG.random() < 0.3)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def leaves(array, path=""):
    if array.dtype.names:
        for name in array.dtype.names:
            yield from leaves(array[name], f"{path}.{name}")
    else:
        # The bytes, so that NaN and NaT compare and no byte order is lost.
        yield path, array.dtype.str, np.ascontiguousarray(array).tobytes()


def same(want, got, what):
    assert want.dtype.names == got.dtype.names, (what, want.dtype, got.dtype)
    assert list(leaves(want)) == list(leaves(got)), (what, want.dtype, got.dtype)


def run(*words):
    done = subprocess.run([BLOSC, *words], capture_output=True, text=True)
    return done.returncode, done.stderr


def main(rounds):
    cells = refused = 0
    for _ in range(rounds):
        dtype = form()
        raw = RNG.integers(0, 2, 40 * dtype.itemsize, dtype="u1").tobytes()
        want = np.frombuffer(raw, dtype)
        with tempfile.TemporaryDirectory() as folder:
            at = lambda name: os.path.join(folder, name)
            with open(at("raw"), "wb") as file:
                file.write(raw)
            for made, out in itertools.product(["m.b2nd", "m.blp", "m.bcolz", "blaze"], ["o.npy", "o.npz"]):
                words = ["compress", at("raw"), "-o", at(made), "--force", "--dtype", str(dtype), "--shape", "40"]
                words += ["--format", "blaze"] if made == "blaze" else []
                status, text = run(*words)
                if status:
                    # Nested records in bcolz and what else a container cannot hold is named.
                    assert "not kept" in text, (dtype, made, text)
                    refused += 1
                    continue
                for verb in ("decompress", "convert"):
                    status, text = run(verb, at(made), "-o", at(out), "--force")
                    assert status == 0, (dtype, made, text)
                    got = np.load(at(out))
                    same(want, got["arr_0"] if out == "o.npz" else got, (verb, made, out))
                    cells += 1
    print(f"records: {cells} outputs have NumPy's values under each name; {refused} refused by name")


main(int(sys.argv[1]))
