#!/usr/bin/env python3
"""python-blosc2 as an engine of blosc-bench; `../README.md` describes the protocol.

    blosc-bench run --suite chunks --engine "exec:python3 engines/python_blosc2.py"

Times include what a Python caller pays: argument checks, and the bytes object that is returned.
"""

import blosc2

from protocol import serve

CODECS = {
    "blosclz": blosc2.Codec.BLOSCLZ,
    "lz4": blosc2.Codec.LZ4,
    "lz4hc": blosc2.Codec.LZ4HC,
    "zlib": blosc2.Codec.ZLIB,
    "zstd": blosc2.Codec.ZSTD,
}
FILTERS = {
    "none": blosc2.Filter.NOFILTER,
    "shuffle": blosc2.Filter.SHUFFLE,
    "bitshuffle": blosc2.Filter.BITSHUFFLE,
}


def prepare(command, options):
    threads = int(options["threads"])
    if command == "decompress":
        return lambda data: blosc2.decompress2(data, nthreads=threads)
    params = {
        "codec": CODECS[options["codec"]],
        "clevel": int(options["level"]),
        "typesize": int(options["typesize"]),
        "filters": [FILTERS[options["filter"]]],
        "filters_meta": [0],
        "nthreads": threads,
        "blocksize": int(options["blocksize"]),
    }
    return lambda data: blosc2.compress2(data, **params)


serve(f"python-blosc2 {blosc2.__version__}", prepare)
