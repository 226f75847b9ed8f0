"""Messages and bytes of one exchange of the finest ghosts, on and off node, by communication scheme."""

from matplotlib.ticker import MaxNLocator

from studies.evaluate.figures.style import COLOURS, Nothing, Picture, legend, new
from studies.evaluate.tables import Tables, finest

MOST = 4  # rows of panels


def draw(tables: Tables) -> Picture:
    every = tables.schemes
    if every.empty:
        raise Nothing
    every = finest(every)
    every = every[every["ranks"] == every["ranks"].max()]
    points = list(dict.fromkeys(every["point"]))[:MOST]
    if not points:
        raise Nothing
    schemes = list(dict.fromkeys(every["scheme"]))
    figure, axes = new(
        2, len(points), width=7.0, height=0.7 + (0.9 + 0.24 * len(schemes)) * len(points), sharex="col", sharey=True
    )
    for number, point in enumerate(points):
        rows = every[every["point"] == point].drop_duplicates("scheme").set_index("scheme").reindex(schemes)
        for axis, what, unit, factor in (
            (axes[number][0], "messages", "messages", 1.0),
            (axes[number][1], "bytes", "MB", 1e-6),
        ):
            off = factor * rows[f"all_off_node_{what}"]
            on = factor * rows[f"all_{what}"] - off
            axis.barh(schemes, off, color=COLOURS[1], label="between nodes", height=0.7)
            axis.barh(
                schemes,
                on,
                left=off,
                color=COLOURS[4],
                hatch="///",
                edgecolor="#ffffff80",
                linewidth=0.4,
                label="within nodes",
                height=0.7,
            )
            axis.grid(visible=False, axis="y")
            axis.get_xaxis().set_major_locator(MaxNLocator(4))
            axis.set_xlabel(f"{unit}, all ranks" if number == len(points) - 1 else "")
        axes[number][0].set_title(rows["variant"].iloc[0] if len(points) > 1 else "", loc="left", fontsize=9)
    axes[0][0].invert_yaxis()
    legend(figure, axes[0][0])
    left_out = f" Of {every['point'].nunique()} points the first {MOST} are shown." if every["point"].nunique() > MOST else ""
    kind = "predicted" if tables.written.dry_run else "counted"
    return Picture(
        figure, f"One exchange of the finest level's ghosts on {every['ranks'].max()} ranks under every scheme.{left_out}", kind
    )
