"""The rules of the Keel benchmark on a RESULT.json (docs/benchmark.md): every field that follows from others is computed again."""

import argparse
import json
import re
import sys
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from math import fsum, isclose, log10, prod
from pathlib import Path
from statistics import fmean, median
from typing import Any

from studies.keys import PAGE, keys_of
from studies.layout import ROOT, named
from studies.records import json_of

ABOUT = """Checks results of the Keel benchmark: digest, rules, and every field that follows from others.

    scripts/check_result.py RESULT.json ...

Prints what is wrong, or the class and the figure.
Documents: docs/benchmark.md. Exit status: 0 all may be submitted, 1 one may not, 2 a file is no result,
3 output could not be written (a full disk)."""

Result = dict[str, Any]
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)

SPACINGS = {"h": 60.0, "2h": 10.0, "4h": 10.0, "64": 10.0}  # least seconds of all solves
FIXED_WIDTH = 64  # width of the boxes by which machines of different memory compare
RELEASES = re.compile(r"\b(\d+\.\d+\.\d+): `(sha256:[0-9a-f]{16})`")  # as docs/benchmark.md lists them
PROBLEMS = [(boundary, rhs) for boundary in ("periodic", "dirichlet") for rhs in ("manufactured", "random")]
RULES_NUMBER = 1  # miniapp/modes/grids/benchmark/rules.hpp
EPSILON = sys.float_info.epsilon
TO_BE_SUBMITTED = {
    "": {"record": "benchmark", "schema": 3, "rules": RULES_NUMBER},
    "run": {"record": "run", "schema": 3, "clock": "real", "simulation": None, "shared_cores": False},
    "result": {"record": "result", "schema": 3, "valid": True, "interrupted": False, "interrupted_by": None, "exit": 0, "unit": "dof/s",
               "zero_right_side": False, "parts": None, "moved": None},
}  # fmt: skip
# The keys, or sections, that a run may change, and the name of the change (miniapp/modes/grids/benchmark/rules.cpp).
FREEDOMS = {
    "bottom.": "solver", "amg.": "solver", "multigrid.": "solver", "multigrid.tolerance": "fixed", "multigrid.bottom_box": "fixed",
    "multigrid.precision": "precision", "multigrid.fused_box": "passes", "multigrid.fused_half_sweeps": "passes",
    "multigrid.reference_path": "passes", "multigrid.ghost_colours": "passes", "problem.storage": "passes",
    "problem.placement": "scheme", "comm.": "scheme", "comm.precision": "precision", "comm.ranks_per_node": "fixed", "comm.ranks_per_socket": "fixed",
    "comm.node_map": "fixed", "run.gpu_sync": "passes", "run.mode": "", "run.backend": "", "run.label": "", "run.time_limit": "",
    "run.triad_mb": "", "output.": "",
}  # fmt: skip


def same(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool) or not isinstance(found, (int, float)) or not isinstance(wanted, (int, float)):
        return type(found) is type(wanted) and bool(found == wanted)
    return isclose(found, wanted, rel_tol=1e-9)


def differing(where: str, record: Result, wanted: Result) -> Iterator[str]:
    """The fields of a record that are not as wanted."""
    for name, value in wanted.items():
        path = f"{where}.{name}".strip(".")
        if name not in record:
            yield f"{path} is missing"
        elif not same(record[name], value):
            yield f"{path} is {json.dumps(record[name])[:60]}, not {json.dumps(value)[:60]}"


def rows_of(result: Result, spacing: str) -> list[Result]:
    return [row for row in result["problems"] if row["grid"] == spacing]


