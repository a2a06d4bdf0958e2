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

VARIANTS = {"plain": None, "time all": ["--time", "all"], "time alloc": ["--time", "alloc"]}
KART = ["/usr/games/supertuxkart", "--no-graphics", "--profile-time=200", "--track=lighthouse", "--numkarts=8"]


def dropped_and_recorder(command, trace):
    report = subprocess.run([command, "report", "--json", trace], check=True, capture_output=True, text=True)
    return json.loads(report.stdout)


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
    reports = {}

    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, HOME=scratch, SDL_AUDIODRIVER="dummy", ALSOFT_DRIVERS="null")
        serial = [0]

        def measure(name):
            serial[0] += 1
            trace = os.path.join(scratch, f"{serial[0]}.hitch")
            wrapper = [] if VARIANTS[name] is None else [command, "run", "-o", trace, *VARIANTS[name], "--"]
            begin = time.monotonic()
            subprocess.run(wrapper + game, env=environment, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            seconds = time.monotonic() - begin
            if wrapper:
                reports.setdefault(name, []).append(dropped_and_recorder(command, trace))
                os.unlink(trace)
            return seconds

        measure("plain")  # warms the disk cache
        results = interleave.rounds(list(VARIANTS), options.rounds, measure)

    print(f"{options.rounds} interleaved rounds; plain: fastest {min(results['plain']):.2f} s, "
          f"median {interleave.median(results['plain']):.2f} s")
    for name in VARIANTS:
        if name == "plain":
            continue
        ratio, (low, high) = interleave.ratio_of_minima(results[name], results["plain"])
        by_median = interleave.median(results[name]) / interleave.median(results["plain"])
        print(f"{name:<11} wall ratio of minima {ratio:.3f} (95 %: {low:.3f} .. {high:.3f}), of medians "
              f"{by_median:.3f}")
        with open(f"/tmp/game_cost_{name.replace(' ', '_')}.json", "w") as out:
            json.dump(reports[name][-1], out)


if __name__ == "__main__":
    main()
