#!/usr/bin/env python3
"""What capturing page faults and switches adds: to one page fault, one thread that starts and ends, and one hand-over
between two threads; each against the same recording with --faults count, and against no recording.

usage: fault_cost.py BIN_DIR [--rounds N]
BIN_DIR holds libhitchtrace.so, hitchtrace-record and fault_loop (build preset "bench").
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import interleave
from shim_cost import wait_until_written

VARIANTS = {
    "plain": None,
    "count": {"HITCH_FAULTS": "count"},
    "pagemap": {"HITCH_FAULTS": "pagemap"},
    "perf, no samples": {"HITCH_FAULTS": "perf", "HITCH_SAMPLE_CODE": "0"},
    "perf": {"HITCH_FAULTS": "perf"},
}
LOOPS = {"touch": ("one page fault", 6), "threads": ("one thread, start to end", 3), "switch": ("one hand-over", 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    bin_dir = pathlib.Path(options.bin).resolve()
    for loop, (what, repeats) in LOOPS.items():
        with tempfile.TemporaryDirectory() as scratch:

            def measure(name):
                environment = dict(os.environ)
                if VARIANTS[name] is not None:
                    environment.update(VARIANTS[name])
                    environment["LD_PRELOAD"] = str(bin_dir / "libhitchtrace.so")
                    environment["HITCH_DIR"] = scratch
                    environment["HITCH_TARGET"] = "fault_loop"
                taken = subprocess.run([str(bin_dir / "fault_loop"), loop, str(repeats)], env=environment, check=True,
                                       capture_output=True, text=True).stdout
                for trace in pathlib.Path(scratch).glob("*.hitch"):
                    wait_until_written(trace)
                    trace.unlink()
                return float(taken)

            results = interleave.rounds(list(VARIANTS), options.rounds, measure)
        base = results["count"]
        print(f"{what}: plain {interleave.median(results['plain']):,.0f} ns, {options.rounds} interleaved rounds")
        for name in VARIANTS:
            if name == "plain":
                continue
            ratio, (low, high) = interleave.ratio_of_minima(results[name], results["plain"])
            added = interleave.median([a - b for a, b in zip(results[name], base)])
            print(f"  {name:<18} {interleave.median(results[name]):>9,.0f} ns, {added:>+8,.0f} against count; ratio of "
                  f"minima to plain {ratio:.2f} (95 %: {low:.2f} .. {high:.2f})")


if __name__ == "__main__":
    main()
