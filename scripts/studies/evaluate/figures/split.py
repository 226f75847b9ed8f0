"""Where the time of a solve goes as ranks grow: V-cycle and bottom, each at work and exchanging, and all-reduces."""

from studies.evaluate.figures.style import COLOURS, HATCHES, Nothing, Picture, legend, new
from studies.evaluate.tables import PARTS, Tables, parts

MOST = 6  # panels


def draw(tables: Tables) -> Picture:
    if tables.operations.empty:
        raise Nothing
    every = parts(tables)
    if float(every.to_numpy().sum()) == 0:
        raise Nothing
    variants = list(dict.fromkeys(every.index.get_level_values("variant")))
    shown = variants[:MOST]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure, axes = new(columns, rows, width=max(4.5, 2.6 * columns), height=2.6 * rows + 1.0, sharey=True)
    for number, variant in enumerate(shown):
        axis = axes[number // columns][number % columns]
        table = every.xs(variant, level="variant").sort_index()
        below = [0.0] * len(table)
        for n, part in enumerate(PARTS):
            values = list(1e3 * table[part])
            axis.bar([f"{ranks}" for ranks in table.index], values, bottom=below, label=part, color=COLOURS[n], hatch=HATCHES[n],
                     edgecolor="#ffffff80", linewidth=0.4, width=0.75)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        axis.set_title(variant if len(variants) > 1 else "", fontsize=9)
        axis.set_xlabel("ranks")
        axis.grid(visible=False, axis="x")
        if number % columns == 0:
            axis.set_ylabel("ms a solve, mean of ranks")
    for axis in list(axes.flat)[len(shown):]:
        axis.set_visible(False)
    legend(figure, axes[0][0])
    left_out = f" Of {len(variants)} variants the first {MOST} are shown." if len(variants) > MOST else ""
    return Picture(figure, "Where the time of a solve goes: all that is done on the coarsest level is the bottom; waiting for messages "
                   f"is in the exchange, waiting for others in the all-reduce. Median of the rounds.{left_out}", "measured")  # fmt: skip
