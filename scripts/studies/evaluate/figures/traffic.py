"""Messages and bytes of a solve by level, between nodes and within."""

from studies.evaluate.figures.messages import MOST, bars
from studies.evaluate.figures.style import Nothing, Picture, left_out, legend, new
from studies.evaluate.tables import Tables, largest


def draw(tables: Tables) -> Picture:
    every = largest(tables.operations)
    if every.empty or not every["all_messages"].fillna(0).any():
        raise Nothing
    variants = list(dict.fromkeys(every["variant"]))
    shown = variants[:MOST]
    levels = sorted(set(every["level"]))
    figure, axes = new(2, len(shown), width=7.0, height=0.9 + (0.7 + 0.24 * len(levels)) * len(shown), sharex="col", sharey=True)
    for row, variant in zip(axes, shown, strict=True):
        of_variant = every[every["variant"] == variant]
        counts = of_variant.groupby(["round", "level"])[
            ["all_messages", "all_bytes", "all_off_node_messages", "all_off_node_bytes"]
        ]
        sums = counts.sum().groupby(level="level").median().reindex(levels, fill_value=0.0)
        bars(row, [f"level {level}" for level in levels], sums, last=variant == shown[-1])
        row[0].set_title(variant if len(variants) > 1 else "", loc="left", fontsize=9)
    axes[0][0].invert_yaxis()
    legend(figure, axes[0][0])
    return Picture(
        figure, f"Messages of a solve and their bytes by level: ghosts, moved boxes, and Keel's own all-reduces.{left_out(variants, MOST)}", "counted"
    )
