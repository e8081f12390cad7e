import os
import pathlib
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    """A folder with both copies of the library that BLOSC_HDF5_PLUGIN names."""
    built = pathlib.Path(os.environ["BLOSC_HDF5_PLUGIN"])
    folder = tmp_path_factory.mktemp("plugin")
    for name in ("libh5blosc.so", "libh5blosc2.so"):
        shutil.copy(built, folder / name)
    return folder


@pytest.fixture
def run(plugin):
    """Runs a script, or a program, in a process whose HDF5 has this plugin and no other."""

    def go(*arguments, fails=False):
        if "\n" in arguments[0]:
            arguments = (sys.executable, "-c", *arguments)
        environment = os.environ | {"HDF5_PLUGIN_PATH": str(plugin)}
        done = subprocess.run(list(map(str, arguments)), env=environment, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return go
