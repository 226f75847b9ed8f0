#!/usr/bin/env python3
"""Puts the attainable accuracy of Krylov methods (run.mode = krylov) side by side, as a Markdown table.

Each file holds the records of one problem's runs, a run for each method, which run.label names; the first is what the others
are compared with. A row is a method, a column a file, a cell

    true residual of the x returned (how many times the first run's)

with the name of the outcome where the method did not end by its own word, and "-" where the file has no such run. Counted in
floating point, not timed.

With --iterations a cell has the iterations, and where the method did not converge how it ended and at which true residual; of
several runs of one label one behind the other.
"""

import sys
from pathlib import Path

from studies.markdown import table as markdown
from studies.records import Record, UnreadableRecords, read_runs
from studies.view import print_view


def cell(solve: Record, first: float) -> str:
    residual = solve["true_residual"]
    if residual is None:
        return str(solve["outcome"])
    times = f" ({residual / first:.1f})" if residual < 100 * first else f" ({residual / first:.0e})"
    ended = "" if solve["outcome"] in ("converged", "stagnated") else f", {solve['outcome']}"
    return f"{residual:.0e}{times}{ended}"


def cells(path: Path) -> dict[str, str]:
    """The entry of each run, by its label."""
    solves = {str(run.head.get("label") or run.key("bottom.solver")): run.of("solve") for run in read_runs(path)}
    last = {label: found[-1] for label, found in solves.items() if found}
    if not last:
        raise UnreadableRecords(f"{path}: no solve record; make it with run.mode=krylov run.label=NAME output.json={path}")
    first = next(iter(last.values()))["true_residual"]
    return {label: cell(solve, first) for label, solve in last.items()}


def iterations(solve: Record) -> str:
    if solve["outcome"] == "converged":
        return str(solve["iterations"])
    residual = solve["true_residual"]
    return f"{solve['outcome']}" + (f" {residual:.0e}" if residual is not None else "")


def iteration_cells(path: Path) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for run in read_runs(path):
        label = str(run.head.get("label") or run.key("bottom.solver"))
        found.setdefault(label, []).extend(iterations(solve) for solve in run.of("solve"))
    return {label: " / ".join(told) for label, told in found.items()}


def iteration_table(paths: list[Path]) -> str:
    return side_by_side(paths, [iteration_cells(path) for path in paths])


def table(paths: list[Path]) -> str:
    return side_by_side(paths, [cells(path) for path in paths])


def side_by_side(paths: list[Path], columns: list[dict[str, str]]) -> str:
    labels = list(dict.fromkeys(label for column in columns for label in column))
    rows = [[f"`{label}`"] + [column.get(label, "-") for column in columns] for label in labels]
    return markdown(["method"] + [path.stem for path in paths], rows)


def main(words: list[str]) -> int:
    counts = [word for word in words if word != "--iterations"]
    return print_view(__doc__, counts, table if counts == words else iteration_table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
