"""The codec "blosc" of Zarr version 3 for zarr-python, and a pipeline that decodes parts of chunks.

Zarr chooses codecs and pipeline by its configuration, which `blosc_frame.register` sets; so do environment variables,
which worker processes inherit::

    ZARR_CODECS__BLOSC=blosc_frame.zarr.BloscCodec
    ZARR_CODEC_PIPELINE__PATH=blosc_frame.zarr.PartialPipeline
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace

import numpy as np
import zarr.codecs
from zarr.abc.codec import ArrayBytesCodecPartialDecodeMixin
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.registry import register_pipeline

from ._native import BloscError, chunk_info, compress, decompress, decompress_range

_SHUFFLE = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
# Codecs before this one may add something to a chunk, such as a checksum.
_SLACK = 1 << 20
# A range of at most this many bytes is decoded at once: handing it to another thread takes as long.
_AT_ONCE = 64 << 10


def _expected(spec: ArraySpec) -> int | None:
    """The plain size of a chunk; None where items have no size of their own."""
    size = getattr(spec.dtype, "item_size", None)
    return None if size is None else math.prod(spec.shape) * size


@dataclass(frozen=True, init=False)
class BloscCodec(zarr.codecs.BloscCodec):
    """`zarr.codecs.BloscCodec`, done by this package."""

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        chunk = chunk_bytes.as_numpy_array()
        expected, nbytes = _expected(chunk_spec), chunk_info(chunk)["nbytes"]
        if expected is None:
            return chunk_spec.prototype.buffer.from_bytes(decompress(chunk))
        if nbytes > 2 * expected + _SLACK:
            # Before memory is reserved: the header of a chunk may say anything.
            raise BloscError(f"a chunk of {nbytes} bytes where the array has chunks of {expected} bytes")
        out = np.empty(nbytes, np.uint8)
        decompress(chunk, out)
        return chunk_spec.prototype.buffer.from_array_like(out)

    def _encode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        chunk = compress(
            chunk_bytes.as_numpy_array(),
            cname=self.cname.value,
            clevel=self.clevel,
            shuffle=_SHUFFLE[self.shuffle.value],
            blocksize=self.blocksize,
            typesize=self.typesize,
        )
        return chunk_spec.prototype.buffer.from_bytes(chunk)


@dataclass(frozen=True)
class PartialPipeline(BatchedCodecPipeline):
    """Zarr's own pipeline, which decodes parts of chunks where Blosc is the one compressor.

    A selection is narrowed axis by axis, as long as it takes one index of an axis: that is a range of bytes of the
    chunk in C order, of which only the blocks are decoded. Shards are read by a pipeline of this class for their inner
    chunks, so parts of those are decoded, too.
    """

    def _is_plain_blosc(self) -> bool:
        return (
            not self.array_array_codecs
            and isinstance(self.array_bytes_codec, zarr.codecs.BytesCodec)
            and not isinstance(self.array_bytes_codec, ArrayBytesCodecPartialDecodeMixin)
            and len(self.bytes_bytes_codecs) == 1
            and isinstance(self.bytes_bytes_codecs[0], BloscCodec)
        )

    async def read_batch(self, batch_info, out, drop_axes=()):
        batch_info = list(batch_info)
        if not self._is_plain_blosc():
            return await super().read_batch(batch_info, out, drop_axes)
        whole = []
        for item in batch_info:
            getter, spec, selection, out_selection, _ = item
            narrowed = _narrow(selection, spec)
            if narrowed is None:
                whole.append(item)
                continue
            chunk = await getter.get(spec.prototype)
            part = None if chunk is None else await self._decode_part(chunk, spec, *narrowed)
            if part is None:
                # Not there, or not as the array says: the usual way knows what to do.
                whole.append(item)
                continue
            out[out_selection] = part.squeeze(axis=drop_axes) if drop_axes else part
        if whole:
            await super().read_batch(whole, out, drop_axes)

    async def _decode_part(self, chunk: Buffer, spec: ArraySpec, shape, first: int, selection):
        size = spec.dtype.item_size
        start, stop = first * size, (first + math.prod(shape)) * size
        data = chunk.as_numpy_array()
        if chunk_info(data)["nbytes"] != _expected(spec):
            return None
        out = np.empty(stop - start, np.uint8)
        if out.nbytes <= _AT_ONCE:
            decompress_range(data, start, stop, out)
        else:
            await asyncio.to_thread(decompress_range, data, start, stop, out)
        part = spec.prototype.buffer.from_array_like(out)
        array = await self.array_bytes_codec._decode_single(part, replace(spec, shape=shape))
        return array[selection]


def _narrow(selection, spec: ArraySpec):
    """Shape, first item and remaining selection of the run of items around `selection`; None where it is most of them."""
    if _expected(spec) is None or not isinstance(selection, tuple) or len(selection) != len(spec.shape):
        return None
    shape, first, rest = list(spec.shape), 0, list(selection)
    for axis, (part, length) in enumerate(zip(selection, spec.shape, strict=True)):
        if isinstance(part, slice):
            start, stop, step = part.indices(length)
            if step < 1 or stop <= start:
                return None
            rest[axis] = slice(0, stop - start, step)
        elif isinstance(part, (int, np.integer)) and 0 <= part < length:
            start, stop = int(part), int(part) + 1
            rest[axis] = 0
        else:
            return None
        first += start * math.prod(spec.shape[axis + 1 :])
        shape[axis] = stop - start
        if stop - start > 1:
            rest[axis + 1 :] = selection[axis + 1 :]
            break
    if 2 * math.prod(shape) > math.prod(spec.shape):
        return None
    return tuple(shape), first, tuple(rest)


register_pipeline(PartialPipeline)
