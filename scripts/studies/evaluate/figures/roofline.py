"""Roofline of the operations on the finest level: flops a byte against flops a second, under the triad that was measured."""

from studies.evaluate.figures.style import COLOURS, INK, MARKS, Nothing, Picture, legend, new
from studies.evaluate.tables import Tables


def draw(tables: Tables) -> Picture:
    every = tables.operations
    if every.empty:
        raise Nothing
    every = every[(every["flops"] > 0) & (every["bytes_moved"] > 0) & (every["t_mean"] > 0)]
    # Ranks that take turns on a core were not at it all at once: their flops a second do not add up.
    shared = every["shared_cores"].fillna(False).astype(bool)
    every = every[~shared] if not shared.all() else every
    every = every[every["ranks"] == every["ranks"].max()] if not every.empty else every
    every = every[every["variant"] == every["variant"].iloc[0]] if not every.empty else every
    if every.empty:
        raise Nothing
    every = every.sort_values("level").groupby(["op", "round"], sort=False).first().reset_index()
    triad = every["triad_bytes_per_second"].median()
    figure, ((axis,),) = new(width=6.4, height=4.0)
    every["intensity"] = every["flops"] / every["bytes_moved"]
    every["rate"] = every["flops"] / every["t_mean"] * 1e-9
    for number, (op, rows) in enumerate(every.groupby("op", sort=False)):
        axis.loglog(rows["intensity"].median(), rows["rate"].median(), linestyle="none", color=COLOURS[number % len(COLOURS)],
                    marker=MARKS[number % len(MARKS)], markersize=8, label=f"{op}, level {rows['level'].iloc[0]}")  # fmt: skip
    ends = [every["intensity"].min() / 2, every["intensity"].max() * 2]
    axis.loglog(ends, [triad * end * 1e-9 for end in ends], color=INK, linewidth=1.2)
    axis.annotate(f"triad, {triad * 1e-9:.1f} GB/s", (ends[1], triad * ends[1] * 1e-9), ha="right", va="bottom")
    axis.set(xlabel="flops a byte, as declared", ylabel="Gflop/s, all ranks")
    legend(figure, axis)
    variant = "" if every["variant"].iloc[0] == "all" else f", {every['variant'].iloc[0]}"
    return Picture(
        figure,
        f"Operations on their finest level, {every['ranks'].iloc[0]} ranks{variant}: what lies above "
        "the line was found in a cache. Flops and bytes are declared by the bodies, times measured.",
        "measured",
    )
