#!/usr/bin/env python3
"""Writes Zarr stores and HDF5 files, and beside each array a `.npy` file of what it holds.

usage: python make.py FOLDER          all that `tests/it/engines.rs` compares; needs zarr 3, numcodecs, h5py, hdf5plugin, tables
       python make.py FOLDER small    those few that lie in `fixtures`

`STORE@KEY.npy` holds the array under KEY, with `+` for `/`; `STORE@KEY.part.npy` what the options in the test select of it.
In `fixtures` equal arrays share a file: `STORE@KEY,STORE@KEY.npy`.
"""

import pathlib
import sys
import warnings

import h5py
import hdf5plugin
import numcodecs
import numpy as np
import tables
import zarr
from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
OUT = pathlib.Path(sys.argv[1])
SMALL = sys.argv[2:] == ["small"]
OUT.mkdir(parents=True, exist_ok=True)


def numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) // 3 % 250).astype(dtype)


def save(store, key, data):
    data = np.asarray(data, order="C")
    name = f"{store}@{key.replace('/', '+')}"
    np.save(OUT / f"{name}.npy", data)
    if data.ndim == 2 and data.size:
        np.save(OUT / f"{name}.part.npy", np.ascontiguousarray(data[3:-1, 2:-1][::-2, ::3]))


GRID = numbers((20, 14), "<i4")
TEXTS = np.array([b"a", b"bcd", b""] * 5)
RECORDS = np.array([(1, 2.5), (3, 4.5)] * 20, dtype=[("a", "<i2"), ("b", "<f8")])


