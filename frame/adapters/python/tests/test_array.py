"""`open` and `save`, alone and against python-blosc2 and bloscpack where these are installed."""

import collections
import collections.abc
import importlib.metadata
import os
import pickle
import threading
import time
import warnings

import numpy as np
import pytest

import blosc_frame
from conftest import together

FORMATS = {"b2nd": ".b2nd", "bloscpack": ".blp", "bcolz": ".bcolz", "npy": ".npy"}


def indices(shape):
    yield ...
    yield ()
    yield 0
    yield -1
    yield slice(None, None, -1)
    yield slice(5, 2)
    yield slice(1, -1, 3)
    if len(shape) > 1:
        yield (slice(None), 3)
        yield (..., slice(-2, None))
        yield (slice(9, 2, -3), slice(1, 4, 2))
        yield tuple(0 for _ in shape)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["<f8", ">i4", "u1", "<M8[s]", "<U3", "S5", "?", "c8"])
@pytest.mark.parametrize("shape", [(1000,), (20, 30), (11, 7, 13)])
def test_slices_are_those_of_numpy(tmp_path, format, dtype, shape):
    data = (np.arange(np.prod(shape)) % 50).astype(dtype).reshape(shape)
    path = tmp_path / f"data{FORMATS[format]}"
    blosc_frame.save(path, data)
    array = blosc_frame.open(path)
    assert (array.shape, array.dtype, array.kind, array.nbytes) == (shape, data.dtype, format, data.nbytes)
    for index in indices(shape):
        got, want = array[index], data[index]
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want, err_msg=str(index))
    np.testing.assert_array_equal(np.asarray(array), data)
    np.testing.assert_array_equal(list(array)[1], data[1])
    for bad in (shape[0], -shape[0] - 1):
        with pytest.raises(IndexError):
            array[bad]
    with pytest.raises(IndexError, match="too many"):
        array[(0,) * (len(shape) + 1)]
    with pytest.raises(TypeError):
        array[[1, 2]]


def test_records_metadata_and_no_dimensions(tmp_path):
    records = np.array([(1, 2.5, b"ab"), (3, -1.0, b"c")], [("a", "<i4"), ("b", "<f8"), ("c", "S2")])
    for format, extension in FORMATS.items():
        path = tmp_path / f"r{extension}"
        metadata = None if format == "npy" else {"unit": "K", "list": [1, 2.5, None, "é"]}
        blosc_frame.save(path, records, metadata=metadata)
        array = blosc_frame.open(path)
        np.testing.assert_array_equal(array[:], records)
        assert array[1] == records[1]
        assert array.metadata == metadata
    blosc_frame.save(tmp_path / "zero.b2nd", np.float32(2.5))
    zero = blosc_frame.open(tmp_path / "zero.b2nd")
    assert zero.shape == () and zero[()] == np.float32(2.5)
    blosc_frame.save(tmp_path / "empty.b2nd", np.zeros((0, 3)))
    assert blosc_frame.open(tmp_path / "empty.b2nd")[:].shape == (0, 3)


def test_frames_have_items_of_a_size(tmp_path, series):
    for sparse in (False, True):
        path = tmp_path / f"s{sparse}.b2frame"
        with pytest.warns(UserWarning, match="dtype"):
            blosc_frame.save(path, series, sparse=sparse, chunk_nbytes=80_000)
        frame = blosc_frame.open(path)
        assert (frame.kind, frame.dtype, frame.shape, frame.chunks) == ("frame", np.dtype("V8"), (200_000,), None)
        np.testing.assert_array_equal(blosc_frame.open(path, dtype="<f8")[9_990:10_010], series[9_990:10_010])
        with pytest.raises(ValueError, match="8 bytes"):
            blosc_frame.open(path, dtype="<f4")


