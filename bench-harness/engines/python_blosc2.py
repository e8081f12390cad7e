#!/usr/bin/env python3
"""python-blosc2 as an engine of blosc-bench; `../README.md` describes the protocol.

    blosc-bench run --suite chunks --engine "exec:python3 engines/python_blosc2.py"

Times include what a Python caller pays: argument checks, and the bytes object that is returned.
"""

import sys
import time

import blosc2

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


def say(line):
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def prepare(words):
    """What `run` will call, with the data that is set at that time."""
    options = dict(word.split("=", 1) for word in words[1:])
    threads = int(options["threads"])
    if words[0] == "compress":
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
    return lambda data: blosc2.decompress2(data, nthreads=threads)


def main():
    work, data, result = None, b"", b""
    while line := sys.stdin.buffer.readline():
        words = line.decode().split()
        try:
            match words[0]:
                case "hello":
                    say(f"ok python-blosc2 {blosc2.__version__}")
                case "compress" | "decompress":
                    work = prepare(words)
                    say("ok")
                case "data":
                    data = sys.stdin.buffer.read(int(words[1]))
                    say("ok")
                case "run":
                    runs = range(int(words[1]))
                    start = time.perf_counter_ns()
                    for _ in runs:
                        result = work(data)
                    say(f"ok {time.perf_counter_ns() - start}")
                case "fetch":
                    say(f"ok {len(result)}")
                    sys.stdout.buffer.write(result)
                    sys.stdout.buffer.flush()
                case "quit":
                    return
                case other:
                    say(f"no unknown command {other}")
        except Exception as error:  # the harness drops the case and says why
            say("no " + " ".join(str(error).split()))


main()