def v3():
    store = "v3.zarr"
    root = zarr.open_group(OUT / store, mode="w", zarr_format=3)

    def put(key, data, chunks, compressors, **more):
        array = root.create_array(key, shape=data.shape, dtype=data.dtype, chunks=chunks, compressors=compressors, **more)
        array[...] = data
        save(store, key, data)

    put("lz4", GRID, (9, 6), BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", blocksize=128))
    put("g/sharded", numbers((20, 14), "<u2"), (5, 7), BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle"), shards=(10, 7))
    array = root.create_array("strings", shape=(4,), dtype=str)
    array[...] = ["a", "b", "cc", "d"]
    if SMALL:
        return
    put("cube", numbers((10, 20, 7), "<f8"), (4, 6, 7), BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle"))
    put("gzip", GRID, (9, 6), GzipCodec(level=4))
    put("zstd", GRID, (9, 6), ZstdCodec(level=4))
    put("plain", numbers((50,), "|u1"), (20,), None)
    put("dates", numbers((30,), "i8").astype("M8[s]"), (7,), BloscCodec())
    put("text", np.array(["a", "bcd", "", "ü"] * 5), (6,), BloscCodec())
    put("bytes", TEXTS, (6,), BloscCodec())
    put("flags", numbers((30,), "i8") % 2 == 0, (7,), BloscCodec())
    put("complex", numbers((30,), "<c8") * np.complex64(1 + 2j), (7,), BloscCodec())
    put("transposed", GRID, (9, 6), BloscCodec(), filters=TransposeCodec(order=(1, 0)))
    array = root.create_array("holes", shape=(20, 20), dtype="<i2", chunks=(5, 5), fill_value=7)
    array[3:8, 4:9] = 1
    save(store, "holes", array[...])
    array = root.create_array("scalar", shape=(), dtype="<f8")
    array[...] = 1.5
    save(store, "scalar", array[...])


def v2():
    store = "v2.zarr"
    root = zarr.open_group(OUT / store, mode="w", zarr_format=2)
    blosc = numcodecs.Blosc

    def put(key, data, chunks, compressor, **more):
        array = root.create_array(key, shape=data.shape, dtype=data.dtype, chunks=chunks, compressors=compressor, **more)
        array[...] = data
        # In the byte order of this machine.
        save(store, key, data.astype(data.dtype.newbyteorder("<")) if data.dtype.names is None else data)

    put("g/lz4", GRID, (9, 6), blosc("lz4", 5, blosc.SHUFFLE, 128))
    put("delta", numbers((30,), "<i4"), (25,), blosc("lz4", 5), filters=[numcodecs.Delta(dtype="<i4")])
    put("deltas", numbers((30,), "<f8"), (30,), numcodecs.BZ2(), filters=[numcodecs.Delta("<f8", "<f4")])
    put("narrow", (numbers((30,), "i8") - 7).astype(">i8"), (30,), numcodecs.LZMA(), filters=[numcodecs.Delta(">i8", "<i2")])
    put("bits", numbers((30,), "i8") % 2 == 0, (30,), numcodecs.LZMA(format=2), filters=[numcodecs.PackBits()])
    scaled = numcodecs.FixedScaleOffset(offset=1, scale=10, dtype="<f8", astype="<i4")
    put("scaled", numbers((30,), "<f8"), (30,), None, filters=[scaled])
    put("raw", numbers((30,), "<i4"), (30,), numcodecs.LZMA(format=3, filters=[{"id": 0x21, "preset": 1}]))
    (OUT / f"{store}@raw.npy").unlink()
    if SMALL:
        return
    put("shuffled", numbers((20, 14), "<u2"), (9, 6), blosc("zstd", 1, blosc.BITSHUFFLE))
    put("auto", numbers((60,), "<f8"), (25,), blosc("blosclz", 5, blosc.AUTOSHUFFLE))
    put("big", numbers((60,), ">i4"), (25,), blosc("zlib", 5))
    put("order", GRID, (9, 6), blosc("lz4"), order="F")
    put("bytes", TEXTS, (6,), blosc("lz4"))
    put("text", np.array(["a", "bcd", ""] * 5), (6,), blosc("lz4"))
    put("dates", numbers((30,), "i8").astype("M8[D]"), (7,), blosc("lz4"))
    put("records", RECORDS, (6,), blosc("lz4"))
    put("zlib", GRID, (9, 6), numcodecs.Zlib(3))


def hdf5(store, libver):
    with h5py.File(OUT / store, "w", libver=libver) as file:

        def put(key, data, **more):
            file.create_dataset(key, data=data, **more)
            save(store, key, data)

        chunks = {"chunks": (9, 6)}
        put("lz4", GRID, **chunks, **hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=1))
        put("g/two", numbers((20, 14), "<u2"), **chunks, **hdf5plugin.Blosc2(cname="zstd", clevel=4, filters=2))
        put("summed", numbers((20, 14), ">i4"), **chunks, fletcher32=True, **hdf5plugin.Blosc())
        file.create_dataset("texts", data=["a", "bb"], dtype=h5py.string_dtype())
        file.create_dataset("zfp", data=numbers((20, 14), "<f4"), **chunks, **hdf5plugin.Zfp())
        if SMALL:
            return
        put("cube", numbers((10, 20, 7), "<f8"), chunks=(4, 6, 7), **hdf5plugin.Blosc(cname="zstd", clevel=3, shuffle=2))
        put("line", numbers((100,), "<i8"), chunks=(30,), **hdf5plugin.Blosc2(cname="lz4", clevel=5, filters=2))
        put("shuffled", GRID, **chunks, shuffle=True, **hdf5plugin.Blosc(shuffle=0))
        put("gzip", GRID, **chunks, compression="gzip", shuffle=True)
        put("lzf", GRID, **chunks, compression="lzf")
        put("contiguous", GRID)
        put("records", RECORDS, chunks=(30,), **hdf5plugin.Blosc())
        put("complex", numbers((30,), "<c8") * np.complex64(1 + 2j), chunks=(7,), **hdf5plugin.Blosc())
        put("flags", numbers((30,), "i8") % 2 == 0, chunks=(7,), **hdf5plugin.Blosc())
        put("bytes", TEXTS, chunks=(7,), **hdf5plugin.Blosc())
        put("scalar", np.float64(1.5))
        put("empty", np.zeros((0, 4), "<f4"), chunks=(7, 4), maxshape=(None, 4), **hdf5plugin.Blosc())
        put("grows", GRID, **chunks, maxshape=(None, 14), **hdf5plugin.Blosc())
        put("both", GRID, **chunks, maxshape=(None, None), **hdf5plugin.Blosc())
        put("single", GRID, chunks=(20, 14), **hdf5plugin.Blosc2())
        holes = file.create_dataset("holes", (20, 20), "<i2", chunks=(5, 5), fillvalue=-7, **hdf5plugin.Blosc())
        holes[3:8, 4:9] = 1
        save(store, "holes", holes[...])
        file["soft"] = h5py.SoftLink("/lz4")
        file["external"] = h5py.ExternalLink("other.h5", "/x")


def pytables():
    store = "tables.h5"
    with tables.open_file(OUT / store, "w") as file:
        for key, library, checked in [("lz4", "blosc:lz4", False), ("zstd", "blosc:zstd", True), ("two", "blosc2:zstd", False)]:
            file.create_carray("/", key, obj=GRID, filters=tables.Filters(5, library, fletcher32=checked))
            save(store, key, GRID)
        bits = tables.Filters(9, "blosc:blosclz", shuffle=False, bitshuffle=True)
        file.create_earray("/g", "grows", obj=GRID, filters=bits, createparents=True).append(GRID)
        save(store, "g/grows", np.concatenate([GRID, GRID]))
        save(store, "g/table", file.create_table("/g", "table", obj=RECORDS, filters=tables.Filters(5, "blosc2:lz4"))[:])
        file.create_vlarray("/", "lists", tables.Int32Atom()).append([1, 2, 3])


v3()
v2()
hdf5("h5py.h5", ("v110", "v114") if SMALL else "earliest")
# The layout of this one has no checksum, so that a test can change its version.
with h5py.File(OUT / "earliest.h5", "w", libver="earliest") as file:
    file.create_dataset("x", data=np.arange(4, dtype="<i4"))
    save("earliest.h5", "x", np.arange(4, dtype="<i4"))
if not SMALL:
    hdf5("newer.h5", ("earliest", "v114"))
    pytables()
else:
    for empty in OUT.rglob(".zattrs"):
        empty.unlink()  # The format needs none.
    equal = {}
    for path in sorted(OUT.glob("*.npy")):
        equal.setdefault(path.read_bytes(), []).append(path)
    for paths in equal.values():
        names = [path.name.removesuffix(".npy").removesuffix(".part") for path in paths]
        for path in paths[1:]:
            path.unlink()
        paths[0].rename(OUT / (",".join(names) + paths[0].name.removeprefix(names[0])))
