"""One page of a study: what was asked, where it was run, tables, figures, the commands, and what failed."""

import os
from collections.abc import Sequence
from pathlib import Path

from studies.evaluate.answer import answer
from studies.evaluate.collect import write_tables
from studies.evaluate.figures import draw_all
from studies.evaluate.page import html_table, write_figures, write_page
from studies.evaluate.scaling import HEAD, SCHEME_HEAD, scaling_rows, scheme_rows
from studies.evaluate.tables import Tables, gather
from studies.execute.folder import Written
from studies.execute.states import counts_of
from studies.layout import named
from studies.markdown import digits


def machine_rows(tables: Tables) -> list[tuple[str, str]]:
    """The conditions that the numbers depend on; differences between the runs are reported."""
    heads = [state.run.head for state in tables.states if state.run and state.run.head]

    def every(field: str) -> str:
        return "; ".join(dict.fromkeys(str(head[field]) for head in heads if head.get(field) not in (None, ""))) or "-"

    written = tables.written.facts["written"]
    triads = [head["triad_bytes_per_second"] * 1e-9 for head in heads if head.get("triad_bytes_per_second")]
    site = tables.written.facts["site"]
    rows = [
        ("machine", "; ".join(dict.fromkeys(state.run.machine for state in tables.states if state.run and state.run.machine))),
        ("site", f"{site['name']}: {site['about']}"),
        (
            "keel",
            f"{every('version')} ({every('revision')}), {every('compiler')} {every('build_type')}, {every('flags')}"
            if heads
            else "-",
        ),
        ("MPI", f"{every('mpi')}; asynchronous progress {every('asynchronous_progress')}" if heads else "-"),
        ("triad", f"{digits(min(triads))} to {digits(max(triads))} GB/s, measured in every run" if triads else "-"),
        ("environment", ", ".join(f"{key}={value}" for key, value in site["environment"].items()) or "-"),
        ("written", f"{written['date']}, {written['keel']}"),
    ]
    return [(name, text) for name, text in rows if text.strip(" -")]


def warnings(tables: Tables) -> list[str]:
    """Warnings of the runs and the plan, each once."""
    concerned: dict[str, list[str]] = {}
    for point in tables.written.points:
        for problem in point["problems"]:
            concerned.setdefault(problem, []).append(point["name"])
    found = [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {problem}"
        for problem, names in concerned.items()
    ]
    shared = list(dict.fromkeys(state.point for state in tables.states if state.run and state.run.head.get("shared_cores")))
    if shared:
        found.append(f"Ranks shared cores in {', '.join(shared)}: their times say little, their counts are exact.")
    told = dict.fromkeys(text for state in tables.states if state.run for text in state.run.head.get("warnings") or [])
    damage = [text for state in tables.states if state.run for text in state.run.damage]
    return [*found, *told, *damage]


def report(written: Written, forms: Sequence[str] = ("svg",)) -> list[Path]:
    """Tables, figures and the page; returns their paths, the page last."""
    tables = gather(written)
    made = list(write_tables(tables))
    drawn = list(draw_all(tables))
    made += write_figures(written.folder / "figures", drawn, forms)
    failed = [[state.point, f"{state.round}", state.word, state.reason] for state in tables.states if state.word != "done"]
    points = [[point["name"], f"{point['ranks']}x{point['threads']} on {point['nodes']} nodes", " ".join(point["words"])]
              for point in written.points]  # fmt: skip
    rows = scaling_rows(tables)
    schemes = scheme_rows(tables) if written.dry_run and len(tables.schemes) else []
    page = write_page(
        written.folder / "report.html", "report.html.j2", drawn,
        study=written.facts["study"], written=written.facts["written"], machine=html_table([], machine_rows(tables), "facts"),
        counts=counts_of(tables.states), scaling=html_table(HEAD, rows) if rows else "",
        answer=answer(tables) or "no answer yet: no start is done",
        schemes=html_table(SCHEME_HEAD, schemes) if schemes else "",
        failed=html_table(["point", "round", "state", "reason"], failed, "facts") if failed else "",
        warnings=warnings(tables), command=f"{named('scripts/study')} report {os.path.relpath(written.folder)}",
        points=html_table([], points), number_of_points=len(points),
        deck=(written.folder / "deck.toml").read_text(encoding="utf-8"),
        dry="--dry-run " if written.dry_run else "", times=written.times,
    )  # fmt: skip
    return [*made, page]
