#!/usr/bin/env python3
"""clang-tidy over the sources of shim and viewer.

check_tidy.py BUILD_FOLDER [-j N] [PATTERN]: every file of compile_commands.json below shim/ or viewer/ whose path
contains PATTERN. A file that passed is not looked at again until it, any project header, the file's command or
.clang-tidy changes.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else part.encode())
        total.update(b"\0")
    return total.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_intermixed_args()

    build = pathlib.Path(arguments.build).resolve()
    passed = build / "tidy-passed"
    passed.mkdir(exist_ok=True)

    shared = [(ROOT / ".clang-tidy").read_bytes()]
    for top in ("shim", "viewer"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".def") and path.is_file():
                shared.append(path.read_bytes())
    shared = digest(*shared)

    work = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT):
            continue
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0] in ("shim", "viewer") and path.suffix in (".c", ".cpp") and arguments.pattern in name:
            work.setdefault(name, digest(shared, entry["command"], path.read_bytes()))

    def check(item):
        name, key = item
        if (passed / key).exists():
            return name, 0, ""
        run = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option",
                              str(ROOT / name)], capture_output=True, text=True)
        if run.returncode == 0:
            (passed / key).touch()
        return name, run.returncode, run.stdout

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, status, output in pool.map(check, sorted(work.items())):
            if status != 0:
                failures += 1
                print(output.strip() or f"{name}: clang-tidy failed with status {status}")
    print(f"{len(work)} files, {failures} with findings")
    return 1 if failures or not work else 0


if __name__ == "__main__":
    sys.exit(main())
