"""Containers as NumPy arrays."""

from __future__ import annotations

import ast
import json
import math
import operator
import os
import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._native import BloscError, Source
from ._native import save as _save

Path = str | os.PathLike[str]

_FORMATS = {
    ".b2nd": "b2nd",
    ".b2frame": "frame",
    ".cframe": "frame",
    ".blp": "bloscpack",
    ".bcolz": "bcolz",
    ".npy": "npy",
}


class Array:
    """A container on disk as an array that is read slice by slice. `open` makes them.

    An index decodes only the chunks, of b2nd arrays only the blocks, that it touches, without holding the
    interpreter's lock. Arrays are pickled as their path, so that Dask and others can send them to worker processes.

    `close`, or leaving a ``with`` block, closes the files; what is known of the array without them stays.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    chunks: tuple[int, ...] | None

    def __init__(
        self, path: Path, *, dtype: DTypeLike | None = None, threads: int = 1, limit: int | None = None
    ) -> None:
        self._arguments = (os.fspath(path), dtype, threads, limit)
        self._source = Source(self._arguments[0], threads=threads, limit=limit)
        descr = self._source.descr
        if descr is not None:
            self.dtype = np.lib.format.descr_to_dtype(ast.literal_eval(descr))
        else:
            size = self._source.itemsize
            self.dtype = np.dtype(np.uint8) if size == 1 else np.dtype((np.void, size))
        self.shape = tuple(self._source.shape)
        chunks = self._source.chunks
        self.chunks = None if chunks is None else tuple(chunks)
        if dtype is not None:
            self._view(np.dtype(dtype))

    def _view(self, dtype: np.dtype[Any]) -> None:
        """Take the items, whose type the container does not tell, as items of `dtype`."""
        if self._source.descr is not None and dtype != self.dtype:
            raise ValueError(f"the container says that its items are {self.dtype}, not {dtype}")
        if dtype.itemsize != self.dtype.itemsize:
            raise ValueError(f"items have {self.dtype.itemsize} bytes, and {dtype} has {dtype.itemsize}")
        self.dtype = dtype

    @property
    def kind(self) -> str:
        """The container: "frame", "b2nd", "bloscpack", "bcolz", "blaze" or "npy"."""
        return self._source.kind

    @property
    def metadata(self) -> Any:
        """The user's metadata or attributes; None where there are none."""
        text = self._source.metadata
        return None if text is None else json.loads(text)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Decoded size in bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<blosc_frame.Array {self.kind} {self.shape} {self.dtype} in {self._arguments[0]!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, self._arguments

    def close(self) -> None:
        """Close the files. Reads that other threads have begun are finished; new ones raise `ValueError`."""
        self._source.close()

    @property
    def closed(self) -> bool:
        return self._source.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a compressed array cannot be had without a copy")
        whole: NDArray[Any] = self[...]
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Integers, slices and an ellipsis, as NumPy has them; of lists and masks take the slice around them first."""
        box: list[tuple[int, int]] = []
        within: list[slice | int] = []
        for axis, (part, length) in enumerate(zip(_expand(key, self.ndim), self.shape, strict=True)):
            if isinstance(part, slice):
                start, stop, step = part.indices(length)
                count = len(range(start, stop, step))
                last = start + (count - 1) * step
                box.append((min(start, last), max(start, last) + 1) if count else (0, 0))
                # The box begins and ends with items of the slice, so both directions start at one of its ends.
                within.append(slice(None, None, step))
                continue
            index = operator.index(part)
            if not -length <= index < length:
                raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
            box.append((index % length, index % length + 1))
            within.append(0)
        return self._read(box)[tuple(within)]

    def _read(self, box: list[tuple[int, int]]) -> NDArray[Any]:
        shape = [stop - start for start, stop in box]
        nbytes = math.prod(shape) * self.dtype.itemsize
        if nbytes > self._source.limit:
            raise BloscError(
                f"{nbytes} bytes are more than the limit of {self._source.limit}; open with limit= raises it"
            )
        out = np.empty(shape, self.dtype)
        self._source.read_box(box, out.reshape(-1).view(np.uint8) if out.size else np.empty(0, np.uint8))
        return out


def _expand(key: Any, ndim: int) -> list[Any]:
    """One entry for each axis."""
    parts: list[Any] = list(key) if isinstance(key, tuple) else [key]
    given = sum(part is not Ellipsis for part in parts)
    if given > ndim:
        raise IndexError(f"too many indices: the array has {ndim} dimensions, and {given} were given")
    rest = [slice(None)] * (ndim - given)
    for at, part in enumerate(parts):
        if part is Ellipsis:
            parts[at : at + 1] = rest
            rest = []
            break
    if any(part is Ellipsis for part in parts):
        raise IndexError("an index can have one ellipsis")
    return parts + rest


def _reopen(path: str, dtype: DTypeLike | None, threads: int, limit: int | None) -> Array:
    return Array(path, dtype=dtype, threads=threads, limit=limit)


def open(
    path: Path, *, dtype: DTypeLike | None = None, threads: int = 1, limit: int | None = None
) -> Array:
    """Open a frame, b2nd array, bloscpack file, bcolz or Blaze directory, or .npy file as an array.

    `dtype` names the type of the items where the container does not: frames know their size only. `limit` is the most
    bytes that a read may return, 16 GiB without it. `threads` decode a read side by side.
    """
    return Array(path, dtype=dtype, threads=threads, limit=limit)


def save(
    path: Path,
    data: ArrayLike,
    *,
    format: str | None = None,
    codec: str = "zstd",
    level: int = 5,
    shuffle: int = 1,
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
    chunk_nbytes: int | None = None,
    sparse: bool = False,
    metadata: dict[str, Any] | None = None,
    threads: int = 1,
) -> None:
    """Write `data` as a new container; `path` must be free.

    `format` is "b2nd", "frame", "bloscpack", "bcolz" or "npy"; without it, the extension of `path` says so. `shuffle`
    is 0 (none), 1 (bytes), 2 (bits) or -1 (by the item size). `chunks` and `blocks` are shapes, for b2nd; others take
    `chunk_nbytes`. `sparse` makes a directory with a file for each chunk. A warning lists what the format cannot hold.
    """
    path = os.fspath(path)
    if format is None:
        format = _FORMATS.get(os.path.splitext(path)[1])
        if format is None:
            raise ValueError(f"{path}: no format is known by this extension; name one with format=")
    data = np.asarray(data)
    if data.dtype.hasobject:
        raise TypeError("object arrays are not supported")
    # `ascontiguousarray` would give an array without dimensions one of them.
    shape, data = data.shape, np.ascontiguousarray(data)
    how = {
        "format": format,
        "codec": codec,
        "level": level,
        "shuffle": shuffle,
        "chunks": None if chunks is None else list(chunks),
        "blocks": None if blocks is None else list(blocks),
        "chunk_nbytes": chunk_nbytes,
        "sparse": sparse,
        "metadata": None if metadata is None else json.dumps(metadata),
        "threads": threads,
    }
    left_out = _save(
        path,
        data.reshape(-1).view(np.uint8) if data.size else np.empty(0, np.uint8),
        repr(np.lib.format.dtype_to_descr(data.dtype)),
        list(shape),
        how,
    )
    if left_out:
        warnings.warn(f"{path} cannot hold: {', '.join(left_out)}", stacklevel=2)
