"""Containers as NumPy arrays."""

from __future__ import annotations

import ast
import json
import math
import operator
import os
import warnings
from collections.abc import Iterator, Mapping
from types import EllipsisType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._far import Far, FarDirectory, Path, place_of
from ._native import BloscError, Source
from ._native import Store as _Store
from ._native import open_store as _open_store
from ._native import save as _save
from ._table import Table, table_of

_FORMATS = {
    ".b2nd": "b2nd",
    ".b2frame": "frame",
    ".cframe": "frame",
    ".blp": "bloscpack",
    ".bcolz": "bcolz",
    ".npy": "npy",
}


class CacheInfo(NamedTuple):
    """What a cache of decoded blocks did so far: blocks taken from it, blocks decoded instead, and its bytes."""

    hits: int
    misses: int
    nbytes: int
    limit: int


class Array:
    """A container on disk as an array that is read slice by slice, and with ``mode="r+"`` changed. `open` makes them.

    An index decodes only the chunks, of b2nd arrays only the blocks, that it touches, without holding the
    interpreter's lock. Arrays are pickled as their path, or file system and path, so that Dask and others can send them to
    worker processes.

    Each change, ``array[...] = x``, `append` or `resize`, is one commit: a crash leaves it done or not begun. Other
    writers are kept out meanwhile. Another array of the same file must be opened again to see what was changed.

    `close`, or leaving a ``with`` block, closes the files; what is known of the array without them stays.
    """

    dtype: np.dtype[Any]
    chunks: tuple[int, ...] | None

    def __init__(
        self,
        path: Path | Any,
        *,
        mode: str = "r",
        dtype: DTypeLike | None = None,
        threads: int = 1,
        limit: int | None = None,
        cache: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        place, name = place_of(path, mode, storage_options)
        self._arguments: tuple[Any, ...] | None = (place, mode, dtype, threads, limit, cache)
        self._begin(name, Source(place, threads=threads, limit=limit, cache=cache), mode, dtype)

    def _begin(self, name: str, source: Source, mode: str, dtype: DTypeLike | None) -> None:
        if mode not in ("r", "r+"):
            raise ValueError(f"mode {mode!r}: expected 'r' or 'r+'")
        self._name, self._mode, self._source = name, mode, source
        descr = self._source.descr
        if descr is not None:
            self.dtype = np.lib.format.descr_to_dtype(ast.literal_eval(descr))
        else:
            size = self._source.itemsize
            self.dtype = np.dtype(np.uint8) if size == 1 else np.dtype((np.void, size))
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
    def shape(self) -> tuple[int, ...]:
        """Items per dimension."""
        return tuple(self._source.shape)

    @property
    def kind(self) -> str:
        """The container: "frame", "tensor", "b2nd", "bloscpack", "bcolz", "blaze" or "npy"."""
        return self._source.kind

    @property
    def metadata(self) -> Any:
        """The user's metadata or attributes; None where there are none."""
        text = self._source.metadata
        return None if text is None else json.loads(text)

    def cache_info(self) -> CacheInfo:
        """What the cache of decoded blocks did so far, which arrays of one `Store` share; only b2nd arrays use it."""
        return CacheInfo(*self._source.cache)

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
        return f"<blosc_frame.Array {self.kind} {self.shape} {self.dtype} in {self._name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._arguments is None:
            raise TypeError("an array inside a store file cannot be pickled: pickle the path and the key")
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
        box, within = self._box(key)
        return self._read(box)[within]

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        """Set what the same index would get, in one commit; `value` is broadcast and cast as NumPy does.

        Items between those of a step, and the rest of the rows of what is no b2nd array, are read and written again, with the
        writer's lock held: what others write to them is kept. `value` is asked for its items meanwhile.
        """
        self._check_mode()
        box, within = self._box(key)
        # Other containers are changed by whole rows.
        written = box if self.kind == "b2nd" else box[:1] + [(0, side) for side in self.shape[1:]]
        sides = zip(box, written, strict=True)
        # Without `...` an array of one item would be a scalar.
        inside: tuple[slice | EllipsisType, ...] = (*(slice(a - first, b - first) for (a, b), (first, _) in sides), ...)
        steps = any(isinstance(part, slice) and part.step not in (1, -1) for part in within)
        again = steps or written != box
        items = self._room(written) if again else np.empty([stop - start for start, stop in box], self.dtype)

        def fill() -> None:
            items[inside][within] = value

        if again and items.size:
            self._source.write_box(written, _bytes(items), fill)
        else:
            fill()
            self._source.write_box(written, _bytes(items))

    def append(self, rows: ArrayLike) -> None:
        """Add rows along the first axis, in one commit: an array of as many dimensions, or one row of one fewer."""
        self._check_mode()
        new = np.asarray(rows).astype(self.dtype, casting="same_kind", copy=False)
        if new.ndim == self.ndim - 1:
            new = new[np.newaxis]
        if not self.shape or new.ndim != self.ndim or new.shape[1:] != self.shape[1:]:
            raise ValueError(f"rows of shape {new.shape} cannot be appended to an array of shape {self.shape}")
        if new.size:
            self._source.append(_bytes(np.ascontiguousarray(new)))
        elif len(new):
            self.resize((len(self) + len(new), *self.shape[1:]))  # there are no bytes to tell how many rows

    def resize(self, shape: int | tuple[int, ...]) -> None:
        """Change the shape, in one commit. New items are zero, or what the container fills them with."""
        self._check_mode()
        self._source.resize([operator.index(side) for side in (shape if isinstance(shape, tuple) else (shape,))])

    def _check_mode(self) -> None:
        if self._mode != "r+":
            raise ValueError("the array is open for reading only; open it with mode='r+' to change it")

    def _box(self, key: Any) -> tuple[list[tuple[int, int]], tuple[slice | int | EllipsisType, ...]]:
        """The box around what `key` selects, and the same selection within that box."""
        box: list[tuple[int, int]] = []
        within: list[slice | int | EllipsisType] = []
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
        if any(part is Ellipsis for part in (key if isinstance(key, tuple) else (key,))):
            within.append(...)  # NumPy gives an array then, of one item, too
        return box, tuple(within)

    def _read(self, box: list[tuple[int, int]]) -> NDArray[Any]:
        out = self._room(box)
        self._source.read_box(box, _bytes(out))
        return out

    def _room(self, box: list[tuple[int, int]]) -> NDArray[Any]:
        """Memory for items that are read."""
        shape = [stop - start for start, stop in box]
        nbytes = math.prod(shape) * self.dtype.itemsize
        if nbytes > self._source.limit:
            raise BloscError(
                f"{nbytes} bytes are more than the limit of {self._source.limit}; open with limit= raises it"
            )
        return np.empty(shape, self.dtype)


def _bytes(items: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of an array in C order."""
    return items.reshape(-1).view(np.uint8) if items.size else np.empty(0, np.uint8)


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


def _reopen(
    path: str | Far | FarDirectory,
    mode: str,
    dtype: DTypeLike | None,
    threads: int,
    limit: int | None,
    cache: int | None,
) -> Array:
    return Array(path, mode=mode, dtype=dtype, threads=threads, limit=limit, cache=cache)


def _leaf(name: str, source: Source, mode: str) -> Array:
    array = Array.__new__(Array)
    array._arguments = None
    array._begin(name, source, mode, None)
    return array


class Store(Mapping[str, "Array | Table"]):
    """Several arrays under one path, by their keys: a `.b2d`, `.b2z` or `.b2e` store, or a directory of arrays.

    A key such as ``"/group/name"`` gives an `Array`, or a `Table` where the group is one. Nothing is decoded before it
    is asked for, and what lies elsewhere is not followed. With ``mode="r+"`` arrays that are files of their own can be
    changed.
    """

    def __init__(
        self,
        path: Path | Any,
        *,
        mode: str = "r",
        threads: int = 1,
        limit: int | None = None,
        cache: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        place, name = place_of(path, mode, storage_options)
        store = _open_store(place, threads=threads, limit=limit, cache=cache)
        if store is None:
            raise BloscError(f"{name}: is no store of arrays")
        self._begin(store, mode)

    def _begin(self, store: _Store, mode: str) -> None:
        if mode not in ("r", "r+"):
            raise ValueError(f"mode {mode!r}: expected 'r' or 'r+'")
        self._store: _Store | None = store
        self._mode, self._name, self.kind = mode, store.name, store.kind
        self._entries = dict(store.entries())

    def _opened(self) -> _Store:
        store = self._store  # once: another thread may close it meanwhile
        if store is None:
            raise ValueError("the store is closed")
        return store

    def __getitem__(self, key: str) -> Array | Table:
        store = self._opened()
        key = key if key.startswith("/") else f"/{key}"
        what = self._entries.get(key)
        if what is None:
            raise KeyError(key)
        if what == "table":
            group = store.group(key)
            assert group is not None
            return table_of(group)
        return _leaf(f"{self._name}:{key}", store.leaf(key), self._mode)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def groups(self) -> list[str]:
        """Keys of the groups, those that hold nothing, too."""
        return self._opened().groups

    def attributes(self, group: str = "") -> dict[str, Any]:
        """The attributes of a group, or of the whole store. What is no MessagePack is left out."""
        found = self._opened().attributes(group)
        return {name: json.loads(value) for name, value in found if value is not None}

    def close(self) -> None:
        """Close the store. Arrays and tables that came from it stay open."""
        self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<blosc_frame.Store {self.kind} of {len(self)} in {self._name!r}>"


def open(
    path: Path | Any,
    *,
    mode: str = "r",
    dtype: DTypeLike | None = None,
    threads: int = 1,
    limit: int | None = None,
    cache: int | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Any:
    """Open what `path` holds: an `Array`, or a `Store` or `Table` where that is what it is.

    Arrays are frames, tensors, b2nd arrays, bloscpack files, bcolz and Blaze directories, and .npy files. With
    ``mode="r+"`` they can be changed. `dtype` names the type of the items where the container does not: frames know
    their size only. `limit` is the most bytes that a read may return, 16 GiB without it. `threads` decode a read side
    by side.

    `path` may be a URL such as ``"s3://bucket/key"``, which fsspec opens with `storage_options`, or a file object of
    fsspec (``fs.open(...)``, ``fsspec.open(...)``): then only reading is possible. Both ends of the file are fetched at
    once, and a slice asks for what it needs in one or two rounds. A directory there, whose URL may end in a slash, is a sparse
    frame or array: a slice asks for all chunk files that it needs at once. Stores are read there as one file, ``.b2z``.
    """
    place, _ = place_of(path, mode, storage_options)
    store = _open_store(place, threads=threads, limit=limit, cache=cache)
    if store is None:
        return Array(place, mode=mode, dtype=dtype, threads=threads, limit=limit, cache=cache)
    if dtype is not None:
        raise ValueError("dtype: a store says itself of what type its arrays are")
    if store.is_table:
        return table_of(store)
    opened = Store.__new__(Store)
    opened._begin(store, mode)
    return opened


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
        _bytes(data),
        repr(np.lib.format.dtype_to_descr(data.dtype)),
        list(shape),
        how,
    )
    if left_out:
        warnings.warn(f"{path} cannot hold: {', '.join(left_out)}", stacklevel=2)
