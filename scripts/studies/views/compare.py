"""Makes one table of several runs: a row a run and solver; in a terminal at most 100 columns wide, elsewhere Markdown.

Each file holds the JSON lines of one or more runs (output.json of the deck), of any mode. A row has ranks and threads, the
triad, cycles, iterations, the median, least and greatest seconds of the solves, unknowns per second, the time per V-cycle, the
share of the triad that the finest smoother reached, and a column for every other key in which the runs differ. What a mode
does not have is "-"; a run that was killed has no verdict, and its finished solves count. In a terminal columns that are the
same in all rows stand above the table.
"""

import argparse
import sys
import textwrap
from pathlib import Path
from statistics import median
from typing import Any

from studies.markdown import aligned, digits
from studies.markdown import table as markdown
from studies.records import Record, Run, differing_keys, read_all, refuse_bare, seconds_of, short_names, shown

COLUMNS = ["ranks x threads", "cells", "smoother", "bottom", "triad GB/s", "cycles", "iterations",
           "solve s: median [min-max]", "MDOF/s", "ms/cycle", "smoother, % of triad", "verdict"]  # fmt: skip
# Keys that columns show already, or that no solve depends on.
SHOWN = ["multigrid.smoother", "bottom.solver", "problem.box", "problem.boxes", "problem.ranks", "output.json", "run.survey"]


def last(solves: list[Record], *names: str) -> str:
    """The first of these fields that the last solve has."""
    return next((f"{solves[-1][name]}" for name in names if solves and solves[-1].get(name) is not None), "-")


def row(run: Run, solver: str | None, swept: list[str]) -> list[str]:
    head, solves = run.head, run.solves(solver) if solver else []
    seconds = seconds_of(solves)
    cycles = last(solves, "cycles")
    triad = head.get("triad_bytes_per_second") or 0
    passes = [t for t in run.timers(solver or "") if t["op"].startswith("smooth") and t.get("level") == 0]
    smoothing = sum(t["t_mean"] for t in passes)
    # Ranks that take turns on a core were not at it all at once: no share can be given.
    share = "-"
    # Nor where the host did not wait for a device: times of operations are the host's then.
    waits = run.key("run.gpu_sync", "per_operation") == "per_operation"
    if smoothing > 0 and triad and not head.get("shared_cores") and waits:
        share = f"{100 * sum(t.get('bytes_moved') or 0 for t in passes) / smoothing / triad:.0f}"
    cells: list[Any] = [
        f"{shown(head, 'ranks')}x{shown(head, 'threads')}" if head else "-",
        "x".join(map(str, head.get("cells") or "-")) if run.unknowns else "-",
        run.key("multigrid.smoother", "-") if run.of_multigrid else "-",
        solver or "-",
        f"{triad * 1e-9:.1f}" if triad else "-",
        cycles,
        last(solves, "bottom_iterations", "iterations"),
        f"{digits(median(seconds))} [{digits(min(seconds))}-{digits(max(seconds))}]" if seconds else "-",
        f"{run.unknowns / median(seconds) * 1e-6:.2f}" if seconds and run.unknowns and median(seconds) else "-",
        digits(1e3 * median(seconds) / float(cycles)) if seconds and cycles != "-" and float(cycles) else "-",
        share,
        run.verdict,
    ]
    return [*map(str, cells[:-1]), *(str(run.key(key, "-")) for key in swept), cells[-1]]


def head_and_rows(paths: list[Path]) -> tuple[list[str], list[list[str]]]:
    runs = read_all(paths)
    refuse_bare(runs)
    swept = differing_keys(runs, SHOWN)
    names = dict(zip(paths, short_names(paths), strict=True)) if len(paths) > 1 else {}
    rows = [[*([names[run.path]] if names else []), *row(run, solver, swept)]
            for run in runs for solver in (run.solvers() or [None])]  # fmt: skip
    return [*["file"] * bool(names), *COLUMNS[:-1], *swept, COLUMNS[-1]], rows


def table(paths: list[Path]) -> str:
    return markdown(*head_and_rows(paths))


def in_terminal(head: list[str], rows: list[list[str]]) -> str:
    """Columns that are the same in all rows stand once, above the table of the others."""
    same = [n for n, _ in enumerate(head) if len(rows) > 1 and len({row[n] for row in rows}) == 1]
    rest = [n for n, _ in enumerate(head) if n not in same]
    constant = "; ".join(f"{head[n]} {rows[0][n]}" for n in same if rows[0][n] != "-")
    above = textwrap.fill(f"all: {constant}", 100, break_long_words=False) + "\n\n" if constant else ""
    return above + aligned([head[n] for n in rest], [[row[n] for n in rest] for row in rows])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="RUN.json")


def act(options: argparse.Namespace) -> int:
    print(in_terminal(*head_and_rows(options.files)) if sys.stdout.isatty() else table(options.files), end="")
    return 0
