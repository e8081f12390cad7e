#!/usr/bin/env python3
"""Times the two filters against those of hdf5plugin, in turns in one process, by calling the plugins as HDF5 does.

usage: python speed.py LIBRARY [ROUNDS]        LIBRARY is this plugin; needs hdf5plugin and numpy

Each filter encodes the same chunk; both decode the one that hdf5plugin wrote. Results are compared first. A line shows the
median time of a call of each, and the median over the rounds of theirs / ours.
"""

import ctypes
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import hdf5plugin
import numpy as np

FILTER = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_void_p),
)
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]
REVERSE = 0x0100


class Class(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder", ctypes.c_uint),
        ("decoder", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", FILTER),
    ]


def plugin(path):
    info = ctypes.CDLL(str(path)).H5PLget_plugin_info
    info.restype = ctypes.POINTER(Class)
    return info().contents


def call(plugin, flags, values, data):
    """Runs a filter on a copy of `data`; returns the seconds it took and its result."""
    numbers = (ctypes.c_uint * len(values))(*values)
    start = LIBC.malloc(len(data))
    ctypes.memmove(start, data, len(data))
    buffer, size = ctypes.c_void_p(start), ctypes.c_size_t(len(data))
    begin = time.perf_counter()
    n = plugin.filter(flags, len(values), numbers, len(data), ctypes.byref(size), ctypes.byref(buffer))
    seconds = time.perf_counter() - begin
    assert n > 0, "the filter failed"
    result = ctypes.string_at(buffer.value, n)
    LIBC.free(buffer.value)
    return seconds, result


def duel(name, ours, theirs, flags, values, data, rounds):
    times = [(call(ours, flags, values, data)[0], call(theirs, flags, values, data)[0]) for _ in range(rounds)]
    mine, other = (statistics.median(column) * 1e6 for column in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    print(f"{name:34} {mine:9.0f} µs {other:9.0f} µs {ratio:6.2f}")


def main():
    library, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    os.environ["BLOSC_NTHREADS"] = "1"
    folder = pathlib.Path(tempfile.mkdtemp())
    shape = (512, 512)
    data = np.cumsum(np.random.default_rng(1).normal(size=512 * 512)).astype("<f4").round(1).tobytes()
    print(f"{'':34} {'ours':>12} {'theirs':>12}  ratio    1 MiB of float32, 1 thread")
    codecs = [("blosclz", 0, 5), ("lz4", 1, 5), ("zlib", 4, 5), ("zstd", 5, 3)]
    for number, name in ((32001, "blosc"), (32026, "blosc2")):
        shutil.copy(library, folder / f"lib{name}.so")
        ours = plugin(folder / f"lib{name}.so")
        theirs = plugin(pathlib.Path(hdf5plugin.PLUGIN_PATH) / f"libh5{name}.so")
        assert ours.id == theirs.id == number, (ours.id, theirs.id)
        for cname, code, level in codecs:
            head = [2, 2] if number == 32001 else [1, 0]
            values = head + [4, len(data), level, 1, code] + ([2, *shape] if number == 32026 else [])
            mine, other = (call(which, 0, values, data)[1] for which in (ours, theirs))
            for chunk in (mine, other):
                assert call(ours, REVERSE, values, chunk)[1] == call(theirs, REVERSE, values, chunk)[1] == data
            label = f"{number} {cname} {level}"
            duel(f"encode {label}", ours, theirs, 0, values, data, rounds)
            duel(f"decode {label}", ours, theirs, REVERSE, values, other, rounds)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
