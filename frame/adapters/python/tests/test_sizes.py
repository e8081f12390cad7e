"""Chunks are no larger than C-Blosc's of the same settings, for random settings and arrays.

BLOSC_LONG=1 runs 300 of them; else 80 are tried under the same seed.
"""

import os

import numcodecs
import numpy as np

import blosc_frame
from blosc_frame.numcodecs import Blosc

COUNT = 300 if os.environ.get("BLOSC_LONG") == "1" else 80
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
WORDS = [b"the", b"of", b"array", b"chunk", b"and", b"blocks", b"that", b"a", b"decode", b"items", b"in", b"shuffle"]


def array(rng):
    """Something that people store, of 100 bytes to some megabytes."""
    n = int(10 ** rng.uniform(2, 5.7))
    return [
        lambda: np.round(np.cumsum(rng.normal(size=n)), 1).astype("f4"),
        lambda: np.cumsum(rng.normal(size=n)),
        lambda: rng.integers(0, 1000, n).astype("i4"),
        lambda: np.repeat(rng.integers(0, 1000, n // 20 + 1), 20).astype("i8"),
        lambda: np.frombuffer(b" ".join(rng.choice(WORDS, n // 4)), "u1"),
        lambda: (np.sin(np.arange(n) / 50) * 1000 + rng.integers(0, 9, n)).astype("i2"),
        lambda: np.where(rng.random(n) < 0.05, rng.normal(size=n), 0),
        lambda: rng.integers(0, 256, n).astype("u1"),
        lambda: (np.arange(n // 4) % 977).astype("c16"),
    ][rng.integers(9)]()


def test_sizes_are_those_of_c_blosc_at_most():
    rng = np.random.default_rng(51)
    quotients, total = [], 0.0
    for _ in range(COUNT):
        data = array(rng)
        how = (
            str(rng.choice(CODECS)),
            int(rng.integers(0, 10)),
            int(rng.integers(-1, 3)),
            int(rng.choice([0, 0, 0, 4096, 65536, 1 << 20])),
        )
        ours, theirs = Blosc(*how).encode(data), numcodecs.Blosc(*how).encode(data)
        assert numcodecs.Blosc().decode(ours) == data.tobytes(), how
        # A header of 32 bytes is a large part of a chunk of some hundred bytes.
        quotients.append((max(len(ours) - 32, 1) / len(theirs), how, data.dtype.str, data.nbytes, len(ours)))
        if how[1]:
            # Blocks have the size of C-Blosc's, so that a read of a part costs what it did.
            sizes = [blosc_frame.chunk_info(chunk)["blocksize"] for chunk in (ours, theirs)]
            assert sizes[0] == sizes[1], (how, data.dtype, data.nbytes, sizes)
        total += len(ours) / len(theirs)
    above = sorted((quotient for quotient in quotients if quotient[0] > 1.03), reverse=True)
    # Known: zstd 8 on records that repeat, zlib 3 on counts.
    assert len(above) <= COUNT // 40 and max(quotients)[0] < 1.07, above
    assert total / COUNT <= 1.0, total / COUNT


def test_a_million_floats():
    """The case that showed 31 % with zlib 1 when blocks were cut as C-Blosc2 cuts them."""
    data = np.round(np.cumsum(np.random.default_rng(0).normal(size=1_000_000)), 1).astype("f4")
    for cname, level in [("zlib", 1), ("zlib", 5), ("lz4hc", 5), ("blosclz", 5), ("lz4", 5), ("zstd", 1)]:
        sizes = [len(codec(cname, level, 1).encode(data)) for codec in (Blosc, numcodecs.Blosc)]
        assert sizes[0] <= 1.005 * sizes[1], (cname, level, sizes)
