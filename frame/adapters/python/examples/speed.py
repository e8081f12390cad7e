#!/usr/bin/env python3
"""Times encoding, decoding and reading of parts against numcodecs and zarr-python's own codec, in turns in one process.

usage: python speed.py [--mebibytes N] [--rounds N] [--codec NAME ...]

The figure of a line is the median time of a call; the ratio is the median over the rounds of theirs / ours. Each result
is compared with the data first.
"""

import argparse
import statistics
import time

import numcodecs
import numpy as np
import zarr

from blosc_frame.numcodecs import Blosc

CONFIG = {"codecs.blosc": "blosc_frame.zarr.BloscCodec", "codec_pipeline.path": "blosc_frame.zarr.PartialPipeline"}


def duel(name, ours, theirs, rounds):
    """Times two functions in turns."""
    times = ([], [])
    for _ in range(rounds):
        for function, taken in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    ratio = statistics.median(b / a for a, b in zip(*times, strict=True))
    mine, other = (statistics.median(taken) * 1e6 for taken in times)
    print(f"{name:34} {mine:9.0f} µs {other:9.0f} µs {ratio:6.2f}")


def codecs(data, rounds, names):
    for cname, clevel in [("lz4", 5), ("blosclz", 5), ("zstd", 1), ("zstd", 3), ("zstd", 5), ("zlib", 5)]:
        if names and cname not in names:
            continue
        for shuffle, filter_name in [(1, "shuffle"), (2, "bitshuffle")]:
            ours, theirs = Blosc(cname, clevel, shuffle), numcodecs.Blosc(cname, clevel, shuffle)
            chunk, other = ours.encode(data), theirs.encode(data)
            assert ours.decode(other) == theirs.decode(chunk) == data.tobytes()
            out = np.empty_like(data)
            name = f"{cname} {clevel} {filter_name}"
            duel(f"encode {name}", lambda c=ours: c.encode(data), lambda c=theirs: c.encode(data), rounds)
            duel(f"decode {name}", lambda c=other: ours.decode(c, out), lambda c=other: theirs.decode(c, out), rounds)
    start = data.size // 2
    chunk = numcodecs.Blosc("lz4").encode(data)
    want = data[start : start + 8].tobytes()

    def whole():
        return bytes(memoryview(numcodecs.Blosc("lz4").decode(chunk))[start * 4 : start * 4 + 32])

    assert Blosc().decode_partial(chunk, start, 8) == whole() == want
    duel("8 items of a chunk", lambda: Blosc().decode_partial(chunk, start, 8), whole, rounds)


def stores(data, rounds):
    store, row = {}, min(1024, data.size)
    shape = (data.size // row, row)
    zarr.create_array(
        store,
        shape=shape,
        dtype=data.dtype,
        chunks=shape,
        compressors=zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
    )[:] = data.reshape(shape)
    theirs = zarr.open_array(store)
    with zarr.config.set(CONFIG):
        ours = zarr.open_array(store)
    for name, key in [("all", ...), ("a row", shape[0] // 2), ("8 items", (shape[0] // 2, slice(5, 13)))]:
        assert (ours[key] == theirs[key]).all()
        duel(f"Zarr array of one chunk, {name}", lambda k=key: ours[k], lambda k=key: theirs[k], rounds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mebibytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--codec", nargs="+")
    options = parser.parse_args()
    numcodecs.blosc.use_threads = False  # one thread on both sides
    size = int(options.mebibytes * 2**18)
    data = np.cumsum(np.random.default_rng(1).normal(size=size)).astype("<f4").round(1)
    print(f"{'':34} {'ours':>12} {'theirs':>12}  ratio    {options.mebibytes:g} MiB of float32, 1 thread")
    codecs(data, options.rounds, options.codec)
    stores(data, options.rounds)


if __name__ == "__main__":
    main()
