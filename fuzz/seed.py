"""Makes candidates for the seeds of the targets, from a folder of interoperability vectors and by hand.

    python3 fuzz/seed.py VECTORS FOLDER         # FOLDER/TARGET/HASH

They are small valid and corrupted files by the reference writers, and streams of the kinds that those never write.
Nothing from `compat/` is copied, as that folder has another licence. `minimise` picks the seeds out of them.
"""

import hashlib
import json
import pathlib
import struct
import sys
import zipfile

vectors = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent
records = json.loads((vectors / "manifest.json").read_text())
out = pathlib.Path(sys.argv[2])
LARGEST = 4000


def keep(target, data):
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)


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


def frame_chunks(frame):
    """The chunks of a contiguous frame, one after the other as they are stored."""
    at = struct.unpack_from(">I", frame, 0x0B)[0]
    end = at + struct.unpack_from(">Q", frame, 0x27)[0]
    while at + 16 <= min(end, len(frame)):
        size = struct.unpack_from("<I", frame, at + 12)[0]
        if size < 16:
            return
        yield frame[at : at + size]
        at += size


NAMES = {0: "blosclz_decode", 1: "lz4_decode", 2: "snappy_decode", 3: "zlib_decode", 4: "zstd_decode", 6: "ndlz_decode"}
for record in sorted(records, key=lambda r: r["file"]):
    path = vectors / record["file"]
    kind = record["kind"]
    if "compat" in record["file"] or "compat" in str(record.get("base")) or not path.is_file():
        continue
    data = path.read_bytes()
    if kind in ("chunk", "chunk-vl", "blosc1", "malformed-chunk", "chunk-lazy"):
        if len(data) <= LARGEST:
            keep("chunk_parse", data)
            keep("chunk_decode", data)
            keep("chunk_getitem", struct.pack("<II", 40, 300) + data)
            keep("chunk_push", bytes([len(data) & 7, len(data) % 61, len(data) % 7]) + data)
            keep("c_differential", b"\0" + data)
    if kind in ("chunk", "blosc1"):
        try:
            for codec, size, stream in streams(data):
                prefix = size_prefix(size)
                if prefix and codec in NAMES and len(stream) <= LARGEST:
                    keep(NAMES[codec], prefix + stream)
        except struct.error:
            pass
    if kind in ("frame", "malformed-frame") and len(data) <= LARGEST:
        keep("frame_open", data)
        keep("cut_anywhere", bytes([1 + len(data) % 40, len(data) % 90]) + data)
    if kind in ("b2nd", "malformed-b2nd") and len(data) <= LARGEST:
        keep("b2nd_open", data)
        try:
            for chunk in frame_chunks(data):
                for codec, size, stream in streams(chunk):
                    prefix = size_prefix(size)
                    if prefix and codec == 6 and len(stream) <= LARGEST:
                        keep("ndlz_decode", prefix + stream)
        except struct.error:
            pass


def snappy(*parts):
    """A Snappy stream of literals (bytes) and copies (distance, length, bytes of the distance: 1, 2 or 4)."""
    body, total = b"", 0
    for part in parts:
        if isinstance(part, bytes):
            n = len(part) - 1
            extra = (n.bit_length() + 7) // 8 if n >= 60 else 0
            body += bytes([(59 + extra if extra else n) << 2]) + (n.to_bytes(extra, "little") if extra else b"") + part
            total += len(part)
        else:
            distance, length, width = part
            if width == 1:
                body += bytes([(distance >> 8) << 5 | (length - 4) << 2 | 1, distance & 255])
            else:
                body += bytes([(length - 1) << 2 | {2: 2, 4: 3}[width]]) + distance.to_bytes(width, "little")
            total += length
    size = b""
    while total > 127:
        size += bytes([total & 127 | 128])
        total >>= 7
    return size + bytes([total]) + body


