#!/usr/bin/env python3
"""Puts surveys of bottom solvers (run.mode = survey) side by side, as a Markdown table of counts.

Usage: survey_table.py FILE.json... Each file holds the JSON lines of one survey. A row is a solver, a column a file, a cell

    V-cycles: bottom iterations / all-reduces, bottom solves that missed their tolerance by the true residual

with "failed" where the V-cycles did not converge, and "-" where the file's survey had no such solver.
"""

import json
import sys
from pathlib import Path


def cells(path: Path) -> dict[str, str]:
    """Of each solver, in the order of the survey."""
    found: dict[str, str] = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["record"] != "survey":
            continue
        cycles = record["cycles"] if record["converged"] else "failed"
        missed = f", {record['missed_bottoms']} missed" if record["missed_bottoms"] else ""
        found[record["solver"]] = f"{cycles}: {record['bottom_iterations']} / {record['reductions']}{missed}"
    if not found:
        raise ValueError(f"{path}: no survey record; make it with run.mode=survey output.json={path}")
    return found


def table(paths: list[Path]) -> str:
    columns = [cells(path) for path in paths]
    solvers = list(dict.fromkeys(solver for column in columns for solver in column))
    lines = [["bottom solver"] + [path.stem for path in paths], ["---"] * (len(paths) + 1)]
    lines += [[f"`{solver}`"] + [column.get(solver, "-") for column in columns] for solver in solvers]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table([Path(name) for name in sys.argv[1:]]), end="")
