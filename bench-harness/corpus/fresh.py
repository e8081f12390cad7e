#!/usr/bin/env python3
"""Generates arrays that no encoder or decoder was tuned to, into a folder outside the repository.

    python3 bench-harness/corpus/fresh.py FOLDER
    for f in FOLDER/*.*; do blosc-bench run --suite chunks --once --data $f --dtype ${f##*.} --out $f.jsonl; done

Needs nothing but Python. Each array has 256 KiB and a seed of its own. Only sums, products and square roots of doubles are
used, which every platform rounds alike. Each line printed is an array's name, NumPy type, size and SHA-256.

When a decision was tuned to these arrays, they are no longer fresh: change the seeds, and the recipes too.
"""

import hashlib
import pathlib
import random
import struct
import sys

BYTES = 256 << 10


def normal(rng):
    """A nearly normal number of variance 1."""
    return sum(rng.random() for _ in range(12)) - 6.0


def wave(step, amplitude):
    """An endless sine, by rotation: `step` is twice the cosine of a step's angle."""
    last, now = 0.0, amplitude * (1.0 - step * step / 4) ** 0.5
    while True:
        yield now
        last, now = now, step * now - last


def scan_points(rng):
    """Points of a laser scanner: x, y and z in metres, line by line, rounded to millimetres."""
    items = BYTES // 4
    points, row = [], 0
    while len(points) < items:
        height = 20.0 + normal(rng)
        for column in range(400):
            height += 0.02 * normal(rng)
            points += [0.25 * column + 0.003 * normal(rng), 0.5 * row + 0.003 * normal(rng), height]
        row += 1
    return "f4", [round(p * 1000) / 1000 for p in points[:items]]


def spectrum(rng):
    """A smooth spectrum with narrow lines: doubles with three decimals."""
    items = BYTES // 8
    slow, fast = wave(1.9999996, 40.0), wave(1.99992, 5.0)
    values = [1000.0 + next(slow) + next(fast) + 0.001 * normal(rng) for _ in range(items)]
    for _ in range(300):
        at, strength = rng.randrange(8, items - 8), 500.0 * rng.random()
        for off in range(-8, 9):
            values[at + off - (off == 8)] += strength / (1.0 + off * off)
    return "f8", [round(value * 1000) / 1000 for value in values]


