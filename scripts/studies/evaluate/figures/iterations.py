"""Iterations and V-cycles against the size of the problem."""

from matplotlib.ticker import NullFormatter

from studies.evaluate.figures.style import MOST_SERIES, Nothing, Picture, legend, new, series, whole_numbers
from studies.evaluate.scaling import Scaled, scaled
from studies.evaluate.tables import Tables


def draw(tables: Tables) -> Picture:
    every = [one for one in scaled(tables) if one.unknowns and one.iterations is not None]
    if len({one.unknowns for one in every}) < 2:
        raise Nothing
    with_cycles = any(one.cycles is not None for one in every)
    figure, axes = new(columns=1 + with_cycles, width=7.0 if with_cycles else 4.8, height=3.6)
    by_size = tables.written.facts["study"]["law"] == "throughput"

    def name_of(one: Scaled) -> str:
        return one.but_size if by_size else one.variant

    variants = list(dict.fromkeys(map(name_of, every)))[:MOST_SERIES]
    panels = [("iterations", "bottom iterations a solve" if with_cycles else "iterations a solve")]
    panels += [("cycles", "V-cycles a solve")] if with_cycles else []
    for axis, (field, name) in zip(axes[0], panels, strict=True):
        for number, variant in enumerate(variants):
            rows = sorted((one for one in every if name_of(one) == variant), key=lambda one: one.unknowns or 0)
            axis.plot([one.unknowns for one in rows], [getattr(one, field) for one in rows], label=variant, **series(number))
        axis.set(
            xscale="log", xlabel="unknowns", ylabel=name, ylim=(0, 1.08 * max(getattr(one, field) or 0 for one in every) or 1)
        )
        whole_numbers(axis.get_yaxis())
        sizes = sorted({one.unknowns for one in every if one.unknowns})
        if len(sizes) <= 6:
            axis.set_xticks(
                sizes,
                [
                    f"{size:.3g}" if size < 1000 else f"{size / 1000:.3g} k" if size < 1e6 else f"{size / 1e6:.3g} M"
                    for size in sizes
                ],
            )
        axis.get_xaxis().set_minor_formatter(NullFormatter())
    legend(figure, axes[0][0])
    return Picture(
        figure,
        "Iterations"
        + (" of all bottom solves together, and V-cycles," if with_cycles else "")
        + " of a solve against its size.",
        "counted",
    )
