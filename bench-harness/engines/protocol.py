"""The protocol of blosc-bench's engines for Python programs; `../src/engine/external.rs` describes it."""

import sys
import time


def say(line):
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def serve(greeting, prepare):
    """Answers until the harness says `quit`.

    `prepare(command, options)` returns the function that `run` calls with the data set at that time, and raises where the
    engine takes no part.
    """
    work, data, result = None, b"", b""
    while line := sys.stdin.buffer.readline():
        words = line.decode().split()
        try:
            match words[0]:
                case "hello":
                    say(f"ok {greeting}")
                case "compress" | "decompress":
                    work = prepare(words[0], dict(word.split("=", 1) for word in words[1:]))
                    say("ok")
                case "data":
                    data = sys.stdin.buffer.read(int(words[1]))
                    say("ok")
                case "run":
                    runs = range(int(words[1]))
                    start = time.perf_counter_ns()
                    for _ in runs:
                        result = work(data)
                    say(f"ok {time.perf_counter_ns() - start}")
                case "fetch":
                    say(f"ok {len(result)}")
                    sys.stdout.buffer.write(result)
                    sys.stdout.buffer.flush()
                case "quit":
                    return
                case other:
                    say(f"no unknown command {other}")
        except Exception as error:  # the harness drops the case and says why
            say("no " + " ".join(str(error).split()))
