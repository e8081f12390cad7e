"""Gives every vector to a reader and prints what became of them, a row for each tag. Status 1 if one is read wrongly.

    python3 run.py blosc2 | blosc | numcodecs | imagecodecs     # a Python package, each file in a process of its own
    python3 run.py 'reader {format} {file} {offset}'            # a program that writes the decoded bytes to standard output
A program ends with status 77 where it does not read a format. -v lists the files that are read wrongly.
"""
import collections, hashlib, importlib, json, os, pathlib, shlex, signal, sys, tempfile, zipfile

here, reader = pathlib.Path(__file__).parent, sys.argv[1]
FORMATS = {"blosc2": "chunk1 chunk2 cframe sframe b2nd", "blosc": "chunk1", "numcodecs": "chunk1", "imagecodecs": "chunk1 chunk2"}
package = importlib.import_module({"numcodecs": "numcodecs.blosc"}.get(reader, reader)) if reader in FORMATS else None

def decode(format, file, offset):
    """In a process of its own: writes the decoded bytes to standard output, or becomes the program that does."""
    words = [word.format(file=file, format=format, offset=offset) for word in shlex.split(reader)]
    if not package:
        os.execvp(words[0], words)
    if format not in FORMATS[reader].split() or offset:
        os._exit(77)
    if format in ("cframe", "sframe", "b2nd"):
        array = package.open(file, mode="r")
        return array[...].tobytes() if format == "b2nd" else b"".join(map(array.decompress_chunk, range(array.nchunks)))
    call = {"blosc2": "decompress2", "imagecodecs": {"chunk1": "blosc_decode", "chunk2": "blosc2_decode"}.get(format)}
    return bytes(getattr(package, call.get(reader, "decompress"))(pathlib.Path(file).read_bytes()))

def outcome(entry, file, out):
    """What became of a file."""
    if not (child := os.fork()):
        try:
            signal.alarm(20)
            for number, name in ((1, out), (2, os.devnull)):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            pathlib.Path(out).write_bytes(decode(entry["format"], file, entry.get("offset", 0)))
            os._exit(0)
        finally:
            os._exit(1)
    status, want = os.waitpid(child, 0)[1], entry["expect"]
    if os.WIFSIGNALED(status):
        return "hung" if os.WTERMSIG(status) == signal.SIGALRM else "crashed"
    if code := os.WEXITSTATUS(status):
        return "unsupported" if code == 77 else "refused wrongly" if want["result"] == "decodes" else "right"
    if want["result"] == "refuse":
        return "accepted wrongly"
    return "right" if want.get("sha256") in (None, hashlib.sha256(pathlib.Path(out).read_bytes()).hexdigest()) else "wrong bytes"

columns = ["right", "wrong bytes", "refused wrongly", "accepted wrongly", "crashed", "hung", "unsupported"]
table = collections.defaultdict(collections.Counter)
with tempfile.TemporaryDirectory() as folder:
    for archive in here.glob("*.zip"):
        zipfile.ZipFile(archive).extractall(f"{folder}/{archive.name}")
    for entry in json.loads((here / "manifest.json").read_text()):
        got = outcome(entry, f"{folder}/{entry['archive']}/{entry['file']}", f"{folder}/out")
        for tag in [*entry["tags"], "all"]:
            table[tag][got] += 1
        if "-v" in sys.argv and got not in ("right", "unsupported"):
            print(entry["archive"], entry["file"], got, entry["expect"])
print("| tag |", " | ".join(columns), "|\n|---" + "|--:" * len(columns) + "|")
for tag in sorted(tag for tag in table if not tag.startswith("field:")):
    print(f"| {tag} |", " | ".join(str(table[tag][column] or "") for column in columns), "|")
sys.exit(table["all"]["right"] + table["all"]["unsupported"] < sum(table["all"].values()))
