"""The residual after each V-cycle, by the bottom solver, after figure 6 of Williams et al. 2014: solved here, not predicted."""

from papers.points import Figure, Made, Point, Records, numbers
from papers.weak_scaling import solves
from studies.evaluate.figures.style import Picture, legend, new, series

DECK = "results/papers/residuals.toml"


def points() -> list[Point]:
    return [Point("residuals", DECK, (), "counted")]


def make(records: Records, every: list[Point]) -> Made:
    found = solves(records("residuals"))
    figure, ((axis,),) = new(width=6.0, height=3.6)
    rows = []
    for number, (solver, solve) in enumerate(found.items()):
        axis.semilogy(range(len(solve["residuals"])), solve["residuals"], label=solver, **series(number))
        its = sum(visit["iterations"] for visit in solve["bottom"])
        missed = sum(not visit["met"] for visit in solve["bottom"])
        rows.append([f"`{solver}`", f"{solve['cycles']}", f"{its}", f"{missed}", *(f"{value:.1e}" for value in solve["residuals"][1:])])
    most = max(len(row) for row in rows)
    rows = [row + ["-"] * (most - len(row)) for row in rows]
    axis.set(xlabel="V-cycles", ylabel="max |f - L u| / max |f|")
    legend(figure, axis)
    head = ["bottom", "V-cycles", "bottom iterations", "bottoms that missed 1e-3", *(f"after {n}" for n in range(1, most - 3))]
    caption = "Residual after each V-cycle above the bottom grid of 512 ranks, 32^3 cells."
    return Made(Picture(figure, caption, "counted"), numbers(head, rows))


FIGURES = [Figure("residuals", "Williams et al. 2014, figure 6: residual after each V-cycle", points, make)]
