"""The codec "blosc" of Zarr version 3 for zarr-python, and a pipeline that decodes parts of chunks.

Zarr chooses codecs and pipeline by its configuration, which `blosc_frame.register` sets; so do environment variables,
which worker processes inherit::

    ZARR_CODECS__BLOSC=blosc_frame.zarr.BloscCodec
    ZARR_CODEC_PIPELINE__PATH=blosc_frame.zarr.PartialPipeline

Both classes are made of Zarr's public interface (`zarr.abc.codec`, `zarr.codecs`, `zarr.config`, `zarr.registry`), since
`zarr.core` changes with each release. `tests/test_zarr.py` names what is used beside it, and holds the list.
"""

from __future__ import annotations

import asyncio
import importlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numcodecs
import numpy as np
import zarr
import zarr.codecs
from zarr.abc.codec import Codec, CodecPipeline
from zarr.registry import register_pipeline

from ._native import BloscError, chunk_info, compress, decompress, decompress_range
from .numcodecs import Blosc

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

_SHUFFLE = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
# Codecs before this one may add something to a chunk, such as a checksum.
_SLACK = 1 << 20
# A range of at most this many bytes is decoded at once: handing it to another thread takes as long.
_AT_ONCE = 64 << 10


def _item_size(dtype: Any) -> int | None:
    """Bytes of an item; None where items have no size of their own."""
    if isinstance(dtype, np.dtype):  # zarr 3.0
        return None if dtype.hasobject or dtype.kind == "T" else dtype.itemsize
    return getattr(dtype, "item_size", None)


def _expected(spec: ArraySpec) -> int | None:
    """The plain size of a chunk; None where items have no size of their own."""
    size = _item_size(spec.dtype)
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
        # The names of this configuration are those of the specification; attributes of the class are enumerations in
        # some releases of Zarr and strings in others.
        how: Any = self.to_dict()["configuration"]
        chunk = compress(
            chunk_bytes.as_numpy_array(),
            cname=how["cname"],
            clevel=how["clevel"],
            shuffle=_SHUFFLE[how["shuffle"]],
            blocksize=how["blocksize"],
            typesize=how["typesize"],
        )
        return chunk_spec.prototype.buffer.from_bytes(chunk)

    # Releases before 3.1 call nothing but these two.
    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk_bytes, chunk_spec)


def _ours(codec: Any) -> Any:
    """`codec`, or this package's codec for a Blosc codec that the caller made by Zarr's or numcodecs' own class."""
    if type(codec) is zarr.codecs.BloscCodec:
        ours = object.__new__(BloscCodec)
        vars(ours).update(vars(codec))
        return ours
    # The one codec of an array of version 2 has the compressor of numcodecs in it.
    compressor = getattr(codec, "compressor", None)
    if compressor is not None and type(compressor) is getattr(numcodecs, "Blosc", None):
        config = {key: value for key, value in compressor.get_config().items() if key != "id"}
        return replace(codec, compressor=Blosc(**config))
    return codec


def default_pipeline() -> str:
    """The path of the pipeline that Zarr uses where nobody configures one."""
    paths = (defaults.get("codec_pipeline", {}).get("path") for defaults in zarr.config.defaults)
    return next(str(path) for path in paths if path is not None)


@dataclass(frozen=True)
class PartialPipeline(CodecPipeline):
    """Zarr's own pipeline, and a reader of parts of chunks where Blosc is the one compressor.

    A selection is narrowed axis by axis, as long as it takes one index of an axis: that is a range of bytes of the
    chunk in C order, of which only the blocks are decoded. Shards are read by a pipeline of this class for their inner
    chunks, so parts of those are decoded, too. Codecs of Zarr's and numcodecs' own Blosc classes become this package's.
    """

    whole: CodecPipeline
    # Makes items of the bytes that Blosc decodes; None where something else lies between them and the array.
    serializer: zarr.codecs.BytesCodec | None

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> PartialPipeline:
        chain = [_ours(codec) for codec in codecs]
        module, _, name = default_pipeline().rpartition(".")
        whole = getattr(importlib.import_module(module), name).from_codecs(chain)
        plain = (
            len(chain) == 2
            and isinstance(chain[0], zarr.codecs.BytesCodec)
            and isinstance(chain[1], BloscCodec)
        )
        return cls(whole, chain[0] if plain else None)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> PartialPipeline:
        serializer = self.serializer and self.serializer.evolve_from_array_spec(array_spec)
        return PartialPipeline(self.whole.evolve_from_array_spec(array_spec), serializer)

    @property
    def supports_partial_decode(self) -> bool:
        return self.whole.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        return self.whole.supports_partial_encode

    def validate(self, **about: Any) -> None:
        self.whole.validate(**about)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        return self.whole.compute_encoded_size(byte_length, array_spec)

    async def decode(self, chunk_bytes_and_specs: Any) -> Any:
        return await self.whole.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Any) -> Any:
        return await self.whole.encode(chunk_arrays_and_specs)

    async def write(self, batch_info: Any, value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        await self.whole.write(batch_info, value, drop_axes)

    async def read(self, batch_info: Any, out: NDBuffer, drop_axes: tuple[int, ...] = ()) -> Any:
        serializer = self.serializer
        if serializer is None:
            return await self.whole.read(batch_info, out, drop_axes)
        batch = list(batch_info)
        gate = asyncio.Semaphore(zarr.config.get("async.concurrency"))

        async def in_part(getter: Any, spec: ArraySpec, selection: Any, out_selection: Any, _: bool) -> bool:
            narrowed = _narrow(selection, spec)
            if narrowed is None:
                return False
            async with gate:
                chunk = await getter.get(spec.prototype)
                part = None if chunk is None else await _decode_part(serializer, chunk, spec, *narrowed)
            if part is None:
                # Not there, or not as the array says: the usual way knows what to do.
                return False
            out[out_selection] = part.squeeze(axis=drop_axes) if drop_axes else part
            return True

        done = await asyncio.gather(*(in_part(*item) for item in batch))
        rest = [item for item, was in zip(batch, done, strict=True) if not was]
        # What was found of each chunk. Releases before 3.2 answer None.
        found = iter((await self.whole.read(rest, out, drop_axes) if rest else None) or ())
        return tuple({"status": "present"} if was else next(found, None) for was in done)


async def _decode_part(
    serializer: Any, chunk: Buffer, spec: ArraySpec, shape: tuple[int, ...], first: int, selection: Any
) -> Any:
    """The selection of the items of `shape` from `first` on; None where the chunk is not as the array says."""
    data = chunk.as_numpy_array()
    expected = _expected(spec)
    if expected is None or chunk_info(data)["nbytes"] != expected:
        return None
    size = expected // math.prod(spec.shape)
    start, stop = first * size, (first + math.prod(shape)) * size
    out = np.empty(stop - start, np.uint8)
    if out.nbytes <= _AT_ONCE:
        decompress_range(data, start, stop, out)
    else:
        await asyncio.to_thread(decompress_range, data, start, stop, out)
    part = spec.prototype.buffer.from_array_like(out)
    (array,) = await serializer.decode([(part, replace(spec, shape=shape))])
    return array[selection]


def _narrow(selection: Any, spec: ArraySpec) -> tuple[tuple[int, ...], int, tuple[Any, ...]] | None:
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
