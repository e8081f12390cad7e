#!/usr/bin/env python3
"""Frames written here, read and mutated by python-blosc2, and read here again.

usage: frames.py FRAME_HISTORIES [COUNT [CRASHES]]

FRAME_HISTORIES is the built example of that name. COUNT random edit histories (default 500) are
written, each is opened by blosc2, compared chunk by chunk, mutated there, dumped by the example and
compared again. Then CRASHES (default 1000) states that a power failure left are opened by blosc2.
Exit status 0 if nothing differs."""
import json, os, random, shutil, subprocess, sys, tempfile
import blosc2

binary = os.path.abspath(sys.argv[1])
count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
crashes = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
HIDDEN = ".checksums"


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def state(schunk):
    """What `frame_histories dump` prints, as blosc2 sees it."""
    chunks = []
    for i in range(schunk.nchunks):
        data = schunk.decompress_chunk(i)
        chunks.append([len(data), fnv(data)])
    pack = lambda value: b"\xc4" + bytes([len(value)]) + value
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
    done = []
    for _ in range(rng.randrange(1, 4)):
        n = schunk.nchunks
        size = schunk.chunksize if schunk.chunksize > 0 else 64 * schunk.typesize
        data = rng.randbytes(size) if rng.random() < 0.5 else bytes(rng.randrange(1, 255) for _ in range(1)) * size
        what = rng.choice(["append", "insert", "update", "delete", "vlmeta"])
        last = len(schunk.decompress_chunk(n - 1)) if n else size
        first = len(schunk.decompress_chunk(0)) if n else size
        if what == "append" and n and last == size == first:
            schunk.append_data(data)
        # With a short last chunk the reference would make the frame variable, in which it then cannot
        # read its own special chunks.
        elif what == "insert" and n and (schunk.chunksize == 0 or last == size):
            schunk.insert_data(rng.randrange(n), data, copy=True)
        elif what == "update" and n and schunk.chunksize > 0 and last == size:
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


def main():
    bad = 0
    skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made")
        os.mkdir(made)
        subprocess.run([binary, "make", made, str(count)], check=True)
        for n in range(count):
            rng = random.Random(n)
            path = os.path.join(made, str(n))
            # blosc2 opens only paths with its own endings.
            named = path + ".b2frame"
            os.rename(path, named)
            want = json.load(open(path + ".json"))
            try:
                schunk = blosc2.open(named, mode="a")
                got = state(schunk)
                if differ(want, got):
                    bad += 1
                    print(f"{n}: read differently: {differ(want, got)}")
                    continue
                done = mutate(schunk, rng)
                want = state(schunk)
                del schunk
                dump = subprocess.run([binary, "dump", named], capture_output=True, text=True)
                if dump.returncode:
                    bad += 1
                    print(f"{n}: after {done}: {dump.stderr.strip()}")
                elif differ(want, json.loads(dump.stdout)):
                    bad += 1
                    print(f"{n}: after {done}: {differ(want, json.loads(dump.stdout))}")
            except Exception as error:
                bad += 1
                print(f"{n}: {error!r} {want['chunks'][:3]}")
        print(f"{count} histories written here, read and mutated there, read here again: {bad} mismatches")
        shutil.rmtree(made)
        os.mkdir(made)
        subprocess.run([binary, "crash", made, str(crashes)], check=True)
        crashed = 0
        for n in range(crashes):
            path = os.path.join(made, str(n))
            os.rename(path, path + ".b2frame")
            want = json.load(open(path + ".json"))
            try:
                if differ(want, state(blosc2.open(path + ".b2frame", mode="r"))):
                    crashed += 1
                    print(f"crash {n}: read differently")
            except Exception as error:
                crashed += 1
                print(f"crash {n}: {error!r}")
        print(f"{crashes} crash states opened there: {crashed} mismatches")
    sys.exit(1 if bad or crashed else 0)


main()
