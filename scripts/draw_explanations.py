#!/usr/bin/env python3
"""Draws the timelines of docs/explanations: draw_explanations.py [FOLDER]; docs/figures if it is not given. The other pictures there are
edited by hand."""

import sys
from pathlib import Path

from explanations import timelines

PICTURES = timelines.s_step, timelines.pipelining

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs/figures"
    for draw in PICTURES:
        draw().write(folder / (draw.__name__.replace("_", "-") + ".svg"))
