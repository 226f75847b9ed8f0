"""Makes one HTML page of a run, or of two side by side: verdict, warnings, checks, then time by level and operation, and so on.

The page of two runs begins with which is faster, if more than their noise. A RESULT.json of the benchmark is taken, too: its page
has the grids and problems. Of a file with several runs the last one is shown. The page lies beside the first file unless --output
names another place, and nothing is overwritten. With --figures each figure is also a file of its own in the folder PAGE_figures.
"""

import argparse
import shlex
from pathlib import Path
from statistics import median
from typing import Any

from studies.answers import differ, of_two
from studies.layout import named
from studies.markdown import digits
from studies.records import Run, UnreadableRecords, differing_keys, read_files, refuse_bare, seconds_of, short_names, shown
from studies.statistics import spread

MOST_COLUMNS = 5  # a wider table of operations has the whole page
LEAST_SHARE = 0.01  # operations with a smaller share of the solve are summed up
FIGURES = ("levels", "residuals", "bandwidth", "roofline", "traffic", "split", "messages")
Times = dict[str, float]


def last_runs(paths: list[Path]) -> list[Run]:
    return [runs[-1] for runs in read_files(paths)]


def bytes_of(value: float | None) -> str:
    return "-" if not value else f"{digits(value / 1e6)} MB" if value < 1e9 else f"{digits(value / 1e9)} GB"


def time_of(run: Run, solver: str) -> str:
    seconds = seconds_of(run.solves(solver))
    if not seconds:
        return "-"
    one = spread(seconds)
    low, high = one.bars
    interval = "95 %" if one.low is not None else "least to greatest"
    return f"{digits(one.median)} s, {interval} {digits(low)} to {digits(high)}, {one.count} solves"


def solver_facts(run: Run) -> dict[str, str]:
    """The rows of each solver: times and counts of its solves."""
    found: dict[str, str] = {}
    solvers = run.solvers()
    for solver in solvers:
        last = run.solves(solver)[-1]
        counts = [(last.get("cycles"), "V-cycles"), (last.get("bottom_iterations", last.get("iterations")), "iterations"),
                  (last.get("reductions"), "all-reduces"), (last.get("exchanges"), "exchanges")]  # fmt: skip
        called = f", {solver}" if len(solvers) > 1 else ""
        found[f"time{called}"] = time_of(run, solver)
        found[f"counts{called}"] = ", ".join(f"{count} {what}" for count, what in counts if count is not None)
    return {"solver": ", ".join(solvers)} | found if solvers else {}


def facts(run: Run) -> dict[str, str]:
    """The run and its machine: a row of the page each."""
    head, result = run.head, run.result
    moved = result.get("moved") or {}
    size = " x ".join(map(str, head.get("cells") or [])) or "-"
    triad = head.get("triad_bytes_per_second")
    return {
        "machine": run.machine or str(run.head.get("processor_architecture") or "-"),
        "started": str(head.get("date", "-")),
        "Keel": f"{head.get('version', '-')} ({head.get('revision', '-')}), {head.get('compiler', '-')} {head.get('build_type', '')}",
        "flags": str(head.get("flags", "-")),
        "MPI": str(head.get("mpi", "-")),
        "ranks": f"{shown(head, 'ranks')} x {shown(head, 'threads')} threads on {head.get('nodes') or 1} nodes"
        + (", which shared cores" if head.get("shared_cores") else ""),
        "backend": ", ".join(dict.fromkeys(filter(None, [str(head.get("backend", "-")), *(head.get("devices") or [])]))),
        "clock": run.clock,
        "triad": f"{triad * 1e-9:.1f} GB/s, all ranks" if triad else "-",
        "cells": f"{size}, {len(head.get('levels') or [])} levels",
        **solver_facts(run),
        **benchmark_facts(run),
        "set-up": f"{digits(result.get('setup_seconds'))} s",
        "moved in a solve": bytes_of(moved.get("bytes")),
        "memory of the fullest rank": f"{bytes_of(result.get('measured_bytes'))} measured, "
        f"{bytes_of(head.get('predicted_bytes'))} predicted, of it arrays {bytes_of(head.get('array_bytes'))}",
        "command": shlex.join(map(str, head.get("command") or [])),
    }


def verdict(run: Run) -> str:
    """Whether the run is valid, what failed, its time and its figure of merit; of a survey the fastest solver."""
    failed = [shown(check, "name") for check in run.of("check") if not check.get("passed")]
    fom = f"{run.result['fom']:.4g} {run.result.get('unit') or ''}".rstrip() if run.result.get("fom") else ""
    timed = [(spread(seconds), solver) for solver in run.solvers() if (seconds := seconds_of(run.solves(solver)))]
    timed.sort(key=lambda one: one[0].median)
    best = f"{timed[0][1]} {time_of(run, timed[0][1])}" if timed else ""
    if len(timed) > 1:
        same = [solver for one, solver in timed[1:] if not differ(one, timed[0][0])]
        best = f"least time: {best}" + ("" if timed[0][0].count == 1 else f"; not different: {', '.join(same) or 'none'}")
    return "; ".join(filter(None, [run.verdict + (f": {', '.join(failed)}" if failed else ""), best, fom]))


