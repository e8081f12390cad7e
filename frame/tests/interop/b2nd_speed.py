#!/usr/bin/env python3
"""How fast slices of a large array are read and written, beside python-blosc2: alternated, same file, same threads.

usage: python b2nd_speed.py ARRAY_SPEED [CODECS [THREADS [ROUNDS]]]             (default lz4,zstd and 1,2 and 5)

ARRAY_SPEED is the built example of that name. The array has four axes and 256 MiB of float32; the file that both
read is python-blosc2's. Times and ratios are medians; every round reads other places, so that nothing is found ready. Exit status 0 if every whole read, write, plane and box is level and every
thin slice and item twice as fast, which is more than can be had from random ones where a block is one stream of a
codec that both have from the same library: of those the neighbours alone count."""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import blosc2
import numpy as np

CODECS = sys.argv[2].split(",") if len(sys.argv) > 2 else ["lz4", "zstd"]
THREADS = [int(n) for n in sys.argv[3].split(",")] if len(sys.argv) > 3 else [1, 2]
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 5
SHAPE = (64, 128, 128, 64)
# By how much runs of the same program differ.
NOISE = 0.05
# What is read: the sides of a box (0: the whole axis), how many boxes, and how much faster it shall be.
READS = {
    "read all": ((0, 0, 0, 0), 1, 1),
    "rows along the last axis": ((1, 1, 1, 0), 50, 2),
    "rows along axis 2": ((1, 1, 0, 1), 50, 2),
    "columns along the first axis": ((0, 1, 1, 1), 20, 2),
    "planes of the last axes": ((1, 1, 0, 0), 20, 2),
    "planes of the first axes": ((0, 0, 1, 1), 1, 1),
    "planes of axes 1 and 3": ((1, 0, 1, 0), 10, 1),
    "random 3-D boxes": ((1, 20, 20, 20), 50, 1),
    "random items": ((1, 1, 1, 1), 100, 2),
    "neighbouring rows": ((1, 1, 1, 0), 50, 2),
    "neighbouring columns": ((0, 1, 1, 1), 20, 2),
    "neighbouring items": ((1, 1, 1, 1), 100, 2),
}
rnd = random.Random(7)
missed = 0


def smooth():
    """A field of slow waves with a little noise, as a model of weather puts out."""
    i, j, k, l = np.ogrid[tuple(slice(n) for n in SHAPE)]
    wave = np.sin(i / 9) * 20 + np.cos(j / 31 + k / 23) * 10 + np.sin(l / 17) * 5
    return np.round(wave + np.random.default_rng(1).normal(0, 0.02, SHAPE), 2).astype("<f4")


def box(sides):
    starts = [rnd.randrange(n - s + 1) if s else 0 for s, n in zip(sides, SHAPE)]
    return [(a, a + (s or n)) for a, s, n in zip(starts, sides, SHAPE)]


def total(arrays):
    return int(sum(int(np.add.reduce(np.ascontiguousarray(a).view("u4"), axis=None, dtype="u8")) for a in arrays)) % 2**64


class Ours:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        time, sum = self.process.stdout.readline().split()
        return int(time), int(sum)


def text(place):
    return ",".join(f"{a}:{b}" for a, b in place)


def compare(name, goal, ours, theirs, rounds=ROUNDS, deal=lambda: ()):
    """Runs both in turns on what `deal` deals for the round; each returns nanoseconds and a sum."""
    global missed
    pairs = [(ours(*hand), theirs(*hand)) for hand in (deal() for _ in range(rounds))]
    if any(a[1] != b[1] for a, b in pairs):
        sys.exit(f"{name}: different items")
    a, b = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
    # The machine's speed drifts: what is compared was timed one after the other.
    ratio = statistics.median(theirs[0] / ours[0] for ours, theirs in pairs)
    below = ratio < goal - NOISE
    missed += below
    print(f"{name:42} {a / 1e6:10.3f} ms {b / 1e6:10.3f} ms {ratio:7.2f}x   {f'below {goal}x' if below else ''}", flush=True)


def timed(work):
    start = time.perf_counter_ns()
    got = work()
    return time.perf_counter_ns() - start, got


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        x = smooth()
        raw, path = os.path.join(folder, "raw"), os.path.join(folder, "theirs.b2nd")
        x.tofile(raw)
        ours = Ours(sys.argv[1])
        ours("data", raw, ",".join(map(str, SHAPE)))
        os.remove(raw)
        room = np.ones(SHAPE, "<f4")
        print(f"{'':42} {'ours':>13} {'blosc2 ' + blosc2.__version__:>13}")
        for codec in CODECS:
            for threads in THREADS:
                blosc2.set_nthreads(threads)
                label = f"{codec}, {threads} thread{'s'[:threads - 1]}: "
                cparams = {"codec": getattr(blosc2.Codec, codec.upper()), "nthreads": threads}
                made = {}

                def write():
                    nonlocal made
                    made = blosc2.asarray(x, urlpath=path, mode="w", cparams=cparams)
                    return 0

                timed(write)
                parts = [",".join(map(str, side)) for side in (made.chunks, made.blocks)]
                mine = os.path.join(folder, "ours.b2nd")
                compare(label + "write all", 1, lambda: ours("write", mine, threads, codec, *parts), lambda: timed(write),
                        min(ROUNDS, 3))
                os.remove(mine)
                b = blosc2.open(path, mode="r", dparams={"nthreads": threads})
                ours("open", path, threads)
                for name, (sides, count, goal) in READS.items():
                    def deal():
                        if not name.startswith("neighbouring"):
                            return ([box(sides) for _ in range(count)],)
                        # One after the other along axis 2.
                        first = box(sides)
                        at = rnd.randrange(SHAPE[2] - count + 1)
                        return ([first[:2] + [(at + k, at + k + 1)] + first[3:] for k in range(count)],)

                    def theirs(places):
                        keys = [tuple(slice(*side) for side in place) for place in places]
                        if name.endswith("items"):
                            keys = [tuple(a for a, _ in place) for place in places]
                        time, got = timed(lambda: [b[key] for key in keys])
                        return time, total(got)

                    def mine(places):
                        if name.endswith("items"):
                            return ours("items", *(",".join(str(a) for a, _ in place) for place in places))
                        return ours("boxes", *map(text, places))

                    if name == "read all":
                        # Into memory that was touched before, on both sides.
                        def theirs(places):
                            span = ([0] * 4, list(SHAPE))
                            time, _ = timed(lambda: super(blosc2.NDArray, b).get_slice_numpy(room, span))
                            return time, total([room])

                        def mine(places):
                            return ours("into", text(places[0]))

                    compare(label + name, goal, mine, theirs, deal=deal)
        print(f"{missed} below their goals")
        sys.exit(1 if missed else 0)


main()
