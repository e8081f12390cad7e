#!/usr/bin/env python3
"""A sharded Blaze dataset read by Dask: each worker process has `blosc slice` decode the super-chunks of its shard.

usage: BLOSC_BIN=path/to/blosc python dask_shards.py [MANIFEST COLUMN_DTYPE]
Needs the package dask. Without a manifest it makes a dataset of its own, spreads its super-chunks over three
directories, and checks the sums that the workers find. Nothing of Blosc is imported: any engine that can start a
process (Ray, Spark) hands out shards in the same way.
"""
import array
import json
import os
import subprocess
import sys
import tempfile

import dask

BLOSC = os.environ.get("BLOSC_BIN", "blosc")
CODES = {"int32": "i", "int64": "q", "float32": "f", "float64": "d"}


def make(folder):
    """Two million numbers in super-chunks that lie in three directories; returns the manifest and their sum."""
    numbers = array.array("i", range(2_000_000))
    with open(f"{folder}/raw", "wb") as f:
        numbers.tofile(f)
    run("compress", f"{folder}/raw", "-o", f"{folder}/node0", "--format", "blaze", "--dtype", "<i4",
        "--chunksize", "256K", "--superchunk", "4")
    files = sorted(os.listdir(f"{folder}/node0/data"), key=lambda name: int(name.strip("_.bin")))
    shards, per = [], -(-len(files) // 3)
    for node in range(3):
        mine = files[node * per:(node + 1) * per]
        os.makedirs(f"{folder}/node{node}/data", exist_ok=True)
        for name in mine:
            os.rename(f"{folder}/node0/data/{name}", f"{folder}/node{node}/data/{name}")
        first = node * per + 1
        shards.append({"path": f"node{node}", "first": first, "last": first + len(mine) - 1})
    with open(f"{folder}/shards.json", "w") as f:
        json.dump({"meta": "node0", "shards": shards}, f)
    return f"{folder}/shards.json", sum(numbers)


def run(*words):
    return subprocess.run([BLOSC, *words], check=True, capture_output=True).stdout


def work(manifest, first, last, dtype):
    """What a worker does with its shard: here a sum."""
    items = array.array(CODES[dtype])
    items.frombytes(run("slice", manifest, "-o", "-", "--superchunks", f"{first}-{last}", "--threads", "1"))
    return {"worker": os.getpid(), "files": f"{first}-{last}", "items": len(items), "sum": sum(items)}


def main(manifest, dtype):
    with open(manifest) as f:
        shards = json.load(f)["shards"]
    info = json.loads(run("info", manifest, "--json"))
    print(f"{info['shape'][0]} rows of {info['dtype']} in {len(shards)} shards")
    tasks = [dask.delayed(work)(manifest, s["first"], s["last"], dtype) for s in shards]
    results = dask.compute(*tasks, scheduler="processes", num_workers=len(shards), chunksize=1)
    for result in results:
        print(result)
    assert sum(r["items"] for r in results) == info["shape"][0]
    return sum(r["sum"] for r in results)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print("sum", main(*sys.argv[1:3]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            manifest, want = make(folder)
            got = main(manifest, "int32")
            print(f"sum {got}, expected {want}")
            sys.exit(0 if got == want else 1)
