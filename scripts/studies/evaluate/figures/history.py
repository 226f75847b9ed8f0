"""Figure of merit by revision: each run, the median with its interval, and where it changed."""

from studies.evaluate.figures.style import COLOURS, INK, Page, Picture, new
from studies.revisions import Series
from studies.statistics import remark

MOST_LABELS, MOST_ON_PHONE = 12, 4


def draw(series: Series) -> Picture:
    revisions = series.revisions
    every = [fom for one in revisions for fom in one.foms]
    scale, unit = (1e-6, f"million {series.unit}") if max(every) > 1e6 else (1.0, series.unit)
    figure, ((axis,),) = new(width=max(5.0, min(10.0, 2.0 + 0.6 * len(revisions))), height=3.8)
    for place, one in enumerate(revisions):
        low, high = one.spread.bars
        middle = scale * one.spread.median
        axis.plot([place] * len(one.foms), [scale * fom for fom in one.foms], ".", color="#7F7F7F", markersize=4)
        axis.errorbar([place], [middle], yerr=[[middle - scale * low], [scale * high - middle]], capsize=3, marker="o",
                      color=COLOURS[0])  # fmt: skip
        if one.change is not None:
            axis.annotate(f"{'loss' if one.change < 1 else 'gain'} of {100 * abs(one.change - 1):.0f} %", (place, scale * high),
                          xytext=(0, 8), textcoords="offset points", ha="center",
                          color=COLOURS[1] if one.change < 1 else INK)  # fmt: skip
            axis.axvline(place - 0.5, color=COLOURS[1], linewidth=1, linestyle="--")
    step = -(-len(revisions) // (MOST_ON_PHONE if Page.phone else MOST_LABELS))
    shown = range((len(revisions) - 1) % step, len(revisions), step)  # the last one always
    axis.set_xticks(list(shown), [f"{revisions[place].name}\n{revisions[place].date[:10]}" for place in shown], fontsize=9)
    axis.set(ylim=(0.9 * scale * min(every), 1.1 * scale * max(every)), xlim=(-0.6, len(revisions) - 0.4), ylabel=unit)
    caption = f"{series.name}: dots are runs, circles their median, bars its interval; a dashed line is before a change."
    kind = "measured" if revisions[-1].runs[-1].clock == "real" else "simulated"
    return Picture(figure, caption, kind, remark([len(one.runs) for one in revisions]))
