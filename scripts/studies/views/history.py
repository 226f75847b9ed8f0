"""Draws figures of merit by revision and date from a folder of records, and finds losses.

All *.json and *.jsonl below FOLDER are read. Runs with RESULT VALID of one deck, label, clock, backend, ranks, threads and nodes are
a series; give runs of each machine a run.label of their own. A revision is compared with all runs since the last change: a change
has a median that differs by --least percent, and 95 % intervals that do not overlap, which takes 6 runs. Exit status 1 if the last
revision of a series is a loss. For continuous integration --check writes no page, wants no packages, and ends with 2 where the last
revision has too few runs:

    for n in 1 2 3 4 5 6; do mpiexec -n 2 keel inputs/weak.toml output.json=history/$(git rev-parse HEAD).json; done
    scripts/report history history --check

On a machine that others use start the old and the new build in turns.
"""

import argparse
import shlex
import sys
from pathlib import Path
from statistics import median
from typing import Any

from studies.layout import named
from studies.markdown import digits, table
from studies.records import NoRecords, OtherJson, Run, UnreadableRecords, differing_keys, read_runs, tell_damage
from studies.revisions import Revision, Series
from studies.statistics import FEWEST, spread

FIELDS = ("ranks", "threads", "nodes", "backend")  # equal in a series
WITHOUT_EFFECT = ("run.time_limit",)
CAUSES = ("compiler", "build_type", "flags", "mpi")
MOST = 12  # figures


def read_folder(folder: Path) -> tuple[list[Run], int]:
    """The runs with a figure of merit by date, and the number of the others."""
    if not folder.is_dir():
        raise UnreadableRecords(f"{folder}: no folder; give one with files of output.json=FILE")
    every: list[Run] = []
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.jsonl")]):
        try:
            runs = read_runs(path)
        except OtherJson:
            continue  # as plans of studies
        except NoRecords as error:
            print(error, file=sys.stderr)
            continue
        tell_damage(runs)
        every += [run for run in runs if run.head]
    every = list({run.head.get("id") or number: run for number, run in enumerate(every)}.values())  # RESULT.json beside output.json
    found = [run for run in every if run.verdict == "VALID" and (run.result.get("fom") or 0) > 0]
    if not found:
        raise UnreadableRecords(f"{folder}: no run with a figure of merit in it; {len(every)} runs have none")
    return sorted(found, key=lambda run: str(run.head.get("date", ""))), len(every) - len(found)


def alike(one: Run, other: Run) -> bool:
    """True if both are runs of one series. A key that an older version did not have says nothing."""
    of_one_kind = one.clock == other.clock and all(one.head.get(name) == other.head.get(name) for name in FIELDS)
    return of_one_kind and all(key.startswith("output.") or key in WITHOUT_EFFECT for key in differing_keys([one, other]))


def all_series(runs: list[Run]) -> list[Series]:
    groups: list[list[Run]] = []
    for run in runs:
        group = next((group for group in groups if alike(group[-1], run)), None)
        if group:
            group.append(run)
        else:
            groups.append([run])
    swept = differing_keys([group[0] for group in groups], ["output.json"])
    found = []
    for group in groups:
        head = group[0].head
        keys = [f"{key.rpartition('.')[2]} {group[0].key(key)}" for key in swept if group[0].key(key) not in (None, "")]
        name = ", ".join([group[0].mode, f"{head.get('ranks')}x{head.get('threads')}", *keys])
        revisions: dict[str, Revision] = {}
        for run in group:
            called = str(run.head.get("revision") or run.head.get("version") or "unknown")
            revisions.setdefault(called, Revision(called, [])).runs.append(run)
        found.append(Series(name, list(revisions.values())))
    return found


def find_changes(revisions: list[Revision], least: float) -> None:
    """Compares each revision with all runs since the last change; `least` is a part of 1."""
    base, before = revisions[0].foms, revisions[0]
    for one in revisions[1:]:
        known, now = spread(base), one.spread
        one.over = now.median / known.median
        apart = known.low is not None and known.high is not None and now.low is not None and now.high is not None and (
            now.high < known.low or now.low > known.high)  # fmt: skip
        one.also = [name for name in CAUSES if one.runs[0].head.get(name) != before.runs[0].head.get(name)]
        if apart and abs(one.over - 1) >= least:
            one.change, base = one.over, []
        base, before = base + one.foms, one


