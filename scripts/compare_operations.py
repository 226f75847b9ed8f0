#!/usr/bin/env python3
"""Compares what two kinds of runs take for each operation, as a Markdown table.

Usage: compare_operations.py FIRST.json SECOND.json. Each file holds the JSON lines of one or more runs (output.json of the
deck) of the same problem. Milliseconds per solve are summed over the levels, the mean of the ranks; the median of the runs of
a file stands for it, and the last column is second / first.
"""

import sys
from pathlib import Path
from statistics import median

from compare_runs import Record, runs


def milliseconds(records: list[Record]) -> dict[str, float]:
    """Of each operation that moves bytes, in the order of the report, and of the solve."""
    times: dict[str, float] = {}
    for record in records:
        if record["record"] == "timer" and record["bytes_moved"] > 0:
            times[record["op"]] = times.get(record["op"], 0.0) + 1e3 * record["t_mean"]
    times["solve"] = 1e3 * next(r["seconds"] for r in records if r["record"] == "result")
    return times


def medians(path: Path) -> dict[str, float]:
    all_runs = [milliseconds(records) for records in runs(path)]
    return {op: median(run[op] for run in all_runs) for op in all_runs[0]}


def table(first: Path, second: Path) -> str:
    a, b = medians(first), medians(second)
    if list(a) != list(b):
        raise ValueError(f"{first} and {second} differ in their operations: {list(a)}, {list(b)}")
    lines = [["operation", f"{first.stem}, ms", f"{second.stem}, ms", f"{second.stem} / {first.stem}"], ["---"] * 4]
    lines += [[op, f"{a[op]:.3f}", f"{b[op]:.3f}", f"{b[op] / a[op]:.2f}"] for op in a]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(table(Path(sys.argv[1]), Path(sys.argv[2])), end="")
