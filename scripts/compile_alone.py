#!/usr/bin/env python3
"""Compiles sources alone that a build compiles several at a time, so that an include that one of them lacks is found:
scripts/compile_alone.py BUILD [CHANGED ...]. With changed files, only sources of the rooms that are one of them or name one in
an include, since all of them take minutes."""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from studies.ending import ended

ROOT = Path(__file__).resolve().parents[1]
UNITY = re.compile(r"/CMakeFiles/(\w+)\.dir/Unity/unity_\w+_cxx\.cxx$")


def included(path: Path) -> set[str]:
    return set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE))


def alone(command: str, source: str) -> list[str]:
    """The command that compiles a unity source, for one source and without an object."""
    words = shlex.split(command)
    del words[words.index("-o") : words.index("-o") + 2]
    return [*words[: words.index("-c")], "-fsyntax-only", str(ROOT / source)]


def commands(build: Path, changed: list[str]) -> dict[str, list[str]]:
    """By source what compiles it."""
    result = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if UNITY.search(entry["file"]):
            for source in included(Path(entry["file"])):
                name = str(Path(entry["directory"], source).resolve().relative_to(ROOT))
                concerned = {name, *included(ROOT / name)}.intersection(changed) and not name.startswith("tests/")
                if not changed or concerned:
                    result[name] = alone(entry["command"], name)
    return result


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    build, *changed = sys.argv[1:]
    if not Path(build, "compile_commands.json").exists():
        print(f"{build}: has no compile_commands.json; give the folder of a build, such as build/ci")
        return 2
    of_source = commands(Path(build), changed)

    def compiles(source: str) -> bool:
        done = subprocess.run(of_source[source], cwd=build, capture_output=True, text=True)
        if done.returncode:
            print(f"{source} does not compile alone:\n{done.stderr}")
        return done.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(compiles, of_source))
    print(f"{len(passed)} sources compiled alone")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(ended(main))