def check_rows(runs: list[Run]) -> list[list[str]]:
    """A row a check: whether each run passed it, with its value and what is wanted."""
    checks = [{shown(check, "name"): check for check in run.of("check")} for run in runs]

    def told(check: dict[str, Any] | None) -> str:
        if check is None:
            return "-"
        value = check.get("value")
        number = f" {value:.4g}" if isinstance(value, (int, float)) else ""
        return f"{'pass' if check.get('passed') else 'FAIL'}{number}" + (f" (want {check['want']})" if check.get("want") else "")

    return [[name, *(told(one.get(name)) for one in checks)] for name in dict.fromkeys(name for one in checks for name in one)]


def benchmark_facts(run: Run) -> dict[str, str]:
    """The rows of a benchmark: its class, and whether it may be submitted."""
    found: dict[str, str] = {}
    for record in run.of("benchmark"):
        memory = record.get("memory") or {}
        changed = ", ".join(record.get("changed") or []) or "nothing"
        found = {"class": f"{shown(record, 'class')}; changed: {changed}",
                 "not to be submitted": ", ".join(record.get("not_to_be_submitted") or []) or "-",
                 "memory of the grids": f"{bytes_of(memory.get('grids_bytes'))} in {bytes_of(memory.get('bytes'))} of a "
                                        f"{shown(memory, 'where')}, {shown(memory, 'share', '.0%')}"}  # fmt: skip
    return found


GRID_HEAD = ["grid", "cells", "solves", "s a solve", "cycles", "dof/s", "digits/s", "bottom", "B/unknown", "of the triad", "sent"]
PROBLEM_HEAD = ["grid", "boundary", "right-hand side", "s a solve, median [min-max]", "residual, max", "cycles", "bottom iterations", "digits",
                "u_l2"]  # fmt: skip


def grid_rows(runs: list[Run], names: list[str]) -> list[list[str]]:
    """The grids of benchmarks, each with the name of its run where there are two."""
    return [
        [f"{name}, {shown(grid, 'grid')}" if len(runs) > 1 else shown(grid, "grid"), "x".join(map(str, grid.get("cells") or "-")),
         shown(grid, "solves"), digits(grid.get("seconds")), shown(grid, "cycles", ".1f"), shown(grid, "dof_per_second", ".4e"),
         digits(grid.get("digits_per_second")), shown(grid, "bottom_share", ".0%"), shown(grid, "bytes_per_unknown", ".0f"),
         shown(grid, "triad_share", ".0%"), bytes_of(grid.get("sent_bytes"))]
        for run, name in zip(runs, names, strict=True) for record in run.of("benchmark") for grid in record.get("grids") or []
    ]  # fmt: skip


def problem_rows(runs: list[Run], names: list[str]) -> list[list[str]]:
    """The problems on each grid, likewise."""
    rows = []
    for run, name in zip(runs, names, strict=True):
        for problem in (problem for record in run.of("benchmark") for problem in record.get("problems") or []):
            seconds = [one for one in problem.get("seconds") or [] if one is not None]
            residuals = [one for one in problem.get("residuals") or [] if one is not None]
            rows.append([
                f"{name}, {shown(problem, 'grid')}" if len(runs) > 1 else shown(problem, "grid"), shown(problem, "boundary"), shown(problem, "rhs"),
                f"{digits(median(seconds))} [{digits(min(seconds))}-{digits(max(seconds))}]" if seconds else "-",
                f"{max(residuals):.2e}" if residuals else "-", shown(problem, "cycles"), shown(problem, "bottom_iterations"),
                shown(problem, "digits", ".2f"), shown(problem, "u_l2", ".10g")])  # fmt: skip
    return rows


def deck_text(run: Run) -> str:
    return "\n".join(f"{section}.{key} = {value!r}" for section, keys in run.deck.items() for key, value in (keys or {}).items())


def milliseconds(run: Run, solver: str) -> Times:
    """Milliseconds of a solve in each operation, in the order of the report, and of the whole solve."""
    times: Times = {}
    for timer in run.timers(solver):
        times[timer["op"]] = times.get(timer["op"], 0.0) + 1e3 * timer["t_mean"]
    solves = seconds_of(run.solves(solver))
    # The seconds of a survey's result are those of its fastest solver.
    seconds = run.result.get("seconds") if run.mode != "survey" else None
    if seconds or solves:
        times["solve"] = 1e3 * (seconds or median(solves))
    return times


