"""Makes the archives and the manifest from a folder of interoperability vectors.

    python3 fuzz/vectors/make.py VECTORS BLOSC      # BLOSC: the built command

What a valid file decodes to was noted when it was written. What must become of a malformed file is decided from two readers,
libblosc2 3.3.5 (noted in VECTORS) and BLOSC: where both refuse, a reader must refuse; where one of them reads it, a reader
may refuse or give these bytes. Files of `compat/`, which has another licence, and those made from them are left out; chunks
of `BY_HAND`, which no writer makes, are added.
"""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

vectors, blosc = pathlib.Path(sys.argv[1]), sys.argv[2]
here = pathlib.Path(__file__).parent
AS = {"chunk1": "chunk", "chunk2": "chunk", "cframe": "frame", "sframe": "sframe", "b2nd": "b2nd", "bloscpack": "bloscpack", "bcolz": "bcolz"}
FILTERS = ["", "shuffle", "bitshuffle", "delta", "trunc_prec"]
PLUGINS = {32: "ndcell", 33: "ndmean", 34: "bytedelta", 35: "bytedelta", 36: "int_trunc"}
OPTIONAL = {32: "ndlz", 33: "zfp_acc", 34: "zfp_prec", 35: "zfp_rate"}
# A reader that does not know these must refuse by name, and one that does must give the bytes.
USER = 160
# name: (chunk, the field that is wrong, what C-Blosc2 3.3.5 does)
BY_HAND = {
    # docs/formats/chunk.md, appendix B12: variable-length blocks, one by its header, no bytes, and the header is all there is.
    f"chunk_vl_no_bytes_v{version}.chunk": (bytes([version, 1, 0x15, 1]) + struct.pack("<3i", 0, 1, 32) + bytes(14) + b"\1\0", "nbytes", "crash")
    for version in (5, 6)
}


def format_of(record):
    kind = record["kind"].removeprefix("malformed-")
    if kind == "blosc1" and record["format_version"] > 2:
        return "chunk2"  # a header of 16 bytes with a version that C-Blosc 1 does not take
    names = {"blosc1": "chunk1", "chunk": "chunk2", "chunk-vl": "chunk2", "chunk-lazy": "chunk2", "frame": "cframe", "b2nd-sframe": "b2nd"}
    return names.get(kind, kind)


def archive_of(record, fmt):
    if record["kind"].startswith("malformed-"):
        return "malformed"
    if record["kind"] == "chunk-lazy":
        return "lazy"
    if any(number >= 32 for number in record.get("filters", [])) or record.get("codec", "").startswith(("user", "udc", "ndlz", "zfp")):
        return "plugins"
    if record.get("use_dict"):
        return "dictionaries"
    if fmt == "chunk2" and (record.get("special") or record["kind"] == "chunk-vl"):
        return "special"
    return fmt


def tags_of(record, fmt, archive):
    tags = {fmt, archive}
    tags |= {record[key] for key in ("codec", "special") if record.get(key)}
    for number in record.get("filters", []):
        if number:
            tags.add(FILTERS[number] if number < len(FILTERS) else PLUGINS.get(number, f"filter-{number}"))
    if record.get("use_dict"):
        tags.add("dictionary")
    if record["kind"].endswith("chunk-vl") or record.get("vl_block_sizes"):
        tags.add("variable-length-blocks")
    if record.get("lossy"):
        tags.add("lossy")
    if record.get("typesize", 1) > 255:
        tags.add("items-above-255-bytes")
    if record.get("metalayers") or record.get("vlmetalayers"):
        tags.add("metalayers")
    if record.get("chunksize") == 0 and fmt == "cframe":
        tags.add("chunks-of-several-sizes")
    if "mutation" in record:
        tags.add("field:" + record["mutation"].split("=")[0].split("@")[0])
    for flag in ("c_decode", "c_decode_mt", "c_outcome"):
        if record.get(flag) in ("partial", "racy", "crash", "hang", "unstable", "toolarge"):
            tags.add(f"c-blosc2-defect:{record[flag]}")
    return sorted(tags)


