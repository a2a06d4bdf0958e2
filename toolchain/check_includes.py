#!/usr/bin/env python3
"""Checks that every #include obeys the layers.

An include may point to an earlier step of the includer's ladder or stay in its folder; siblings on one step
do not know each other. Third-party headers appear only where LIBRARIES allows them, and nothing that ends up
inside the game may reach a standard header that needs the C++ run-time library, not even indirectly.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

LADDERS = {
    "game": [["shim/base", "shim/format"], ["shim/libc"], ["shim/config"], ["shim/unwind"], ["shim/record"],
             ["shim/interpose"], ["shim/present"], ["shim/session"]],
    "recorder": [["shim/base", "shim/format"], ["shim/config"], ["shim/recorder/drain", "shim/recorder/faults"],
                 ["shim/recorder/resolve"], ["shim/recorder/frames"], ["shim/recorder/write"],
                 ["shim/recorder/recorder"]],
    "viewer": [["shim/format"], ["shim/config"], ["viewer/load"], ["viewer/model"],
               ["viewer/analyse", "viewer/symbolise"], ["viewer/render"], ["viewer/app"]],
}
# Whatever lies below these may include any folder of the project.
FREE = ("tests/",)
# The public header stands alone; the shim, the examples and the tests see it.
PUBLIC = "shim/include/hitchtrace"
PUBLIC_READERS = ("shim/base", "shim/libc", "shim/record", "shim/interpose", "shim/present", "shim/session",
                  "examples/", "tests/", PUBLIC)

# (pattern of the include, folders where it may appear, most files that may have it or None)
LIBRARIES = [
    (r"libunwind(-.*)?\.h", ("shim/unwind", "tests/"), 1),
    (r"(spdlog|fmt)/", ("shim/recorder/", "viewer/"), None),
    (r"zstd(_errors)?\.h", ("shim/recorder/write", "viewer/load", "tests/"), None),
    (r"(elfutils/|libelf\.h|gelf\.h|dwarf\.h)", ("viewer/symbolise", "tests/"), None),
    (r"CLI/", ("viewer/app",), None),
    (r"nlohmann/", ("viewer/render", "viewer/app", "tests/"), None),
    (r"(gtest|gmock)/", ("tests/",), None),
    (r"benchmark/", ("tests/bench",), None),
    (r"SDL(2/|[_.])", ("examples/combat", "tests/targets"), None),
    (r"(GL|GLES.?|EGL|KHR|X11|vulkan)/", ("examples/combat", "tests/targets"), None),
]

# Headers whose contents need libstdc++ at run time; they may not be reached from inside the game.
RUNTIME_HEADERS = {
    "algorithm", "any", "chrono", "condition_variable", "deque", "exception", "filesystem", "format", "fstream",
    "functional", "future", "iomanip", "iostream", "istream", "list", "locale", "map", "memory", "memory_resource",
    "mutex", "optional", "ostream", "queue", "random", "regex", "set", "shared_mutex", "sstream", "stack",
    "stdexcept", "string", "string_view", "system_error", "thread", "typeindex", "unordered_map",
    "unordered_set", "valarray", "variant", "vector",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.M)
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".def"}


def folder_of(path):
    return path.parent.as_posix()


def sources():
    for top in ("shim", "viewer", "examples", "tests"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(ROOT)


def step_of(ladder, folder):
    for step, folders in enumerate(ladder):
        if folder in folders:
            return step
    return None


def resolve(includer, quoted):
    """The project file an include means, or None."""
    for base in (includer.parent, pathlib.Path("shim"), pathlib.Path("."), pathlib.Path("shim/include"),
                 pathlib.Path("tests")):
        candidate = base / quoted
        if (ROOT / candidate).is_file():
            return pathlib.Path((ROOT / candidate).resolve().relative_to(ROOT))
    return None


def may_include(includer, target):
    source, destination = folder_of(includer), folder_of(target)
    if source == destination or (source + "/").startswith(FREE):
        return True
    if destination == PUBLIC:
        return (source + "/").startswith(PUBLIC_READERS)
    for ladder in LADDERS.values():
        high, low = step_of(ladder, source), step_of(ladder, destination)
        if high is not None and low is not None and low < high:
            return True
    return False


def main():
    errors = []
    users = {}
    edges = {}
    standard = {}
    for path in sources():
        folder = folder_of(path)
        if path.parts[0] in ("shim", "viewer") and folder != PUBLIC:
            if all(step_of(ladder, folder) is None for ladder in LADDERS.values()):
                errors.append(f"{path}: folder {folder} is in no ladder")
        text = (ROOT / path).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            name = match.group(1) or match.group(2)
            line = text.count("\n", 0, match.start()) + 1
            where = f"{path}:{line}"
            target = resolve(path, name) if match.group(2) or name.startswith("hitchtrace/") else None
            if target is not None:
                edges.setdefault(path, []).append((target, line))
                if not may_include(path, target):
                    errors.append(f"{where}: {folder} may not include {folder_of(target)} ({name})")
                continue
            if match.group(2) and not any(re.match(pattern, name) for pattern, _, _ in LIBRARIES):
                errors.append(f"{where}: \"{name}\" is no file of the project")
                continue
            standard.setdefault(path, []).append((name, line))
            for pattern, folders, _ in LIBRARIES:
                if re.match(pattern, name):
                    users.setdefault(pattern, []).append(path)
                    if not (folder + "/").startswith(folders):
                        errors.append(f"{where}: <{name}> belongs in {', '.join(folders)} only")

    for pattern, _, limit in LIBRARIES:
        files = sorted({p for p in users.get(pattern, []) if p.parts[0] in ("shim", "viewer")})
        if limit is not None and len(files) > limit:
            errors.append(f"{pattern} is included by {len(files)} files, {limit} may: "
                          f"{', '.join(map(str, files))}")

    in_game = {folder for step in LADDERS["game"] for folder in step}
    for path in sources():
        # What recorder and viewer share lies in format/ too; only its headers enter the game.
        if folder_of(path) not in in_game - {"shim/format"} or path.suffix != ".cpp":
            continue
        seen, queue = {path}, [(path, [path])]
        while queue:
            current, chain = queue.pop()
            for name, line in standard.get(current, []):
                if name in RUNTIME_HEADERS:
                    via = " -> ".join(map(str, chain))
                    errors.append(f"{current}:{line}: <{name}> needs the C++ run-time library, "
                                  f"which must stay out of the game ({via})")
            for target, _ in edges.get(current, []):
                if target not in seen:
                    seen.add(target)
                    queue.append((target, chain + [target]))

    for error in errors:
        print(error)
    if not errors:
        print(f"{sum(1 for _ in sources())} files obey the layers")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
