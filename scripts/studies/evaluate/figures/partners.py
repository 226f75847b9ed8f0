"""Who sends to whom in one exchange, by scheme: the bytes of each pair of ranks, after figure 5.3 of Lockhart 2023."""

from studies.evaluate.figures.style import Nothing, Picture, new
from studies.records import Record, Run

ACROSS = 3  # maps beside each other


def draw(run: Run) -> Picture:
    """The dry run of a matrix with output.details: a map a scheme, ranks in the order of their numbers, lines between nodes."""
    rows = [row for row in run.of("scheme") if row.get("pairs") and row.get("purpose") == "product"]
    if not rows:
        raise Nothing
    (plan,) = run.of("plan")
    ranks, nodes = plan["ranks"], plan["nodes"]
    sizes = [pair[3] for row in rows for pair in row["pairs"]]
    down = -(-len(rows) // ACROSS)
    figure, axes = new(min(ACROSS, len(rows)), down, width=7.0, height=0.3 + 2.1 * down)
    panels = [axis for line in axes for axis in line]
    for axis, row in zip(panels, rows, strict=False):
        image = axis.imshow(sent(row, ranks), cmap="viridis_r", norm="log", vmin=min(sizes), vmax=max(sizes), interpolation="nearest")
        axis.grid(visible=False)
        for node in range(1, nodes if ranks % nodes == 0 and nodes <= 32 else 0):
            for line in (axis.axhline, axis.axvline):
                line(node * ranks / nodes - 0.5, color="#8a8a8a", linewidth=0.5)
        axis.set_title(f"{row['scheme']}: {len(row['pairs'])} pairs", loc="left", fontsize=8)
        axis.set(xlabel="to rank", ylabel="from rank")
    for axis in panels[len(rows) :]:
        axis.remove()
    figure.colorbar(image, ax=axes, shrink=0.6, label="bytes")
    return Picture(figure, f"Bytes that each of {ranks} ranks on {nodes} nodes sends to each other one in a product, by scheme.", "counted")


def sent(row: Record, ranks: int) -> list[list[float]]:
    """Bytes by source and target; not a number where nothing is sent."""
    table = [[float("nan")] * ranks for _ in range(ranks)]
    for source, target, _, size in row["pairs"]:
        table[source][target] = size
    return table
