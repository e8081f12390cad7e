"""python-blosc2 with each of two libraries: how long each operation takes with the second, as a share of the first.

    frame/capi/bench.py FOLDER-WITH-libblosc2.so.9 ANOTHER [ROUNDS]

Run it by a Python whose `blosc2` loads a shared libblosc2.so.9. Both libraries take turns, ROUNDS times (default 5), each time
in a new process; the least time of each counts. Above 1: the second library is faster.
"""

import json
import os
import subprocess
import sys
import tempfile
import time


def best(work, seconds=0.15):
    """The least time of a call, of those that fit into so many seconds; 3 at least."""
    least, end, n = float("inf"), time.perf_counter() + seconds, 0
    while n < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        least, n = min(least, time.perf_counter() - start), n + 1
    return least


def measure(folder):
    """Seconds of each operation, with one thread."""
    import blosc2
    import numpy as np

    blosc2.set_nthreads(1)
    rng = np.random.default_rng(1)
    walk = np.cumsum(rng.integers(-3, 4, 1 << 20)).astype(np.int32)
    floats = (np.sin(np.linspace(0, 60, 1 << 20)) + rng.normal(0, 1e-3, 1 << 20)).astype(np.float32)
    square = floats.reshape(1024, 1024)
    took = {}
    for codec in ("BLOSCLZ", "LZ4", "ZSTD"):
        params = {"codec": blosc2.Codec[codec], "typesize": 4, "nthreads": 1}
        for name, data in (("integers", walk), ("floats", floats)):
            chunk = blosc2.compress2(data, **params)
            back = np.empty_like(data)
            took[f"compress2 {codec} {name}"] = best(lambda: blosc2.compress2(data, **params))
            took[f"decompress2 {codec} {name}"] = best(lambda: blosc2.decompress2(chunk, dst=back, nthreads=1))
            assert (back == data).all()

    path = os.path.join(folder, "bench.b2frame")
    one = {"cparams": {"typesize": 4, "nthreads": 1}, "dparams": {"nthreads": 1}}

    def append(where):
        schunk = blosc2.SChunk(chunksize=1 << 18, urlpath=where, mode="w", contiguous=True, **one)
        for part in walk.reshape(16, -1):
            schunk.append_data(part)
        return schunk

    took["append 16 chunks, memory"] = best(lambda: append(None))
    took["append 16 chunks, file"] = best(lambda: append(path))
    took["open a file, read it"] = best(lambda: blosc2.open(path, mode="r")[:])
    schunk = blosc2.open(path, mode="r")
    places = [int(k) for k in rng.integers(0, (1 << 20) - 10, 200)]
    took["200 slices of 10 items, file"] = best(lambda: [schunk[k : k + 10] for k in places])

    shape = {"chunks": (256, 256), "blocks": (64, 64), **one}
    array = blosc2.asarray(square, **shape)
    took["array from NumPy"] = best(lambda: blosc2.asarray(square, **shape))
    took["array to NumPy"] = best(lambda: array[:])
    assert (array[:] == square).all()
    took["200 boxes of 10 x 10"] = best(lambda: [array[k // 1024 : k // 1024 + 10, k % 1000 : k % 1000 + 10] for k in places])
    took["50 columns"] = best(lambda: [array[:, k % 1024] for k in places[:50]])
    took["zeros, 64 MiB, to NumPy"] = best(lambda: blosc2.zeros((4096, 4096), dtype=np.float32, **one)[:])
    return took


def main():
    if sys.argv[1] == "--child":
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            took = measure(folder)
        with open("/proc/self/maps") as maps:
            loaded = {line.split()[-1] for line in maps if "libblosc2.so" in line}
        print(json.dumps([took, sorted(loaded)]))
        return
    folders = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    least = [{}, {}]
    for _ in range(rounds):
        for which, folder in enumerate(folders):
            environment = {**os.environ, "LD_LIBRARY_PATH": folder}
            out = subprocess.run([sys.executable, __file__, "--child"], env=environment, check=True, capture_output=True)
            took, loaded = json.loads(out.stdout.splitlines()[-1])
            assert len(loaded) == 1 and loaded[0].startswith(os.path.realpath(folder)), loaded
            for name, seconds in took.items():
                least[which][name] = min(seconds, least[which].get(name, seconds))
    product = 1.0
    print(f"| operation | {folders[0]}, ms | {folders[1]}, ms | times as fast |\n|---|--:|--:|--:|")
    for name, first in least[0].items():
        second = least[1][name]
        product *= first / second
        print(f"| {name} | {first * 1e3:.2f} | {second * 1e3:.2f} | {first / second:.2f} |")
    print(f"| geometric mean | | | {product ** (1 / len(least[0])):.2f} |")


main()