def verdict(one: Revision) -> str:
    if one.over is None:
        return "first"
    if one.change is None:
        few = len(one.runs) < FEWEST
        return f"{len(one.runs)} runs, {FEWEST} are needed" if few else "no change"
    also = f"; {', '.join(one.also)} differ too" if one.also else ""
    return f"{'LOSS' if one.change < 1 else 'gain'} of {100 * abs(one.change - 1):.1f} %{also}"


def triad(one: Revision) -> str:
    rates = [run.head["triad_bytes_per_second"] for run in one.runs if run.head.get("triad_bytes_per_second")]
    return f"{1e-9 * median(rates):.1f}" if rates else "-"


HEAD = ["series", "revision", "date", "runs", "median", "95 % or least-greatest", "over before", "triad GB/s", "verdict"]


def table_rows(series: list[Series]) -> list[list[str]]:
    rows = []
    for group in series:
        for one in group.revisions:
            low, high = one.spread.bars
            rows.append([group.name, one.name, one.date[:10], f"{len(one.runs)}", f"{digits(one.spread.median)} {group.unit}",
                         f"[{digits(low)}-{digits(high)}]", f"{one.over:.3f}" if one.over else "-", triad(one), verdict(one)])  # fmt: skip
    return rows


def losses(series: list[Series]) -> list[str]:
    """The series whose last revision is a loss."""
    last = [(group.name, group.revisions[-1]) for group in series]
    return [f"{name}: {one.name}: {verdict(one)}" for name, one in last if one.change is not None and one.change < 1]


def undecided(series: list[Series]) -> list[str]:
    """The series whose last revision, or all before it together, have too few runs."""
    found = []
    for group in series:
        *before, last = group.revisions
        fewest = min([len(last.runs), *([sum(len(one.runs) for one in before)] if before else [])])
        if before and fewest < FEWEST:
            found.append(f"{group.name}: {last.name}: {fewest} runs to compare; {FEWEST} are needed on either side")
    return found


def draw_page(folder: Path, series: list[Series], left_out: int, options: argparse.Namespace) -> list[Path]:
    # Only here, since matplotlib takes a second to load, and is not everywhere.
    from studies.evaluate.figures import drawn
    from studies.evaluate.figures.history import draw
    from studies.evaluate.page import forms_of, html_table, write_figures, write_page

    several = len(series) > 1
    figures = [drawn(f"history_{number}" if several else "history", draw(group), lambda group=group: draw(group))
               for number, group in enumerate(series[:MOST], 1)]  # fmt: skip
    runs = [run for group in series for one in group.revisions for run in one.runs]
    warnings = list(dict.fromkeys(text for run in runs for text in run.head.get("warnings") or []))
    page = options.output or folder / "history.html"
    made = write_figures(page.with_name(f"{page.stem}_figures"), figures, forms_of(options.figures))
    context: dict[str, Any] = {
        "folder": folder.resolve().name, "losses": losses(series), "number_of_runs": len(runs), "left_out": left_out,
        "revisions": html_table(HEAD, table_rows(series)), "threshold": f"{options.least:g}", "warnings": warnings,
        "command": shlex.join([named("scripts/report"), "history", str(folder)]),
    }  # fmt: skip
    return [*made, write_page(page, "history.html.j2", figures, **context)]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--least", type=float, default=5.0, metavar="PERCENT", help="least change that counts; 5 by default")
    parser.add_argument("--check", action="store_true", help="no page; exit status 2 where runs are too few to find a loss")
    parser.add_argument("--output", type=Path, metavar="PAGE.html", help="FOLDER/history.html by default")
    parser.add_argument("--figures", default="", metavar="FORMS", help="of svg, pdf, png; with commas between them")


def act(options: argparse.Namespace) -> int:
    runs, left_out = read_folder(options.folder)
    series = all_series(runs)
    for group in series:
        find_changes(group.revisions, options.least / 100)
    if not options.check:
        print("\n".join(f"wrote {path}" for path in draw_page(options.folder, series, left_out, options)))
    print(table(HEAD, table_rows(series)), end="")
    found = losses(series)
    if options.check and not found and (few := undecided(series)):
        raise UnreadableRecords("\n".join(few))
    print("\n".join(found) or f"no loss in {len(series)} series")
    return 1 if found else 0
