"""Speed-up of each variant over the baseline, with the spread over the rounds."""

from studies.evaluate.figures.style import COLOURS, INK, MARKS, Nothing, Picture, legend, new
from studies.evaluate.scaling import failed_points, scaled
from studies.evaluate.tables import Tables
from studies.statistics import remark


def draw(tables: Tables) -> Picture:
    every = [one for one in scaled(tables) if one.speed_up]
    base = {point["name"] for point in tables.written.points if point["baseline"]}
    rows = [one for one in every if one.point not in base]
    if not rows:
        raise Nothing
    failed = [one for one in failed_points(tables) if one.point not in base]
    variants = list(dict.fromkeys(one.variant for one in [*rows, *failed]))
    ranks = sorted({one.ranks for one in every})
    figure, ((axis,),) = new(width=7.0, height=1.5 + 0.38 * len(variants) + 0.1 * len(variants) * len(ranks))
    for number, count in enumerate(ranks):
        offset = 0.6 * ((number + 0.5) / len(ranks) - 0.5)
        for one in (one for one in rows if one.ranks == count):
            assert one.speed_up
            (low, high), middle = one.speed_up.bars, one.speed_up.median
            axis.errorbar(
                [middle],
                [variants.index(one.variant) + offset],
                xerr=[[middle - low], [high - middle]],
                capsize=2.5,
                linestyle="none",
                color=COLOURS[number % len(COLOURS)],
                marker=MARKS[number % len(MARKS)],
            )
        axis.plot(
            [],
            [],
            linestyle="none",
            color=COLOURS[number % len(COLOURS)],
            marker=MARKS[number % len(MARKS)],
            label=f"{count} rank{'s' if count > 1 else ''}",
        )
    axis.axvline(1, color=INK, linewidth=1)
    for variant in dict.fromkeys(one.variant for one in failed):
        counts = ", ".join(f"{one.ranks}" for one in failed if one.variant == variant)
        axis.annotate(f"failed on {counts}", (0, variants.index(variant)), xycoords=axis.get_yaxis_transform(), xytext=(3, 0),
                      textcoords="offset points", va="center", fontsize=9)  # fmt: skip
    axis.set_yticks(range(len(variants)), variants)
    axis.set(ylim=(len(variants) - 0.5, -0.5), xlabel="speed-up over the baseline")
    legend(figure, axis)
    baseline = ", ".join(f"{value}" for value in tables.baseline.values())
    return Picture(
        figure,
        f"Speed-up over {baseline} at the same point: median over the rounds of the quotient of the rounds' medians.",
        "measured",
        remark([one.speed_up.count for one in rows if one.speed_up]),
    )
