"""What the bit kernels take of the stack, as `filter/bitshuffle.rs` promises it.

    python3 .ci/stack.py BINARY

Disassembles an optimised x86-64 program, adds up what each function takes and what the functions take that it calls,
and compares the deepest way down from each bit kernel with the bounds.
"""

import re
import subprocess
import sys

ROOTS = re.compile(r"blosc_core::arch::x86::(sse2|avx2|avx512bw|avx512)::.*bit(un)?shuffle")
# For buffers below 64 KiB, and for others: whichever a function is for, it keeps the second, and of each pair of the
# same name one keeps the first.
LITTLE, AMPLE = 12 << 10, 22 << 10
# Registers of 64 bytes that are transposed by the loops of AVX2 take longer tiles.
LITTLE_BW = 14 << 10


def output(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from process.stdout


def functions(binary):
    """By address: name, bytes of stack, and the addresses that it calls, jumps to or may call by a pointer."""
    fields = [line.split() for line in output("readelf", "-rW", binary)]
    pointers = {int(f[0], 16): int(f[3], 16) for f in fields if len(f) == 4 and f[2] == "R_X86_64_RELATIVE"}
    found, current, looped = {}, None, False
    for line in output("objdump", "-d", "-C", "--no-show-raw-insn", binary):
        if start := re.match(r"([0-9a-f]+) <(.*)>:$", line):
            current, looped = [start[2], 8, set()], False
            found[int(start[1], 16)] = current
        elif current is None:
            continue
        elif re.search(r"\tpush ", line):
            current[1] += 8
        elif frame := re.search(r"\tsub\s+\$0x([0-9a-f]+),%rsp", line):
            current[1] += 0 if looped else int(frame[1], 16)
        elif align := re.search(r"\tand\s+\$0xf+([0-9a-f]{2}),%rsp", line):
            current[1] += 256 - int(align[1], 16)
        elif frame := re.search(r"\tlea\s+-0x([0-9a-f]+)\(%rsp\),%r11", line):
            # Many pages are taken one by one in a loop, up to here.
            current[1] += int(frame[1], 16)
            looped = True
        elif looped and "\tjne" in line:
            looped = False
        elif target := re.search(r"\t(?:call|j\w+)\s+([0-9a-f]+) <", line):
            current[2].add(int(target[1], 16))
        elif pointer := re.search(r"# ([0-9a-f]+) <", line):
            current[2].update(filter(None, [pointers.get(int(pointer[1], 16))]))
    return found


def deepest(address, found, known):
    """Bytes of stack of the deepest way down from `address`."""
    if address not in found:
        return 0  # into the middle of a function: a loop
    if address not in known:
        known[address] = 0  # a call of itself
        _, own, calls = found[address]
        known[address] = own + max((deepest(to, found, known) for to in calls), default=0)
    return known[address]


def main(binary):
    found = functions(binary)
    known, kernels = {}, {}
    for address, (name, _, _) in found.items():
        if ROOTS.search(name):
            kernels.setdefault(name, []).append(deepest(address, found, known))
    wrong = [f"{name}: {max(depths)} bytes" for name, depths in kernels.items() if max(depths) > AMPLE]
    wrong += [
        f"{name}: {min(depths)} bytes for short buffers"
        for name, depths in kernels.items()
        if len(depths) > 1 and min(depths) > (LITTLE_BW if "avx512bw" in name else LITTLE)
    ]
    print("\n".join(wrong))
    most = max((max(depths) for depths in kernels.values()), default=0)
    print(f"figure: {len(kernels)} names of bit kernels, {most} bytes of stack at most, {len(wrong)} above the bounds")
    return 1 if wrong or len(kernels) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
