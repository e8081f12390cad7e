#!/usr/bin/env python3
"""How fast a large `.blp` file is decompressed and verified, beside bloscpack 0.16: alternated, one thread each.

usage: BLOSC_BIN=path/to/blosc python bloscpack_speed.py [MIB [ROUNDS [FOLDER]]]     (default 1024, 3, a temporary one)
Needs the packages bloscpack, blosc and numpy, and twice MIB of free space. Times are medians of whole processes, the
original's start included and given by itself. Exit 0 if the goals hold: twice as fast to /dev/null, 1.2 times into a
file, at most 64 MiB of memory plus a chunk, a check of checksums no slower than reading and checksumming in Python.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

BLOSC = os.environ.get("BLOSC_BIN", "blosc")
MIB = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
REAL = [sys.executable, "-c", """
import collections, collections.abc
for name in ("Mapping", "MutableMapping", "Callable", "Iterable", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
from bloscpack.cli import main
main()
"""]


def generate(path):
    """Measurements: a slow wave, noise in the second decimal, 8-byte floats."""
    import numpy as np
    noise = np.random.default_rng(2026).normal(0, 0.05, 131072 * 8)
    with open(path, "wb") as f:
        for i in range(MIB):
            x = np.arange(131072, dtype="<f8") + i * 131072
            f.write(np.round(np.sin(x / 5000) * 1000 + noise[i % 8 * 131072:][:131072], 1).tobytes())


def run(words, stdout=subprocess.DEVNULL):
    """Seconds and peak memory in KiB of a process. The peak is asked for while it runs (on Linux): what wait
    tells starts from this process's own size."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen([str(w) for w in words], stdout=stdout)
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as f:
                peak = max(peak, *(int(line.split()[1]) for line in f if line.startswith("VmHWM")), 0)
        except OSError:
            pass
        time.sleep(0.005)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{words}: status {process.returncode}")
    return seconds, peak


def plain_write(path):
    block = os.urandom(1 << 20)
    start = time.perf_counter()
    with open(path, "wb", buffering=0) as f:
        for _ in range(MIB):
            f.write(block)
    return time.perf_counter() - start


def checksum_speed(path):
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as f:
        while block := f.read(1 << 20):
            zlib.adler32(block)
    return time.perf_counter() - start


def main(folder):
    plain, packed, out = (os.path.join(folder, name) for name in ("x", "x.blp", "out"))
    generate(plain)
    run([*REAL, "-f", "-n", 1, "compress", plain, packed])
    ratio = os.path.getsize(plain) / os.path.getsize(packed)
    os.remove(plain)
    jobs = {
        "bloscpack, start alone": lambda: run([*REAL, "--version"]),
        "bloscpack to /dev/null": lambda: run([*REAL, "-f", "-n", 1, "d", packed, "/dev/null"]),
        "ours to /dev/null": lambda: run([BLOSC, "decompress", packed, "-o", "-", "--threads", 1]),
        "bloscpack to a file": lambda: run([*REAL, "-f", "-n", 1, "d", packed, out]),
        "ours to a file": lambda: run([BLOSC, "decompress", packed, "-o", out, "--force", "--threads", 1]),
        "plain write of a file": lambda: (plain_write(out), 0),
        "read and adler32 in Python": lambda: (checksum_speed(packed), 0),
        "ours, verify --quick": lambda: run([BLOSC, "verify", packed, "--quick", "--threads", 1]),
        "ours, verify": lambda: run([BLOSC, "verify", packed, "--threads", 1]),
    }
    times = {name: [] for name in jobs}
    memory = dict.fromkeys(jobs, 0)
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            if os.path.exists(out):
                os.remove(out)
            seconds, peak = job()
            times[name].append(seconds)
            memory[name] = max(memory[name], peak)
    t = {name: statistics.median(seconds) for name, seconds in times.items()}
    print(f"{MIB} MiB, compressed {ratio:.2f} to 1, chunks of 1 MiB, median of {ROUNDS}")
    for name, seconds in t.items():
        of = f"{MIB / seconds:9.0f} MiB/s plain" if "start" not in name else " " * 21
        print(f"  {name:28} {seconds:7.3f} s {of}  {memory[name] / 1024:6.1f} MiB")
    start = t["bloscpack, start alone"]
    goals = [
        ("to /dev/null", t["bloscpack to /dev/null"] / t["ours to /dev/null"], 2.0),
        ("to /dev/null, its start not counted", (t["bloscpack to /dev/null"] - start) / t["ours to /dev/null"], 0),
        ("into a file", t["bloscpack to a file"] / t["ours to a file"], 1.2),
        ("into a file, its start not counted", (t["bloscpack to a file"] - start) / t["ours to a file"], 0),
        ("verify --quick against adler32", t["read and adler32 in Python"] / t["ours, verify --quick"], 1.0),
        ("memory against 64 MiB and a chunk", 65.0 / (max(memory[n] for n in jobs if n.startswith("ours")) / 1024), 1.0),
    ]
    for name, got, want in goals:
        print(f"figure {name}: {got:.2f} times" + (f" (goal {want})" if want else ""))
    return 0 if all(got >= want for _, got, want in goals) else 1


folder = sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp()
try:
    sys.exit(main(folder))
finally:
    if len(sys.argv) <= 3:
        shutil.rmtree(folder)
