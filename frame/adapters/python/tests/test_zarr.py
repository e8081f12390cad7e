"""zarr-python: version 2 and 3, sharded and not, whole and in parts, both ways with its own codec."""

import ast
import os
import pathlib
import subprocess
import sys

import numcodecs
import numpy as np
import pytest
import zarr

import blosc_frame
import blosc_frame.numcodecs
import blosc_frame.zarr as ours

CONFIG = {"codecs.blosc": "blosc_frame.zarr.BloscCodec", "codec_pipeline.path": "blosc_frame.zarr.PartialPipeline"}


@pytest.fixture(params=["whole", "partial"])
def registered(request):
    """This package in the place of Zarr's own codec, as `register` does it."""
    before = numcodecs.registry.codec_registry["blosc"]
    keys = list(CONFIG)[: 1 if request.param == "whole" else 2]
    with zarr.config.set({key: CONFIG[key] for key in keys}):
        blosc_frame.numcodecs.register()
        yield request.param
    numcodecs.register_codec(before)


def values(dtype="<f8", shape=(300, 200)):
    return (np.arange(np.prod(shape)) // 3 % 1000).astype(dtype).reshape(shape)


def create(store, data, **options):
    compressor = zarr.codecs.BloscCodec(cname="zstd", clevel=3, blocksize=1024)
    options = {"chunks": (100, 60), "compressors": compressor} | options
    if options.get("zarr_format") == 2:
        options["compressors"] = numcodecs.Blosc("lz4", blocksize=2048)
    array = zarr.create_array(store, shape=data.shape, dtype=data.dtype, **options)
    array[:] = data
    return array


LAYOUTS = {
    "v2": {"zarr_format": 2},
    "v3": {},
    "sharded": {"chunks": (20, 30), "shards": (100, 60)},
    "big endian": {"serializer": zarr.codecs.BytesCodec(endian="big")},
    "transposed": {"filters": zarr.codecs.TransposeCodec(order=(1, 0))},
    "three dimensions": {"chunks": (10, 20, 30)},
    "checksum": {"compressors": [zarr.codecs.BloscCodec(), zarr.codecs.Crc32cCodec()]},
}
SELECTIONS = [
    ...,
    (5,),
    (5, 7),
    (slice(90, 110), slice(50, 70)),
    (slice(3, 250, 7), slice(None)),
    (slice(None), 3),
    (slice(101, 102), slice(61, 63)),
    (slice(299, 300), slice(150, 200, 2)),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reads_what_zarr_wrote_and_zarr_reads_what_this_wrote(registered, tmp_path, layout):
    options = LAYOUTS[layout]
    data = values(shape=(300, 40, 70) if layout == "three dimensions" else (300, 200))
    with zarr.config.set({"codecs.blosc": "zarr.codecs.blosc.BloscCodec"}):
        create(tmp_path / "theirs", data, **options)
    theirs = zarr.open_array(tmp_path / "theirs", mode="r+")
    for selection in SELECTIONS:
        np.testing.assert_array_equal(theirs[selection], data[selection], err_msg=str(selection))
    np.testing.assert_array_equal(theirs.oindex[[3, 150, 299], 5:9], data[[3, 150, 299], 5:9])
    picks = ([3, 250, 299], [7, 8, 9]) + (([0, 1, 2],) if data.ndim == 3 else ())
    np.testing.assert_array_equal(theirs.vindex[picks], data[picks])
    theirs[95:105, 5:9] = 1
    changed = data.copy()
    changed[95:105, 5:9] = 1
    np.testing.assert_array_equal(theirs[:], changed)

    create(tmp_path / "ours", data, **options)
    script = (
        "import sys, numpy, zarr; a = zarr.open_array(sys.argv[1], mode='r')\n"
        "assert not any(type(c).__module__.startswith('blosc_frame') for c in a.compressors)\n"
        "numpy.save(sys.argv[2], a[:])"
    )
    # A process of its own has Zarr's own codec.
    run(script, tmp_path / "ours", tmp_path / "back.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "back.npy"), data)


def run(script, *arguments, env=None):
    arguments = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(arguments, env=os.environ | (env or {}), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", ["i1", ">u2", "<M8[ns]", "?", "c16", "U5", "S7", str])
def test_item_types(registered, tmp_path, dtype):
    if zarr.__version__.startswith("3.0.") and dtype in (">u2", "<M8[ns]"):
        pytest.skip("version 3 of Zarr has this type from zarr 3.1 on")
    if dtype is str and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy has strings of any length from 2.0 on")
    data = np.array([f"{n % 90}" for n in range(900)]).astype(dtype if dtype is not str else object)
    if dtype is str:
        data = data.astype(np.dtypes.StringDType())
    array = zarr.create_array(
        tmp_path / "a", shape=(900,), dtype=data.dtype, chunks=(100,), compressors=zarr.codecs.BloscCodec()
    )
    array[:] = data
    assert isinstance(zarr.open_array(tmp_path / "a").compressors[0], ours.BloscCodec)
    again = zarr.open_array(tmp_path / "a")
    np.testing.assert_array_equal(again[250:260], data[250:260])
    np.testing.assert_array_equal(again[7], data[7])


def test_what_of_zarr_is_used_beside_its_public_interface():
    """Each name here may change with a release of Zarr; the tests of this file say so then.

    All of them are called or overridden as `zarr.abc.codec` documents its classes, but these are not public names:
    types of arguments, which are imported for type checkers alone, and the functions that codecs implement.
    """
    tree = ast.parse(pathlib.Path(ours.__file__).read_text())
    typing = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for node in typing:
        tree.body.remove(node)
    imports = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    imports |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {name for name in imports if name.startswith("zarr")} == {
        "zarr",
        "zarr.codecs",
        "zarr.abc.codec",
        "zarr.registry",
    }
    codec = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "BloscCodec")
    overridden = {node.name for node in codec.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert overridden == {"_decode_sync", "_encode_sync", "_decode_single", "_encode_single"}
    abstract = {name for name, thing in vars(zarr.abc.codec.BaseCodec).items() if callable(thing)}
    assert {"_decode_single", "_encode_single"} <= abstract
    # The pipeline has every function that Zarr may call, and no others of a pipeline.
    pipeline = {name for name in vars(zarr.abc.codec.CodecPipeline) if not name.startswith("_")}
    assert pipeline - {"from_array_metadata_and_store"} <= set(vars(ours.PartialPipeline))


def test_codecs_made_by_other_classes_become_ours(tmp_path, monkeypatch):
    """With `register`, also where the caller made the codec by Zarr's or numcodecs' own class."""
    data, calls = values(), []
    real = ours.compress
    monkeypatch.setattr(ours, "compress", lambda *a, **k: calls.append("v3") or real(*a, **k))
    monkeypatch.setattr(blosc_frame.numcodecs, "compress", lambda *a, **k: calls.append("v2") or real(*a, **k))
    with zarr.config.set(CONFIG):
        for version, made in [(3, zarr.codecs.BloscCodec(cname="lz4")), (2, numcodecs.Blosc("lz4"))]:
            array = zarr.create_array(
                tmp_path / str(version),
                shape=data.shape,
                dtype=data.dtype,
                chunks=(150, 100),
                zarr_format=version,
                compressors=made,
            )
            array[:] = data
            assert calls == [f"v{version}"] * 4
            np.testing.assert_array_equal(array[10:12, 5:7], data[10:12, 5:7])
            calls.clear()


def test_a_pipeline_that_somebody_chose_stays():
    script = (
        "import zarr, zarr.registry, blosc_frame\n"
        "from zarr.core.codec_pipeline import BatchedCodecPipeline\n"
        "class Mine(BatchedCodecPipeline): pass\n"
        "zarr.registry.register_pipeline(Mine)\n"
        "zarr.config.set({'codec_pipeline.path': '__main__.Mine'})\n"
        "blosc_frame.register()\n"
        "assert zarr.config.get('codec_pipeline.path') == '__main__.Mine'\n"
        "a = zarr.create_array({}, shape=10, dtype='f4', compressors=zarr.codecs.BloscCodec())\n"
        "a[:] = 3\n"
        "assert type(a._async_array.codec_pipeline) is Mine and a[4] == 3"
    )
    run(script)


def test_chunks_that_are_not_there(registered, tmp_path):
    array = zarr.create_array(
        tmp_path / "a", shape=(100, 10), dtype="i4", chunks=(10, 10), fill_value=7, compressors=ours.BloscCodec()
    )
    array[5] = 1
    np.testing.assert_array_equal(array[4:25, 3], [7, 1] + [7] * 19)
    if "read_missing_chunks" in zarr.config.get("array"):
        from zarr.errors import ChunkNotFoundError

        strict = zarr.open_array(tmp_path / "a", config={"read_missing_chunks": False})
        np.testing.assert_array_equal(strict[5, 3:5], [1, 1])
        with pytest.raises(ChunkNotFoundError, match="1 chunk"):
            strict[5:15, 3]


def test_the_defaults_are_those_of_zarr(registered):
    spec = zarr.create_array({}, shape=10, dtype="<f4", compressors=ours.BloscCodec()).metadata.codecs[1].to_dict()
    theirs = zarr.codecs.BloscCodec()
    assert spec == zarr.create_array({}, shape=10, dtype="<f4", compressors=theirs).metadata.codecs[1].to_dict()


def test_environment_variables_choose_it(tmp_path):
    data = values()
    create(tmp_path / "a", data)
    script = (
        "import sys, zarr; a = zarr.open_array(sys.argv[1])\n"
        "assert type(a.compressors[0]).__module__ == 'blosc_frame.zarr'\n"
        "assert type(a._async_array.codec_pipeline).__name__ == 'PartialPipeline'\n"
        "assert a[5, 7] == 335.0"
    )
    run(
        script,
        tmp_path / "a",
        env={
            "ZARR_CODECS__BLOSC": "blosc_frame.zarr.BloscCodec",
            "ZARR_CODEC_PIPELINE__PATH": "blosc_frame.zarr.PartialPipeline",
        },
    )


def test_parts_decode_only_their_blocks(monkeypatch):
    data = values("<i4", (100, 1000))
    with zarr.config.set(CONFIG):
        array = zarr.create_array(
            {}, shape=data.shape, dtype=data.dtype, chunks=data.shape, compressors=ours.BloscCodec(blocksize=4096)
        )
        array[:] = data
        decoded = []
        real = ours.decompress_range
        monkeypatch.setattr(ours, "decompress_range", lambda c, a, b, out: decoded.append(b - a) or real(c, a, b, out))
        monkeypatch.setattr(ours, "decompress", lambda *_: decoded.append("whole"))
        np.testing.assert_array_equal(array[50], data[50])
        assert array[99, 999] == data[99, 999]
        np.testing.assert_array_equal(array[10:12, 5:7], data[10:12, 5:7])
    assert decoded == [4000, 4, 8000]


def test_a_chunk_that_announces_more_than_the_array_is_refused(registered, tmp_path):
    data = values()
    create(tmp_path / "a", data)
    lies = blosc_frame.compress(bytes(100 << 20))
    (tmp_path / "a" / "c" / "0" / "0").write_bytes(lies)
    (tmp_path / "a" / "c" / "0" / "1").write_bytes(b"damaged")
    array = zarr.open_array(tmp_path / "a")
    with pytest.raises(blosc_frame.BloscError, match="chunks of 48000 bytes"):
        array[0, 0]
    with pytest.raises(blosc_frame.BloscError, match="header"):
        array[0, 60]
    np.testing.assert_array_equal(array[0, 120:], data[0, 120:])
