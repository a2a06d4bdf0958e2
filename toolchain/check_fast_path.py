#!/usr/bin/env python3
"""Counts the instructions of the hooks' common path in the built library.

usage: check_fast_path.py LIBRARY GOLDEN OBJDUMP
Time cannot be asserted on a shared machine; instructions can.
"""

import re
import subprocess
import sys

BODIES = {"malloc": r"traced_alloc_defaultIZ6malloc", "calloc": r"traced_alloc_defaultIZ6calloc",
          "free": r"traced_free_defaultIZN12_GLOBAL__N_111hooked_free"}


def functions(library, objdump):
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True, capture_output=True,
                             text=True).stdout
    current = None
    found = {}
    for line in listing.splitlines():
        start = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        if start:
            current = found.setdefault(start.group(1), [])
        elif current is not None and re.match(r"^\s+[0-9a-f]+:", line):
            instruction = line.split("\t", 1)[-1].strip()
            if instruction and not instruction.startswith(("nop", "data16", "cs nop", "xchg   %ax,%ax")):
                current.append(instruction)
    return found


def main():
    library, golden, objdump = sys.argv[1:]
    code = functions(library, objdump)
    failed = False
    for line in open(golden):
        if line.startswith("#") or not line.strip():
            continue
        name, *limits = line.split()
        most, clock, indirect, direct = map(int, limits)
        bodies = [text for symbol, text in code.items() if re.search(BODIES[name], symbol) and "cold" not in symbol]
        if len(bodies) != 1:
            sys.exit(f"check_fast_path: {name}: {len(bodies)} bodies found; was traced_*_default renamed?")
        body = bodies[0]
        counts = (len(body), sum(i.startswith("rdtsc") for i in body),
                  sum(i.startswith("call") and "*" in i for i in body),
                  sum(i.startswith("call") and "*" not in i for i in body))
        good = counts[0] <= most and counts[1:3] == (clock, indirect) and counts[3] <= direct
        failed |= not good
        print(f"{name:<8} {counts[0]} instructions (at most {most}), {counts[1]} clock reads, {counts[2]} indirect "
              f"and {counts[3]} direct calls{'' if good else '   <-- not as pinned'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
