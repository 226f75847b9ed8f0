"""Puts surveys of bottom solvers (run.mode = survey) side by side, as a Markdown table of counts.

Each file holds the JSON lines of one survey. A row is a solver, a column a file, a cell

    V-cycles: bottom iterations / all-reduces, bottom solves that missed their tolerance by the true residual

with "failed" where the V-cycles did not converge, and "-" where the file's survey had no such solver, or a record no such count.
"""

import argparse
from pathlib import Path

from studies.markdown import table as markdown
from studies.records import UnreadableRecords, read_all, short_names, shown


def cells(path: Path) -> dict[str, str]:
    """The entry of each solver, in the order of the survey."""
    runs = read_all([path])
    found: dict[str, str] = {}
    for record in (record for run in runs for record in run.of("survey")):
        cycles = "failed" if record.get("converged") is False else shown(record, "cycles")
        missed = f", {record['missed_bottoms']} missed" if record.get("missed_bottoms") else ""
        found[shown(record, "solver")] = f"{cycles}: {shown(record, 'bottom_iterations')} / {shown(record, 'reductions')}{missed}"
    if not found:
        killed = any(run.verdict == "KILLED" and run.mode == "survey" for run in runs)
        why = "the survey was killed before its end" if killed else f"make it with run.mode=survey output.json={path}"
        raise UnreadableRecords(f"{path}: no survey record; {why}")
    return found


def table(paths: list[Path]) -> str:
    columns = [cells(path) for path in paths]
    solvers = list(dict.fromkeys(solver for column in columns for solver in column))
    rows = [[f"`{solver}`"] + [column.get(solver, "-") for column in columns] for solver in solvers]
    return markdown(["bottom solver", *short_names(paths)], rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="SURVEY.json")


def act(options: argparse.Namespace) -> int:
    print(table(options.files), end="")
    return 0
