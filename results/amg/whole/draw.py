#!/usr/bin/env python3
"""Strong scaling of set-up and solve by the standard scheme and by the chosen ones, and the share of messages in both.

    results/amg/whole/draw.py [PICTURE.png]

reads solves.json and writes strong_scaling.svg beside it; a PNG as well, to look at, where one is named.
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))

from papers.command import compact  # noqa: E402
from studies.evaluate.figures.style import Picture, legend, new, powers_of_two, series  # noqa: E402

ROWS = 64**3
MILLISECONDS = [5, 10, 20, 40, 80]
SHOWN = {
    ("stencil27_sa", "blue_waters", 16): "aggregation, Blue Waters",
    ("stencil27_classical", "blue_waters", 16): "classical, Blue Waters",
    ("stencil27_sa", "lassen", 40): "aggregation, Lassen",
}
PARTS = {"set-up": lambda line: line["setup"], "solve": lambda line: line}


def points(lines: list[dict[str, Any]], kind: tuple[str, str, int], scheme: str) -> list[dict[str, Any]]:
    name, machine, per_node = kind
    wanted = {"name": name, "machine": machine, "ranks_per_node": per_node, "scheme": scheme, "rows": ROWS}
    found = (one for one in lines if wanted.items() <= one.items() and one["ranks"].bit_count() == 1)
    return sorted(found, key=lambda one: one["ranks"])


def draw(lines: list[dict[str, Any]]) -> Picture:
    figure, axes = new(columns=2, rows=2, width=7.4, height=6.2)
    ranks: list[int] = []
    for column, (part, of) in enumerate(PARTS.items()):
        times, shares = axes[0][column], axes[1][column]
        for number, (kind, label) in enumerate(SHOWN.items()):
            for scheme, dashes in (("standard", ":"), ("auto", "-")):
                found = points(lines, kind, scheme)
                x = [one["ranks"] for one in found]
                ranks += x
                style = series(number) | {"linestyle": dashes, "markersize": 5, "markerfacecolor": "none" if scheme == "standard" else None}
                name = f"{label}, {'standard' if scheme == 'standard' else 'chosen'}"
                times.plot(x, [1e3 * of(one)["seconds"] for one in found], label=name, **style)
                shares.plot(x, [100 * of(one)["communication_seconds"] / of(one)["seconds"] for one in found], **style)
        times.set_yscale("log")
        times.set_yticks(MILLISECONDS, [str(one) for one in MILLISECONDS])
        times.set_ylim(0.8 * MILLISECONDS[0], MILLISECONDS[-1])
        times.minorticks_off()
        times.set_title(part)
        times.set_ylabel("milliseconds, predicted")
        shares.set_ylabel("messages and waiting, per cent of it")
        shares.set_ylim(0, 100)
        shares.set_xlabel("ranks")
    for one in axes.flat:
        powers_of_two(one, ranks)
    legend(figure, axes[0][0])
    return Picture(figure, "", "predicted")


def main() -> None:
    lines = [json.loads(line) for line in (HERE / "solves.json").read_text(encoding="utf-8").splitlines()]
    picture = draw(lines)
    if len(sys.argv) > 1:
        picture.figure.savefig(sys.argv[1], dpi=110)
    (HERE / "strong_scaling.svg").write_text(compact(picture.svg()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
