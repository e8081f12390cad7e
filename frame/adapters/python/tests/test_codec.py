"""`blosc_frame.numcodecs.Blosc` beside `numcodecs.Blosc`, both ways."""

import os
import pickle
import threading
import time

import numcodecs
import numpy as np
import pytest

import blosc_frame
from blosc_frame.numcodecs import Blosc
from conftest import together

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
DTYPES = ["u1", "<i2", ">i4", "<f4", "<f8", "S3", "<M8[ns]", "c16", "V300"]


def sample(dtype, n=40_000):
    numbers = (np.arange(n) // 7) % 1000
    if np.dtype(dtype).kind == "V":
        return numbers.astype("u1").repeat(300)[: 300 * 500].view(dtype)
    if np.dtype(dtype).kind == "S":
        return numbers.astype("S3")
    return numbers.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cname", CODECS)
def test_both_ways(cname, dtype):
    data = sample(dtype)
    for shuffle in (-1, 0, 1, 2):
        for level in (0, 1, 5, 9):
            config = {"id": "blosc", "cname": cname, "clevel": level, "shuffle": shuffle, "blocksize": 0}
            theirs, ours = numcodecs.Blosc.from_config({k: v for k, v in config.items() if k != "id"}), Blosc()
            ours = Blosc(cname, level, shuffle)
            assert ours.get_config() == theirs.get_config() == config
            raw = data.tobytes()
            assert theirs.decode(ours.encode(data)) == raw
            assert ours.decode(theirs.encode(data)) == raw
            assert ours.decode(ours.encode(data)) == raw


def test_the_header_says_what_numcodecs_says():
    data = sample("<f4")
    configs = [{}, {"blocksize": 4096}, {"typesize": 8}, {"shuffle": 2}, {"typesize": 300}, {"cname": "zstd"}]
    if numcodecs.__version__ < "0.16":  # it takes no typesize
        configs = [config for config in configs if "typesize" not in config]
    for config in configs:
        ours, theirs = (blosc_frame.chunk_info(codec(**config).encode(data)) for codec in (Blosc, numcodecs.Blosc))
        for field in ("nbytes", "blocksize", "typesize", "codec", "filters"):
            assert ours[field] == theirs[field], config


def test_registered_it_is_what_numcodecs_gives():
    before = numcodecs.registry.codec_registry["blosc"]
    try:
        blosc_frame.register(partial=False)
        codec = numcodecs.get_codec({"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0})
        assert type(codec) is Blosc
        assert pickle.loads(pickle.dumps(codec)) == codec
        assert repr(codec) == "Blosc(cname='zstd', clevel=3, shuffle=BITSHUFFLE, blocksize=0)"
    finally:
        numcodecs.register_codec(before)


def test_decoding_into_memory_of_the_caller():
    data = sample("<f8")
    chunk = Blosc().encode(data)
    out = np.empty_like(data)
    assert np.shares_memory(Blosc().decode(chunk, out), out)
    np.testing.assert_array_equal(out, data)
    for buffer in (bytearray(chunk), memoryview(chunk), np.frombuffer(chunk, "u1")):
        assert Blosc().decode(buffer) == data.tobytes()
    with pytest.raises(ValueError, match=f"at least {data.nbytes}, got 8"):
        Blosc().decode(chunk, out[:1])
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        Blosc().decode(chunk, out)


def test_parts():
    data = sample("<i4")
    for codec in (Blosc(), numcodecs.Blosc("zstd", shuffle=2), Blosc("blosclz", blocksize=1024)):
        chunk = codec.encode(data)
        for start, count in [(0, 0), (0, 1), (39_990, 10), (1000, 1), (17, 30_000)]:
            want = data[start : start + count].tobytes()
            assert Blosc().decode_partial(chunk, start, count) == want
            out = np.empty(count, "<i4")
            Blosc().decode_partial(chunk, start, count, out)
            assert out.tobytes() == want
        with pytest.raises(IndexError):
            Blosc().decode_partial(chunk, 39_999, 2)


def test_bad_parameters():
    data = b"abc" * 100
    for bad in ({"cname": "lzma"}, {"typesize": 0}):
        with pytest.raises(ValueError):
            Blosc(**bad)
    for bad in ({"clevel": 10}, {"clevel": -1}, {"shuffle": 3}, {"clevel": 1000}):
        with pytest.raises(ValueError):
            Blosc(**bad).encode(data)
    with pytest.raises(ValueError, match="contiguous"):
        Blosc().encode(np.zeros((10, 10))[:, ::2])
    with pytest.raises(TypeError):
        Blosc().encode(np.array([None]))


def test_damage_is_an_exception_and_never_wrong_memory():
    data = sample("<f4", 5000)
    chunk = bytearray(Blosc("lz4", shuffle=0).encode(data))
    for length in range(len(chunk)):
        with pytest.raises(blosc_frame.BloscError):
            blosc_frame.decompress(bytes(chunk[:length]))
    for at in range(len(chunk)):
        damaged = bytearray(chunk)
        damaged[at] ^= 0xFF
        try:
            blosc_frame.decompress(damaged)
        except (blosc_frame.BloscError, ValueError) as error:
            assert str(error)


def test_limits():
    zeros = blosc_frame.compress(bytes(300 << 20), typesize=8)
    with pytest.raises(blosc_frame.BloscError, match="limit"):
        blosc_frame.decompress(zeros, limit=1 << 20)
    assert len(blosc_frame.decompress(zeros, limit=1 << 30)) == 300 << 20


def test_the_lock_of_the_interpreter_is_free_meanwhile():
    data = np.random.default_rng(1).integers(0, 50, 4_000_000)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    blosc_frame.compress(data, cname="zlib", clevel=6)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > 3


def test_several_threads_in_one_call():
    data = sample("<f8", 2_000_000)
    alone, several = Blosc("zstd", threads=1), Blosc("zstd", threads=0)
    chunk = several.encode(data)
    # The bytes do not depend on it, and neither does the configuration that is stored.
    assert chunk == alone.encode(data) and several.get_config() == alone.get_config()
    assert several.decode(chunk) == data.tobytes()
    assert pickle.loads(pickle.dumps(several)) == several


def resident(field):
    """A field of /proc/self/status in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="no /proc/self/clear_refs to write to")
def test_encoding_takes_no_more_memory_than_its_result():
    """The worst case is reserved, but not touched."""
    for data in (np.zeros(12_000_000, "f4"), np.repeat(np.arange(600_000, dtype="i4"), 20)):
        blosc_frame.compress(data[:1_000_000])  # scratch of this thread
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = resident("VmRSS")
        chunk = blosc_frame.compress(data)
        assert resident("VmHWM") - before < len(chunk) + (1 << 20), (data.dtype, len(chunk))


def test_many_threads():
    """Each has a chunk and memory of its own and shares chunks, a codec and an array of items with the others: on a Python
    without the interpreter's lock nothing else keeps them apart."""
    codecs = [Blosc("zstd"), Blosc("lz4", shuffle=2), Blosc("blosclz"), Blosc("zlib", 1), Blosc("lz4hc", threads=2)]
    data = sample("<f8")
    shared = [codec.encode(data) for codec in codecs]
    failures, gate = [], threading.Barrier(12)

    def work(k):
        own, out = data + k, np.empty_like(data)
        gate.wait()
        for turn in range(10):
            for codec, chunk in zip(codecs, shared, strict=True):
                first = (17 * k + 1009 * turn) % 39_000
                same = (
                    codec.encode(data) == chunk,
                    codec.decode(codec.encode(own)) == own.tobytes(),
                    np.array_equal(codec.decode(chunk, out), data),
                    codec.decode_partial(chunk, first, 900) == data[first : first + 900].tobytes(),
                    blosc_frame.chunk_info(chunk)["nbytes"] == data.nbytes,
                )
                out.fill(k)
                if not all(same):
                    failures.append((k, codec, same))
            try:
                blosc_frame.decompress(shared[k % 5][: 100 + turn])
                failures.append((k, "a chunk that is cut"))
            except blosc_frame.BloscError:
                pass

    together(work, 12)
    assert not failures
