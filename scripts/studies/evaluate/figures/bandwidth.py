"""Bandwidth of the operations on each level against the triad that the run measured."""

from typing import Any

from studies.evaluate.figures.style import INK, Nothing, Picture, label_y, left_out, legend, new, plain_decades, series, whole_numbers
from studies.evaluate.tables import Tables, largest, timed

MOST = 2  # panels


def panel(axis: Any, rows: Any, ops: list[str], triad: float) -> None:
    """Bytes a second by level, a line an operation, the median of the rounds."""
    rates = (rows["bytes_moved"] / rows["t_mean"]).groupby([rows["op"], rows["level"]]).median() * 1e-9
    for number, op in enumerate(ops):
        if op in rates.index.get_level_values("op"):
            axis.semilogy(rates[op].index, rates[op], label=op, **series(number))
    axis.axhline(triad * 1e-9, color=INK, linewidth=1.2)
    axis.annotate(f"triad, {triad * 1e-9:.1f} GB/s", (1, triad * 1e-9), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    axis.margins(y=0.15)
    axis.set_xlabel("level, 0 the finest")
    whole_numbers(axis.get_xaxis())
    plain_decades(axis.get_yaxis())


def draw(tables: Tables) -> Picture:
    every = largest(timed(tables))
    if every.empty:
        raise Nothing
    variants = list(dict.fromkeys(every["variant"]))
    shown = variants[:MOST]
    ops = list(dict.fromkeys(every[every["variant"].isin(shown)]["op"]))
    figure, axes = new(len(shown), 1, width=6.4 if len(shown) == 1 else 8.0, height=4.0, sharey=True)
    for axis, variant in zip(axes[0], shown, strict=True):
        rows = every[every["variant"] == variant]
        panel(axis, rows, ops, rows["triad_bytes_per_second"].median())
        axis.set_title(variant if len(variants) > 1 else "", fontsize=9)
    label_y(axes, "GB/s, all ranks")
    legend(figure, *axes[0])
    return Picture(
        figure,
        "Bandwidth of each operation by level: bytes that the operation has to move, over its mean time. "
        f"A level above the triad fits a cache.{left_out(variants, MOST)}",
        "measured",
    )
