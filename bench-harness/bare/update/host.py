"""The host of `update`: holds the images, answers what the board asks, and kills the emulator at random moments.

    host.py RUNS FOLDER NAME QEMU...      FOLDER has A.bin, A.b2frame, B.bin, B.b2frame; NAME begins the lines of figures

Runs install the two images by turns in the same flash, `FOLDER/flash.bin`, which at first has B and a log of noise. One run is: boots
that are killed, after which the other image may be wanted, until one boot says that it is done; then the flash must hold the image.
Some bytes of the answers are flipped on the way. The first two are left in peace; the first counts instructions (`-icount`), the
second tells how long a boot takes.
"""

import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

BLOCK, PLACE, LOG = 4096, 48 * 4096, 2 * 4096
FLIPPED = 1 / 400  # of the pieces

runs, folder, name, *qemu = int(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:]
dice = random.Random(1)
images = [(folder.joinpath(f"{x}.bin").read_bytes(), folder.joinpath(f"{x}.b2frame").read_bytes()) for x in "AB"]
flash = folder / "flash.bin"
listener = socket.socket(socket.AF_UNIX)
path = folder / "line.sock"
path.unlink(missing_ok=True)
listener.bind(str(path))
listener.listen(1)
listener.settimeout(30)


def answer(frame, line, lines, noise):
    """Serves one boot until the emulator ends. Returns the bytes it sent."""
    sent = 0
    while kind := line.read(1):
        if kind == b":":
            lines.append(line.readline().decode().rstrip("\n"))
            continue
        at, size = (int.from_bytes(line.read(4), "little") for _ in range(2))
        rest = frame[at : at + size].ljust(size, b"\0")
        while rest:
            piece, rest = bytearray(rest[: (n := dice.randint(1, 255))]), rest[n:]
            if noise and dice.random() < FLIPPED:
                piece[dice.randrange(len(piece))] ^= 1 << dice.randrange(8)
            line.write(bytes([len(piece)]) + piece)
            line.flush()
            sent += len(piece)
    return sent


def boot(frame, life, noise, *options):
    """Starts the emulator, and kills it `life` seconds after it has found the line. Returns whether it was, its status, what it said and the bytes it got."""
    lines, sent = [], 0
    with (folder / "qemu.log").open("ab") as errors:
        board = subprocess.Popen([*qemu, *options, "-serial", f"unix:{path.name}"], cwd=folder, stdin=subprocess.DEVNULL, stderr=errors)
    killer = threading.Timer(life, board.kill)
    try:
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as line:
            killer.start()
            sent = answer(frame, line, lines, noise)
    except (ConnectionError, BrokenPipeError):
        pass
    status = board.wait()
    killer.cancel()
    return status == -9, status, lines, sent


def half_written():
    """Whether a block is neither erased nor of an image."""
    now = flash.read_bytes()
    wanted = [image.ljust(PLACE, b"\xff") for image, _ in images]
    return any(now[at : at + BLOCK] not in [b"\xff" * BLOCK, *(image[at : at + BLOCK] for image in wanted)] for at in range(0, PLACE, BLOCK))


def fail(why, lines):
    print("FAILED", name, why, *lines, sep="\n  ")
    sys.exit(1)


flash.write_bytes(images[1][0].ljust(PLACE, b"\xff") + dice.randbytes(LOG))
killed, status, lines, sent = boot(images[0][1], 120, False, "-icount", "shift=6")
if killed or status:
    fail(f"status {status}", lines)
figures = [line for line in lines if line.startswith("figure")]
print(f"{name}: an image of {len(images[0][0])} bytes, {len(images[0][1])} as a frame, of which {sent} were sent")
start = time.monotonic()
killed, status, lines, sent = boot(images[1][1], 120, False)
if killed or status:
    fail(f"the second image: status {status} after {time.monotonic() - start:.0f} s", lines)
duration = time.monotonic() - start
counts = dict.fromkeys(("kills", "half written", "resumed", "changed", "again"), 0)
for run in range(2, runs):
    wanted, kills = run % 2, dice.randrange(2, 6)
    while True:
        life = dice.uniform(0, duration) if kills > 0 else 120
        killed, status, lines, sent = boot(images[wanted][1], life, True)
        counts["resumed"] += any(line.startswith("goes on at chunk") and not line.startswith("goes on at chunk 0 ") for line in lines)
        counts["again"] += sum(line.endswith(" again") for line in lines)
        if not killed:
            break
        kills -= 1
        counts["kills"] += 1
        counts["half written"] += half_written()
        if dice.random() < 0.1:
            wanted, counts["changed"] = 1 - wanted, counts["changed"] + 1
    image = images[wanted][0]
    if status or flash.read_bytes()[: len(image)] != image:
        fail(f"run {run}: status {status}, the image is {'wrong' if status == 0 else 'not there'}", lines)
if runs > 10 and not (counts["kills"] and counts["resumed"]):
    fail(f"no boot went on after a kill: {counts}", [])
for figure in figures:
    print(figure.replace("figure", f"figure {name}:"))
print(
    f"figure {name}: {runs} updates right; {counts['kills']} kills, {counts['half written']} with a block half written, "
    f"{counts['resumed']} boots that went on, {counts['changed']} changes of mind, {counts['again']} chunks again for a flipped bit"
)
