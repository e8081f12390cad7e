"""Makes the seeds of the targets from a folder of interoperability vectors.

    python3 fuzz/seed.py VECTORS

Seeds are small valid and corrupted files by the reference writers; nothing from `compat/` is copied, as
that folder has another licence. Running it again gives the same seeds.
"""

import hashlib
import json
import pathlib
import struct
import sys

vectors = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent
records = json.loads((vectors / "manifest.json").read_text())
MOST, LARGEST = 60, 1200


def keep(target, data, limit=MOST):
    folder = here / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:12]
    if path.exists() or len(list(folder.iterdir())) < limit:
        path.write_bytes(data)


def size_prefix(n):
    """The two bytes that make `sized` in src/codecs.rs answer n, if there are any."""
    for shift in range(11):
        if n & ((1 << shift) - 1) == 0 and n >> shift < 256:
            return bytes([n >> shift, shift])
    return None


def streams(chunk):
    """(codec format, decoded size, bytes) of every coded stream of an ordinary chunk."""
    version, _, flags, typesize, nbytes, blocksize, cbytes = struct.unpack_from("<BBBBiii", chunk)
    extended = flags & 5 == 5
    if flags & 2 or (extended and (chunk[30] & 1 or chunk[31] & 0x71)):
        return
    blocksize = min(blocksize, nbytes)
    header = 32 if extended else 16
    for block in range((nbytes + blocksize - 1) // blocksize):
        at = struct.unpack_from("<i", chunk, header + 4 * block)[0]
        size = min(blocksize, nbytes - block * blocksize)
        count = 1 if flags & 16 or size < blocksize else typesize
        for _ in range(count):
            n = struct.unpack_from("<i", chunk, at)[0]
            at += 4
            if n > 0:
                if n != size // count:
                    yield flags >> 5, size // count, chunk[at : at + n]
                at += n
            elif n < 0:
                at += 1


NAMES = {0: "blosclz_decode", 1: "lz4_decode", 2: "snappy_decode", 3: "zlib_decode", 4: "zstd_decode", 6: "ndlz_decode"}
for record in sorted(records, key=lambda r: r["file"]):
    path = vectors / record["file"]
    kind = record["kind"]
    if "compat" in record["file"] or "compat" in str(record.get("base")) or not path.is_file():
        continue
    data = path.read_bytes()
    if kind in ("chunk", "chunk-vl", "blosc1", "malformed-chunk", "chunk-lazy"):
        if len(data) <= LARGEST:
            keep("chunk_parse", data, 150)
            keep("chunk_decode", data, 150)
            keep("chunk_getitem", struct.pack("<II", 40, 300) + data, 80)
    if kind in ("chunk", "blosc1"):
        try:
            for codec, size, stream in streams(data):
                prefix = size_prefix(size)
                if prefix and codec in NAMES and len(stream) <= LARGEST:
                    keep(NAMES[codec], prefix + stream)
        except struct.error:
            pass
    if kind in ("frame", "malformed-frame") and len(data) <= 2000:
        keep("frame_open", data, 80)
        keep("cut_anywhere", bytes([1 + len(data) % 40, len(data) % 90]) + data, 20)
    if kind in ("b2nd", "malformed-b2nd") and len(data) <= 2000:
        keep("b2nd_open", data, 80)
# Targets that read their input as choices.
for name in ("chunk_roundtrip", "chunk_mutated", "codec_roundtrip", "kernel_twins", "filters_pipeline",
             "frame_edit_sequence", "frame_mutated", "sframe_mutated", "b2nd_slice", "b2nd_resize",
             "b2nd_mutated", "bloscpack_append", "rows_edit_sequence", "c_differential"):
    for i in range(12):
        pattern = bytes((k * (i + 3) >> (k % 5)) & 255 for k in range(20 + 37 * i))
        keep(name, bytes([i * 17 & 255, 5 * i & 255, i, 3]) + pattern)
for name, folder in ("bloscpack_open", vectors / "containers"),:
    for path in sorted(folder.rglob("*.blp")):
        if path.stat().st_size <= 2000 and "__" not in path.name:
            keep(name, path.read_bytes())


def directory(root):
    """The files below a folder, as `files` in src/frames.rs reads them."""
    out = b""
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name, content = path.relative_to(root).as_posix().encode(), path.read_bytes()
        if len(content) > 0xFFFF:
            return None
        out += bytes([len(name)]) + name + struct.pack("<H", len(content)) + content
    return out


for name, folder, glob in (
    ("sframe_open", "sframes", "*"),
    ("sframe_open", "malformed", "sframe_*"),
    ("bcolz_open", "containers", "bc_*"),
):
    for path in sorted((vectors / folder).glob(glob)):
        data = directory(path) if path.is_dir() else None
        if data and len(data) <= 3000:
            keep(name, data, 40)
for text in (
    "|u1", "<i4", ">f8", "float32", "<M8[25s]", "<U3", "|S5", "|V7", "('<i4', (2, 3))",
    "[('a', '<i4'), ('b', '<f8', (2,))]", "[('a', '<i4'), ('', '|V4'), (('t', 'n'), [('x', '>c16')])]",
    "{'names': ['a', 'b'], 'formats': ['<i4', 'u1'], 'offsets': [4, 0], 'itemsize': 16, 'aligned': True}",
):
    keep("dtype", text.encode())


def files(*pairs):
    """A directory, as `files` in src/frames.rs reads it."""
    return b"".join(
        bytes([len(name)]) + name.encode() + struct.pack("<H", len(content)) + content for name, content in pairs
    )


pack = (vectors / "containers" / "minimal_no_offsets.blp").read_bytes()
for sizes, storage in (
    (
        '{"shape": [20], "nbytes": 20, "cbytes": 17316745}',
        '{"dtype": "int8", "cparams": {"shuffle": true, "clevel": 5}, "chunklen": 16, "dflt": 0, "expectedlen": 100}',
    ),
    ("{'shape': [20], 'nbytes': 20, 'cbytes': 1}", "{'dtype': 'int8', 'chunklen': 16, 'others': []}"),
    (
        "shape: (40,)\nnbytes: 160\ncbytes: 105\n",
        "dtype: <i4\nchunkshape: (16,)\nsuperchunksize: 10 # files\nendianness: big\norder: C\n"
        "compression:\n  library: blosclz\n  level: 5\n  filters: [shuffle, truncate]\n",
    ),
    ("shape: (0, 40)\n", "dtype: <i4\nchunkshape: (30, 40)\norder: F\n"),
    ("shape: (0,)\n", "dtype: {a: int8, b: {c: '<f4'}}\nchunkshape: (16,)\n"),
):
    attrs = b"temperature:\n  value: 23.5\n  type: scalar\nids:\n  value: [1,3,6,10]\n  type: array\n  dtype: int32\n"
    keep("blaze_open", files(("meta/sizes", sizes.encode()), ("meta/storage", storage.encode()),
                             ("meta/attributes", attrs), ("data/__1__.bin", pack)))
keep("blaze_open", b'{"meta": "node0", "shards": [{"path": "node0", "first": 1, "last": 2}, {"path": "node1", "first": 3, "last": 5}]}')
for line in (
    "blosc compress a.bin b.b2frame --codec zstd --level 5 --typesize 8 --filters shuffle",
    "blosc compress - - --filters trunc_prec:10,bitshuffle --blocksize 16K --chunksize 1M --split never --dict",
    "blosc decompress a.b2frame - --max-output 1G --threads 4 --isa scalar",
    "blosc info a.b2nd", "blosc verify a.blp --as bloscpack", "blosc slice a.b2nd 0 10 --column x",
    "blosc convert a.blp b.b2nd --shape 2,3 --dtype <i4", "blosc meta a.b2frame list", "blosc column rm t id",
    "blosc edit a.b2frame delete 3", "blosc resize a.b2nd 4,5", "blosc trim t 5", "blosc --help", "blosc --version",
    "blosc", "blosc nonsense", "blpk c -t 4 -l 7 -c lz4 -k sha256 -z 1M -o a b", "blosc blpk d -e a b", "blpk i a",
    "blpk -n 2 -v a -m meta.json a.blp b", "blpk --version",
):
    keep("cli_args", line.replace(" ", "\n").encode())
lines = next(iter(sorted((here / "../bench-harness/results").glob("*.jsonl")))).read_text().splitlines()
for some in (lines[:1], lines[:2], lines[:3] + lines[-1:], lines[:1] + lines[20:24], lines[1:3], lines[:1] * 2):
    keep("result_file", "\n".join(some).encode())
