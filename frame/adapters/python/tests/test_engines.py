"""xarray and Dask with worker processes."""

import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest

import blosc_frame

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def test_xarray(tmp_path):
    xarray = pytest.importorskip("xarray")
    zarr = pytest.importorskip("zarr")
    data = np.arange(60_000.0).reshape(100, 600)
    with zarr.config.set(
        {"codecs.blosc": "blosc_frame.zarr.BloscCodec", "codec_pipeline.path": "blosc_frame.zarr.PartialPipeline"}
    ):
        codec = zarr.codecs.BloscCodec(cname="lz4", clevel=5)
        xarray.Dataset({"t": (("y", "x"), data)}).to_zarr(
            tmp_path / "set.zarr",
            encoding={"t": {"chunks": (10, 60), "shards": (50, 600), "compressors": (codec,)}},
        )
        found = xarray.open_zarr(tmp_path / "set.zarr", chunks=None)
        np.testing.assert_array_equal(found.t[3:5, 7].values, data[3:5, 7])
        assert float(found.t.mean()) == data.mean()


def test_dask_with_worker_processes_reads_shards_and_containers():
    pytest.importorskip("distributed")
    done = subprocess.run([sys.executable, EXAMPLES / "dask_shards.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worker processes" in done.stdout


def test_dask_slices_an_array_of_ours(tmp_path, series):
    dask_array = pytest.importorskip("dask.array")
    blosc_frame.save(tmp_path / "a.b2nd", series, chunks=(20_000,))
    array = blosc_frame.open(tmp_path / "a.b2nd")
    lazy = dask_array.from_array(array, chunks=array.chunks)
    assert lazy.npartitions == 10
    for scheduler in ("threads", "processes"):
        np.testing.assert_allclose(lazy[5:150_000:3].sum().compute(scheduler=scheduler), series[5:150_000:3].sum())


def test_the_speed_example_runs(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["speed.py", "--mebibytes", "1", "--rounds", "2"])
    runpy.run_path(str(EXAMPLES / "speed.py"), run_name="__main__")
    assert "decode" in capsys.readouterr().out
