"""Residual histories: what is left after each V-cycle, or after each iteration of a Krylov method alone."""

from studies.evaluate.figures.style import MOST_SERIES, Nothing, Picture, legend, new, plain_decades, series, whole_numbers
from studies.evaluate.tables import Tables, largest


def draw(tables: Tables) -> Picture:
    if tables.solves.empty or "residuals" not in tables.solves or tables.solves["residuals"].isna().all():
        raise Nothing
    solves = tables.solves[tables.solves["residuals"].notna()]
    last = largest(solves).groupby("variant", sort=False).first()
    ranks = " or ".join(str(count) for count in sorted(set(last["ranks"])))
    figure, ((axis,),) = new(width=6.0, height=4.0)
    variants = list(last.index)[:MOST_SERIES]
    for number, variant in enumerate(variants):
        history = last.loc[variant, "residuals"]
        after = last.loc[variant, "measured_after"]
        after = after if isinstance(after, list) else range(len(history))
        points = [(count, value) for count, value in zip(after, history, strict=False) if value]
        # Fewer marks for hundreds of iterations stay distinct.
        axis.semilogy(*zip(*points, strict=True), label=variant, markevery=max(1, len(points) // 12), **series(number))
    krylov = last["cycles"].isna().all()
    norm = next((norm for norm in last["norm"].dropna()), "residual")
    axis.set(xlabel="iterations" if krylov else "V-cycles", ylabel=norm)
    whole_numbers(axis.get_xaxis())
    plain_decades(axis.get_yaxis())
    legend(figure, axis)
    own = " By the methods' own recurrences." if krylov else " Recomputed after every cycle."
    return Picture(figure, f"Residuals of the first solve on {ranks} ranks.{own}", "counted")