def head_and_rows(columns: dict[str, Times], ratio: bool = True) -> tuple[list[str], list[list[str]]]:
    """A row an operation, the solve last; operations that take less than LEAST_SHARE of every solve are one row. Behind one
    column stand shares of the solve, behind two, if asked for, the quotient."""
    names, times = list(columns), list(columns.values())
    every = dict.fromkeys(op for one in times for op in one)
    small = [op for op in every if all(one.get(op, 0.0) < LEAST_SHARE * one.get("solve", 0.0) for one in times)]
    if small:
        rest = f"{len(small)} others, each below {LEAST_SHARE:.0%}"
        times = [one | {rest: sum(one.get(op, 0.0) for op in small)} for one in times]
        every |= {rest: None}
    last = ["share"] if len(names) == 1 else [f"{names[-1]} / {names[0]}"] if len(names) == 2 and ratio else []
    found = []
    for op in sorted((op for op in every if op not in small), key=lambda op: op == "solve"):
        values = [one.get(op) for one in times]
        part, whole = values[-1], values[0] if len(columns) == 2 else times[0].get("solve")
        quotient = "-" if part is None or not whole else f"{part / whole:.2f}" if len(columns) == 2 else f"{part / whole:.0%}"
        found.append([op, *("-" if value is None else f"{value:.3f}" for value in values), *([quotient] if last else [])])
    return ["operation", *(f"{name}, ms" for name in names), *last], found


def operation_columns(runs: list[Run], names: list[str]) -> dict[str, Times]:
    """A column a run; of a survey a column a solver."""
    columns = {}
    for run, name in zip(runs, names, strict=True):
        solvers = [solver for solver in run.solvers() if run.timers(solver)]
        columns |= {f"{name}, {solver}" if len(solvers) > 1 else name: milliseconds(run, solver) for solver in solvers}
    return columns


def side_by_side(runs: list[Run], names: list[str], ratio: bool = True) -> dict[str, tuple[list[str], list[list[str]]]]:
    """The tables of the page: heads and rows. `ratio`: whether operations of two runs are divided."""
    of_runs = [facts(run) for run in runs]
    every = dict.fromkeys(name for one in of_runs for name in one)
    differing = differing_keys(runs, ["output.json"])
    return {
        "facts": (["", *names], [[name, *(one.get(name, "-") for one in of_runs)] for name in every]),
        "differing": (["key", *names], [[key, *(str(run.key(key, "-")) for run in runs)] for key in differing]),
        "checks": (["check", *names], check_rows(runs)),
        "operations": head_and_rows(operation_columns(runs, names), ratio),
        "grids": (GRID_HEAD, grid_rows(runs, names)),
        "problems": (PROBLEM_HEAD, problem_rows(runs, names)),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="RUN.json")
    parser.add_argument("--output", type=Path, metavar="PAGE.html")
    parser.add_argument("--figures", default="", metavar="FORMS", help="of svg, pdf, png; with commas between them")


def act(options: argparse.Namespace) -> int:
    paths = options.files
    if len(paths) > 2:
        raise UnreadableRecords(f"{len(paths)} files; scripts/report run shows one or two, scripts/report compare any number")
    runs, names = last_runs(paths), short_names(paths)
    refuse_bare(runs)
    for run in runs:
        if not run.head:
            why = run.damage[0] if run.verdict == "DAMAGED" else "records of a dry run; scripts/report whatif shows predictions"
            raise UnreadableRecords(f"{run.path}: {why}")
    # Only here, since pandas and matplotlib take a second to load, and are not everywhere.
    from studies.evaluate.figures import draw_all
    from studies.evaluate.page import forms_of, html_table, write_figures, write_page
    from studies.evaluate.tables import tables_of_runs

    drawn = list(draw_all(tables_of_runs(runs, names), FIGURES))
    answer, apart = of_two(runs, names) if len(runs) == 2 else ("", True)
    tables = {name: html_table(head, found, "facts" if name in ("facts", "differing", "checks") else "numbers") if found else ""
              for name, (head, found) in side_by_side(runs, names, apart).items()}  # fmt: skip
    verdicts = [(name, verdict(run), [line for one in run.of("verdict") for line in one.get("lines") or []])
                for run, name in zip(runs, names, strict=True)]  # fmt: skip
    page = options.output or paths[0].with_name("_and_".join(path.stem for path in paths) + ".html")
    made = write_figures(page.with_name(f"{page.stem}_figures"), drawn, forms_of(options.figures))
    warnings = [*dict.fromkeys(text for run in runs for text in [*(run.head.get("warnings") or []), *run.damage])]
    command = shlex.join([named("scripts/report"), "run", *map(str, paths)])
    made.append(write_page(
        page, "run.html.j2", drawn, title=" and ".join(names), warnings=warnings, command=command, answer=answer, verdicts=verdicts,
        wide=tables["operations"].count("<th>") > MOST_COLUMNS,
        decks=[(name, deck_text(run)) for run, name in zip(runs, names, strict=True)], **tables))  # fmt: skip
    print("\n".join(f"wrote {path}" for path in made))
    return 0
