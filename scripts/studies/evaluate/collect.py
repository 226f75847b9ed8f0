"""Writes the tables of a study: tidy ones, a row a thing, and the scaling table."""

from collections.abc import Iterator
from pathlib import Path

from studies.evaluate.scaling import scaling_markdown
from studies.evaluate.tables import Tables
from studies.execute.folder import write_new


def write_tables(tables: Tables) -> Iterator[Path]:
    folder = tables.written.folder / "tables"
    folder.mkdir(exist_ok=True)
    for name, frame in (("solves", tables.solves), ("operations", tables.operations), ("schemes", tables.schemes)):
        if frame.empty:
            continue
        tidy = frame.convert_dtypes()
        # Lists stay in the JSON lines.
        yield write_new(folder / f"{name}.csv", tidy.drop(columns=["residuals", "measured_after"], errors="ignore").to_csv(index=False))
        yield write_new(folder / f"{name}.jsonl", tidy.to_json(orient="records", lines=True, double_precision=15))
    yield write_new(folder / "scaling.md", scaling_markdown(tables))