def widths_of(box: int) -> dict[str, int]:
    """The width of the boxes on each grid, by that at h; `64` where no other grid has boxes of 64^3."""
    widths = {"h": box, "2h": box // 2, "4h": box // 4}
    return widths if FIXED_WIDTH in widths.values() else widths | {"64": FIXED_WIDTH}


def releases() -> dict[str, str]:
    """Releases by the digest of their sources."""
    return {digest: version for version, digest in RELEASES.findall((ROOT / "docs/benchmark.md").read_text(encoding="utf-8"))}


def tolerance_of(cells: Sequence[int]) -> float:
    return 1e-10 * max(1.0, (max(cells) / 1024) ** 2)


def digits_of(row: Result) -> float:
    return fmean(-log10(max(residual, EPSILON)) for residual in row["residuals"])


def status(result: Result) -> Iterator[str]:
    """A whole, valid run in real time of unchanged sources."""
    yield from map(str, result["not_to_be_submitted"])
    for where, wanted in TO_BE_SUBMITTED.items():
        yield from differing(where, result[where] if where else result, wanted)
    run = result["run"]
    if run["device_sharing"] > 1:
        yield "ranks share a device"
    if not run["revision"] or run["revision"].endswith("-dirty"):
        yield f"revision {run['revision']!r}: sources differ from their revision"
    if run["sources"] not in releases():
        yield f"sources {run['sources']}: those of no release in docs/benchmark.md"
    if (ranks := sum(host["ranks"] for host in run["hosts"])) != run["ranks"]:
        yield f"run.ranks is {run['ranks']}, but its hosts have {ranks}"


def checks(result: Result) -> Iterator[str]:
    """The checks that each benchmark makes have passed, with values that pass."""
    solves = sum(len(row["seconds"]) for row in result["problems"])
    tolerance = max(grid["tolerance"] for grid in result["grids"])
    limits = {"discretisation_order": (1.8, 2.2), "residual_recomputed": (0.0, 1.001 * tolerance), "problem_unchanged": (0.0, 1e-13),
              "operator_symmetry": (0.0, 1e-12), "solves_converged": (solves, solves)}  # fmt: skip
    found = {check["name"]: check for check in result["checks"]}
    for name, check in found.items():
        yield from differing(f"check {name}", check, {"record": "check", "schema": 3})
    yield from (f"check {name} failed" for name, check in found.items() if check["passed"] is not True)
    for name, (low, high) in limits.items():
        if name not in found:
            yield f"no check {name}"
        elif found[name]["value"] is None or not low <= found[name]["value"] <= high:
            yield f"check {name}: {found[name]['value']} is not from {low:g} to {high:g}"


def is_size(box: int) -> bool:
    """64, 80, 96, 112, 128, 160, ... 1024."""
    step = 2 ** (box.bit_length() - 1) // 4
    return 64 <= box <= 1024 and box % step == 0


def sizes(result: Result) -> Iterator[str]:
    """The grids of boxes that the rules name."""
    grids = result["grids"]
    run, finest = result["run"], grids[0]
    widths = widths_of(finest["box"])
    if not is_size(finest["box"]):
        yield f"h: boxes {finest['box']} wide are no size of the benchmark"
    if [grid["grid"] for grid in grids] != list(widths):
        yield f"not the grids {', '.join(widths)}"
        return
    for grid, (name, width) in zip(grids, widths.items(), strict=True):
        boxes = run["boxes"] if name != "64" or prod(run["boxes"]) == run["ranks"] else None  # else one box a rank, of many
        cells = [width * n for n in boxes] if boxes else grid["cells"]
        yield from differing(name, grid, {"box": width, "cells": cells, "unknowns": prod(grid["cells"])})
        if prod(grid["cells"]) != width**3 * (prod(run["boxes"]) if boxes else run["ranks"]):
            yield f"{name}: {grid['cells']} cells are not those of boxes {width} wide"
        if not isclose(grid["tolerance"], tolerance_of(grid["cells"]), rel_tol=1e-9):
            yield f"{name}: tolerance {grid['tolerance']:g}, not {tolerance_of(grid['cells']):g}"
    boxes, rest = divmod(prod(run["boxes"]), run["ranks"])
    if rest or (boxes != 1 and finest["box"] != 1024) or boxes & (boxes - 1):
        yield f"{prod(run['boxes'])} boxes {finest['box']} wide on {run['ranks']} ranks are no size of the benchmark"
    cells = prod(finest["cells"])
    faces = {"interior": 3 * cells, "outer": 0, "missing": 0, "dirichlet": 0, "neumann": 0}  # the first problem is periodic
    domain = {"shape": "cube", "boxes": prod(run["boxes"]), "components": 1, "cells": cells, "faces": faces}
    yield from differing("run", run, {"cells": finest["cells"], "domain": domain})
    yield from differing("run.levels.0", run["levels"][0], {"box": finest["box"]})
    for depth, level in enumerate(run["levels"]):
        yield from differing(f"run.levels.{depth}", level, {"cells": [length >> depth for length in finest["cells"]]})


def solves(result: Result) -> Iterator[str]:
    """Seconds and a residual of each solve, as many solves as the rules want, and what follows from these."""
    names = [grid["grid"] for grid in result["grids"]]
    if [(row["grid"], row["boundary"], row["rhs"]) for row in result["problems"]] != [(name, *one) for name in names for one in PROBLEMS]:
        yield f"not the four problems on each of the grids {', '.join(names)}"
        return
    for grid in result["grids"]:
        tolerance = tolerance_of(grid["cells"])
        least = SPACINGS[grid["grid"]] / len(PROBLEMS)
        for row in rows_of(result, grid["grid"]):
            where = f"{row['grid']}, {row['boundary']}, {row['rhs']}"
            seconds, residuals = row["seconds"], row["residuals"]
            if len(seconds) < 3:
                yield f"{where}: fewer than 3 solves"
                continue
            if min(seconds) <= 0:
                yield f"{where}: a solve of {min(seconds):g} s"
                continue
            if len(residuals) != len(seconds):
                yield f"{where}: {len(residuals)} residuals of {len(seconds)} solves"
            elif any(residual is None or not 0 <= residual <= tolerance for residual in residuals):
                yield f"{where}: a residual above {tolerance:g}, or none"
            else:
                yield from differing(where, row, {"digits": digits_of(row)})
            if fsum(seconds) < least * (1 - 1e-9):
                yield f"{where}: solves took {fsum(seconds):.3g} s, less than {least:g}"
            if len(seconds) > 3 and fsum(seconds[:-1]) > least * (1 + 1e-9):
                yield f"{where}: further solves after {least:g} s"
            if spread_of(seconds):
                yield f"{where}: {spread_of(seconds)}"
            if not row["cycles"] >= 1 or not row["bottom_iterations"] >= 0:
                yield f"{where}: {row['cycles']} cycles, {row['bottom_iterations']} iterations"


def apart(low: float, high: float, factor: float) -> bool:
    """Whether times differ by more than the load of a machine explains: short solves wait for other processes' turns, too."""
    return high > 20 * low or (high > factor * low and high - low > 0.1)


def spread_of(seconds: Sequence[float]) -> str:
    """Why seconds are not those of one solve again and again; empty if they may be."""
    ordered, middle = sorted(seconds), median(seconds)
    low, high = ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]
    if apart(low, high, 4):
        return f"a quarter of its solves took at most {low:.3g} s, another at least {high:.3g}"
    mean = fmean(seconds)
    return f"solves took {mean:.3g} s on average, their median is {middle:.3g}" if apart(middle, mean, 2) else ""


