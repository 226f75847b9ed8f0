"""Compares the time of each operation in two kinds of runs, as a Markdown table.

Each file holds the records of one or more runs (output.json of the deck) of the same problem. Milliseconds of a solve are summed
over levels, the mean over ranks, and the median of the file's runs; the last column is second / first. Runs that did not end are
left out; of surveys --solver names the one to compare. Keys in which the runs differ are listed below the table.
"""

import argparse
from pathlib import Path
from statistics import median

from studies.markdown import table as markdown
from studies.records import Run, UnreadableRecords, differing_keys, read_all, short_names

Times = dict[str, float]


def milliseconds(run: Run, solver: str) -> Times:
    """Milliseconds of a solve in each operation, in the order of the report, and of the whole solve."""
    times: Times = {}
    for timer in run.timers(solver):
        times[timer["op"]] = times.get(timer["op"], 0.0) + 1e3 * timer["t_mean"]
    solves = [solve["seconds"] for solve in run.solves(solver)]
    # The seconds of a survey's result are those of its fastest solver.
    seconds = run.result.get("seconds") if run.mode != "survey" else None
    if seconds or solves:
        times["solve"] = 1e3 * (seconds or median(solves))
    return times


def medians(path: Path, runs: list[Run], solver: str | None) -> Times:
    ended = [run for run in runs if run.path == path and run.result.get("seconds")]
    if not ended:
        raise UnreadableRecords(f"{path}: no run in it solved anything and ended")
    # Runs that solve nothing, as products with a matrix, have timers of one name.
    names = [name for run in ended for name in run.solvers() or map(run.solver_of, run.of("timer"))]
    solvers = list(dict.fromkeys(names)) or ["-"]
    if solver is None and len(solvers) > 1:
        raise UnreadableRecords(f"{path}: solves by {', '.join(solvers)}; choose one with --solver")
    if solver is not None and solver not in solvers:
        raise UnreadableRecords(f"{path}: no solve by {solver}; it has {', '.join(solvers)}")
    times = [milliseconds(run, solver or solvers[0]) for run in ended]
    return {op: median(one[op] for one in times if op in one) for op in dict.fromkeys(op for one in times for op in one)}


def head_and_rows(columns: dict[str, Times]) -> tuple[list[str], list[list[str]]]:
    """A row an operation, the solve last. Behind one column stand shares of the solve, behind two the quotient."""
    names, times = list(columns), list(columns.values())
    last = {1: "share", 2: f"{names[-1]} / {names[0]}"}.get(len(columns)) if columns else None
    found = []
    for op in sorted(dict.fromkeys(op for one in times for op in one), key=lambda op: op == "solve"):
        values = [one.get(op) for one in times]
        part, whole = values[-1], values[0] if len(columns) == 2 else times[0].get("solve")
        quotient = f"{part / whole:.2f}" if part is not None and whole else "-"
        found.append([op, *("-" if value is None else f"{value:.3f}" for value in values), *([quotient] if last else [])])
    return ["operation", *(f"{name}, ms" for name in names), *([last] if last else [])], found


def table(first: Path, second: Path, solver: str | None = None) -> str:
    paths = [first, second]
    runs = read_all(paths)
    columns = {name: medians(path, runs, solver) for name, path in zip(short_names(paths), paths, strict=True)}
    differing = differing_keys(runs, ["output.json"])
    return markdown(*head_and_rows(columns)) + (f"\nThe runs differ in {', '.join(differing)}.\n" if differing else "")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="FIRST.json")
    parser.add_argument("second", type=Path, metavar="SECOND.json")
    parser.add_argument("--solver", help="of a survey, as its records name it")


def act(options: argparse.Namespace) -> int:
    print(table(options.first, options.second, options.solver), end="")
    return 0
