"""Evaluations of Anderson acceleration beside Tables 6.1 to 6.4 of Lockhart 2023, and histories after its figures 6.9 to 6.12. Counts
hang on rounding: beside each printed number stands the range over orthogonalisations, ranks, inner tolerances and the condition."""

from collections.abc import Iterator
from itertools import product

from papers.points import Figure, Made, Point, Records
from papers.printed import printed
from studies.evaluate.figures.style import Picture, label_y, legend, new, plain_decades, series
from studies.records import Record

VARIANTS = {"plain": "none", "alternating": "picard", "composite 1": "1", "composite 2": "2", "composite 3": "3"}
METHODS = ("mgs", "icwy", "cgs2", "dcgs2_fused")
FUSED = METHODS[-1]
LARGE, SMALL = 512, 128  # cells a side of histories and of ranges; the paper has 1024, which took 10 minutes

COMMON = ("run.mode=fixed_point", "problem.dimensions=2", "problem.boxes=[2,2,1]", "run.warmup=0", "run.repeats=1", "run.triad_mb=1")
GRID = ("problem.boundary=dirichlet", "problem.a=0", "problem.b=1", "multigrid.interpolation=linear")
PROBLEMS = {
    "heat_1": ("anderson.depth=5", "problem.equation=heat_1", *GRID),
    "heat_2": ("anderson.depth=10", "problem.equation=heat_2", *GRID),
    "bratu": ("anderson.depth=30", "problem.equation=bratu", "problem.kappa=6.7", *GRID),
    "mixture": ("anderson.depth=3", "problem.box=12", "anderson.tolerance=1e-8"),
}
TABLES = dict(zip(PROBLEMS, ("6.1", "6.2", "6.3", "6.4"), strict=True))
TOLERANCES = ("multigrid.tolerance=1e-10", "multigrid.tolerance=1e-12", "multigrid.tolerance=1e-12 anderson.test=residual_2")
SEEDS = ("problem.equation=mixture", *(f"problem.equation=mixture_random problem.seed={seed}" for seed in (1, 2, 3)))
NO_CONTROL, CONTROL = "anderson.max_condition=0", "anderson.max_condition=1e8"


def point(problem: str, variant: str, method: str, ranks: int, cells: int, *more: str) -> Point:
    composite = variant.startswith("composite")
    method = "icwy/mgs" if method == "icwy" and composite else method
    words = (*COMMON, *PROBLEMS[problem], f"anderson.inner={VARIANTS[variant]}", f"anderson.orthogonalisation={method}",
             *(() if problem == "mixture" else (f"problem.box={cells // 2}",)), *(word for words in more for word in words.split()))  # fmt: skip
    name = "_".join((problem, variant, method, str(ranks), str(cells), *more)).translate(str.maketrans(" /=", "___"))
    return Point(name, "", words, "counted", ranks=ranks if ranks > 1 else 0, may_fail=True)


def of_range(problem: str, variant: str) -> list[Point]:
    """The causes that counts may hang on: the orthogonalisation, the ranks, the tolerances and tests or the samples, and the condition."""
    first, *others = SEEDS if problem == "mixture" else TOLERANCES
    found = [point(problem, variant, method, 1, SMALL, first, NO_CONTROL) for method in METHODS]
    found += [point(problem, variant, method, ranks, SMALL, first, NO_CONTROL) for method, ranks in (("mgs", 2), (FUSED, 2), (FUSED, 4))]
    found += [point(problem, variant, FUSED, 1, SMALL, other, NO_CONTROL) for other in others]
    return [*found, point(problem, variant, FUSED, 1, SMALL, first, CONTROL)]


def of_size(problem: str, variant: str) -> Point:
    """A larger run by the methods of the paper; the mixture's vector only repeats its means."""
    return point(problem, variant, "icwy", 1, LARGE, SEEDS[1] if problem == "mixture" else TOLERANCES[0], NO_CONTROL)


def points() -> list[Point]:
    cases = list(product(PROBLEMS, VARIANTS))
    return [one for case in cases for one in of_range(*case)] + [of_size(*case) for case in cases]


def solve_of(records: Records, one: Point) -> Record:
    return records(one.name).of("solve")[0]


def row(records: Records, problem: str, variant: str, wanted: float) -> Record:
    """Counts of those runs that converged; `deleted`: columns that icwy, on the larger grid, deletes by an all-reduce each."""
    small = [solve_of(records, one) for one in of_range(problem, variant)]
    large = solve_of(records, of_size(problem, variant))
    converged = [solve for solve in [*small, large] if solve["converged"]]
    counts = [solve["evaluations"] for solve in converged]
    depth = int(PROBLEMS[problem][0].partition("=")[2])
    return {"record": "row", "problem": problem, "variant": variant, "printed": wanted, "runs": len(small) + 1, "converged": len(converged),
            "missed inner tolerance": sum((solve["map_unsolved"] or 0) > 0 for solve in converged), "least": min(counts), "most": max(counts),
            "large": large["evaluations"] if large["converged"] else None,
            "deleted": max(large["iterations"] - 1 - depth, 0) if large["converged"] else None,
            "within": min(counts) <= wanted <= max(counts)}  # fmt: skip


def history(solve: Record, variant: str) -> Iterator[tuple[int, float]]:
    """Evaluations so far, and the quantity tested."""
    inner = int(VARIANTS[variant]) + 1 if variant.startswith("composite") else 0
    for iteration, value in enumerate(solve["residuals"]):
        yield 1 + iteration * (1 + inner), value


def make(records: Records, every: list[Point]) -> Made:
    wanted = {one.quantity: one.value for one in printed("Lockhart") if one.figures.startswith("Table 6.")}
    rows = [row(records, problem, variant, wanted[f"{problem}, {variant}"] or 0) for problem, variant in product(PROBLEMS, VARIANTS)]
    plain = {one["problem"]: one["deleted"] for one in rows if one["variant"] == "plain"}
    for one in rows:
        most = plain[one["problem"]]
        one["fewer deleted"] = one["deleted"] < most if one["variant"].startswith("composite") and most and one["deleted"] is not None else None
    figure, axes = new(2, 2, width=9.0, height=7.0)
    for problem, axis in zip(PROBLEMS, (axis for line in axes for axis in line), strict=True):
        for line, variant in enumerate(VARIANTS):
            solve = solve_of(records, of_size(problem, variant))
            xs, ys = zip(*history(solve, variant), strict=True)
            axis.semilogy(xs, ys, label=variant, **series(line) | {"markersize": 3})
            axis.axvline(wanted[f"{problem}, {variant}"], color=series(line)["color"], linewidth=0.8, linestyle=":")
        axis.set(xlabel="evaluations of the map", title=f"{problem.replace('_', ' ')}, depth {PROBLEMS[problem][0].partition('=')[2]}")
        axis.set_ylim(top=10)  # alternating iterations may diverge
        plain_decades(axis.get_yaxis())
    label_y(axes, "largest change of an iteration")
    legend(figure, axes[0][0])
    caption = f"Convergence by evaluations of the map, {LARGE}^2 cells, one rank, by icwy, inside composites mgs; dotted: the printed number of evaluations."
    return Made(Picture(figure, caption, "counted"), rows)


FIGURES = [Figure("acceleration", "Lockhart 2023, Tables 6.1 to 6.4, figures 6.9 to 6.12: evaluations and histories", points, make)]
