#!/usr/bin/env python3
"""Does the report name the causes that the game combat planted, and accuse nothing that is off?

usage: combat_causes.py BIN_DIR COMBAT [--seeds N] [--frames N]
Plays the stripped game, without API marks, for each seed: with all plants, and with each one off in turn (one of
them a seed). Truth is the file combat writes; neither the library nor the report reads it. On a shared machine a
frame that the kernel took away is a hitch too: such frames lie outside the plants and are counted apart.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

RIGHT = {
    "alloc": {"allocator"},
    "fault": {"page_faults"},
    "lock": {"waiting"},
    "wait": {"waiting_on_memory"},
    "cpu": {"not_memory"},
}
# Where a hitch of memory names the blocks that were touched: key of the list in hitches[].page_faults.
OWNERS = {"fault": "own", "wait": "others"}
# Verdicts that would accuse a plant; lock and cpu look like what the machine does to any frame now and then.
ACCUSES = {"alloc": {"allocator"}, "fault": {"page_faults"}, "wait": {"waiting_on_memory"}}


def play(options, seed, off, scratch):
    trace = os.path.join(scratch, "combat.hitch")
    truth = os.path.join(scratch, "truth.jsonl")
    for path in (trace, trace + ".log", truth):
        if os.path.exists(path):
            os.unlink(path)
    command = [options.command, "run", "-o", trace, "--", options.combat, "--frames", str(options.frames), "--seed",
               str(seed), "--truth", truth]
    if off:
        command += ["--no-plant", off]
    subprocess.run(command, env=dict(os.environ, SDL_VIDEODRIVER="dummy"), check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    report = json.loads(subprocess.run([options.command, "report", "--json", "--top", "100000", trace], check=True,
                                       capture_output=True, text=True).stdout)
    planted = {}
    for line in open(truth):
        entry = json.loads(line)
        planted[entry["frame"]] = entry["plant"]
    # The game counts frames from 0 and its first present ends start-up: the report's frame 0 is its frame 1.
    hitches = {}
    for hitch in report["hitches"] + report["hidden_by_vsync"]:
        hitches[hitch["frame"] + 1] = hitch
    return planted, hitches, report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("combat")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--frames", type=int, default=600)
    options = parser.parse_args()
    options.command = str(pathlib.Path(options.bin).resolve() / "hitchtrace")

    found = collections.Counter()
    owners = collections.Counter()
    sentences = {}
    right = collections.Counter()
    total = collections.Counter()
    wrong = []
    elsewhere = collections.Counter()
    accused = []
    plants = list(RIGHT)
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(1, options.seeds + 1):
            off = plants[seed % len(plants)]
            for without in (None, off):
                planted, hitches, _ = play(options, seed, without, scratch)
                for frame, plant in planted.items():
                    total[plant] += 1
                    if frame not in hitches:
                        wrong.append(f"seed {seed} frame {frame} {plant}: no hitch")
                        continue
                    found[plant] += 1
                    verdict = hitches[frame]["verdict"]
                    sentences.setdefault(plant, hitches[frame]["sentence"])
                    if plant in OWNERS:
                        groups = hitches[frame]["page_faults"][OWNERS[plant]]
                        if groups and groups[0]["owner"] == "block":
                            owners[(plant, groups[0]["site"]["function"])] += 1
                    if verdict in RIGHT[plant]:
                        right[plant] += 1
                    else:
                        wrong.append(f"seed {seed} frame {frame} {plant}: {verdict}: {hitches[frame]['sentence']}")
                for frame, hitch in hitches.items():
                    if frame in planted or frame - 1 in planted:
                        continue
                    elsewhere[hitch["verdict"]] += 1
                    if without in ACCUSES and hitch["verdict"] in ACCUSES[without]:
                        accused.append(f"seed {seed} frame {frame}, {without} off: {hitch['sentence']}")

    print(f"{options.seeds} seeds, {options.frames} frames, each with all plants and with one off")
    print(f"{'plant':<8}{'planted':>9}{'a hitch':>9}{'named right':>13}")
    for plant in plants:
        print(f"{plant:<8}{total[plant]:>9}{found[plant]:>9}{right[plant]:>13}")
    print("blocks that were touched, by the function that allocated them:")
    for (plant, function), times in owners.most_common():
        print(f"  {plant:<6}{times:>5}  {function}")
    print("the first sentence of each:")
    for plant, sentence in sentences.items():
        print(f"  {plant:<6}{sentence}")
    print("not as planted:", *(wrong or ["nothing"]), sep="\n  ")
    print("accused while off:", *(accused or ["nothing"]), sep="\n  ")
    print("hitches outside the plants, by verdict:", dict(elsewhere))


if __name__ == "__main__":
    main()
