#!/usr/bin/env python3
"""How fast `hitchtrace report` goes through a --keep all trace, and how much memory it takes.

usage: reader_cost.py BIN_DIR TRACE [--rounds N]
Prints events a second and peak memory of the whole command, the fastest of N rounds, beside reading the same bytes
from the file alone. A synthetic trace: make_trace FILE 100000000 (build preset "bench").
"""

import argparse
import json
import os
import subprocess
import time


def measure(command):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command} failed")
    return time.monotonic() - begin, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin")
    parser.add_argument("trace")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    command = os.path.join(arguments.bin, "hitchtrace")
    report = json.loads(subprocess.run([command, "report", "--json", arguments.trace], check=True,
                                       stdout=subprocess.PIPE).stdout)
    lifetimes = report["lifetimes"]
    if lifetimes is None:
        raise SystemExit(f"{arguments.trace} has no events; record it with --keep all")
    events = lifetimes["events"]
    rounds = []
    reads = []
    for _ in range(arguments.rounds):
        reads.append(measure(["cat", arguments.trace])[0])
        rounds.append(measure([command, "report", arguments.trace]))
    seconds = min(wall for wall, _, _ in rounds)
    peak = max(memory for _, memory, _ in rounds)
    cpu = min(used for _, _, used in rounds)
    size = os.path.getsize(arguments.trace)
    print(f"{events:,} events, {size / 1e6:.1f} MB ({size / events:.2f} bytes each); missing {lifetimes['missing_events']:,}")
    print(f"report: {seconds:.2f} s, {events / seconds / 1e6:.1f} M events/s, {cpu / seconds:.2f} cores, "
          f"peak memory {peak / 2**20:.0f} MiB; reading the file alone: {min(reads):.2f} s")
    print(f"rounds: {', '.join(f'{wall:.2f}' for wall, _, _ in rounds)} s")


if __name__ == "__main__":
    main()
