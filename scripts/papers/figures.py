"""The figures of the papers that scripts/results draws, by name."""

import re

from papers import acceleration, closed_forms, devices, enlarged, gains, mapping, network, residuals, split, strong_scaling, weak_scaling
from papers.points import Folder, Made
from studies.define.checked_toml import Refused

MODULES = (weak_scaling, mapping, residuals, strong_scaling, gains, closed_forms, split, devices, enlarged, acceleration, network)
FIGURES = {figure.name: figure for module in MODULES for figure in module.FIGURES}


def make(name: str, folder: Folder) -> Made:
    """Makes the runs that the figure needs and the folder lacks, and draws it."""
    if name not in FIGURES:
        raise Refused(f"{name}: no such figure of a paper; choose {', '.join(FIGURES)}")
    points = FIGURES[name].points()
    folder.make(points)
    return FIGURES[name].make(folder.records(points), points)


def compact(svg: str) -> str:
    """The SVG with numbers to a hundredth of a point and without the ids of bars: less than half of the file."""
    svg = re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r' id="(patch|line2d|text|LineCollection)_\d+"|; stroke-linejoin: miter', "", svg)
    svg = re.sub(r"\n\s*(?=[MLCQz<])", "\n", svg)
    return re.sub(r"<g>\n(<path[^>]*/>)\n</g>", r"\1", svg)
