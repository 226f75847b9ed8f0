"""Time of a solve and efficiency against ranks, a line a variant; of a throughput study the rate against unknowns."""

from studies.evaluate.figures.style import MOST_SERIES, Nothing, Picture, legend, new, plain_decades, powers_of_two, series
from studies.evaluate.scaling import Scaled, failed_points, scaled
from studies.evaluate.tables import Tables
from studies.statistics import remark

MEANS = {
    "weak": "time on the fewest ranks over time",
    "strong": "ranks x threads x time on the fewest over that on more",
    "throughput": "unknowns a second over the most",
}


def throughput(every: list[Scaled]) -> Picture:
    every = [one for one in every if one.unknowns]
    if len({one.unknowns for one in every}) < 2:
        raise Nothing
    figure, ((axis,),) = new(width=6.0, height=3.6)
    names = list(dict.fromkeys(one.but_size for one in every))[:MOST_SERIES]
    for number, name in enumerate(names):
        rows = sorted((one for one in every if one.but_size == name), key=lambda one: one.unknowns or 0)
        middle = [1e-6 * (one.unknowns or 0) / one.seconds.median for one in rows]
        low, high = ([1e-6 * (one.unknowns or 0) / one.seconds.bars[end] for one in rows] for end in (1, 0))
        bars = [[m - v for m, v in zip(middle, low, strict=True)], [v - m for m, v in zip(middle, high, strict=True)]]
        axis.errorbar([one.unknowns for one in rows], middle, yerr=bars, capsize=2.5, label=name, **series(number))
    axis.set(xscale="log", xlabel="unknowns", ylabel="million unknowns a second")
    axis.set_ylim(0, None)
    legend(figure, axis)
    caption = "Unknowns solved for a second against unknowns, medians of all solves."
    return Picture(figure, caption, "measured", remark([one.seconds.count for one in every]))


def draw(tables: Tables) -> Picture:
    every = scaled(tables)
    if tables.written.facts["study"]["law"] == "throughput":
        return throughput(every)
    failed = failed_points(tables)
    ranks = sorted({one.ranks for one in [*every, *failed]})
    if not every or len(ranks) < 2 or tables.written.facts["study"]["law"] == "sweep":
        raise Nothing
    figure, ((left, right),) = new(columns=2, height=3.8)
    law = tables.written.facts["study"]["law"]
    variants = list(dict.fromkeys(one.variant for one in [*every, *failed]))[:MOST_SERIES]
    for number, variant in enumerate(variants):
        crosses = [one.ranks for one in failed if one.variant == variant]
        for axis in (left, right) if crosses else ():
            # At the lower end, one variant above the other.
            axis.plot(crosses, [0.03 + 0.05 * number] * len(crosses), transform=axis.get_xaxis_transform(), linestyle="none",
                      marker="x", markersize=9, markeredgewidth=2, color=series(number)["color"], label=f"{variant}, failed")  # fmt: skip
        rows = [one for one in every if one.variant == variant]
        x, y = [one.ranks for one in rows], [one.seconds.median for one in rows]
        bars = [
            [one.seconds.median - one.seconds.bars[0] for one in rows],
            [one.seconds.bars[1] - one.seconds.median for one in rows],
        ]
        if not rows:
            continue
        left.errorbar(x, y, yerr=bars, capsize=2.5, label=variant, **series(number))
        right.plot(x, [100 * (one.efficiency or 0) for one in rows], label=variant, **series(number))
    left.set(yscale="log", xlabel="ranks", ylabel="seconds a solve")
    first = min((one for one in every if one.variant == every[0].variant), key=lambda one: one.ranks)
    ideal = [first.seconds.median * (first.ranks / n if law == "strong" else 1) for n in ranks]
    left.plot(ranks, ideal, color="#8a8a8a", linewidth=1, label="ideal")
    right.plot(ranks, [100] * len(ranks), color="#8a8a8a", linewidth=1)
    right.set(xlabel="ranks", ylabel="efficiency, %", ylim=(0, None))
    for axis in (left, right):
        powers_of_two(axis, ranks)
    plain_decades(left.get_yaxis())
    legend(figure, left)
    caption = f"Time of a solve, median of all solves, and {law} efficiency ({MEANS[law]}) against ranks."
    return Picture(figure, caption, "measured", remark([one.seconds.count for one in every]))
