#!/usr/bin/env python3
"""Frames written here, read and mutated by python-blosc2, and read here again.

usage: frames.py FRAME_HISTORIES [COUNT [CRASHES]]

FRAME_HISTORIES is the built example of that name. COUNT random edit histories (default 500) are
written, each is opened by blosc2, compared chunk by chunk, mutated there, dumped by the example and
compared again. Then CRASHES (default 1000) states that a power failure left are opened by blosc2.
Exit status 0 if nothing differs."""
import json, os, random, subprocess, sys, tempfile, zlib
import blosc2

binary = os.path.abspath(sys.argv[1])
count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
crashes = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
HIDDEN = ".checksums"


def state(schunk):
    """What `frame_histories dump` prints, as blosc2 sees it."""
    chunks = []
    for i in range(schunk.nchunks):
        data = schunk.decompress_chunk(i)
        chunks.append([len(data), zlib.crc32(data)])
    pack = lambda v: (b"\xc4" + len(v).to_bytes(1, "big") if len(v) < 256 else b"\xc5" + len(v).to_bytes(2, "big")) + v
    vl = {k: v for k, v in schunk.vlmeta.getall().items() if k != HIDDEN}
    return {
        "typesize": schunk.typesize,
        "chunks": chunks,
        "meta": {k: pack(v).hex() for k, v in dict(schunk.meta).items()},
        "vlmeta": {k: pack(v).hex() for k, v in vl.items()},
    }


def mutate(schunk, rng):
    """A few edits that every version of the reference can make."""
    n = schunk.nchunks
    # Ordinary chunks and those of blocks of variable length (byte 30, bit 0) do not mix.
    ordinary = n == 0 or not schunk.get_chunk(0)[30] & 1
    done = []
    for _ in range(rng.randrange(1, 4)):
        n = schunk.nchunks
        size = schunk.chunksize if schunk.chunksize > 0 else 64 * schunk.typesize
        data = rng.randbytes(size) if rng.random() < 0.5 else bytes(rng.randrange(1, 255) for _ in range(1)) * size
        what = rng.choice(["append", "insert", "update", "delete", "vlmeta"])
        last = len(schunk.decompress_chunk(n - 1)) if n else size
        first = len(schunk.decompress_chunk(0)) if n else size
        if what == "append" and n and ordinary and last == size == first:
            schunk.append_data(data)
        # With a short last chunk the reference would make the frame variable, in which it then cannot
        # read its own special chunks.
        elif what == "insert" and n and ordinary and (schunk.chunksize == 0 or last == size):
            schunk.insert_data(rng.randrange(n), data, copy=True)
        elif what == "update" and n and ordinary and schunk.chunksize > 0 and last == size:
            schunk.update_data(rng.randrange(n), data, copy=True)
        elif what == "delete" and n > 2:
            schunk.delete_chunk(rng.randrange(1, n))
        else:
            what = "vlmeta"
            schunk.vlmeta["py"] = b"12345"
        done.append(what)
    return done


def differ(a, b):
    return [k for k in a if a[k] != b.get(k)]


def make(what, folder, number):
    """Has the example make `number` frames; their paths and what they should hold."""
    os.mkdir(folder)
    subprocess.run([binary, what, folder, str(number)], check=True)
    for n in range(number):
        path = os.path.join(folder, str(n))
        # blosc2 opens only paths with its own endings.
        os.rename(path, path + ".b2frame")
        with open(path + ".json") as text:
            yield n, path + ".b2frame", json.load(text)


def histories(folder):
    bad = 0
    mutated = []
    for n, path, want in make("make", folder, count):
        try:
            schunk = blosc2.open(path, mode="a")
            different = differ(want, state(schunk))
            if different:
                bad += 1
                print(f"{n}: read differently: {different}")
                continue
            done = mutate(schunk, random.Random(n))
            mutated.append((n, path, done, state(schunk)))
        except Exception as error:
            bad += 1
            print(f"{n}: {error!r} {want['chunks'][:3]}")
    dump = subprocess.run([binary, "dump", *(path for _, path, _, _ in mutated)], capture_output=True, text=True, check=True)
    for line, (n, _, done, want) in zip(dump.stdout.splitlines(), mutated, strict=True):
        got = json.loads(line)
        if "error" in got or differ(want, got):
            bad += 1
            print(f"{n}: after {done}: {got.get('error') or differ(want, got)}")
    print(f"{count} histories written here, read and mutated there, read here again: {bad} mismatches")
    return bad


def crash_states(folder):
    bad = 0
    for n, path, want in make("crash", folder, crashes):
        try:
            different = differ(want, state(blosc2.open(path, mode="r")))
        except Exception as error:
            different = repr(error)
        if different:
            bad += 1
            print(f"crash {n}: {different}")
    print(f"{crashes} crash states opened there: {bad} mismatches")
    return bad


memory = "/dev/shm"
with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
    bad = histories(os.path.join(folder, "made")) + crash_states(os.path.join(folder, "crashed"))
sys.exit(1 if bad else 0)
