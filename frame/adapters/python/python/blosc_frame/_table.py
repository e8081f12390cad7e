"""Tables of python-blosc2, column by column."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._far import Path, place_of
from ._native import BloscError
from ._native import Store as _Store
from ._native import Table as _Table
from ._native import open_store as _open_store


class Table:
    """A table of python-blosc2: the rows that live, column by column. `open` and `Store` make them."""

    def __init__(
        self,
        path: Path | Any,
        *,
        threads: int = 1,
        limit: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        place, name = place_of(path, "r", storage_options)
        store = _open_store(place, threads=threads, limit=limit)
        if store is None or not store.is_table:
            raise BloscError(f"{name}: is no table")
        self._begin(store)

    def _begin(self, store: _Store) -> None:
        self._name = store.name
        self._table: _Table | None = store.table()

    def _opened(self) -> _Table:
        table = self._table  # once: another thread may close it meanwhile
        if table is None:
            raise ValueError("the table is closed")
        return table

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns, with their types in words."""
        return {name: kind for name, kind, _ in self._opened().columns}

    def __len__(self) -> int:
        return self._opened().rows

    def __getitem__(self, column: str) -> NDArray[Any]:
        """One column as an array: a masked one where it may have nulls."""
        return self.to_arrays([column])[column]

    def to_arrays(
        self, columns: Iterable[str] | None = None, start: int = 0, stop: int | None = None
    ) -> dict[str, NDArray[Any]]:
        """Rows `start` to `stop` as a dict of arrays, masked ones where a column may have nulls.

        Columns of lists and objects, which NumPy has no items for, raise `BloscError`: name the others.
        """
        table, (start, stop) = self._opened(), self._range(start, stop)
        arrays: dict[str, NDArray[Any]] = {}
        names = list(self.columns if columns is None else columns)
        for name, descr, shape, items, nulls in table.arrays(names, start, stop):
            dtype = np.lib.format.descr_to_dtype(ast.literal_eval(descr))
            array: NDArray[Any] = np.frombuffer(bytearray(items), dtype).reshape(shape)
            if nulls is not None:
                rows = np.frombuffer(nulls, np.bool_).reshape([-1] + [1] * (array.ndim - 1))
                array = np.ma.MaskedArray(array, np.broadcast_to(rows, array.shape).copy())
            arrays[name] = array
        return arrays

    def to_arrow(self, columns: Iterable[str] | None = None, start: int = 0, stop: int | None = None) -> Any:
        """Rows `start` to `stop` as a ``pyarrow.Table``; it needs pyarrow."""
        import pyarrow

        start, stop = self._range(start, stop)
        names = list(self.columns if columns is None else columns)
        return pyarrow.ipc.open_file(self._opened().arrow(names, start, stop)).read_all()

    def _range(self, start: int, stop: int | None) -> tuple[int, int]:
        start, stop, _ = slice(start, stop).indices(len(self))
        return start, max(start, stop)

    def close(self) -> None:
        """Close the files."""
        self._table = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<blosc_frame.Table of {len(self)} rows, {len(self.columns)} columns in {self._name!r}>"


def table_of(store: _Store) -> Table:
    """The table that a store is."""
    table = Table.__new__(Table)
    table._begin(store)
    return table
