#!/usr/bin/env python3
"""Makes one Markdown table of several runs.

Usage: compare_runs.py FILE.json ... Each file holds the JSON lines of one or more runs (output.json of the deck).
Ranks and threads, the triad, cycles, the median, least and greatest seconds of the solves, unknowns per second, the time
per V-cycle, and the share of the triad that the finest smoother reached.
"""

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

Record = dict[str, Any]

COLUMNS = ["ranks x threads", "cells", "smoother", "bottom", "triad GB/s", "cycles", "solve s: median [min-max]",
           "MDOF/s", "ms/cycle", "smoother, % of triad", "verdict"]


def runs(path: Path) -> list[list[Record]]:
    """The records of every run in a file; each run begins with its "run" record."""
    found: list[list[Record]] = []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["record"] == "run":
            found.append([])
        found[-1].append(record)
    return found


def row(records: list[Record]) -> list[str]:
    def kind(name: str) -> list[Record]:
        return [r for r in records if r["record"] == name]

    run, result = kind("run")[0], kind("result")[0]
    solves = kind("solve")
    seconds = [s["seconds"] for s in solves]
    cycles = solves[-1]["cycles"]
    triad = run["triad_bytes_per_second"]
    smooth = next((t for t in kind("timer") if t["op"] == "smooth" and t["level"] == 0), None)
    # Ranks that take turns on a core were not at it all at once: no share can be given.
    share = "-" if run["shared_cores"] or not smooth else f"{100 * smooth['bytes_moved'] / smooth['t_mean'] / triad:.0f}"
    return [f"{run['ranks']}x{run['threads']}", "x".join(map(str, run["cells"])), run["deck"]["multigrid"]["smoother"],
            run["deck"]["bottom"]["solver"], f"{triad * 1e-9:.1f}", str(cycles),
            f"{median(seconds):.3f} [{min(seconds):.3f}-{max(seconds):.3f}]", f"{result['fom'] * 1e-6:.2f}",
            f"{1e3 * median(seconds) / cycles:.1f}", share, "VALID" if result["valid"] else "INVALID"]


def table(paths: list[Path]) -> str:
    lines = [COLUMNS, ["---"] * len(COLUMNS)] + [row(run) for path in paths for run in runs(path)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table([Path(name) for name in sys.argv[1:]]), end="")
