#!/usr/bin/env python3
"""Writes what is derived from shim/config/options.def: the options section of the man page, the table in
README.md and the flags in the bash completion, each between its own markers.

  generate_options.py           rewrites the files
  generate_options.py --check   changes nothing; exit status 1 when a file is out of date
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(
    r'^HITCH_OPTION\((?P<field>\w+), "(?P<env>\w+)", "(?P<flag>--[\w-]+)", (?P<type>\w+), '
    r'"(?P<default>[^"]*)", "(?P<values>[^"]*)", "(?P<sentence>[^"]*)"\)$')
TYPES = {"Text", "Number", "Real", "Switch", "Choice"}


def read_rows():
    rows = []
    for number, line in enumerate((ROOT / "shim/config/options.def").read_text().splitlines(), 1):
        if not line.startswith("HITCH_OPTION("):
            continue
        match = ROW.match(line)
        if not match or match["type"] not in TYPES:
            sys.exit(f"options.def:{number}: this row does not have the shape described at the top of the file")
        rows.append(match.groupdict())
    if not rows:
        sys.exit("options.def has no rows")
    return rows


def flag_names(row):
    if row["type"] == "Switch":
        return [row["flag"], "--no-" + row["flag"][2:]]
    return (["-o"] if row["flag"] == "--output" else []) + [row["flag"]]


def default_text(row):
    if row["type"] == "Switch":
        return "on" if row["default"] == "1" else "off"
    return row["default"]


def roff(text):
    """Text as roff: hyphens that can be copied, backslashes and leading dots that mean nothing."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def man_section(rows):
    lines = []
    for row in rows:
        names = ", ".join(rf"\fB{roff(name)}\fR" for name in flag_names(row))
        value = rf" \fI{roff(row['values'])}\fR" if row["type"] != "Switch" else ""
        lines.append(".TP\n" + names + value)
        sentence = row["sentence"] + "."
        if not re.match(r"\w+:", sentence):  # not the name of a value
            sentence = sentence[0].upper() + sentence[1:]
        if default_text(row):
            sentence += rf" Default: {default_text(row)}."
        lines.append(roff(sentence) + "\n" + rf"Variable: \fB{row['env']}\fR.")
    return "\n".join(lines)


def readme_table(rows):
    lines = ["| option of `run` | variable | default | what it does |", "|---|---|---|---|"]
    for row in rows:
        value = " " + row["values"] if row["type"] != "Switch" else ""
        names = ", ".join(flag_names(row)) + value
        cells = ["`" + names.replace("|", "\\|") + "`", f"`{row['env']}`", default_text(row),
                 row["sentence"].replace("|", "\\|")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def completion_words(rows):
    flags = " ".join(name for row in rows for name in flag_names(row))
    lines = [f"_hitchtrace_run_flags='{flags}'"]
    lines.append("_hitchtrace_run_values() {\n  case $1 in")
    for row in rows:
        if row["type"] == "Choice":
            action = f"COMPREPLY=($(compgen -W '{row['values'].replace('|', ' ')}' -- \"$2\"))"
        elif row["type"] == "Text" and row["values"].startswith("DIR"):
            action = 'COMPREPLY=($(compgen -d -- "$2"))'
        elif row["type"] == "Text" and row["values"].startswith("FILE"):
            action = 'COMPREPLY=($(compgen -f -- "$2"))'
        elif row["type"] == "Switch":
            continue
        else:
            action = ":"
        lines.append(f"    {'|'.join(flag_names(row))}) {action} ;;")
    lines.append("    *) return 1 ;;\n  esac\n}")
    return "\n".join(lines)


def between(text, begin, end, content, name):
    first, last = text.find(begin), text.find(end)
    if first < 0 or last < first:
        sys.exit(f"{name}: the markers {begin!r} and {end!r} are missing")
    return text[:first + len(begin)] + "\n" + content + "\n" + text[last:]


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    rows = read_rows()
    outputs = [
        ("viewer/app/hitchtrace.1", '.\\" options:begin', '.\\" options:end', man_section(rows)),
        ("viewer/app/hitchtrace.bash", "# options:begin", "# options:end", completion_words(rows)),
        ("README.md", "<!-- options:begin -->", "<!-- options:end -->", readme_table(rows)),
    ]
    stale = []
    for name, begin, end, content in outputs:
        path = ROOT / name
        before = path.read_text()
        after = between(before, begin, end, content, name)
        if after == before:
            continue
        stale.append(name)
        if not check:
            path.write_text(after)
    if check and stale:
        sys.exit("out of date, run toolchain/generate_options.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
