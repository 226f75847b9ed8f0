"""Gains of the communication schemes: on sparse matrices, after figures 3.10 to 3.15 of Lockhart 2023, and with t vectors at a time, after its
chapter 4; on the levels of a grid, after figures 14 and 15 of Bienz et al. 2020, which show levels of AMG."""

from papers.points import Figure, Made, Point, Records, numbers
from papers.schemes import (
    COLUMNS, GRIDS, MATRICES, NODES, faster_rule, gains, grid_points, matrix_points, schemes_of, told,
)  # fmt: skip
from studies.evaluate.figures.style import COLOURS, HATCHES, INK, Picture, legend, new
from studies.records import Record

NODE_AWARE = ("two_step", "three_step", "split")
FAMILIES = ("standard", *NODE_AWARE, "staged_axes")
BETWEEN = "predicted_between_nodes"


def of_matrices(records: Records, every: list[Point]) -> Made:
    figure, axes = new(2, 2, width=9.0, height=8.0, sharex=True, sharey=True)
    rows = []
    totals: list[Record] = []
    for down, (machine, nodes) in enumerate(NODES.items()):
        for across, t in enumerate(COLUMNS):
            axis = axes[down][across]
            bounds: list[tuple[float, float, float]] = []
            fastest = []
            for place, work in enumerate(MATRICES):
                schemes = schemes_of(records, work, machine, t)[0]
                values = {family: gains(schemes, family) for family in NODE_AWARE}
                for number, (family, (gain, apart, together)) in enumerate(values.items()):
                    y = place + 0.26 * (number - 1)
                    axis.barh(y, gain - 1, left=1, height=0.24, color=COLOURS[number], hatch=HATCHES[number], edgecolor="#ffffff80",
                              linewidth=0, label=family if place == 0 else None)  # fmt: skip
                    bounds.append((y, apart, together))
                rows.append([f"`{work}`", machine, f"{nodes}", f"{t}", f"{1e6 * schemes['standard'].seconds:.1f}",
                             *(told(values[family]) for family in NODE_AWARE)])  # fmt: skip
                fastest.append(min(("standard", *NODE_AWARE), key=lambda family: faster_rule(schemes, family).seconds))
            chosen = {f"{family} fastest": fastest.count(family) for family in ("standard", *NODE_AWARE)}
            totals.append({"record": "total", "machine": machine, "t": t, "matrices": len(fastest), **chosen})
            axis.hlines(*zip(*bounds, strict=True), color=INK, linewidth=1.2)
            axis.axvline(1, color=INK, linewidth=1)
            axis.set_xscale("log", base=2)
            axis.get_xaxis().set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_yticks(range(len(MATRICES)), MATRICES)
            axis.set(title=f"{machine}, {nodes} ranks a node, t = {t}", ylim=(len(MATRICES) - 0.5, -0.5))
            axis.grid(visible=False, axis="y")
    for axis in axes[1]:
        axis.set_xlabel("times as fast as standard")
    axes[0][0].plot([], [], color=INK, linewidth=1.2, label="from none to all of a node on one socket")
    legend(figure, axes[0][0])
    head = ["matrix", "machine", "ranks a node", "t", "standard, us", *(f"{family}: gain (sockets)" for family in NODE_AWARE)]
    caption = "Gain of node-aware schemes over standard for matrices on 256 ranks; of a scheme's rules the faster, two sockets a node."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows) + totals)


def of_levels(records: Records, every: list[Point]) -> Made:
    figure, axes = new(len(GRIDS), len(NODES), width=10.0, height=6.0)
    rows = []
    for down, (machine, nodes) in enumerate(NODES.items()):
        for across, (work, title) in enumerate(GRIDS.items()):
            axis = axes[down][across]
            levels = schemes_of(records, work, machine)
            bounds: list[tuple[float, float, float]] = []
            for place, schemes in enumerate(levels.values()):
                first = schemes["standard"].seconds
                for number, family in enumerate(FAMILIES):
                    one, x = faster_rule(schemes, family), place + 0.16 * (number - 2)
                    # Messages between nodes, with their forwarding within them; and messages between ranks of a node.
                    between = one.record[BETWEEN] if one.record[BETWEEN] is not None else one.seconds
                    look = {"width": 0.15, "hatch": HATCHES[number], "edgecolor": "#ffffff80", "linewidth": 0, "clip_on": False}
                    axis.bar(x, between / first, color=COLOURS[number], label=family if place == 0 else None, **look)
                    axis.bar(x, (one.seconds - between) / first, bottom=between / first, color=COLOURS[number], alpha=0.4, **look)
                    if number:
                        bounds.append((x, one.apart / schemes["standard"].apart, one.together / schemes["standard"].together))
                box = schemes["standard"].record["box"]
                rows.append([title, machine, f"{nodes}", f"{box}^3", f"{1e6 * first:.1f}",
                             *(told(gains(schemes, family)) for family in FAMILIES[1:])])  # fmt: skip
            axis.vlines(*zip(*bounds, strict=True), color=INK, linewidth=1.2)
            axis.axhline(1, color=INK, linewidth=1)
            boxes = [f"{schemes['standard'].record['box']}^3" for schemes in levels.values()]
            axis.set_xticks(range(len(boxes)), boxes)
            axis.set_title(f"{title}; {machine}, {nodes} a node", fontsize=9)
            axis.grid(visible=False, axis="x")
        axes[down][0].set_ylabel("time over standard's")
    for axis in axes[-1]:
        axis.set_xlabel("boxes of the level")
    axes[0][0].plot([], [], color=INK, linewidth=1.2, label="from none to all of a node on one socket")
    axes[0][0].bar([0], [0], color="#7F7F7F", alpha=0.4, label="pale: messages within nodes")
    legend(figure, axes[0][0])
    head = ["ghosts", "machine", "ranks a node", "boxes", "standard, us", *(f"{family}: gain (sockets)" for family in FAMILIES[1:])]
    caption = "An exchange of ghost cells by level and scheme, over standard's time; 4096 ranks, a box each; two sockets a node."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


FIGURES = [
    Figure("matrices", "Lockhart 2023, figures 3.10 to 3.15 and chapter 4: schemes on matrices", matrix_points, of_matrices),
    Figure("exchanges", "Bienz et al. 2020, figures 14 and 15, for levels of grids", grid_points, of_levels),
]
