"""Arrays behind a server of HTTP with injected latency: this package, python-blosc2 and zarr-python.

    python examples/far.py [MILLISECONDS...]

One array in the same chunks, as a `.b2nd` file and as a Zarr store. The server waits before each answer, on a thread for
each connection. Each cell opens the array anew, then reads once: requests and milliseconds of the read alone. `open` is a
row of its own. What a package cannot read is said.
"""

import http.server
import os
import sys
import tempfile
import threading
import time

import numpy as np

import blosc_frame

SIDE, CHUNK, BLOCK = 2000, 200, 50
READS = {
    "open": None,
    "2x3 items": np.s_[500:502, 700:703],
    "a row": np.s_[777, :],
    "a column": np.s_[:, 777],
    "500x500 items": np.s_[300:800, 900:1400],
    "all": np.s_[:, :],
}


class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    root, latency, requests, lock = "", 0.0, 0, threading.Lock()

    def answer(self, body):
        with Slow.lock:
            Slow.requests += 1
        time.sleep(Slow.latency)
        path = os.path.join(Slow.root, self.path.lstrip("/"))
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        size = os.path.getsize(path)
        start, stop, status = 0, size, 200
        wanted = self.headers.get("Range")
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            start, stop = (int(first), int(last or size - 1) + 1) if first else (size - int(last), size)
            start, stop, status = max(start, 0), min(stop, size), 206
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(stop - start))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        self.end_headers()
        if body:
            with open(path, "rb") as file:
                file.seek(start)
                self.wfile.write(file.read(stop - start))

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def log_message(self, *words):
        pass


def packages(url):
    yield "blosc_frame", lambda: blosc_frame.open(f"{url}/a.b2nd")
    try:
        import blosc2

        yield f"blosc2 {blosc2.__version__}", lambda: blosc2.open(f"{url}/a.b2nd", mode="r")
    except ImportError:
        pass
    try:
        import zarr

        yield f"zarr {zarr.__version__}", lambda: zarr.open_array(f"{url}/a.zarr", mode="r")
    except ImportError:
        pass


def timed(work):
    Slow.requests = 0
    start = time.perf_counter()
    done = work()
    return done, f"{Slow.requests}, {(time.perf_counter() - start) * 1e3:.0f} ms"


def main():
    number = np.arange(SIDE * SIDE, dtype=np.uint64)
    spread = (number * 2_654_435_761 >> 7) & 0xFFF
    items = ((number % SIDE + number // SIDE) ^ spread).astype(np.uint32).reshape(SIDE, SIDE)
    with tempfile.TemporaryDirectory() as root:
        Slow.root = root
        options = {"codec": "lz4", "chunks": (CHUNK, CHUNK), "blocks": (BLOCK, BLOCK)}
        blosc_frame.save(os.path.join(root, "a.b2nd"), items, **options)
        try:
            import zarr

            codec = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
            made = zarr.create_array(
                os.path.join(root, "a.zarr"), shape=items.shape, chunks=(CHUNK, CHUNK), dtype=items.dtype, compressors=codec
            )
            made[:] = items
        except ImportError:
            pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        print(f"{os.path.getsize(os.path.join(root, 'a.b2nd'))} bytes in {(SIDE // CHUNK) ** 2} chunks")
        print("| latency | package | " + " | ".join(READS) + " |\n|--:|---|" + "---|" * len(READS))
        for millis in [float(word) for word in sys.argv[1:]] or [1, 10, 50]:
            for name, opened in packages(url):
                Slow.latency = 0
                cells = []
                for key in READS.values():
                    try:
                        # What a package sets up once for the process is not counted.
                        Slow.latency = 0
                        opened()
                        Slow.latency = millis / 1e3
                        array, told = timed(opened)
                        if key is not None:
                            found, told = timed(lambda: array[key])
                            assert np.array_equal(found, items[key]), (name, key)
                        cells.append(told)
                    except Exception as error:  # noqa: BLE001
                        cells.append(f"{type(error).__name__}: {str(error)[:60]}")
                print(f"| {millis:g} ms | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