def read_by_us(path, fmt, offset=0):
    """(SHA-256, size) of what the command decodes, or (None, its message)."""
    words = [blosc, "decompress", str(path), "--as", AS[fmt], "--plain", "--max-output", str(1 << 28), "-o", "-"]
    run = subprocess.run(words + (["--offset", str(offset)] if offset else []), capture_output=True, timeout=60)
    if run.returncode:
        return None, run.stderr.decode().strip().removeprefix("blosc: ").replace(f"{path}: ", "")
    return hashlib.sha256(run.stdout).hexdigest(), len(run.stdout)


def expectation(record, path, fmt, archive):
    if archive == "lazy":
        return {"result": "refuse", "reason": "its blocks are not in it: they lie in the frame that it was taken from"}
    if "c_outcome" not in record:
        want = {"result": "decodes", "nbytes": record.get("array_nbytes", record.get("decoded_len", record.get("nbytes")))}
        if record.get("decoded_sha256"):
            want["sha256"] = record["decoded_sha256"]
        if any(number >= USER for number in record.get("filters", [])) or record.get("codec", "").startswith(("user", "udc")):
            return {**want, "result": "either", "reason": "it needs a codec or filter of its writer's own"}
        return want
    ours, detail = read_by_us(path, fmt, record.get("offset", 0))
    theirs = record["c_outcome"]
    if theirs.startswith("ok:"):
        return {"result": "either", "sha256": theirs[3:], **({} if ours else {"reason": detail})}
    if ours:
        return {"result": "either", "sha256": ours}
    return {"result": "refuse", "reason": detail}


def severity(record):
    if "mutation" not in record:
        return "correctness"
    return {"crash": "memory", "unstable": "memory", "hang": "resources", "toolarge": "resources"}.get(record["c_outcome"].split(":")[0], "correctness")


def files_of(path):
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def records():
    for record in json.loads((vectors / "manifest.json").read_text()):
        if "compat" in record["file"] or "compat" in str(record.get("base")) or record["kind"].startswith("raw-"):
            continue
        yield record, vectors / record["file"]
    for record in json.loads((vectors / "containers/manifest.json").read_text()):
        path = vectors / "containers" / record.get("file", record.get("dir", ""))
        yield {**record, "file": path.relative_to(vectors).as_posix()}, path
    with tempfile.TemporaryDirectory() as folder:
        for name, (chunk, field, outcome) in BY_HAND.items():
            path = pathlib.Path(folder, name)
            path.write_bytes(chunk)
            record = {"file": f"malformed/{name}", "kind": "malformed-chunk-vl", "mutation": field, "c_outcome": outcome}
            yield record, path


entries, members = [], {}
for record, path in records():
    fmt = format_of(record)
    archive = archive_of(record, fmt)
    if record["kind"] == "bcolz" and "columns" in record:
        continue  # a table has no bytes of its own: its columns are arrays
    name = record["file"].split("/", 1)[1] if archive != "malformed" else record["file"].removeprefix("malformed/")
    entry = {"archive": f"{archive}.zip", "file": name, "format": fmt}
    if record.get("offset"):
        entry["offset"] = record["offset"]
    by_hand = f"by hand: {record['mutation']} of {record['base']}" if "base" in record else "by hand"
    entry["origin"] = by_hand if "mutation" in record else record["made_by"]
    entry["licence"] = "MIT OR Apache-2.0"
    entry["expect"] = expectation(record, path, fmt, archive)
    for key in ("dtype", "shape", "chunks", "blocks", "typesize", "metalayers"):
        if key in record:
            entry[key] = record[key]
    entry["tags"], entry["severity"] = tags_of(record, fmt, archive), severity(record)
    entries.append(entry)
    for file in files_of(path):
        inside = name if path.is_file() else f"{name}/{file.relative_to(path).as_posix()}"
        members.setdefault(archive, {})[inside] = file.read_bytes()

for archive, files in members.items():
    with zipfile.ZipFile(here / f"{archive}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            out.writestr(info, files[name])
entries.sort(key=lambda entry: (entry["archive"], entry["file"]))
lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
(here / "manifest.json").write_text(f"[\n{lines}\n]\n")
print(len(entries), "files in", len(members), "archives")
