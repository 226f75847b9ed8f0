"""Messages and bytes of one exchange of the finest ghosts, on and off node, by communication scheme."""

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import MaxNLocator

from studies.evaluate.figures.style import COLOURS, Nothing, Page, Picture, left_out, legend, new
from studies.evaluate.tables import Tables, finest

MOST = 4  # rows of panels


def bars(axes: Sequence[Any], names: list[str], rows: Any, last: bool) -> None:
    """Messages on the left, bytes on the right: a bar a name, of rows in the same order."""
    for axis, what, unit, factor in ((axes[0], "messages", "messages", 1.0), (axes[1], "bytes", "MB", 1e-6)):
        off = factor * rows[f"all_off_node_{what}"]
        on = factor * rows[f"all_{what}"] - off
        axis.barh(names, off, color=COLOURS[1], label="between nodes", height=0.7)
        axis.barh(names, on, left=off, color=COLOURS[4], hatch="///", edgecolor="#ffffff80", linewidth=0.4,
                  label="within nodes", height=0.7)  # fmt: skip
        axis.grid(visible=False, axis="y")
        axis.get_xaxis().set_major_locator(MaxNLocator(4))
        axis.set_xlabel(f"{unit}, all ranks" if last or Page.phone else "")


def draw(tables: Tables) -> Picture:
    every = tables.schemes
    if every.empty:
        raise Nothing
    every = finest(every)
    every = every[every["ranks"] == every["ranks"].max()]
    every_point = list(dict.fromkeys(every["point"]))
    points = every_point[:MOST]
    if not points:
        raise Nothing
    schemes = list(dict.fromkeys(every["scheme"]))
    figure, axes = new(
        2, len(points), width=7.0, height=0.7 + (0.9 + 0.24 * len(schemes)) * len(points), sharex="col", sharey=True
    )
    for row, point in zip(axes, points, strict=True):
        rows = every[every["point"] == point].drop_duplicates("scheme").set_index("scheme").reindex(schemes)
        bars(row, schemes, rows, last=point == points[-1])
        row[0].set_title(rows["variant"].iloc[0] if len(points) > 1 else "", loc="left", fontsize=9)
    axes[0][0].invert_yaxis()
    legend(figure, axes[0][0])
    ranks = every["ranks"].max()
    kind = "predicted" if tables.written.dry_run else "counted"
    return Picture(
        figure, f"One exchange of the finest level's ghosts on {ranks} ranks under every scheme.{left_out(every_point, MOST, 'points')}", kind
    )
