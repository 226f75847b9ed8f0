"""Time by level and operation, stacked, of one solve at the largest point of the baseline or, without one, of each variant."""

from studies.evaluate.figures.style import COLOURS, HATCHES, Nothing, Picture, label_y, left_out, legend, new
from studies.evaluate.tables import Tables, largest

GROUPS = {
    "smooth": ("smooth", "smooth+restrict", "smooth+residual"),
    "residual, restrict": ("residual", "restrict"),
    "interpolate, vector": ("interpolate", "boundary", "vector"),
    "ghosts: pack, copy": ("exchange.pack", "exchange.copy", "exchange.unpack", "exchange.send"),
    "ghosts: wait": ("exchange.wait",),
    "all-reduce": ("reduction", "reduction.begin", "reduction.progress", "reduction.wait"),
    "bottom: operator": ("bottom.operator", "bottom.preconditioner", "coarsest"),
    "bottom: vectors": ("bottom.vector", "bottom.dots"),
}
MOST = 3  # panels


def draw(tables: Tables) -> Picture:
    every = tables.operations
    if every.empty or every["level"].max() == 0:
        raise Nothing
    base = {point["name"] for point in tables.written.points if point["baseline"]}
    every = every[every["point"].isin(base)] if base & set(every["point"]) else every
    every = largest(every)
    counts = sorted(set(every["ranks"]))
    variants = list(dict.fromkeys(every["variant"]))
    shown = variants[:MOST]
    figure, axes = new(len(shown), 1, width=max(5.0, 2.9 * len(shown)), height=4.2, sharey=True)
    for axis, variant in zip(axes[0], shown, strict=True):
        of_variant = every[every["variant"] == variant]
        times = of_variant.groupby(["op", "level", "round"])["t_mean"].sum().groupby(level=["op", "level"]).median()
        levels = sorted(set(of_variant["level"]))
        below = [0.0] * len(levels)
        for n, (group, ops) in enumerate(GROUPS.items()):
            values = [1e3 * sum(times.get((op, level), 0.0) for op in ops) for level in levels]
            axis.bar([f"{level}" for level in levels], values, bottom=below, label=group, color=COLOURS[n], hatch=HATCHES[n],
                     edgecolor="#ffffff80", linewidth=0.4, width=0.75)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        ranks = f", {of_variant['ranks'].iloc[0]} ranks" if len(counts) > 1 else ""
        axis.set_title(variant + ranks if len(variants) > 1 else "", fontsize=9)
        axis.set_xlabel("level, 0 the finest")
        axis.grid(visible=False, axis="x")
    label_y(axes, "ms, mean of ranks")
    legend(figure, axes[0][0])
    return Picture(
        figure,
        f"Time by level and operation of a solve on {' or '.join(map(str, counts))} ranks, median of the rounds; the rest of the solve, "
        f"which belongs to no operation, is left out.{left_out(variants, MOST)}",
        "measured",
    )
