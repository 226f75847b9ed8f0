#!/usr/bin/env python3
"""Checks a RESULT.json of the Keel benchmark (docs/benchmark.md): its digest, and its figures and rules by its solves.

    scripts/check_result.py RESULT.json ...

Prints what is wrong, or the class and the figure. Exit status: 0 all may be submitted, 1 one may not, 2 no such file.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from math import fsum, isclose
from pathlib import Path
from statistics import median
from typing import Any

from studies.ending import ended

PROBLEMS = [(boundary, rhs) for boundary in ("periodic", "dirichlet") for rhs in ("manufactured", "random")]
LEAST_SECONDS = {"h": 60, "2h": 10, "4h": 10}


def wrong_grid(result: dict[str, Any], grid: dict[str, Any]) -> Iterator[str]:
    """Contradictions to the rules, or to the solves, on the grids of one spacing."""
    name = grid["grid"]
    rows = [row for row in result["problems"] if row["grid"] == name]
    if [(row["boundary"], row["rhs"]) for row in rows] != PROBLEMS:
        yield f"{name}: not the four problems"
        return
    width = max(grid["cells"])
    tolerance = 1e-10 * max(1.0, (width / 1024) ** 2)
    if not isclose(grid["tolerance"], tolerance, rel_tol=1e-9):
        yield f"{name}: tolerance {grid['tolerance']:g}, not {tolerance:g}"
    residuals = [residual for row in rows for residual in row["residuals"]]
    if any(residual is None or residual > tolerance for residual in residuals):
        yield f"{name}: a residual above {tolerance:g}"
    if min(len(row["seconds"]) for row in rows) < 3:
        yield f"{name}: fewer than 3 solves of a problem"
    took = fsum(seconds for row in rows for seconds in row["seconds"])
    if took < LEAST_SECONDS[name]:
        yield f"{name}: solves took {took:.3g} s, less than {LEAST_SECONDS[name]}"
    figure = 4 * grid["unknowns"] / fsum(median(row["seconds"]) for row in rows)
    if not isclose(figure, grid["dof_per_second"], rel_tol=1e-9):
        yield f"{name}: {grid['dof_per_second']:.6e} dof/s, but its solves make {figure:.6e}"


def wrong(text: str) -> Iterator[str]:
    """All reasons not to take a result."""
    result = json.loads(text)
    signed, _, _ = text.partition(',\n "digest": ')
    if result["digest"] != f"crc32:{zlib.crc32(signed.encode()):08x}":
        yield "the digest is of another text"
    yield from result["not_to_be_submitted"]
    yield from (f"check {check['name']} failed" for check in result["checks"] if not check["passed"])
    if [grid["grid"] for grid in result["grids"]] != list(LEAST_SECONDS):
        yield "not the grids h, 2h and 4h"
        return
    for grid in result["grids"]:
        yield from wrong_grid(result, grid)
    if result["result"]["fom"] is None or not isclose(result["result"]["fom"], result["grids"][0]["dof_per_second"], rel_tol=1e-9):
        yield "the figure of merit is not that at h"
    if result["memory"]["grids_bytes"] < 0.25 * result["memory"]["bytes"]:
        yield "less than a quarter of the memory"


def main(words: list[str]) -> int:
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 0 if words else 2
    status = 0
    for word in words:
        try:
            text = Path(word).read_text(encoding="utf-8")
            reasons = list(wrong(text))
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, IndexError) as error:
            print(f"{word}: no result of the benchmark: {error!r}", file=sys.stderr)
            return 2
        for reason in reasons:
            print(f"{word}: {reason}")
        if reasons:
            status = 1
        else:
            result = json.loads(text)
            print(f"{word}: class {result['class']}, {result['result']['fom']:.6e} dof/s at h")
    return status


if __name__ == "__main__":
    sys.exit(ended(lambda: main(sys.argv[1:])))
