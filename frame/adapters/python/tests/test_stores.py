"""Edits of arrays; stores, tables and tensors: against NumPy, python-blosc2 and pyarrow where these are installed."""

import contextlib
import pathlib
import pickle

import numpy as np
import pytest

import blosc_frame
from conftest import together

WILD = pathlib.Path(__file__).parents[3] / "tests" / "fixtures" / "wild"
FORMATS = {"b2nd": ".b2nd", "bloscpack": ".blp", "bcolz": ".bcolz"}


@pytest.mark.parametrize("format", FORMATS)
def test_edits_are_those_of_numpy(tmp_path, format):
    want = np.arange(20 * 6 * 5, dtype="<i4").reshape(20, 6, 5)
    path = tmp_path / f"a{FORMATS[format]}"
    blosc_frame.save(path, want)
    with blosc_frame.open(path, mode="r+") as array:
        edits = [
            (3, 7),
            (-1, np.arange(30).reshape(6, 5)),
            (slice(4, 9), 1),
            (slice(None, None, 3), 2),
            (slice(15, 2, -4), 5),
            ((slice(2, 18), 3), 8),
            ((slice(None, None, -2), slice(1, 4), slice(None, None, 2)), 9),
            ((5, 2, 1), -3),
            ((..., 0), np.arange(6)),
            (slice(7, 7), 1),
            (..., np.arange(600).reshape(20, 6, 5)[::-1]),
        ]
        for index, value in edits:
            array[index] = value
            want[index] = value
            np.testing.assert_array_equal(array[...], want, err_msg=str(index))
        for rows in (np.ones((3, 6, 5), "<i4"), np.full((6, 5), 4, "<i2"), np.empty((0, 6, 5), "<i4")):
            array.append(rows)
            want = np.concatenate([want, rows.reshape((-1, 6, 5)).astype("<i4")])
            assert array.shape == want.shape
            np.testing.assert_array_equal(array[...], want)
        array.resize((4, 6, 5))
        np.testing.assert_array_equal(array[...], want[:4])
        array.resize((6, 6, 5))
        assert array.shape == (6, 6, 5) and not array[4:].any()
        again = pickle.loads(pickle.dumps(array))
        again[0] = 1
        assert (again[0] == 1).all() and (blosc_frame.open(path)[0] == 1).all()
        for wrong in (lambda: array.append(np.ones((2, 5))), lambda: array.resize((6,)), lambda: array.append(np.ones((1, 6, 5)) * 0.5)):
            with pytest.raises((ValueError, TypeError)):
                wrong()
        if format != "b2nd":
            with pytest.raises(ValueError, match="first side"):
                array.resize((6, 7, 5))
    np.testing.assert_array_equal(blosc_frame.open(path)[1:4], want[1:4])
    with pytest.raises(ValueError, match="closed"):
        array[0] = 1