# No writer of the vectors has Snappy: these are made here, of the size that the first two bytes say.
text = bytes(range(97, 123)) * 40
for size, stream in (
    (4, snappy(b"abcd")),
    (64, snappy(text[:60], (26, 4, 1))),
    (128, snappy(text[:61], (26, 64, 2), b"xyz")),
    (512, snappy(text[:300], (260, 64, 4), (1, 64, 2), (3, 64, 2), (7, 11, 1), (2, 9, 1))),
    (256, snappy(b"a", (1, 64, 2), (1, 64, 2), (1, 64, 2), (1, 63, 4))),
    (1024, snappy(text[:1024])),
    (1024, snappy(text[:500] * 2 + b"0123456789" * 2, (1010, 4, 2))),
    (64, snappy(text[:30], (31, 34, 2))),
    (64, snappy(text[:30], (0, 34, 2))),
    (0, snappy()),
    (16, snappy(b"abcd", (4, 12, 4))[:-1]),
):
    keep("snappy_decode", size_prefix(size) + stream)


def cells(side, wide):
    """A plane of cells that come again whole, or by two or three of their rows, `wide` beside each other."""
    noise = iter(hashlib.shake_128(b"cells").digest(4096))
    fresh = lambda count: [bytes(next(noise) for _ in range(side)) for _ in range(count)]
    a, b = fresh(side), fresh(side)
    grid = [a, b, a, b[:2] + fresh(side - 2), a[-2:] + fresh(side - 2), fresh(side - 3) + a[:3], b[1:4] + fresh(side - 3)]
    if side == 4:
        grid += [a[:2] + b[:2], [a[0], b[0], a[1], b[1]], [a[2], b[2], b[3], a[3]]]
    grid += [a] * (-len(grid) % wide)
    rows = [grid[k : k + wide] for k in range(0, len(grid), wide)]
    return b"".join(cell[y] for row in rows for y in range(side) for cell in row)


for side, wide in ((4, 2), (4, 3), (8, 1), (8, 2)):
    keep("codec_roundtrip", bytes([5, side * wide, 0]) + cells(side, wide))
# Chunks as C-Blosc2 keeps them of a file: two blocks; their sizes are right, negative, or beyond the chunk.
lazy = struct.pack("<BBBBiii6sBB6sBB", 5, 1, 0x15 | 0x20, 4, 256, 128, 200, bytes(6), 0, 0, bytes(6), 0, 8)
for starts, sizes in (((40, 120), (80, 80)), ((40, 120), (-1, 80)), ((40, -7), (80, 80)), ((40, 120), (0, 300))):
    keep("chunk_parse", lazy + struct.pack("<iiiqii", *starts, 3, 1000, *sizes))
stored = lazy[:2] + bytes([0x17]) + lazy[3:12] + struct.pack("<i", 288) + lazy[16:]
keep("chunk_parse", stored + struct.pack("<iiiqii", 32, 160, 3, 1000, 128, 128))
# Targets that read their input as choices.
for name in ("chunk_roundtrip", "chunk_mutated", "codec_roundtrip", "kernel_twins", "filters_pipeline",
             "frame_edit_sequence", "frame_mutated", "sframe_mutated", "b2nd_slice", "b2nd_resize",
             "b2nd_mutated", "bloscpack_append", "rows_edit_sequence", "c_differential"):
    for i in range(12):
        pattern = bytes((k * (i + 3) >> (k % 5)) & 255 for k in range(20 + 37 * i))
        keep(name, bytes([i * 17 & 255, 5 * i & 255, i, 3]) + pattern)
for name, folder in ("bloscpack_open", vectors / "containers"),:
    for path in sorted(folder.rglob("*.blp")):
        if path.stat().st_size <= LARGEST and "__" not in path.name:
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
        if data and len(data) <= LARGEST:
            keep(name, data)
# MessagePack: the metalayers of the vectors, and one value of each marker.
for record in records:
    for content in [*(record.get("metalayers") or {}).values(), *(record.get("vlmetalayers") or {}).values()]:
        if isinstance(content, str) and len(content) <= 2 * LARGEST:
            keep("msgpack", bytes.fromhex(content))