def test_a_failed_save_leaves_nothing_and_replaces_nothing(tmp_path, series):
    path = tmp_path / "a.b2nd"
    with pytest.raises(ValueError):
        blosc_frame.save(path, series, chunks=(10, 10))
    assert not path.exists()
    blosc_frame.save(path, series)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        blosc_frame.save(path, series * 2)
    assert path.read_bytes() == before
    for bad in ({"codec": "lzma"}, {"level": 11}, {"chunk_nbytes": 100}, {"format": "hdf5"}, {"shuffle": 9}):
        with pytest.raises(ValueError):
            blosc_frame.save(tmp_path / "b.b2nd", series, **bad)
        assert not (tmp_path / "b.b2nd").exists()
    with pytest.raises(ValueError, match="extension"):
        blosc_frame.save(tmp_path / "b.xyz", series)
    with pytest.raises(TypeError):
        blosc_frame.save(tmp_path / "b.b2nd", np.array([None]))


def test_what_cannot_be_opened(tmp_path, series):
    with pytest.raises(FileNotFoundError, match="none"):
        blosc_frame.open(tmp_path / "none.b2nd")
    (tmp_path / "text").write_text("no container")
    with pytest.raises(blosc_frame.BloscError):
        blosc_frame.open(tmp_path / "text")
    blosc_frame.save(tmp_path / "a.b2nd", series, chunks=(1000,))
    whole = bytearray((tmp_path / "a.b2nd").read_bytes())
    (tmp_path / "cut.b2nd").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(blosc_frame.BloscError):
        blosc_frame.open(tmp_path / "cut.b2nd")
    whole[len(whole) // 3 : len(whole) // 2] = b"\xff" * (len(whole) // 2 - len(whole) // 3)
    (tmp_path / "bad.b2nd").write_bytes(whole)
    with pytest.raises(blosc_frame.BloscError, match="bad.b2nd: chunk"):
        blosc_frame.open(tmp_path / "bad.b2nd")[:]


def test_a_small_file_that_announces_much_is_refused_before_memory(tmp_path, series):
    blosc_frame.save(tmp_path / "a.b2nd", series)
    with pytest.raises(blosc_frame.BloscError, match="limit"):
        blosc_frame.open(tmp_path / "a.b2nd", limit=1000)[:]
    assert blosc_frame.open(tmp_path / "a.b2nd", limit=1000)[:100].nbytes == 800


def test_threads_and_pickles(tmp_path, series):
    blosc_frame.save(tmp_path / "a.b2nd", series, chunks=(10_000,), blocks=(1000,))
    array = blosc_frame.open(tmp_path / "a.b2nd", threads=2)
    assert array.chunks == (10_000,)
    again = pickle.loads(pickle.dumps(array))
    assert again.shape == array.shape

    def work(k):
        for start in range(k, 190_000, 9_973):
            np.testing.assert_array_equal(array[start : start + 5000], series[start : start + 5000])

    together(work, 4)
    blosc_frame.save(tmp_path / "b.b2nd", array[:100])
    (tmp_path / "b.b2nd").replace(tmp_path / "a.b2nd")
    np.testing.assert_array_equal(again[:100], series[:100])


@pytest.mark.parametrize("extension", ["b2nd", "b2frame", "bcolz", "blp"])
def test_threads_read_while_one_writes_and_another_closes(tmp_path, extension):
    """A read is of one commit, never of two, or fails where one begins; a closed array says so."""
    path, size = tmp_path / f"a.{extension}", 40_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # frames say nothing of their items
        chunks = {"chunks": (4000,)} if extension == "b2nd" else {"chunk_nbytes": 16_000}
        blosc_frame.save(path, np.zeros(size, "<i4"), **chunks)
    shared, leaving = (blosc_frame.open(path, mode=mode, dtype="<i4") for mode in ("r+", "r"))
    ready, seen = threading.Barrier(12), []

    def work(k):
        ready.wait()
        if k == 0:
            for value in range(1, 20):
                shared[:] = np.full(size, value, "<i4")
            leaving.close()
            return
        array = (shared, leaving)[k % 2]
        for turn in range(60):
            first = 997 * (k + turn) % 20_000
            try:
                items = array[first : first + 20_000]
            except ValueError as error:
                assert array is leaving and "closed" in str(error)
                return
            except blosc_frame.BloscError:
                continue
            seen.append(items[0])
            assert (items == items[0]).all(), (k, np.unique(items))

    together(work, 12)
    assert seen and leaving.closed
    np.testing.assert_array_equal(shared[:], np.full(size, 19, "<i4"))
    shared.close()


@pytest.mark.parametrize("extension", ["b2nd", "b2frame", "bcolz", "blp"])
def test_a_state_that_is_gone_is_read_anew(tmp_path, extension):
    """The second commit of another writer takes the room of the state that was opened: the read gives one that is there."""
    path, states = tmp_path / f"a.{extension}", np.random.default_rng(2).integers(0, 2**31, (5, 40_000), "<i4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # frames say nothing of their items
        blosc_frame.save(path, states[0])
    dtype = {"dtype": "<i4"} if extension == "b2frame" else {}
    for count in range(1, 5):
        with blosc_frame.open(path, **dtype) as array, blosc_frame.open(path, mode="r+", **dtype) as other:
            for state in states[:count]:
                other[:] = state
            items = array[:]
            assert any(np.array_equal(items, state) for state in states[:count]), count


@pytest.mark.parametrize("extension", ["b2nd", "bcolz"])
def test_items_between_those_of_a_step_belong_to_other_writers(tmp_path, extension):
    """The value is asked for while the writer's lock is held, and another writer waits or is refused until it is given back."""
    path = tmp_path / f"a.{extension}"
    blosc_frame.save(path, np.arange(2000.0))
    begun, tried = threading.Event(), threading.Event()
    refused = []

    class Slow:
        def __array__(self, dtype=None, copy=None):
            begun.set()
            tried.wait(1)
            return np.zeros(1000)

    def other():
        begun.wait(10)
        with blosc_frame.open(path, mode="r+") as array:
            while True:
                try:
                    array[1] = 7
                    break
                except blosc_frame.BloscError as error:
                    refused.append(error)
                    time.sleep(0.01)
        tried.set()

    thread = threading.Thread(target=other)
    thread.start()
    with blosc_frame.open(path, mode="r+") as array:
        array[::2] = Slow()
    thread.join()
    wanted = np.arange(2000.0)
    wanted[::2], wanted[1] = 0, 7
    np.testing.assert_array_equal(blosc_frame.open(path)[:], wanted)


def test_a_value_that_cannot_be_set_changes_nothing(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", np.arange(100.0))
    before = (tmp_path / "a.b2nd").read_bytes()
    with blosc_frame.open(tmp_path / "a.b2nd", mode="r+") as array:
        for key, value in [(slice(0, 100, 2), [1, 2, 3]), (slice(5, 5, 2), [1, 2, 3]), (slice(0, 9, 3), "text")]:
            with pytest.raises(ValueError):
                array[key] = value
        assert array[99] == 99
    assert (tmp_path / "a.b2nd").read_bytes() == before


@pytest.mark.parametrize("name", ["a.b2nd", "a.blp", "a.npy"])
def test_an_array_without_dimensions(tmp_path, name):
    blosc_frame.save(tmp_path / name, np.array(5, ">i4"))
    with blosc_frame.open(tmp_path / name, mode="r" if name == "a.npy" else "r+") as array:
        for value, key in enumerate([(), ...]) if name != "a.npy" else ():
            array[key] = value + 5
            assert array[()] == value + 5
        for whole in (array[...], np.asarray(array)):
            assert isinstance(whole, np.ndarray) and (whole.shape, whole.dtype) == ((), np.dtype(">i4"))
        assert not isinstance(array[()], np.ndarray)
    blosc_frame.save(tmp_path / "b.b2nd", np.arange(3))
    with blosc_frame.open(tmp_path / "b.b2nd", mode="r+") as array:
        array[1, ...] = 9
        assert isinstance(array[1, ...], np.ndarray) and array[1, ...].shape == () and array[1] == 9


def test_rows_without_items(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", np.zeros((2, 0)))
    with blosc_frame.open(tmp_path / "a.b2nd", mode="r+") as array:
        array.append(np.zeros((3, 0)))
        array.append(np.zeros(0))
        array.append(np.zeros((0, 0)))
        assert array.shape == blosc_frame.open(tmp_path / "a.b2nd").shape == (6, 0)
    blosc_frame.save(tmp_path / "a.blp", np.zeros((2, 0)))
    before = (tmp_path / "a.blp").read_bytes()
    with blosc_frame.open(tmp_path / "a.blp", mode="r+") as array:
        for change in (lambda: array.append(np.zeros((3, 0))), lambda: array.resize((3, 0))):
            with pytest.raises(blosc_frame.BloscError, match="without items"):
                change()
        assert array.shape == (2, 0) and (tmp_path / "a.blp").read_bytes() == before


def test_closing(tmp_path, series):
    blosc_frame.save(tmp_path / "a.b2nd", series, metadata={"unit": "K"})
    with blosc_frame.open(tmp_path / "a.b2nd") as array:
        assert not array.closed
        np.testing.assert_array_equal(array[5:9], series[5:9])
    assert array.closed and array.shape == series.shape and array.metadata == {"unit": "K"}
    for index in (5, slice(3, 3), ...):
        with pytest.raises(ValueError, match="closed"):
            array[index]
    array.close()
    if os.path.isdir("/proc/self/fd"):
        assert not any(os.path.realpath(f"/proc/self/fd/{n}").endswith("a.b2nd") for n in os.listdir("/proc/self/fd"))


def test_the_version_is_that_of_the_package():
    assert blosc_frame.__version__ == importlib.metadata.version("blosc-frame")


def test_errors_speak_python(tmp_path):
    """No word of Rust, of its features or of the command: what a Python program can do about it."""
    blosc2 = pytest.importorskip("blosc2")
    data = np.linspace(0, 1, 10_000).reshape(100, 100)
    zfp = {"codec": blosc2.Codec.ZFP_RATE, "codec_meta": 50, "filters": [blosc2.Filter.NOFILTER], "splitmode": blosc2.SplitMode.NEVER_SPLIT}
    blosc2.asarray(data, urlpath=str(tmp_path / "zfp.b2nd"), cparams=zfp)
    np.testing.assert_array_equal(blosc_frame.open(tmp_path / "zfp.b2nd")[:], blosc2.open(str(tmp_path / "zfp.b2nd"))[:])
    chunk = bytearray(blosc2.compress2(data, codec=blosc2.Codec.LZ4))
    chunk[2] = chunk[2] & 0x1F | 0xC0  # "see the codec's number", which is that of a plugin
    chunk[22] = 160
    with pytest.raises(blosc_frame.BloscError, match="codec 160.*pip install blosc2"):
        blosc_frame.decompress(chunk)
    (tmp_path / "h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(2000))
    said = []
    for name in ("h5", "nothing"):
        (tmp_path / "nothing").write_bytes(b"no container")
        with pytest.raises(blosc_frame.BloscError) as error:
            blosc_frame.open(tmp_path / name)
        said.append(str(error.value))
    assert not any(word in text for text in said for word in ("`blosc", "feature", "crate")), said


def test_python_blosc2_both_ways(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    data = np.linspace(0, 1, 60_000).reshape(200, 300)
    blosc2.asarray(data, urlpath=str(tmp_path / "theirs.b2nd"), chunks=(50, 60), blocks=(10, 20))
    theirs = blosc_frame.open(tmp_path / "theirs.b2nd")
    assert theirs.chunks == (50, 60)
    np.testing.assert_array_equal(theirs[40:60, ::7], data[40:60, ::7])
    blosc_frame.save(tmp_path / "ours.b2nd", data, chunks=(50, 60), blocks=(10, 20), metadata={"unit": "m"})
    ours = blosc2.open(str(tmp_path / "ours.b2nd"))
    np.testing.assert_array_equal(ours[:], data)
    assert ours.schunk.vlmeta["unit"] == "m"


def test_bloscpack_both_ways(tmp_path, series, monkeypatch):
    # The last bloscpack was written for Python 3.9.
    for name in ("MutableMapping", "Mapping", "Iterable", "Sequence"):
        monkeypatch.setattr(collections, name, getattr(collections.abc, name), raising=False)
    bloscpack = pytest.importorskip("bloscpack")
    bloscpack.pack_ndarray_to_file(series, str(tmp_path / "theirs.blp"))
    np.testing.assert_array_equal(blosc_frame.open(tmp_path / "theirs.blp")[50:60], series[50:60])
    blosc_frame.save(tmp_path / "ours.blp", series)
    np.testing.assert_array_equal(bloscpack.unpack_ndarray_from_file(str(tmp_path / "ours.blp")), series)