def sound(rng):
    """Three tones that fade, and noise, as 16-bit samples."""
    tones = [wave(1.99, 8000.0), wave(1.97, 4000.0), wave(1.9, 2000.0)]
    return "i2", [int(sum(map(next, tones)) * (1.0 - i % 9000 / 9000) + 20 * normal(rng)) for i in range(BYTES // 2)]


def photons(rng):
    """Counts of a detector that sees one photon in ten pixels, and a bright spot."""
    counts = []
    for i in range(BYTES // 2):
        bright = (i % 512 - 200) ** 2 + (i // 512 - 90) ** 2 < 1600
        counts.append(sum(rng.random() < (0.6 if bright else 0.02) for _ in range(6)))
    return "u2", counts


def sparse_columns(rng):
    """Column numbers of a sparse matrix: each row's are sorted."""
    columns = []
    while len(columns) < BYTES // 4:
        middle = rng.randrange(90_000)
        columns += sorted(min(max(int(middle + 400 * normal(rng)), 0), 89_999) for _ in range(rng.randrange(4, 60)))
    return "i4", columns[:BYTES // 4]


def order_ids(rng):
    """Keys of a table, mostly ascending, several rows for each."""
    key, keys = 7_340_000_000, []
    while len(keys) < BYTES // 8:
        key += 1 + rng.randrange(3) * (rng.random() < 0.2)
        keys += [key if rng.random() < 0.97 else key - rng.randrange(5000)] * rng.randrange(1, 5)
    return "i8", keys[:BYTES // 8]


def genotypes(rng):
    """0, 1 or 2 for each of 512 people at each place; neighbours are alike."""
    row, values = [0] * 512, []
    while len(values) < BYTES:
        share = rng.random() ** 2
        row = [
            old if rng.random() < 0.7 else (rng.random() < share) + (rng.random() < share) for old in row
        ]
        values += row
    return "u1", values[:BYTES]


def labels(rng):
    """A segmented picture of 512 columns: areas of one number each."""
    centres = [(rng.randrange(512), rng.randrange(512), rng.randrange(1, 200)) for _ in range(60)]
    near = lambda x, y: min(centres, key=lambda c: (c[0] - x) ** 2 + (c[1] - y) ** 2)
    coarse = {(x, y): near(4 * x, 4 * y)[2] for x in range(128) for y in range(128)}
    return "u1", [coarse[i % 512 // 4, i // 512 // 4] if rng.random() < 0.995 else 0 for i in range(BYTES)]


def logged_lines(rng):
    """Lines of a server's log."""
    paths = ["/" + "/".join(rng.choice(["api", "v2", "user", "item", "img", "cart", "find"]) for _ in range(n % 4 + 1))
             for n in range(80)]
    seconds, lines = 0, b""
    while len(lines) < BYTES:
        seconds += rng.randrange(3)
        lines += (f"10.{rng.randrange(4)}.{rng.randrange(60)}.{rng.randrange(250)} - [27/Nov/2025:"
                  f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}] \"GET {rng.choice(paths)}\" "
                  f"{rng.choice([200, 200, 200, 304, 404])} {rng.randrange(90_000)}\n").encode()
    return "S1", list(lines[:BYTES])


def weights(rng):
    """Weights of a neural network as bfloat16: the upper halves of small floats."""
    floats = struct.pack(f"<{BYTES // 2}f", *(0.02 * normal(rng) for _ in range(BYTES // 2)))
    return "u2", [value >> 16 for value in struct.unpack(f"<{BYTES // 2}I", floats)]


def ocean(rng):
    """A smooth field of floats, a third of which is missing: 1e20 over land."""
    columns, row, values = 360, [15.0] * 360, []
    while len(values) < BYTES // 4:
        drift = 0.1 * normal(rng)
        row = [0.25 * (row[i - 1] + 2 * row[i] + row[i + 1 - columns]) + drift + 0.02 * normal(rng) for i in range(columns)]
        land = rng.randrange(60, 180)
        values += [1e20 if land <= i < land + 120 else row[i] for i in range(columns)]
    return "f4", values[:BYTES // 4]


def terrain(rng):
    """Heights in metres by adding ever finer random grids."""
    side, grid = 2, [[0.0, 60.0], [300.0, 500.0]]
    rough = 250.0
    while side < 512:
        fine = [[0.0] * (2 * side) for _ in range(2 * side)]
        for y in range(2 * side):
            for x in range(2 * side):
                up, down, left, right = y // 2, min((y + 1) // 2, side - 1), x // 2, min((x + 1) // 2, side - 1)
                mean = 0.25 * (grid[up][left] + grid[up][right] + grid[down][left] + grid[down][right])
                fine[y][x] = mean + rough * (rng.random() - 0.5)
        side, grid, rough = 2 * side, fine, 0.52 * rough
    return "i2", [int(h) for row in grid for h in row][:BYTES // 2]


CODES = {"u1": "B", "S1": "B", "u2": "H", "i2": "h", "i4": "i", "i8": "q", "f4": "f", "f8": "d"}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    recipes = (scan_points, spectrum, sound, photons, sparse_columns, order_ids, genotypes, labels, logged_lines, weights, ocean,
               terrain)
    for seed, recipe in enumerate(recipes, 20261127):
        kind, values = recipe(random.Random(seed))
        data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
        (folder / f"{recipe.__name__}.{kind}").write_bytes(data)
        print(f"{recipe.__name__:14} {kind} {len(data):7} {hashlib.sha256(data).hexdigest()}")