for content in (
    "00 7f e0 ff c0 c2 c3 cc80 cd0100 ce00010000 cfffffffffffffffff d080 d18000 d280000000 d38000000000000000",
    "ca3f800000 ca7fc00000 cb3ff199999999999a cb7ff0000000000000 cbfff0000000000000 cb8000000000000000",
    "a0 a3616263 d90161 da000161 db0000000161 a2c3a9 a1ff d901ff c400 c40161 c5000161 c60000000161 c402ff00",
    "d40161 d5016162 d60161626364 d7016162636465666768 d80130313233343536373839616263646566 c7010561 c800010561",
    "c90000000105ff 90 91c0 dc000100 dd0000000100 80 81a16101 de0001a16101 df00000001a16101 8201c0a16102 81c40161c0",
    "82a16101a16102 8191c001 9190 919191c0 c1 92 dc c7 81 a1 cb d8 dfffffffff ddffffffff dbffffffff c6ffffffff",
):
    for one in content.split():
        keep("msgpack", bytes.fromhex(one))
keep("msgpack", b"\x91" * 70 + b"\xc0")
for text in (
    '{"a": NaN, "b": [-Infinity, Infinity], "c": "h\\u00e9\\ud83d\\ude00", "d": 1.50e-7, "e": {}, "f": null}',
    '"\\" \\\\ \\/ \\b\\f\\n\\r\\t"', "[1, -0, 0.5, 1e5, 1E+5, true, false, [], [[]]]", '{"a": 1, "a": 2}', "[1,]", "01", "1.",
    '"\\ud83d"', '"\\udc00\\ud800"', '"\\x"', '"\x01"', '{"a" 1}', "nul", "[", '"open', "1 2", '"\xff"', "- 1", "-", "+1", "1e",
    "{'a': None, 'b': (1, 2), 'c': True, \"d\": 'it\\'s', 'e': ('x',), 'f': ()}", "{'shape': (20,), 'dflt': False}",
    "shape: (40,)\nnbytes: 160\n", "a:\n  b:\n    - 1\n    - c: 2\n      d: 3\n    -\n      - x\ne: [1, {f: g}, 'it''s', \"q\\n\"]\n",
    "# comment\n---\na: 'x' # more\nb: \"y\"\nc: ~\nd: yes\n...\n", "- - 1\n  - 2\n- {a: 1, b: [2]}\n- (30, 20)\n- ()\n",
    "a: &x 1\nb: *x\n", "a: !!str 1\n", "a: |\n  x\n", "a:\tb\n", "a: 1\n b: 2\n", "? a\n: b\n", "a: 1\na: 2\n", "<<: {a: 1}\n",
    "a: [1, 2\n", "a: {b: 1\n", "a: 'x\n", "--- 1\n--- 2\n", "", "\n", "a", "a:", "a: b: c\n", "  a: 1\nb: 2\n", "'a b': 1\n\"c\": 2\n",
    "float32", "a: -.inf\nb: .nan\nc: 0x1F\nd: 1_000\n",
):
    keep("text_value", text.encode("latin-1"))
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
wild = here.parent / "frame/tests/fixtures/wild"
for table in ["plain.b2d", "table.b2d"]:
    folder = wild / table
    members = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    keep("table_open", b"\0" + files(*sorted(members.items())))
for store, tables in [("rows.b2z", {"": ""}), ("tree.b2z", {"g/t/": "t/", "none/": ""})]:
    with zipfile.ZipFile(wild / store) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    keep("table_open", b"\1" + (wild / store).read_bytes())
    for prefix, to in tables.items():
        inner = {to + name.removeprefix(prefix): data for name, data in members.items() if name.startswith(prefix)}
        inner["embed.b2e"] = members["embed.b2e"]
        keep("table_open", b"\0" + files(*sorted(inner.items())))
