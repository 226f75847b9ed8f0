#!/usr/bin/env python3
"""Prints records of one kind as CSV, for spreadsheets and other languages:

    scripts/records_csv.py run.json ... >times.csv                         # timer: a row an operation and level
    scripts/records_csv.py --kind rank_timer run.json ... >ranks.csv       # of a run with output.details=true
    scripts/records_csv.py --kind cycle run.json ... >cycles.csv           # of a run with output.details=true

Any kind will do that docs/reference/records.md lists. In front of each row stand the file and what its run was; parts of a record have names
with dots (parts.bottom). What is a list, as residuals are, stays in the records.
"""

import argparse
import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.records import Record, Run, UnreadableRecords, read_all
from studies.view import print_text

OF_RUN = ("id", "label", "clock", "ranks", "threads", "nodes", "backend")


def fields(record: Record, name: str = "") -> Iterator[tuple[str, Any]]:
    """All that are no list, by their dotted names."""
    for key, value in record.items():
        dotted = f"{name}.{key}".strip(".")
        if isinstance(value, dict):
            yield from fields(value, dotted)
        elif not isinstance(value, list) and dotted not in ("record", "schema"):
            yield dotted, value


def text(value: Any) -> Any:
    """As in JSON: true and false; nothing for null."""
    return str(value).lower() if isinstance(value, bool) else value


def rows(runs: list[Run], kind: str) -> list[dict[str, Any]]:
    found = []
    for run in runs:
        head = {"file": run.path, **{f"run.{name}": run.head.get(name, run.plan.get(name)) for name in OF_RUN}}
        found += [head | dict(fields(record)) for record in run.of(kind)]
    return found


def table(paths: list[Path], kind: str) -> str:
    runs = read_all(paths)
    found = rows(runs, kind)
    if not found:
        known = ", ".join(dict.fromkeys(record["record"] for run in runs for record in run.records))
        raise UnreadableRecords(f"{', '.join(map(str, paths))}: no {kind} record; there are {known}")
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in found for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: text(value) for name, value in row.items()} for row in found)
    return out.getvalue()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="timer", help="of records; timer by default")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    given = parser.parse_args(words)
    return print_text(lambda: table(given.files, given.kind))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
