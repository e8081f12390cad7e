#!/usr/bin/env python3
"""Worker processes of Dask read their parts of a sharded Zarr store and of a b2nd array, decoded by blosc_frame.

usage: python dask_shards.py [WORKERS]        needs dask, distributed and zarr

Dask hands out the work; each worker decodes what it needs in its own process, without a process or a copy in between.
`--preload blosc_frame.preload` (here `worker preload`) is all that workers need to use this package for Zarr.
"""

import os
import sys
import tempfile

import dask
import dask.array as da
import numpy as np
import zarr
from distributed import Client, LocalCluster

import blosc_frame


def make(folder):
    """Two million numbers, as a store of 8 shards of 25 chunks, and as a b2nd array."""
    numbers = np.cumsum(np.random.default_rng(5).integers(-3, 4, (2000, 1000)), axis=0, dtype=np.int32)
    store = zarr.create_array(
        f"{folder}/numbers.zarr",
        shape=numbers.shape,
        dtype=numbers.dtype,
        chunks=(50, 200),
        shards=(250, 1000),
        compressors=zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"),
    )
    store[:] = numbers
    blosc_frame.save(f"{folder}/numbers.b2nd", numbers, chunks=(250, 1000), blocks=(50, 200))
    return numbers


def who(block):
    """The process that decodes a block, and by which codec."""
    return np.full((1, 1), os.getpid())


def main(workers):
    with tempfile.TemporaryDirectory() as folder:
        numbers = make(folder)
        arrays = {
            "sharded Zarr store": da.from_zarr(zarr.open_array(f"{folder}/numbers.zarr", mode="r"), chunks=(250, 1000)),
            "b2nd array": da.from_array(blosc_frame.open(f"{folder}/numbers.b2nd"), chunks=(250, 1000)),
        }
        for name, array in arrays.items():
            processes = set(np.unique(array.map_blocks(who, chunks=(1, 1), dtype=int).compute()))
            total = int(array.sum(dtype="int64").compute())
            column = array[500:1500, 17].compute()
            print(f"{name}: sum {total} by {len(processes)} worker processes")
            assert os.getpid() not in processes
            assert total == int(numbers.sum(dtype="int64"))
            assert (column == numbers[500:1500, 17]).all()


if __name__ == "__main__":
    blosc_frame.register()
    dask.config.set({"distributed.worker.preload": ["blosc_frame.preload"]})
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster):
            main(count)
