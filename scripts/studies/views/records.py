"""Prints records of one kind as CSV.

    scripts/report records run.json ... >times.csv                      # timer: a row an operation and level
    scripts/report records --kind rank_timer run.json ... >ranks.csv    # of a run with output.details=true
    scripts/report records --kind cycle run.json ... >cycles.csv        # of a run with output.details=true

Any kind will do that docs/reference/records.md lists. In front of each row stand the file and what its run was; parts of a record
have names with dots (parts.bottom). What is a list, as residuals are, stays in the records.
"""

import argparse
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.records import Record, Run, UnreadableRecords, read_all

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


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", default="timer", help="of records; timer by default")
    parser.add_argument("files", nargs="+", type=Path, metavar="RUN.json")


def act(options: argparse.Namespace) -> int:
    print(table(options.files, options.kind), end="")
    return 0