def test_b2nd_arrays_change_along_every_axis(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", np.arange(12.0).reshape(3, 4))
    array = blosc_frame.open(tmp_path / "a.b2nd", mode="r+")
    array.resize((2, 6))
    np.testing.assert_array_equal(array[:], [[0, 1, 2, 3, 0, 0], [4, 5, 6, 7, 0, 0]])


def test_reading_changes_nothing(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", np.arange(10))
    whole = (tmp_path / "a.b2nd").read_bytes()
    array = blosc_frame.open(tmp_path / "a.b2nd")
    for edit in (lambda: array.__setitem__(0, 1), lambda: array.append([1]), lambda: array.resize((3,))):
        with pytest.raises(ValueError, match=r"r\+"):
            edit()
    with pytest.raises(ValueError, match="mode"):
        blosc_frame.open(tmp_path / "a.b2nd", mode="w")
    blosc_frame.save(tmp_path / "a.npy", np.arange(10))
    npy = blosc_frame.open(tmp_path / "a.npy", mode="r+")
    with pytest.raises(blosc_frame.BloscError):
        npy[0] = 1
    assert (tmp_path / "a.b2nd").read_bytes() == whole


def test_a_tensor_is_an_array():
    tensor = blosc_frame.open(WILD / "tensor_rows.b2frame")
    assert tensor.kind == "tensor" and tensor[...].shape == tensor.shape
    blosc2 = pytest.importorskip("blosc2")
    np.testing.assert_array_equal(tensor[...], blosc2.load_tensor(str(WILD / "tensor_rows.b2frame")))


def test_placeholders_are_no_data():
    for name in ("lazyexpr.b2nd", "c2array.b2nd"):
        with pytest.raises(blosc_frame.BloscError, match="placeholders"):
            blosc_frame.open(WILD / name)


@pytest.mark.parametrize("name", ["store.b2d", "store.b2z", "dict.b2z", "tree.b2z", "embed.b2e"])
def test_stores_are_mappings(name):
    with blosc_frame.open(WILD / name) as store:
        assert isinstance(store, blosc_frame.Store) and len(store) == len(list(store)) > 0
        arrays = 0
        for key, value in store.items():
            assert key.startswith("/") and key in store and key[1:] and repr(value)
            if isinstance(value, blosc_frame.Array):
                assert value[...].shape == value.shape
                arrays += 1
        assert arrays > 0
        with pytest.raises(KeyError):
            store["/no such key"]
        assert isinstance(store.attributes(), dict) and all(isinstance(key, str) for key in store.groups)
    with pytest.raises(ValueError, match="closed"):
        store[key]


def test_leaves_that_are_files_can_be_changed(tmp_path):
    (tmp_path / "s").mkdir()
    blosc_frame.save(tmp_path / "s" / "a.b2nd", np.arange(5))
    store = blosc_frame.open(tmp_path / "s", mode="r+")
    store["a"].append([9])
    np.testing.assert_array_equal(blosc_frame.open(tmp_path / "s")["/a"][:], [0, 1, 2, 3, 4, 9])
    with pytest.raises(ValueError, match=r"r\+"):
        blosc_frame.open(tmp_path / "s")["/a"].append([9])
    with blosc_frame.open(WILD / "store.b2z", mode="r+") as zipped:
        arrays = [value for value in zipped.values() if isinstance(value, blosc_frame.Array) and value.kind == "b2nd"]
        with pytest.raises(blosc_frame.BloscError, match="zip file"):
            arrays[0].append(arrays[0][:1])
        with pytest.raises(TypeError):
            pickle.dumps(arrays[0])


def test_stores_of_python_blosc2(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    data = {"/a": np.arange(100.0), "/g/b": np.arange(60).reshape(6, 10)}
    for extension in ("b2d", "b2z"):
        path = str(tmp_path / f"s.{extension}")
        with blosc2.TreeStore(path, mode="w") as tree:
            for key, value in data.items():
                tree[key] = value
            tree.vlmeta["unit"] = "K"
        store = blosc_frame.open(path)
        assert set(store) == set(data)
        for key, value in data.items():
            np.testing.assert_array_equal(store[key][...], value)
        assert store.attributes() == {"unit": "K"}


@pytest.mark.parametrize("name", ["table.b2d", "plain.b2d", "rows.b2z"])
def test_tables_as_arrays_and_as_arrow(name):
    with blosc_frame.open(WILD / name) as table:
        assert isinstance(table, blosc_frame.Table) and len(table) > 1 and table.columns
        arrays = {}
        for column in table.columns:
            try:
                arrays[column] = table[column]
            except blosc_frame.BloscError as error:
                assert column in str(error)
        assert arrays and all(len(array) == len(table) for array in arrays.values())
        some = table.to_arrays(list(arrays), 1, -1)
        for column, array in arrays.items():
            np.testing.assert_array_equal(some[column], array[1:-1])
        with pytest.raises(KeyError):
            table["no such column"]
        pytest.importorskip("pyarrow")
        arrow = table.to_arrow(list(arrays))
        assert arrow.num_rows == len(table) and arrow.column_names == list(arrays)
        for column, array in arrays.items():
            if array.ndim == 1 and array.dtype.kind in "iufb":
                got = arrow[column].to_pylist()
                assert got == array.tolist(), column
        assert table.to_arrow(list(arrays), 1, -1).num_rows == len(table) - 2
    with pytest.raises(ValueError, match="closed"):
        len(table)


@pytest.mark.parametrize("names", [("store.b2z", "plain.b2d"), ("embed.b2e", "table.b2d")])
def test_threads_share_a_store_and_a_table(names):
    store, table = (blosc_frame.open(WILD / name) for name in names)
    leaves = {key: store[key] for key in store if isinstance(store[key], blosc_frame.Array)}
    want, columns = {key: leaf[...] for key, leaf in leaves.items()}, {}
    for name in table.columns:
        with contextlib.suppress(blosc_frame.BloscError):  # lists and objects
            columns[name] = table[name]
    assert want and columns

    def work(k):
        for turn in range(20):
            try:
                for key, leaf in leaves.items():
                    np.testing.assert_array_equal(leaf[...], want[key])
                    np.testing.assert_array_equal(store[key][...], want[key])
                for name, column in columns.items():
                    np.testing.assert_array_equal(table[name], column)
            except ValueError as error:
                assert "closed" in str(error)
            if (k, turn) == (3, 15):
                store.close()
                table.close()

    together(work, 8)
    with pytest.raises(ValueError, match="closed"):
        len(table)


def test_what_is_no_store_or_table(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", np.arange(10))
    for wrong in (blosc_frame.Store, blosc_frame.Table):
        with pytest.raises(blosc_frame.BloscError, match="a.b2nd"):
            wrong(tmp_path / "a.b2nd")
    with pytest.raises(blosc_frame.BloscError, match="store.b2d"):
        blosc_frame.Table(WILD / "store.b2d")
    with pytest.raises(blosc_frame.BloscError, match="several arrays"):
        blosc_frame.Array(WILD / "store.b2d")
