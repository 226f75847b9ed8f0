"""Residual histories: what is left after each V-cycle, or after each iteration of a Krylov method alone."""

from studies.evaluate.figures.style import MOST_SERIES, Nothing, Picture, legend, new, series
from studies.evaluate.tables import Tables


def draw(tables: Tables) -> Picture:
    if tables.solves.empty or "residuals" not in tables.solves or tables.solves["residuals"].isna().all():
        raise Nothing
    solves = tables.solves[tables.solves["residuals"].notna()]
    most = solves["ranks"].max()
    last = solves[solves["ranks"] == most].groupby("variant", sort=False).first()
    figure, ((axis,),) = new(width=6.0, height=4.0)
    variants = list(last.index)[:MOST_SERIES]
    for number, variant in enumerate(variants):
        history = [value for value in last.loc[variant, "residuals"] if value]
        # Fewer marks for hundreds of iterations can be told apart.
        axis.semilogy(range(len(history)), history, label=variant, markevery=max(1, len(history) // 12), **series(number))
    krylov = last["cycles"].isna().all()
    norm = next((norm for norm in last["norm"].dropna()), "residual")
    axis.set(xlabel="iterations" if krylov else "V-cycles", ylabel=norm)
    legend(figure, axis)
    own = " By the methods' own recurrences." if krylov else " Recomputed after every cycle."
    return Picture(figure, f"Residuals of the first solve on {most} ranks.{own}", "counted")
