#!/usr/bin/env python3
"""Compressors with a format of their own as engines of blosc-bench: ZXC, OpenZL, bitshuffle.

    pip install zxc-compress openzl bitshuffle numpy
    blosc-bench run --suite chunks --engine "exec:python3 bench-harness/engines/other_formats.py zxc"

Each takes part where it answers the same question: ZXC, which knows no items, as a codec of unfiltered bytes beside LZ4;
OpenZL, which chooses filters itself, beside Zstandard with any filter; bitshuffle, whose codec is LZ4, beside that. Blosc's
levels 1 to 9 are spread over theirs. Times include what a Python caller pays.
"""

import importlib.metadata
import struct
import sys

import numpy as np

from protocol import serve


def only(options, codec, filters=None):
    """Raises where the engine does not answer the question."""
    if options["threads"] != "1":
        raise ValueError("it is measured with one thread")
    if options["codec"] != codec or filters and options["filter"] not in filters:
        raise ValueError(f"it stands beside {codec} with {' '.join(filters or ['any filter'])} alone")


def items(data, options):
    """`data` as unsigned numbers; items of another size count as bytes."""
    size = int(options["typesize"])
    size = size if size in (1, 2, 4, 8) and len(data) % size == 0 else 1
    return np.frombuffer(data, dtype=f"<u{size}")


def zxc(command, options):
    import zxc

    if command == "decompress":
        return zxc.decompress
    only(options, "lz4", ["none"])
    level = zxc.LEVEL_FASTEST + (int(options["level"]) - 1) * (zxc.LEVEL_ULTRA - zxc.LEVEL_FASTEST) // 8
    return lambda data: zxc.compress(data, level=level)


def openzl(command, options):
    import openzl.ext as zl

    if command == "decompress":
        context = zl.DCtx()
        return lambda data: context.decompress(data)[0].content.as_bytes()
    only(options, "zstd")
    compressor, context = zl.Compressor(), zl.CCtx()
    compressor.set_parameter(zl.CParam.FormatVersion, zl.MAX_FORMAT_VERSION)
    compressor.set_parameter(zl.CParam.CompressionLevel, int(options["level"]))
    compressor.select_starting_graph(zl.graphs.Compress()(compressor))

    def compress(data):
        context.ref_compressor(compressor)
        return context.compress([zl.Input(zl.Type.Numeric, items(data, options))])

    return compress


def bitshuffle(command, options):
    import bitshuffle

    head = struct.Struct("<QQ")
    if command == "decompress":

        def decompress(data):
            count, size = head.unpack_from(data)
            stream = np.frombuffer(data, dtype="u1", offset=head.size)
            return bitshuffle.decompress_lz4(stream, (count,), np.dtype(f"<u{size}")).tobytes()

        return decompress
    only(options, "lz4", ["bitshuffle"])

    def compress(data):
        array = items(data, options)
        return head.pack(array.size, array.itemsize) + bitshuffle.compress_lz4(array).tobytes()

    return compress


ENGINES = {"zxc": ("zxc-compress", zxc), "openzl": ("openzl", openzl), "bitshuffle": ("bitshuffle", bitshuffle)}

if len(sys.argv) != 2 or sys.argv[1] not in ENGINES:
    sys.exit(f"usage: other_formats.py {'|'.join(ENGINES)}")
package, prepare = ENGINES[sys.argv[1]]
serve(f"{sys.argv[1]} {importlib.metadata.version(package)} own", prepare)
