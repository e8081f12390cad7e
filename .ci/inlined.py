"""Nothing may be left out of line that a kernel's loop needs inside: intrinsics, closures, pieces of generic kernels.

    python3 .ci/inlined.py BINARY

Disassembles an optimised x86-64 program and reads every call in the functions of `blosc_core::arch` that hold
loops, also those by way of a register. Allowed are calls of other kernels and of what is out of line on purpose, and outside
the kernels of the table the C library's copies.
"""

import re
import subprocess
import sys

HOLDERS = re.compile(r"blosc_core::arch::(x86|elementwise|entropy::bit_instructions|lz::loops)::")
COPY = re.compile(r"^mem(cpy|move|set)")  # of the C library
# A row `join` copies its table of planes once.
KERNELS = re.compile(r"blosc_core::arch::x86::.*(?<!::join)$")
ALLOWED = re.compile(
    r"^(blosc_core::arch::vector::block::copy_edge"  # at the ends of buffers
    r"|blosc_core::arch::level::detect::"  # once
    r"|blosc_core::arch::x86::|blosc_core::arch::elementwise::"  # kernels
    r"|blosc_core::arch::lz::matches::long_|blosc_core::arch::copy::copy_pieces"  # long copies
    r"|blosc_core::arch::lz::loops::(step::(much_extended|large_match)|blosclz::BloscLz::long|lz4::Lz4::(long|many)|wide::sequences)"  # rare, or long
    r"|blosc_core::arch::vector::bits::prefetch_rows"  # for few buffers
    r"|blosc_core::arch::entropy::adler::by_avx2"  # for runs of 5 KiB
    r"|blosc_core::arch::entropy::bit_instructions::with_bmi|std_detect::"  # between batches
    r"|blosc_core::arch::lz::window::.*(edge_match|exact_literals)"  # near the ends
    r"|blosc_core::arch::scalar::"  # scalar tails
    r"|blosc_core::codec::search::.*(across_run|enter_below|onward|widest_step|leave_out_middle|after_run)"  # a search each
    r"|blosc_core::codec::zlib::deflate::.*(settle|flush_near_end)|blosc_core::arch::search::words::slow_common"  # rare
    r"|blosc_core::codec::zstd::)"  # the rare ways of the sequence loop
)


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main(binary):
    names = {}
    for line in lines("nm", "-C", binary):
        address, _, name = line.partition(" ")
        if re.fullmatch("[0-9a-f]{16}", address):
            names[int(address, 16)] = name[2:]
    # Calls through the table of addresses: what the loader puts there.
    table = {}
    for line in lines("readelf", "-rW", binary):
        field = line.split()
        if len(field) == 4 and field[2] == "R_X86_64_RELATIVE":
            table[int(field[0], 16)] = names.get(int(field[3], 16), "?")
        elif len(field) > 4 and field[2] in ("R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT"):
            table[int(field[0], 16)] = field[4]
    holder, holders, calls, wrong = "", set(), 0, set()
    # What registers hold of that table: loops keep the address of a function they call there.
    held = {}
    for line in lines("objdump", "-d", "-C", "--no-show-raw-insn", binary):
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            holder = start[1] if HOLDERS.search(start[1]) else ""
            holders.update([holder] if holder else [])
            held.clear()
            continue
        if not holder:
            continue
        if move := re.search(r"\t(\w+)\s.*?([^,\s]+),(%r\w+)(?:\s+# ([0-9a-f]+).*)?$", line):
            instruction, source, register, address = move.groups()
            if instruction == "mov":
                held[register] = table.get(int(address, 16), "?") if address else held.get(source, "a pointer")
            elif instruction not in ("cmp", "test"):
                held.pop(register, None)
        if "\tcall " not in line:
            continue
        if direct := re.search(r"call\s+[0-9a-f]+ <(.*)>", line):
            target = direct[1]
        elif indirect := re.search(r"call\s+\*.*# ([0-9a-f]+)", line):
            target = table.get(int(indirect[1], 16), "?")
        else:
            register = re.search(r"call\s+\*(%r\w+)", line)
            target = held.get(register[1], "a pointer") if register else "a pointer"
        calls += 1
        # Long copies are the work of the other loops; in kernels they are arrays of registers that lie in memory.
        if not ALLOWED.search(target) and not (COPY.search(target) and not KERNELS.search(holder)):
            wrong.add(f"{holder} calls {target}")
    print("\n".join(sorted(wrong)))
    print(f"figure: {len(holders)} functions with kernels, {calls} calls, {len(wrong)} of what belongs inside")
    return 1 if wrong or len(holders) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