def norms(result: Result) -> Iterator[str]:
    """u_l2 of the manufactured u: a product of sin(2 pi x) + cos(4 pi x) / 4, or sin(pi x) + sin(3 pi x) / 4, on a domain whose
    longest side is 1. The discrete solution differs by 2.1 (periodic) or 0.8 times the square of the widest spacing."""
    for grid in result["grids"]:
        cells = grid["cells"]
        exact = ((1 / 2 + 1 / 32) ** 3 * prod(cells) / max(cells) ** 3) ** 0.5
        for row in rows_of(result, grid["grid"]):
            known = row["rhs"] == "manufactured"
            if not row["u_l2"] > 0 or (known and not isclose(row["u_l2"], exact, rel_tol=4 / min(cells) ** 2)):
                yield f"{row['grid']}, {row['boundary']}, {row['rhs']}: u_l2 is {row['u_l2']:g}{f', not {exact:g}' * known}"


def sums(result: Result) -> Iterator[str]:
    """The figures of each grid, by its solves."""
    for grid in result["grids"]:
        rows = rows_of(result, grid["grid"])
        every = [seconds for row in rows for seconds in row["seconds"]]
        mean = fsum(median(row["seconds"]) for row in rows) / len(PROBLEMS)
        if not isclose(grid["unknowns"] / mean, grid["dof_per_second"], rel_tol=1e-9):
            yield f"{grid['grid']}: {grid['dof_per_second']:.6e} dof/s, but its solves make {grid['unknowns'] / mean:.6e}"
        digits = fmean(digits_of(row) for row in rows)
        yield from differing(grid["grid"], grid, {"solves": len(every), "measured_seconds": fsum(every), "seconds": mean,
                                                  "setup_seconds": fmean(row["setup_seconds"] for row in rows),
                                                  "cycles": fmean(row["cycles"] for row in rows), "digits_per_second": digits / mean})  # fmt: skip
        if not 0 <= grid["bottom_share"] <= 1 or not grid["bytes_per_unknown"] > 0 or not grid["triad_share"] > 0 or grid["sent_bytes"] < 0 \
                or not grid["smoother_bytes_per_second"] > 0:  # fmt: skip
            yield f"{grid['grid']}: bottom_share, bytes_per_unknown, smoother_bytes_per_second, triad_share or sent_bytes are none"


