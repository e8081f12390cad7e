"""Gives every vector to a reader and prints what became of them, a row for each tag. Status 1 if one is read wrongly.
    python3 run.py blosc2 | blosc | bloscpack | numcodecs | imagecodecs | zarr     # a Python package
    python3 run.py 'reader {format} {file} {offset}'            # a program that writes the decoded bytes to standard output
A process of its own reads each file; it ends with status 77 where it does not read a format. -v lists what is read wrongly.
"""
import collections, hashlib, importlib, json, os, pathlib, shlex, signal, sys, tempfile, zipfile

here, reader = pathlib.Path(__file__).parent, sys.argv[1]
FORMATS = {"blosc2": ["chunk1", "chunk2", "cframe", "sframe", "b2nd"], "imagecodecs": ["chunk1", "chunk2"], "bloscpack": ["bloscpack"],
           "blosc": ["chunk1"], "numcodecs": ["chunk1"], "zarr": ["chunk1"]}
package = importlib.import_module({"numcodecs": "numcodecs.blosc"}.get(reader, reader)) if reader in FORMATS else None

def decode(format, file, offset):
    """In a process of its own: gives the decoded bytes, or becomes the program that writes them."""
    if not package:
        os.execvp((words := shlex.split(reader.format(format=format, file=file, offset=offset)))[0], words)
    if format not in FORMATS[reader] or offset:
        os._exit(77)
    if format == "bloscpack":
        return package.unpack_bytes_from_file(file)[0]
    if format in ("cframe", "sframe", "b2nd"):
        array = package.open(file, mode="r")
        return array[...].tobytes() if format == "b2nd" else b"".join(map(array.decompress_chunk, range(array.nchunks)))
    chunk = pathlib.Path(file).read_bytes()
    if reader == "zarr":  # The chunk becomes the only one of an array of bytes. One without bytes has no chunk.
        size, codec = int.from_bytes(chunk[4:8], "little") or os._exit(77), package.codecs.BloscCodec(typesize=1)
        array = package.create_array(f"{file}.zarr", shape=[size], chunks=[size], dtype="u1", compressors=codec)
        os.renames(file, f"{file}.zarr/c/0")
        return array[...].tobytes()
    call = {"blosc2": "decompress2", "imagecodecs": {"chunk1": "blosc_decode", "chunk2": "blosc2_decode"}[format]}
    return bytes(getattr(package, call.get(reader, "decompress"))(chunk))

def outcome(entry, want, file, out):
    if not (child := os.fork()):
        try:
            signal.alarm(20)
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1), os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os._exit(pathlib.Path(out).write_bytes(decode(entry["format"], file, entry.get("offset", 0))) * 0)
        finally:
            os._exit(1)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        refused = "crashed" if code < 0 else "refused wrongly" if want["result"] == "decodes" else "right"
        return {77: "unsupported", -signal.SIGALRM: "hung"}.get(code, refused)
    wrong = want.get("sha256") not in (None, hashlib.sha256(pathlib.Path(out).read_bytes()).hexdigest())
    return "accepted wrongly" if want["result"] == "refuse" else "wrong bytes" if wrong else "right"

columns = ["right", "wrong bytes", "refused wrongly", "accepted wrongly", "crashed", "hung", "unsupported"]
table = collections.defaultdict(collections.Counter)
with tempfile.TemporaryDirectory() as folder:
    for archive in here.glob("*.zip"):
        zipfile.ZipFile(archive).extractall(f"{folder}/{archive.name}")
    for entry in json.loads((here / "manifest.json").read_text()):
        got = outcome(entry, entry["expect"], f"{folder}/{entry['archive']}/{entry['file']}", f"{folder}/out")
        table.update({tag: table[tag] + collections.Counter([got]) for tag in [*entry["tags"], "all"]})
        if "-v" in sys.argv and got not in ("right", "unsupported"):
            print(entry["archive"], entry["file"], got, entry["expect"])
print("| tag |", " | ".join(columns), "|\n|---" + "|--:" * len(columns) + "|")
for tag in sorted(tag for tag in table if not tag.startswith("field:")):
    print(f"| {tag} |", " | ".join(str(table[tag][column] or "") for column in columns), "|")
sys.exit(table["all"]["right"] + table["all"]["unsupported"] < sum(table["all"].values()))
