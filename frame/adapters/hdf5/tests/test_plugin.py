"""The plugin in h5py and in HDF5's own tools, beside hdf5plugin and PyTables, both ways.

hdf5plugin and PyTables bring filters of their own, so the process of these tests has C-Blosc, and the processes that it
starts have this plugin: BLOSC_HDF5_PLUGIN names the library.
"""

import shutil

import h5py
import numpy as np
import pytest

DATA = (np.arange(30_000) // 7 % 500).reshape(300, 100)
READ = """
import sys, h5py, numpy as np
data = (np.arange(30_000) // 7 % 500).reshape(300, 100)
with h5py.File(sys.argv[1]) as f:
    for name in f:
        got = f[name][...]
        want = data.astype(got.dtype) if got.dtype.kind in "iuf" else f[name].attrs["want"]
        if got.dtype.kind in "iuf":
            want = want.reshape(got.shape)
        assert (got == want).all(), name
    print(len(f), "datasets")
"""


def options(hdf5plugin):
    """Every codec, level and filter."""
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for clevel in (0, 1, 5, 9):
            for shuffle in (0, 1, 2):
                yield hdf5plugin.Blosc(cname, clevel, shuffle)
                yield hdf5plugin.Blosc2(cname, clevel, shuffle)
    yield hdf5plugin.Blosc2("zstd", 3, hdf5plugin.Blosc2.DELTA)
    yield hdf5plugin.Blosc("snappy", 5, 1)


def test_reads_files_of_hdf5plugin(tmp_path, run):
    hdf5plugin = pytest.importorskip("hdf5plugin")
    count = 0
    with h5py.File(tmp_path / "a.h5", "w") as f:
        for count, how in enumerate(options(hdf5plugin), 1):
            kind = ("<i4", ">i2", "<f8")[count % 3]
            data = DATA if count % 2 else DATA.reshape(50, 60, 10)
            try:
                f.create_dataset(f"{count}", data=data.astype(kind), chunks=(50, 30, 10)[: data.ndim], **how)
            except ValueError:  # hdf5plugin was built without this codec
                count -= 1
        f.create_dataset("line", data=DATA.ravel(), chunks=(7000,), **hdf5plugin.Blosc2())
    assert "datasets" in run(READ, tmp_path / "a.h5")


WRITE = """
import sys, h5py, numpy as np
data = (np.arange(30_000) // 7 % 500).reshape(300, 100)
with h5py.File(sys.argv[1], "w") as f:
    for filter in (32001, 32026):
        for codec in (0, 1, 2, 4, 5):
            for level in (0, 5, 9):
                for shuffle in (0, 1, 2):
                    for shape in ((300, 100), (30_000,), (50, 60, 10)):
                        name = f"{filter} {codec} {level} {shuffle} {len(shape)}"
                        f.create_dataset(name, data=data.reshape(shape).astype("<f4" if codec else ">i8"),
                                         chunks=(7000,) if len(shape) == 1 else (50, 30, 10)[: len(shape)],
                                         compression=filter, compression_opts=(0, 0, 0, 0, level, shuffle, codec))
        f.create_dataset(f"{filter} defaults", data=data, chunks=(100, 100), compression=filter)
        f.create_dataset(f"{filter} noise", data=data, chunks=(100, 100), compression=filter, fletcher32=True, shuffle=True)
        assert f[f"{filter} defaults"].id.get_storage_size() < data.nbytes / 5
"""


def test_hdf5plugin_reads_what_it_wrote(tmp_path, run):
    pytest.importorskip("hdf5plugin")
    run(WRITE, tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as f:
        assert len(f) == 2 * (5 * 3 * 3 * 3 + 2)
        for name in f:
            got = f[name][...]
            assert (got == DATA.reshape(got.shape)).all(), name
        stored = f["32026 5 5 1 2"].id
        filter = stored.get_create_plist().get_filter(0)
        assert filter == (32026, 1, (1, 0, 4, 6000, 5, 1, 5, 2, 50, 30), b"blosc2"), filter
        filter = f["32001 1 5 1 2"].id.get_create_plist().get_filter(0)
        assert filter[2] == (2, 2, 4, 6000, 5, 1, 1)
    assert "datasets" in run(READ, tmp_path / "b.h5")


LARGE = 33_554_433  # items of 8 bytes: a chunk of 256 MiB and 8 bytes
# Filter 32026 with one dimension is a frame, with two a b2nd array.
SHAPES = [(32001, (LARGE,)), (32026, (LARGE,)), (32026, (3, LARGE // 3))]
WRITE_LARGE = f"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    for filter, shape in {SHAPES}:
        d = f.create_dataset(f"{{filter}} {{len(shape)}}", shape, "i8", chunks=shape, compression=filter,
                             compression_opts=(0, 0, 0, 0, 1, 1, 1))
        d[(0,) * (len(shape) - 1) + (slice(30),)] = np.arange(30)
"""
READ_LARGE = f"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    for filter, shape in {SHAPES}:
        d = f[f"{{filter}} {{len(shape)}}"]
        assert d.chunks == shape and d.id.get_storage_size() < 1 << 23
        assert (d[(0,) * (len(shape) - 1) + (slice(31),)] == [*range(30), 0]).all()
"""
LIE_LARGE = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "r+") as f:
    for name in ("32001 1", "32026 1", "32026 2"):
        filter, shape = int(name[:5]), f[name].shape
        # Its chunk is smaller by so much that the room for checksums does not hide it.
        less = shape[:-1] + (shape[-1] - (1 << 16),)
        d = f.create_dataset("less " + name, less, "i8", chunks=less, compression=filter)
        d.id.write_direct_chunk((0,) * len(shape), f[name].id.read_direct_chunk((0,) * len(shape))[1])
        try:
            d[0]
            raise SystemExit("a chunk larger than the dataset's was accepted")
        except OSError as error:
            print("refused", error)
"""


def test_chunks_above_256_mib(tmp_path, run):
    """The dataset says how large a chunk may be, whatever that is; HDF5 allows less than 4 GiB, Blosc than 2."""
    hdf5plugin = pytest.importorskip("hdf5plugin")
    run(WRITE_LARGE, tmp_path / "ours.h5")
    run(READ_LARGE, tmp_path / "ours.h5")
    with h5py.File(tmp_path / "ours.h5") as f:
        for name in f:
            assert f[name][(0,) * (f[name].ndim - 1) + (29,)] == 29
    with h5py.File(tmp_path / "theirs.h5", "w") as f:
        for filter, shape in SHAPES:
            how = hdf5plugin.Blosc("lz4", 1, 1) if filter == 32001 else hdf5plugin.Blosc2("lz4", 1, 1)
            d = f.create_dataset(f"{filter} {len(shape)}", shape, "i8", chunks=shape, **how)
            d[(0,) * (len(shape) - 1) + (slice(30),)] = np.arange(30)
    run(READ_LARGE, tmp_path / "theirs.h5")
    assert run(LIE_LARGE, tmp_path / "ours.h5").count("refused") == 3


WRITE_SIZES = """
import sys, h5py, numpy as np
data = np.load(sys.argv[2])
with h5py.File(sys.argv[1], "w") as f:
    for codec in (0, 1, 2, 4, 5):
        for level in (1, 5, 8):
            f.create_dataset(f"{codec} {level}", data=data, chunks=data.shape, compression=32001,
                             compression_opts=(0, 0, 0, 0, level, 1, codec))
"""


def test_chunks_of_blosc_are_no_larger_than_c_blosc_s(tmp_path, run):
    hdf5plugin = pytest.importorskip("hdf5plugin")
    data = np.round(np.cumsum(np.random.default_rng(0).normal(size=500_000)), 1).astype("f4")
    np.save(tmp_path / "data.npy", data)
    run(WRITE_SIZES, tmp_path / "ours.h5", tmp_path / "data.npy")
    names = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}
    with h5py.File(tmp_path / "ours.h5") as ours, h5py.File(tmp_path / "theirs.h5", "w") as theirs:
        for name in ours:
            codec, level = map(int, name.split())
            how = hdf5plugin.Blosc(names[codec], level, 1)
            size = theirs.create_dataset(name, data=data, chunks=data.shape, **how).id.get_storage_size()
            assert ours[name].id.get_storage_size() <= 1.03 * size, name


def test_pytables_both_ways(tmp_path, run):
    tables = pytest.importorskip("tables")
    with tables.open_file(tmp_path / "t.h5", "w") as f:
        for codec in ("blosc:lz4", "blosc:zstd", "blosc2:blosclz", "blosc2:zstd", "blosc2:lz4hc"):
            for name, kwargs in [("s", {}), ("b", {"bitshuffle": True, "shuffle": False}), ("n", {"shuffle": False})]:
                filters = tables.Filters(5, codec, **kwargs)
                f.create_carray("/", f"{name}_{codec.replace(':', '_')}", obj=DATA, chunkshape=(50, 60), filters=filters)
                # PyTables chooses the chunks by the caches of the CPU: 1 MB on small ones, 503 MB have been seen.
                for label, chunk in ((f"e{name}", (131_072,)), ("large", (60_000_000,))):
                    if label != "large" or (codec, name) == ("blosc2:blosclz", "s"):
                        path = f"{label}_{codec.replace(':', '_')}"
                        f.create_earray("/", path, obj=DATA.ravel(), chunkshape=chunk, filters=filters)
    assert "31 datasets" in run(READ, tmp_path / "t.h5")
    run(WRITE, tmp_path / "b.h5")
    with tables.open_file(tmp_path / "b.h5") as f:
        for node in f.root:
            assert (node[:] == DATA.reshape(node.shape)).all(), node
            assert (node[10:12] == DATA.reshape(node.shape)[10:12]).all(), node


RECORDS = """
import sys, h5py, numpy as np
records = np.zeros(1000, [("a", "<i4", (3,)), ("b", "<f8"), ("c", "S300")])
records["b"] = np.arange(1000)
with h5py.File(sys.argv[1], "a") as f:
    for filter in (32001, 32026):
        if len(sys.argv) > 2:
            f.create_dataset(f"r{filter}", data=records, chunks=(100,), compression=filter)
            f.create_dataset(f"s{filter}", data=np.array(["a", "bc"] * 500, object), chunks=(100,), compression=filter,
                             dtype=h5py.string_dtype())
        assert (f[f"r{filter}"][...] == records).all()
        assert f[f"s{filter}"][1] == b"bc"
"""


def test_records_and_strings(tmp_path, run):
    pytest.importorskip("hdf5plugin")
    run(RECORDS, tmp_path / "r.h5", "write")
    run(RECORDS, tmp_path / "r.h5")
    with h5py.File(tmp_path / "r.h5") as f:
        assert (f["r32026"]["b"] == np.arange(1000)).all() and (f["r32001"]["b"] == np.arange(1000)).all()


def test_tools_of_hdf5(tmp_path, run):
    if not (shutil.which("h5repack") and shutil.which("h5dump")):
        pytest.skip("h5repack and h5dump are not installed")
    with h5py.File(tmp_path / "plain.h5", "w", libver=("earliest", "v110")) as f:
        f.create_dataset("d", data=DATA.astype("<i4"), chunks=(50, 30))
    for number, name in ((32001, "blosc"), (32026, "blosc2")):
        packed = tmp_path / f"{name}.h5"
        # Flag 1: the filter may be missing where the file is read; 7 numbers follow.
        run("h5repack", "-f", f"UD={number},1,7,0,0,0,0,5,1,1", tmp_path / "plain.h5", packed)
        with h5py.File(packed) as f:
            assert f["d"].id.get_create_plist().get_filter(0)[0] == number
            assert f["d"].id.get_storage_size() < DATA.size * 4 / 3
        assert "datasets" in run(READ, packed)
        dump = run("h5dump", "-d", "/d", "-s", "299,95", "-c", "1,5", packed)
        assert ", ".join(map(str, DATA[299, 95:])) in dump
        assert "FILTER_ID" in run("h5dump", "-p", "-H", packed)
        run("h5repack", "-f", "NONE", packed, tmp_path / f"back_{name}.h5")
        with h5py.File(tmp_path / f"back_{name}.h5") as f:
            assert (f["d"][...] == DATA).all()
        with h5py.File(packed, "r+") as f:
            whole = f["d"].id.read_direct_chunk((250, 90))[1]
            f["d"].id.write_direct_chunk((250, 90), whole[:40])
        said = run("h5dump", "--enable-error-stack", "-d", "/d", packed, fails=True)
        assert f"blosc-hdf5 line 0 in {name}(): " in said, said


DAMAGE = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    for filter in (32001, 32026):
        d = f.create_dataset(f"{filter}", data=np.arange(3000, dtype="<i4").reshape(50, 60), chunks=(50, 60),
                             compression=filter, compression_opts=(0, 0, 0, 0, 5, 0, 1))
        whole = d.id.read_direct_chunk((0, 0))[1]
        failed = 0
        for at in range(1, len(whole)):
            for bad in (whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :], whole[:at]):
                d.id.write_direct_chunk((0, 0), bad)
                try:
                    assert d[...].shape == (50, 60)
                except OSError as error:
                    failed += 1
                    last = str(error)
        assert failed >= len(whole) - 1, failed
        print("message:", last)
        # A chunk that holds less than the dataset says: HDF5 would read beyond it.
        short = f.create_dataset(f"s{filter}", data=np.arange(10, dtype="<i4"), chunks=(10,), compression=filter)
        d.id.write_direct_chunk((0, 0), short.id.read_direct_chunk((0,))[1])
        try:
            d[...]
            raise SystemExit("a short chunk was accepted")
        except OSError as error:
            print("short:", error)
        # One that announces far more.
        large = f.create_dataset(f"l{filter}", data=np.zeros(20_000_000, "<i4"), chunks=(20_000_000,), compression=filter)
        d.id.write_direct_chunk((0, 0), large.id.read_direct_chunk((0,))[1])
        try:
            d[...]
            raise SystemExit("a large chunk was accepted")
        except OSError as error:
            print("large:", error)
"""


def test_damage_is_an_error(tmp_path, run):
    # HDF5 2.0 drops what filters put on its error stack, so the messages are looked for in h5dump's.
    said = run(DAMAGE, tmp_path / "x.h5")
    for what in ("message: ", "short: ", "large: "):
        assert said.count(what + "Can't") == 2, said


def test_bad_options_are_refused_when_a_dataset_is_made(tmp_path, run):
    for values in [(0, 0, 0, 0, 11), (0, 0, 0, 0, 5, 9), (0, 0, 0, 0, 5, 1, 77)]:
        for filter in (32001, 32026):
            script = f"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("a", data=np.zeros(1000), chunks=(100,), compression={filter}, compression_opts={values})
"""
            assert "create dataset" in run(script, tmp_path / "bad.h5", fails=True)


def test_beside_another_hdf5_in_the_process(tmp_path, run):
    pytest.importorskip("tables")
    run("import tables\n" + WRITE, tmp_path / "b.h5")
