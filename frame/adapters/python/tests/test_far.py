"""Files of fsspec: the same items as from a local file, in few rounds of requests."""

import concurrent.futures
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import blosc_frame
from conftest import together

fsspec = pytest.importorskip("fsspec")
MemoryFileSystem = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
RNG = np.random.default_rng(5)
#: Numbers that do not compress, far more than what opening fetches of the ends.
ITEMS = RNG.integers(0, 2**31, (400, 300), dtype=np.int32)


class Counting(MemoryFileSystem):
    """A file system in memory that counts rounds of requests, and fails where it is told to."""

    protocol = "counting"
    store: dict = {}
    rounds = 0
    fails = False

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("counting://", "memory://"))

    def cat_ranges(self, paths, starts, ends, **options):
        type(self).rounds += 1
        if self.fails:
            raise PermissionError("the token has expired")
        return super().cat_ranges(paths, starts, ends, **options)


fsspec.register_implementation("counting", Counting, clobber=True)


@pytest.fixture
def url(tmp_path):
    Counting.store.clear()
    Counting.fails = False
    path = tmp_path / "a.b2nd"
    blosc_frame.save(path, ITEMS, chunks=(60, 70), blocks=(15, 35), metadata={"unit": "K"})
    with fsspec.open("counting://run/a.b2nd", "wb") as file:
        file.write(path.read_bytes())
    return "counting://run/a.b2nd"


def rounds(work):
    before = Counting.rounds
    found = work()
    return found, Counting.rounds - before


def test_a_slice_takes_one_plan(url):
    array, opening = rounds(lambda: blosc_frame.open(url))
    assert opening == 1
    assert (array.shape, array.chunks, array.metadata) == (ITEMS.shape, (60, 70), {"unit": "K"})
    assert repr(array).endswith("in 'counting://run/a.b2nd'>")
    for key in [np.s_[...], np.s_[5, 10:20], np.s_[:, 299], np.s_[3:380:7, ::-2], np.s_[0:2, 0:3]]:
        items, asked = rounds(lambda key=key: array[key])
        assert np.array_equal(items, ITEMS[key])
        assert asked <= 2, key
    with pytest.raises(ValueError, match="only read"):
        blosc_frame.open(url, mode="r+")


def test_file_objects_are_opened(url, tmp_path):
    for file in [fsspec.open(url), Counting().open("/run/a.b2nd"), fsspec.open(str(tmp_path / "a.b2nd"))]:
        with blosc_frame.open(file) as array:
            assert np.array_equal(array[7], ITEMS[7])
    with pytest.raises(ValueError, match="part by part"):
        blosc_frame.open(fsspec.open(url, compression="gzip"))


def test_pickles_and_dask(url):
    dask = pytest.importorskip("dask.array")
    array = pickle.loads(pickle.dumps(blosc_frame.open(url, threads=2)))
    assert np.array_equal(array[100:103], ITEMS[100:103])
    lazy = dask.from_array(array, chunks=array.chunks)
    total, asked = rounds(lambda: lazy.sum(dtype=np.int64).compute(scheduler="threads"))
    assert total == ITEMS.sum(dtype=np.int64)
    # A round or two for each block, and one for each handle that a thread opens.
    assert asked <= 3 * lazy.npartitions
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda n: array[n], range(0, 400, 13)))
    assert np.array_equal(np.stack(rows), ITEMS[::13])


