"""One page of a study: what was asked, where it was run, tables, figures, the commands, and what failed."""

import html
import os
from pathlib import Path
from typing import Any

from studies.evaluate.collect import write_tables
from studies.evaluate.figures import Drawn, draw_all
from studies.evaluate.scaling import HEAD, SCHEME_HEAD, digits, scaling_rows, scheme_rows
from studies.evaluate.tables import Tables, gather
from studies.execute.folder import Written, renderer, write_new
from studies.execute.states import counts_of


def machine_rows(tables: Tables) -> list[tuple[str, str]]:
    """The conditions that the numbers depend on; differences between the runs are reported."""
    heads = [state.run.head for state in tables.states if state.run and state.run.head]

    def every(field: str) -> str:
        return "; ".join(dict.fromkeys(str(head[field]) for head in heads if head.get(field) not in (None, ""))) or "-"

    written = tables.written.facts["written"]
    triads = [head["triad_bytes_per_second"] * 1e-9 for head in heads if head.get("triad_bytes_per_second")]
    site = tables.written.facts["site"]
    machine = f"{written['machine']['processor']}, {written['machine']['cores']} cores, {written['machine']['system']}"
    rows = [
        ("machine", machine if site["launcher"] == "local" else f"site {site['name']}; written on {machine}"),
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
    told = dict.fromkeys(text for state in tables.states if state.run for text in state.run.head.get("warnings", []))
    damage = [text for state in tables.states if state.run for text in state.run.damage]
    return [*found, *told, *damage]


def html_table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody></table>"


def page(tables: Tables, drawn: list[tuple[Drawn, str]], command: str) -> str:
    written = tables.written
    points: list[dict[str, Any]] = written.points
    context = {
        "study": written.facts["study"], "written": written.facts["written"], "machine": machine_rows(tables),
        "counts": counts_of(tables.states),
        "scaling": html_table(HEAD, scaling_rows(tables)) if len(tables.solves) else "",
        "schemes": html_table(SCHEME_HEAD, scheme_rows(tables)) if tables.written.dry_run and len(tables.schemes) else "",
        "failed": [state for state in tables.states if state.word != "done"],
        "warnings": warnings(tables), "figures": drawn, "command": command,
        "points": [(point["name"], f"{point['ranks']}x{point['threads']} on {point['nodes']} nodes", " ".join(point["words"]))
                   for point in points],
        "deck": (written.folder / "deck.toml").read_text(encoding="utf-8"),
        "dry": "--dry-run " if written.dry_run else "", "times": written.times,
    }  # fmt: skip
    return str(renderer().get_template("report.html.j2").render(context))


def report(written: Written) -> list[Path]:
    """Tables, figures and the page; returns their paths, the page last."""
    tables = gather(written)
    made = list(write_tables(tables))
    folder = written.folder / "figures"
    folder.mkdir(exist_ok=True)
    drawn = []
    for one in draw_all(tables):
        svg = one.picture.svg()
        made.append(write_new(folder / f"{one.name}.svg", svg))
        drawn.append((one, svg))
    command = f"scripts/study report {os.path.relpath(written.folder)}"
    made.append(write_new(written.folder / "report.html", page(tables, drawn, command)))
    return made
