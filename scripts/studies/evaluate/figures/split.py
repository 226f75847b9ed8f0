"""Parts of the time of a solve: V-cycle and bottom, each at work and exchanging, and all-reduces; by ranks or variants."""

from typing import Any

from studies.evaluate.figures.style import COLOURS, HATCHES, Nothing, Picture, label_y, left_out, legend, new
from studies.evaluate.tables import PARTS, Tables, parts

MOST = 6  # panels
MOST_BARS = 24


def stack(axis: Any, names: list[str], table: Any, horizontal: bool) -> None:
    """Bars of milliseconds, a part upon the other."""
    below = [0.0] * len(names)
    for n, part in enumerate(PARTS):
        values = list(1e3 * table[part])
        look = {"label": part, "color": COLOURS[n], "hatch": HATCHES[n], "edgecolor": "#ffffff80", "linewidth": 0.4}
        if horizontal:
            axis.barh(names, values, left=below, height=0.75, **look)
        else:
            axis.bar(names, values, bottom=below, width=0.75, **look)
        below = [a + b for a, b in zip(below, values, strict=True)]
    axis.grid(visible=False, axis="y" if horizontal else "x")


def draw(tables: Tables) -> Picture:
    if tables.operations.empty:
        raise Nothing
    every = parts(tables)
    if float(every.to_numpy().sum()) == 0:
        raise Nothing
    ranks = sorted(set(every.index.get_level_values("ranks")))
    variants = list(dict.fromkeys(every.index.get_level_values("variant")))
    if len(ranks) == 1:
        shown = variants[:MOST_BARS]
        figure, axes = new(width=7.0, height=1.0 + 0.3 * len(shown))
        stack(axes[0][0], shown, every.droplevel("ranks").loc[shown], horizontal=True)
        axes[0][0].invert_yaxis()
        axes[0][0].set_xlabel(f"ms a solve, mean of {ranks[0]} ranks")
    else:
        shown = variants[:MOST]
        columns = 2 if len(shown) == 4 else min(3, len(shown))
        rows = -(-len(shown) // columns)
        figure, axes = new(columns, rows, width=max(4.5, 2.6 * columns), height=2.6 * rows + 0.4, sharey=True)
        for axis, variant in zip(axes.flat, shown, strict=False):
            table = every.xs(variant, level="variant").sort_index()
            stack(axis, [f"{count}" for count in table.index], table, horizontal=False)
            axis.set_title(variant if len(variants) > 1 else "", fontsize=9)
            axis.set_xlabel("ranks")
        label_y(axes, "ms, mean of ranks")
        for axis in list(axes.flat)[len(shown) :]:
            axis.set_visible(False)
    legend(figure, axes[0][0])
    cycles = any(float(every[part].sum()) > 0 for part in PARTS[:2])
    alone = "" if cycles else " A Krylov method alone has no V-cycle: all of it is named bottom."
    return Picture(
        figure,
        "Where the time of a solve goes: all that is done on the coarsest level is the bottom; waiting for messages "
        f"is in the exchange, waiting for others in the all-reduce. Median of the rounds.{alone}{left_out(variants, len(shown))}",
        "measured",
    )
