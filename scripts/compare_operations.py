#!/usr/bin/env python3
"""Compares what two kinds of runs take for each operation, as a Markdown table.

Each file holds the JSON lines of one or more runs (output.json of the deck) of the same problem. Milliseconds per solve are
summed over the levels, the mean of the ranks; the median of the runs of a file stands for it, and the last column is second /
first. Runs that did not end are left out; of surveys --solver names the one to compare.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

from studies.markdown import table as markdown
from studies.records import Run, UnreadableRecords, read_all, read_runs


def milliseconds(run: Run, solver: str) -> dict[str, float]:
    """Milliseconds of each operation that moves bytes, in the order of the report, and of the solve."""
    times: dict[str, float] = {}
    for timer in run.timers(solver):
        if timer["bytes_moved"] > 0:
            times[timer["op"]] = times.get(timer["op"], 0.0) + 1e3 * timer["t_mean"]
    solves = [solve["seconds"] for solve in run.solves(solver)]
    # The seconds of a survey's result are those of its fastest solver.
    seconds = run.result["seconds"] if run.mode != "survey" else median(solves)
    times["solve"] = 1e3 * seconds
    return times


def medians(path: Path, solver: str | None) -> dict[str, float]:
    ended = [run for run in read_runs(path) if run.result.get("seconds")]
    if not ended:
        raise UnreadableRecords(f"{path}: no run in it solved anything and ended")
    solvers = list(dict.fromkeys(name for run in ended for name in run.solvers())) or ["-"]
    if solver is None and len(solvers) > 1:
        raise UnreadableRecords(f"{path}: solves by {', '.join(solvers)}; choose one with --solver")
    if solver is not None and solver not in solvers:
        raise UnreadableRecords(f"{path}: no solve by {solver}; it has {', '.join(solvers)}")
    all_runs = [milliseconds(run, solver or solvers[0]) for run in ended]
    return {op: median(run[op] for run in all_runs if op in run) for op in all_runs[0]}


def table(first: Path, second: Path, solver: str | None = None) -> str:
    read_all([first, second])  # refuses two clocks
    a, b = medians(first, solver), medians(second, solver)
    if list(a) != list(b):
        raise UnreadableRecords(f"{first} and {second} differ in their operations: {', '.join(a)}; {', '.join(b)}")
    rows = [[op, f"{a[op]:.3f}", f"{b[op]:.3f}", f"{b[op] / a[op]:.2f}"] for op in a]
    return markdown(["operation", f"{first.stem}, ms", f"{second.stem}, ms", f"{second.stem} / {first.stem}"], rows)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, metavar="FIRST.json")
    parser.add_argument("second", type=Path, metavar="SECOND.json")
    parser.add_argument("--solver", help="of a survey, as its records name it")
    options = parser.parse_args(words)
    try:
        print(table(options.first, options.second, options.solver), end="")
    except UnreadableRecords as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
