"""The type stubs say what the compiled module has: names, and of functions the parameters with their kinds and defaults."""

import ast
import inspect
import pathlib
import subprocess
import sys

import pytest

import blosc_frame
from blosc_frame import _native

STUBS = pathlib.Path(blosc_frame.__file__).with_name("_native.pyi")


def parameters(node):
    """Name, kind and default of each parameter of a function in the stubs."""
    arguments = node.args
    positional = arguments.posonlyargs + arguments.args
    defaults = [inspect.Parameter.empty] * (len(positional) - len(arguments.defaults))
    defaults += [ast.literal_eval(value) for value in arguments.defaults]
    found = [(a.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, d) for a, d in zip(positional, defaults)]
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults):
        default = inspect.Parameter.empty if value is None else ast.literal_eval(value)
        found.append((argument.arg, inspect.Parameter.KEYWORD_ONLY, default))
    return [parameter for parameter in found if parameter[0] not in ("self", "cls")]


def compare(node, thing):
    signature = inspect.signature(thing).parameters.values()
    real = [(p.name, p.kind, p.default) for p in signature if p.name not in ("self", "cls")]
    wanted = parameters(node)
    # An overload says of a parameter that it must be given, where another has its default.
    assert [p[:2] for p in wanted] == [p[:2] for p in real], node.name
    assert all(w[2] in (r[2], inspect.Parameter.empty) for w, r in zip(wanted, real)), node.name


def test_the_stubs_are_what_the_module_has():
    tree = ast.parse(STUBS.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        compare(node, getattr(_native, node.name))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and hasattr(_native, node.name)]
    for cls in classes:
        real = getattr(_native, cls.name)
        members = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
        public = {name for name in vars(real) if not name.startswith("_")}
        assert members - {"__new__"} == public, cls.name
        for node in cls.body:
            if isinstance(node, ast.FunctionDef) and node.name in ("__new__", "read_box"):
                compare(node, real if node.name == "__new__" else getattr(real, node.name))
    constants = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    named = {node.name for node in functions + classes} | constants
    assert named == {name for name in vars(_native) if not name.startswith("_")}
    assert STUBS.with_name("py.typed").exists()


USED = """
import blosc_frame
import numpy as np
from blosc_frame.numcodecs import Blosc

codec = Blosc("zstd", clevel=3, shuffle=Blosc.BITSHUFFLE, typesize=4, threads=2)
chunk: bytes = codec.encode(np.zeros(10))
plain: bytes = blosc_frame.decompress(chunk, threads=2)
into: bytearray = blosc_frame.decompress(chunk, bytearray(80))
version: str = blosc_frame.__version__
blosc_frame.save("a.b2nd", np.zeros(10), chunks=(5,), metadata={"unit": "K"})
with blosc_frame.open("a.b2nd", threads=2) as array:
    shape: tuple[int, ...] = array.shape
    ready: bool = array.closed
"""
WRONG = """
from blosc_frame.numcodecs import Blosc

Blosc(cname=5)
Blosc(level=3)
Blosc("lz4", threads="2")
"""


def test_a_program_that_uses_it_passes_mypy_strict(tmp_path):
    pytest.importorskip("mypy")

    def mypy(text):
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout

    assert "Success" in mypy(USED), mypy(USED)
    assert "Found 3 errors" in mypy(WRONG), mypy(WRONG)
