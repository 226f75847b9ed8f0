"""The command scripts/figures: its words, its messages and its exit status."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from papers import closed_forms, devices, enlarged, gains, mapping, residuals, strong_scaling, weak_scaling
from papers.points import ROOT, Figure, Folder
from studies.define.checked_toml import Refused
from studies.evaluate.figures.style import pyplot
from studies.execute.keel import SIMULATED, find_keel
from studies.records import UnreadableRecords

MODULES = (weak_scaling, mapping, residuals, strong_scaling, gains, closed_forms, devices, enlarged)
FIGURES = {figure.name: figure for module in MODULES for figure in module.FIGURES}

ABOUT = """Pictures of what the papers show, by what Keel predicts (keel --dry-run), beside the numbers that the papers print.

    scripts/figures NAME ...    makes the runs that are missing, and NAME.svg and NAME.md, the numbers that it shows
    scripts/figures all
    scripts/figures --list      names, papers, runs that each needs

What they say, and what does not agree: results/figures/README.md. Exit status: 0 all is well, 2 refused."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="scripts/figures", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(FIGURES)}; or all")
    made.add_argument("--list", action="store_true", help="what figures there are")
    made.add_argument("--keel", help="executable; by default $KEEL, the release build, or that of PATH")
    made.add_argument("--simulated", action="store_true", help="make simulated runs, too, by build/simulated/keel or $KEEL_SIMULATED")
    made.add_argument("--records", type=Path, default=ROOT / "build/figures", metavar="DIR", help="of the runs; by default build/figures")
    made.add_argument("--out", type=Path, default=ROOT / "results/figures", metavar="DIR", help="of the pictures; by default results/figures")
    made.add_argument("--again", action="store_true", help="make all runs again, those that results/ keeps as well")
    made.add_argument("--jobs", type=int, default=1, help="runs at a time; by default 1")
    made.add_argument("--png", action="store_true", help="NAME.png as well, to look at")
    return made


def listing(folder: Folder) -> str:
    lines = []
    for figure in FIGURES.values():
        points = folder.wanted(figure.points())
        lines.append(f"{figure.name:24} {figure.about}; runs {len(points)}, to make {len(folder.missing(points))}\n")
    return "".join(lines)


def simulating() -> Path:
    """The build for simulated machines; what it is missing, scripts/simulate tells."""
    return Path(os.environ.get("KEEL_SIMULATED", SIMULATED))


def compact(svg: str) -> str:
    """A hundredth of a point is enough, and nobody asks for the names of bars: less than half of the file."""
    svg = re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r' id="(patch|line2d|text|LineCollection)_\d+"|; stroke-linejoin: miter', "", svg)
    svg = re.sub(r"\n\s*(?=[MLCQz<])", "\n", svg)
    return re.sub(r"<g>\n(<path[^>]*/>)\n</g>", r"\1", svg)


def draw(figure: Figure, folder: Folder, out: Path, png: bool) -> list[Path]:
    points = folder.wanted(figure.points())
    folder.make(points)
    made = figure.make(folder.records(points), points)
    out.mkdir(parents=True, exist_ok=True)
    written = [out / f"{figure.name}.svg", out / f"{figure.name}.md"]
    if png:
        written.append(out / f"{figure.name}.png")
        made.picture.figure.savefig(written[-1], dpi=110)
    written[0].write_text(compact(made.picture.svg()) + "\n", encoding="utf-8")
    pyplot.close(made.picture.figure)
    written[1].write_text(f"{made.picture.caption} {made.picture.kind.capitalize()}, but where it says otherwise.\n\n{made.table}", encoding="utf-8")
    return written


def main(words: Sequence[str]) -> int:
    options = parser().parse_args(words)
    folder = Folder(options.records.absolute(), lambda: find_keel(options.keel), simulating if options.simulated else None,
                    options.again, max(1, options.jobs))  # fmt: skip
    if options.list or not options.names:
        print(listing(folder), end="")
        return 0
    unknown = [name for name in options.names if name not in FIGURES and name != "all"]
    try:
        if unknown:
            raise Refused(f"{', '.join(unknown)}: no such figure; choose {', '.join(FIGURES)} or all")
        for name in FIGURES if "all" in options.names else dict.fromkeys(options.names):
            for path in draw(FIGURES[name], folder, options.out, options.png):
                print(f"wrote {path}")
    except (Refused, UnreadableRecords) as error:
        print(error, file=sys.stderr)
        return 2
    return 0
