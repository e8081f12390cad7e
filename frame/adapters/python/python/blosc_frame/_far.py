"""Files and directories of fsspec's file systems, read in few rounds of requests."""

from __future__ import annotations

import os
from typing import Any

#: Bytes from each end that are fetched when a file is opened.
_END = 64 << 10

Path = str | os.PathLike[str]


class Far:
    """One file of an fsspec file system, as the compiled half reads it. It is pickled as file system and path.

    Both ends are fetched at once, and stay; what else is needed comes by one call of ``cat_ranges`` for each round.
    """

    def __init__(self, fs: Any, path: str, name: str, about: dict[str, Any] | None = None) -> None:
        self.fs, self.path, self.name = fs, path, name
        size = (fs.info(path) if about is None else about).get("size")
        if size is None:
            raise OSError(f"{name}: the file system does not say how large the file is")
        self.size = int(size)
        first = min(_END, self.size)
        ends = [(0, first), (max(first, self.size - _END), self.size)]
        ends = [(start, stop) for start, stop in ends if start < stop]
        self._ends = [(start, part) for (start, _), part in zip(ends, self._cat(ends), strict=True)]

    def _cat(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        if not ranges:
            return []
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        parts = self.fs.cat_ranges([self.path] * len(ranges), starts, stops, on_error="raise")
        for (start, stop), part in zip(ranges, parts, strict=True):
            if len(part) != stop - start:
                raise OSError(f"{self.name}: {len(part)} bytes came for the range {start} to {stop}")
        return [bytes(part) for part in parts]

    def fetch(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        """The bytes of these ranges."""
        known = [self._known(start, stop) for start, stop in ranges]
        missing = [wanted for wanted, part in zip(ranges, known, strict=True) if part is None]
        fetched = iter(self._cat(missing))
        return [next(fetched) if part is None else part for part in known]

    def _known(self, start: int, stop: int) -> bytes | None:
        for at, part in self._ends:
            if at <= start and stop <= at + len(part):
                return part[start - at : stop - at]
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return Far, (self.fs, self.path, self.name)


class FarDirectory:
    """A directory of an fsspec file system, such as a sparse frame, each file of which is asked for by its name."""

    def __init__(self, fs: Any, path: str, name: str) -> None:
        self.fs, self.path, self.name = fs, path.rstrip("/"), name

    def open_file(self, name: str) -> Far:
        """One of its files; both ends are fetched."""
        path = f"{self.path}/{name}"
        return Far(self.fs, path, f"{self.name.rstrip('/')}/{name}")

    def fetch_files(self, names: list[str], limit: int) -> list[bytes | None]:
        """Whole files in one call, each of at most `limit` bytes; None for one that cannot be read, or is longer."""
        paths = [f"{self.path}/{name}" for name in names]
        # A byte more than allowed tells that a file is too long.
        stops = [min(limit, 2**62) + 1] * len(paths)
        parts = self.fs.cat_ranges(paths, [0] * len(paths), stops, on_error="return")
        return [None if isinstance(part, Exception) or len(part) > limit else bytes(part) for part in parts]

    def names(self) -> list[str]:
        """The names of its files."""
        found = self.fs.ls(self.path, detail=True)
        return [entry["name"].rsplit("/", 1)[-1] for entry in found if entry.get("type") == "file"]

    def __reduce__(self) -> tuple[Any, ...]:
        return FarDirectory, (self.fs, self.path, self.name)


def _at(fs: Any, path: str, name: str) -> Far | FarDirectory:
    """What lies there. A file system such as HTTP knows no directories: the name of one ends in a slash."""
    if name.endswith("/"):
        return FarDirectory(fs, path, name)
    about = fs.info(path)
    return FarDirectory(fs, path, name) if about.get("type") == "directory" else Far(fs, path, name, about)


def locate(path: Any, storage_options: dict[str, Any] | None) -> Far | FarDirectory | None:
    """What a URL or a file object of fsspec names; None for a path of this system."""
    if isinstance(path, Far | FarDirectory):
        return path
    fs = getattr(path, "fs", None)
    if hasattr(fs, "cat_ranges"):
        if getattr(path, "compression", None) is not None:
            raise ValueError(f"{path.path}: what fsspec decompresses cannot be read part by part")
        return _at(fs, path.path, fs.unstrip_protocol(path.path))
    if isinstance(path, str) and "://" in path and not os.path.exists(path):
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            how = "pip install fsspec, and what its file system needs, such as s3fs for s3://"
            raise ImportError(f"{path}: URLs are read by fsspec, which is not installed: {how}") from error
        return _at(*url_to_fs(path, **(storage_options or {})), path)
    if storage_options is not None:
        raise ValueError("storage_options: they are for URLs")
    return None


def place_of(path: Path | Any, mode: str, storage_options: dict[str, Any] | None) -> tuple[str | Far | FarDirectory, str]:
    """What the compiled half opens, and its name."""
    far = locate(path, storage_options)
    if far is None:
        name = os.fspath(path)
        return name, name
    if mode != "r":
        raise ValueError(f"mode {mode!r}: {far.name} is read by fsspec, and only read")
    return far, far.name