def whole(result: Result) -> Iterator[str]:
    """The record `result`, by the grids and problems."""
    finest, rows, end = result["grids"][0], result["problems"], result["result"]
    if end["fom"] is None or not isclose(end["fom"], finest["dof_per_second"], rel_tol=1e-9):
        yield "the figure of merit is not that at h"
    count = sum(len(row["seconds"]) for row in rows)
    took = fsum(seconds for row in rows for seconds in row["seconds"])
    if end["total_seconds"] < took:
        yield f"result.total_seconds is {end['total_seconds']:g}, but the solves took {took:g}"
    yield from differing("result", end, {
        "fom_tolerance": tolerance_of(finest["cells"]), "fom_digits": fmean(map(digits_of, rows_of(result, "h"))), "seconds": finest["seconds"],
        "setup_seconds": rows[0]["setup_seconds"] - end["tuning_seconds"], "done": [{"what": "solves", "done": count, "all": count}]})  # fmt: skip


def memory(result: Result) -> Iterator[str]:
    """Grids that take a quarter of the memory that the system allows, and of a node's own, and no more than all of it."""
    found, run = result["memory"], result["run"]
    if found["grids_bytes"] < 0.25 * found["bytes"]:
        yield "less than a quarter of the memory"
    mark = f"grids of {100 * found['grids_bytes'] / found['machine_bytes']:.2f}% of the machine"
    if found["where"] == "node" and found["grids_bytes"] < 0.25 * found["machine_bytes"] and mark not in result["not_to_be_submitted"]:
        yield mark
    if found["grids_bytes"] > found["bytes"] or (found["where"] == "node" and found["bytes"] > found["machine_bytes"]):
        yield (f"memory: grids of {found['grids_bytes']:g} bytes in {found['bytes']:g} of a {found['where']} "
               f"of {found['machine_bytes']:g}")  # fmt: skip
    where = "device" if any(run["devices"]) else "node"
    yield from differing("memory", found, {"where": where, "grids_bytes": found["ranks"] * run["array_bytes"], "share": found["grids_bytes"] / found["bytes"]})
    if not 1 <= found["ranks"] <= run["ranks"] or run["predicted_bytes"] < run["array_bytes"]:
        yield f"memory: {found['ranks']} of {run['ranks']} ranks share a {found['where']}"