def test_stores_and_plain_files(url, tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    path = tmp_path / "s.b2z"
    with blosc2.TreeStore(str(path), mode="w") as store:
        store["/g/x"] = ITEMS
    np.save(tmp_path / "a.npy", ITEMS)
    for name in ["s.b2z", "a.npy"]:
        Counting().pipe_file(f"/run/{name}", (tmp_path / name).read_bytes())
    store = blosc_frame.open("counting://run/s.b2z")
    x, _ = rounds(lambda: store["/g/x"])
    items, asked = rounds(lambda: x[30:35, 100:200])
    assert np.array_equal(items, ITEMS[30:35, 100:200]) and asked <= 2
    assert np.array_equal(blosc_frame.open("counting://run/a.npy")[:3], ITEMS[:3])


def test_errors_are_those_of_the_file_system(url):
    with pytest.raises(FileNotFoundError):
        blosc_frame.open("counting://run/none.b2nd")
    with pytest.raises(blosc_frame.BloscError, match="chunks.b2frame"):
        blosc_frame.open("counting://run")
    with pytest.raises(ValueError, match="storage_options"):
        blosc_frame.open("a.b2nd", storage_options={"key": 1})
    array = blosc_frame.open(url)
    Counting.fails = True
    with pytest.raises(PermissionError, match="the token has expired"):
        array[200:203]
    Counting.fails = False
    # Another object of the same name: no item of it is taken for one of ours.
    Counting().pipe_file("/run/a.b2nd", b"short")
    with pytest.raises(OSError, match="bytes came for the range"):
        array[200:203]


def test_each_of_several_reads_that_fail_at_once_gives_its_own_error(url, tmp_path, monkeypatch):
    blosc2 = pytest.importorskip("blosc2")
    with blosc2.TreeStore(str(tmp_path / "s.b2z"), mode="w") as store:
        store["/x"] = ITEMS
    Counting().pipe_file("/run/s.b2z", (tmp_path / "s.b2z").read_bytes())
    array, leaf = blosc_frame.open(url, cache=0), blosc_frame.open("counting://run/s.b2z", cache=0)["/x"]
    # Each of them has asked before one of them fails.
    asked = threading.Barrier(8, timeout=60)

    def fail(*ranges, **options):
        asked.wait()
        raise PermissionError(f"thread {threading.get_ident()}")

    def work(k):
        with pytest.raises(PermissionError, match=f"thread {threading.get_ident()}$"):
            (array, leaf)[k % 2][200:203]

    monkeypatch.setattr(Counting, "cat_ranges", fail)
    together(work, 8)


def test_fsspec_is_imported_for_urls_only(tmp_path):
    blosc_frame.save(tmp_path / "a.b2nd", ITEMS)
    program = """
import sys
sys.modules["fsspec"] = None
import blosc_frame
blosc_frame.open(sys.argv[1])[0]
try:
    blosc_frame.open("s3://bucket/a.b2nd")
except ImportError as error:
    assert "pip install fsspec" in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.b2nd")], check=True)


def upload(path, to):
    """Puts the files of a directory to one of the file system that counts."""
    for file in path.iterdir():
        Counting().pipe_file(f"{to}/{file.name}", file.read_bytes())


def test_sparse_arrays_are_directories(url, tmp_path):
    path = tmp_path / "s.b2nd"
    blosc_frame.save(path, ITEMS, chunks=(60, 70), sparse=True)
    upload(path, "/run/s.b2nd")
    for name in ["counting://run/s.b2nd", "counting://run/s.b2nd/"]:
        array, opening = rounds(lambda name=name: blosc_frame.open(name, threads=2))
        assert opening <= 3 and (array.kind, array.shape, array.chunks) == ("b2nd", ITEMS.shape, (60, 70))
        for key in [np.s_[5, 10:20], np.s_[:, 299], np.s_[3:380:7, ::-2]]:
            items, asked = rounds(lambda key=key: array[key])
            assert np.array_equal(items, ITEMS[key]) and asked <= 1, key
        assert np.array_equal(pickle.loads(pickle.dumps(array))[...], ITEMS)
    with pytest.raises(ValueError, match="only read"):
        blosc_frame.open("counting://run/s.b2nd/", mode="r+")
    # What Python raises is passed on; a chunk file that is gone is damage.
    Counting.fails = True
    with pytest.raises(PermissionError, match="the token has expired"):
        array[200:203]
    Counting.fails = False
    Counting().rm("/run/s.b2nd/00000003.chunk")
    with pytest.raises(blosc_frame.BloscError, match="chunk"):
        array[...]
    with pytest.raises(blosc_frame.BloscError, match="chunks.b2frame"):
        blosc_frame.open("counting://run/none/")


def test_the_cache_has_a_size_and_counts(url):
    def read(**options):
        array = blosc_frame.open(url, **options)
        for row in [*range(60)] * 3:
            assert np.array_equal(array[row, :30], ITEMS[row, :30])
        info = array.cache_info()
        assert info.nbytes <= info.limit
        return info

    kept, off = read(cache=1 << 20), read(cache=0)
    assert kept.limit == 1 << 20 and kept.hits > 100 and kept.nbytes > 0
    assert off.hits == off.nbytes == off.limit == 0
    assert read().limit == 16 << 20
    assert pickle.loads(pickle.dumps(blosc_frame.open(url, cache=5000))).cache_info().limit == 5000


def test_a_store_shares_its_cache_and_a_table_its_rounds(url, tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    path = tmp_path / "s.b2z"
    with blosc2.TreeStore(str(path), mode="w") as store:
        store["/x"] = ITEMS
        store["/y"] = ITEMS
    store = blosc_frame.open(path, cache=1 << 20)
    x, y = store["/x"], store["/y"]
    for _ in range(50):
        x[7, 5:9]
    assert x.cache_info() == y.cache_info() and x.cache_info().limit == 1 << 20
