#!/usr/bin/env python3
"""What recording adds to the wall time of a whole game: ratio of minima over interleaved runs.

usage: game_cost.py BIN_DIR [--rounds N] [-- COMMAND...]
The default command is supertuxkart's headless benchmark (about 6.8 million allocations in a few seconds).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import interleave

VARIANTS = {
    "plain": None,
    "callers": ["--level", "time"],
    "callers, alloc": ["--level", "time", "--time", "alloc"],
    "stacks, count": ["--faults", "count"],
    "stacks": [],
    "keep all": ["--keep", "all"],
    "keep all, alloc": ["--keep", "all", "--time", "alloc"],
}
KART = ["/usr/games/supertuxkart", "--no-graphics", "--profile-time=200", "--track=lighthouse", "--numkarts=8"]


# The shell stands between, so that the game's own lifetime is known apart from what comes before and after it.
STOPWATCH = ["bash", "-c", 'TIMEFORMAT=%R; { time "$@" >/dev/null 2>&1 </dev/null; } 2>"$STOPWATCH"', "game"]


def main():
    arguments = sys.argv[1:]
    game = KART
    if "--" in arguments:
        game = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    command = str(pathlib.Path(options.bin).resolve() / "hitchtrace")
    whole = {}
    traces = {}
    reports = {}

    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, HOME=scratch, SDL_AUDIODRIVER="dummy", ALSOFT_DRIVERS="null")
        serial = [0]

        def measure(name):
            serial[0] += 1
            trace = os.path.join(scratch, f"{serial[0]}.hitch")
            stopwatch = os.path.join(scratch, "seconds")
            wrapper = [] if VARIANTS[name] is None else [command, "run", "-o", trace, *VARIANTS[name], "--"]
            begin = time.monotonic()
            subprocess.run(wrapper + STOPWATCH + game, env=dict(environment, STOPWATCH=stopwatch),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            whole.setdefault(name, []).append(time.monotonic() - begin)
            if wrapper:
                if name in traces:
                    os.unlink(traces[name])
                traces[name] = trace
            return float(open(stopwatch).read().split()[-1])

        measure("plain")  # warms the disk cache
        whole.clear()
        results = interleave.rounds(list(VARIANTS), options.rounds, measure)
        sizes = {name: os.path.getsize(trace) for name, trace in traces.items()}
        for name, trace in traces.items():
            reports[name] = json.loads(subprocess.run([command, "report", "--json", trace], check=True,
                                                      capture_output=True, text=True).stdout)

    print(f"{options.rounds} interleaved rounds; plain: fastest {min(results['plain']):.2f} s, "
          f"median {interleave.median(results['plain']):.2f} s")
    for name in VARIANTS:
        if name == "plain":
            continue
        for what, values in (("game", results), ("whole command", whole)):
            ratio, (low, high) = interleave.ratio_of_minima(values[name], values["plain"])
            by_median = interleave.median(values[name]) / interleave.median(values["plain"])
            print(f"{name:<15} {what:<14} wall ratio of minima {ratio:.3f} (95 %: {low:.3f} .. {high:.3f}), of "
                  f"medians {by_median:.3f}")
        totals, overhead = reports[name]["totals"], reports[name]["overhead"]
        calls = totals["allocations"] + totals["releases"] + totals["reallocs"]
        print(f"{name:<15} last trace: {calls:,} calls, {reports[name]['losses']['dropped_events']} dropped; recorder "
              f"{overhead['recorder_cpu_ms'] * 1e6 / calls:.0f} ns CPU a call; at most {overhead['pool_peak_chunks']} of "
              f"{overhead['pool_chunks']} chunks in use; file {sizes[name] / 1e6:.1f} MB, "
              f"{sizes[name] / calls:.2f} bytes a call")


if __name__ == "__main__":
    main()
