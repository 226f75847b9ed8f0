"""Roofline of the operations on the finest level: flops a byte against flops a second, under the triad that was measured."""

from typing import Any

from studies.evaluate.figures.style import COLOURS, INK, MARKS, Nothing, Picture, label_y, left_out, legend, new, plain_decades
from studies.evaluate.tables import Tables, largest, timed

MOST = 2  # panels


def panel(axis: Any, rows: Any, ops: list[str], ends: list[float]) -> None:
    triad = rows["triad_bytes_per_second"].median()
    for op, of_op in rows.groupby("op", sort=False):
        number = ops.index(op)
        axis.loglog(of_op["intensity"].median(), of_op["rate"].median(), linestyle="none", color=COLOURS[number % len(COLOURS)],
                    marker=MARKS[number % len(MARKS)], markersize=8, label=op)  # fmt: skip
    axis.loglog(ends, [triad * end * 1e-9 for end in ends], color=INK, linewidth=1.2)
    axis.annotate(f"triad, {triad * 1e-9:.1f} GB/s", (ends[1], triad * ends[1] * 1e-9), ha="right", va="bottom")
    axis.set_xlabel("flops a byte, as declared")
    plain_decades(axis.get_xaxis(), axis.get_yaxis())


def draw(tables: Tables) -> Picture:
    every = largest(timed(tables))
    every = every if every.empty else every[every["flops"] > 0]
    if every.empty:
        raise Nothing
    every = every.sort_values("level", kind="stable").groupby(["variant", "op", "round"], sort=False).first().reset_index()
    every["intensity"] = every["flops"] / every["bytes_moved"]
    every["rate"] = every["flops"] / every["t_mean"] * 1e-9
    variants = list(dict.fromkeys(every["variant"]))
    shown = variants[:MOST]
    ops = list(dict.fromkeys(every["op"]))
    ends = [every["intensity"].min() / 2, every["intensity"].max() * 2]
    figure, axes = new(len(shown), 1, width=6.4 if len(shown) == 1 else 8.0, height=4.0, sharey=True)
    for axis, variant in zip(axes[0], shown, strict=True):
        panel(axis, every[every["variant"] == variant], ops, ends)
        axis.set_title(variant if len(variants) > 1 else "", fontsize=9)
    label_y(axes, "Gflop/s, all ranks")
    legend(figure, *axes[0])
    return Picture(
        figure,
        f"Each operation on the finest level that has it, {' or '.join(map(str, sorted(set(every['ranks']))))} ranks: a point above "
        f"the line was found in a cache. Flops and bytes are declared by the bodies, times measured.{left_out(variants, MOST)}",
        "measured",
    )
