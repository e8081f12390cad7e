"""The codec "blosc" of numcodecs, with the parameters and the configuration of `numcodecs.Blosc`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray
from numcodecs.registry import register_codec

from ._native import compress, decompress, decompress_range

NOSHUFFLE = 0
SHUFFLE = 1
BITSHUFFLE = 2
AUTOSHUFFLE = -1
_NAMES = {0: "NOSHUFFLE", 1: "SHUFFLE", 2: "BITSHUFFLE", -1: "AUTOSHUFFLE"}
_CODECS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


class Blosc(Codec):
    """Compress with Blosc.

    The parameters are those of `numcodecs.Blosc`: a codec `cname`, a level `clevel` of 0 to 9, `shuffle` (0 none, 1
    bytes, 2 bits, -1 by the item size), `blocksize` in bytes (0: chosen by the encoder), and `typesize`, which is the
    item size of the buffer where it is left out. `threads` work on the blocks of a chunk of 256 KiB or more (0: one for
    each core); it is no part of the configuration that is stored with an array.
    """

    codec_id = "blosc"
    NOSHUFFLE = NOSHUFFLE
    SHUFFLE = SHUFFLE
    BITSHUFFLE = BITSHUFFLE
    AUTOSHUFFLE = AUTOSHUFFLE
    max_buffer_size = 2**31 - 1

    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = SHUFFLE,
        blocksize: int = 0,
        typesize: int | None = None,
        *,
        threads: int = 1,
    ) -> None:
        if cname not in _CODECS:
            raise ValueError(
                f"bad compressor or compressor not supported: {cname!r}; expected one of {list(_CODECS)}"
            )
        if typesize is not None and typesize < 1:
            raise ValueError(f"Cannot use typesize {typesize} less than 1.")
        self.cname = cname
        self.clevel = clevel
        self.shuffle = shuffle
        self.blocksize = blocksize
        self._typesize = typesize
        self._threads = threads

    def encode(self, buf: Any) -> bytes:
        return compress(
            ensure_contiguous_ndarray(buf, self.max_buffer_size),
            cname=self.cname,
            clevel=self.clevel,
            shuffle=self.shuffle,
            blocksize=self.blocksize,
            typesize=self._typesize,
            threads=self._threads,
        )

    def decode(self, buf: Any, out: Any = None) -> Any:
        if out is not None:
            out = ensure_contiguous_ndarray(out)
        return decompress(ensure_contiguous_ndarray(buf, self.max_buffer_size), out, threads=self._threads)

    def decode_partial(self, buf: Any, start: int, nitems: int, out: Any = None) -> Any:
        """Decode `nitems` items from `start` on, in units of the item size that the chunk was written with.

        Only the blocks that hold them are decoded.
        """
        chunk = ensure_contiguous_ndarray(buf, self.max_buffer_size)
        size = int(chunk.view(np.uint8)[3])
        if out is not None:
            out = ensure_contiguous_ndarray(out)
        return decompress_range(chunk, start * size, (start + nitems) * size, out)

    def __repr__(self) -> str:
        shuffle = _NAMES.get(self.shuffle, self.shuffle)
        return (
            f"{type(self).__name__}(cname={self.cname!r}, clevel={self.clevel!r}, "
            f"shuffle={shuffle}, blocksize={self.blocksize})"
        )


def register() -> None:
    """Have `numcodecs.get_codec({"id": "blosc", ...})` give this codec, in this process."""
    register_codec(Blosc)