def freedom_of(key: str) -> str:
    return FREEDOMS.get(key, FREEDOMS.get(key.partition(".")[0] + ".", "fixed"))


def class_of(changes: Sequence[str]) -> str:
    """The class that keys make by their freedoms."""
    return "mixed" if "precision" in changes else "tuned" if changes else "base"


def category(result: Result) -> Iterator[str]:
    """The class, by the keys that the result names."""
    named_keys = [text.partition(" = ")[0].rpartition(": ")[2] for text in result["changed"]]
    yield from (f"{key} is fixed by the rules" for key in named_keys if freedom_of(key) == "fixed")
    if (by_keys := class_of(list(filter(None, map(freedom_of, named_keys))))) != result["class"]:
        yield f"class {result['class']}, but the keys that it changed make {by_keys}"


def deck(result: Result) -> Iterator[str]:
    """The keys that the result names are those that differ from their defaults in the record's deck."""
    defaults = {key.name: json_of(key.default) for key in keys_of(PAGE.read_text(encoding="utf-8"))}
    found = {f"{section}.{key}": value for section, keys in result["run"]["deck"].items() for key, value in keys.items()}
    yield from (f"deck: {key}: no such key" for key in found.keys() - defaults.keys())
    yield from differing("deck", found, {"run.mode": "benchmark"})
    changed = {key: value for key, value in found.items() if freedom_of(key) and not same(value, defaults.get(key, value))}
    told = dict(text.partition(": ")[2].partition(" = ")[::2] for text in result["changed"])
    for key, value in changed.items():
        if freedom_of(key) == "fixed":
            yield f"deck: {key} = {json.dumps(value)}, which the rules fix"
        elif key not in told:
            yield f"deck: {key} = {json.dumps(value)}, which `changed` does not name"
    for key, text in told.items():
        if key not in changed or not same(changed[key], tomllib.loads(f"value = {text}")["value"]):
            yield f"changed: {key} = {text}, but the deck has {json.dumps(found.get(key))}"


RULES: tuple[Callable[[Result], Iterator[str]], ...] = (
    status, checks, sizes, solves, norms, sums, whole, memory, category, deck)  # fmt: skip


def reasons_not_to_take(text: str) -> list[str]:
    """All that is wrong with a result; ValueError for any other text."""
    result = json_of(text)
    if not isinstance(result, dict) or not isinstance(result.get("grids"), list) or not isinstance(result.get("problems"), list):
        raise ValueError("it has no grids and problems")
    signed, _, _ = text.partition(',\n "digest": ')
    found = [] if result.get("digest") == f"crc32:{zlib.crc32(signed.encode()):08x}" else ["the digest is of another text"]
    for rule in RULES:
        try:
            found += rule(result)
        except MALFORMED as error:
            found.append(f"{rule.__name__}: a field is missing or has another type: {error}")
    return found


def judge(path: Path) -> int:
    """Prints what is wrong with a file, or its class and figure; the exit status."""
    try:
        text = path.read_text(encoding="utf-8")
        reasons = reasons_not_to_take(text)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"{path}: no result of the benchmark: {why}", file=sys.stderr)
        return 2
    result = json_of(text)
    print("\n".join(f"{path}: {reason}" for reason in reasons)
          or f"{path}: class {result['class']}, {result['result']['fom']:.6e} dof/s at h")  # fmt: skip
    return 1 if reasons else 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=named("scripts/check_result.py"), description=named(ABOUT),
                                   formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    made.add_argument("files", nargs="+", type=Path, metavar="RESULT.json")
    return made


def main(words: Sequence[str]) -> int:
    return max([judge(path) for path in parser().parse_args(words).files])
