"""Draws who sends to whom by each scheme, from the records of a dry run of a matrix with output.details=true."""

import argparse
from pathlib import Path

from studies.records import UnreadableRecords, read_all


def draw(file: Path, picture: Path) -> None:
    """Writes the picture, in the form of its ending."""
    form = picture.suffix.removeprefix(".")
    if form not in ("svg", "pdf", "png"):
        raise UnreadableRecords(f"{picture}: wants to end in .svg, .pdf or .png")
    from studies.evaluate.figures import partners  # matplotlib takes long to load
    from studies.evaluate.figures.style import Nothing

    try:
        picture.write_bytes(partners.draw(read_all([file])[-1]).saved(form))
    except Nothing:
        remedy = "keel --dry-run run.mode=spmv output.details=true writes them"
        raise UnreadableRecords(f"{file}: no scheme record with pairs of ranks; {remedy}") from None


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="DRY.json")
    parser.add_argument("picture", type=Path, metavar="PICTURE.svg")


def act(options: argparse.Namespace) -> int:
    draw(options.file, options.picture)
    print(f"wrote {options.picture}")
    return 0
