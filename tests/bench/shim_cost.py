#!/usr/bin/env python3
"""What the shim adds to one malloc/free pair, at each level, beside the price of the clock reads in it and the
estimate of its own cost that the report prints.

usage: shim_cost.py BIN_DIR [--rounds N] [--threads N] [--array | --deep]
BIN_DIR holds libhitchtrace.so, hitchtrace-record and pair_loop (build preset "bench").
"""

import argparse
import fcntl
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import interleave

# name -> (environment, clock reads in one pair)
VARIANTS = {
    "plain": (None, 0),
    "count": ({"HITCH_LEVEL": "count"}, 0),
    "time none": ({"HITCH_LEVEL": "time", "HITCH_TIME": "none"}, 2),
    "time alloc": ({"HITCH_LEVEL": "time", "HITCH_TIME": "alloc"}, 3),
    "time all": ({"HITCH_LEVEL": "time", "HITCH_TIME": "all"}, 4),
    "trace all": ({"HITCH_LEVEL": "trace", "HITCH_TIME": "all"}, 4),
}


def wait_until_written(trace):
    """The recorder outlives the program by a moment, and holds a lock on its file."""
    with open(trace, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--array", action="store_true", help="the loop p = new int[16]; touch; delete[]")
    parser.add_argument("--deep", action="store_true", help="30 calls deep, two of them fresh in each pair")
    options = parser.parse_args()
    bin_dir = pathlib.Path(options.bin).resolve()
    clocks = []
    estimates = {name: [] for name in VARIANTS}

    with tempfile.TemporaryDirectory() as scratch:

        def measure(name):
            settings, _ = VARIANTS[name]
            environment = dict(os.environ)
            if settings is not None:
                environment.update(settings)
                environment["LD_PRELOAD"] = str(bin_dir / "libhitchtrace.so")
                environment["HITCH_DIR"] = scratch
                environment["HITCH_TARGET"] = "pair_loop"
            command = [str(bin_dir / "pair_loop"), "--threads", str(options.threads)]
            if options.array:
                command.append("--array")
            if options.deep:
                command.append("--deep")
            output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            result = json.loads(output)
            for trace in pathlib.Path(scratch).glob("*.hitch"):
                wait_until_written(trace)
                report = json.loads(subprocess.run([str(bin_dir / "hitchtrace"), "report", "--json", str(trace)],
                                                   check=True, capture_output=True, text=True).stdout)
                estimates[name].append(report["overhead"]["own_total_ms"] * 1e6 / report["totals"]["releases"])
                trace.unlink()
            clocks.append(result["clock_ns"])
            return result["pair_ns"]

        results = interleave.rounds(list(VARIANTS), options.rounds, measure)

    clock = statistics.median(clocks)
    print(f"one clock read: {clock:.1f} ns; plain pair: {min(results['plain']):.1f} ns; "
          f"{options.threads} thread(s), {options.rounds} interleaved rounds")
    print(f"{'level':<12}{'added ns a pair':>16}{'95 % interval':>20}{'by minima':>11}{'clock reads':>13}"
          f"{'rest':>8}{'estimate':>10}")
    for name, (_, reads) in VARIANTS.items():
        if name == "plain":
            continue
        added, (low, high) = interleave.paired_difference(results[name], results["plain"])
        by_minima = min(results[name]) - min(results["plain"])
        estimate = statistics.median(estimates[name]) if estimates[name] else 0
        print(f"{name:<12}{added:>16.1f}{f'{low:.1f} .. {high:.1f}':>20}{by_minima:>11.1f}"
              f"{reads * clock:>13.1f}{by_minima - reads * clock:>8.1f}{estimate:>10.1f}")


if __name__ == "__main__":
    main()
