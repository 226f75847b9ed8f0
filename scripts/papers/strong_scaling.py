"""Strong scaling of CG and its pipelined forms, after figures 2 and 3 of Cools et al. 2019."""

from dataclasses import dataclass

from papers.points import Figure, Made, Point, Records, machine_words
from papers.printed import sentences
from papers.weak_scaling import LATE, noisy
from studies.evaluate.figures.style import COLOURS, HATCHES, Picture, legend, new, powers_of_two, series
from studies.markdown import table
from studies.records import Record

# The methods do 50 iterations, where they do not end before.
SAMPLED = ("bottom.given_iterations=50", "bottom.tolerance=1e-14")
MACHINE, RANKS_PER_NODE = "cori", 16
NODES = (1, 4, 16, 64, 128, 256)
BARS = 128  # nodes, as in the paper
SOLVERS = {
    "CG": ("bottom.solver=cg",),
    "p-CG": ("bottom.solver=pipelined_cg",),
    **{f"p({depth})-CG": ("bottom.solver=deep_pipelined_cg", f"bottom.depth={depth}") for depth in (1, 2, 3)},
}
PARTS = {"bottom": "work", "bottom_exchange": "exchanges", "all_reduce": "all-reduces, not hidden"}


@dataclass(frozen=True)
class Problem:
    prefix: str  # of the names of its points
    deck: str
    words: tuple[str, ...]
    caption: str


LAPLACIAN = Problem("strong", "results/figures/laplace_2d.toml", (), "a 2-D Laplacian of 4 million cells")
DIAGONAL = Problem("strong_diagonal", "inputs/diagonal.toml", SAMPLED, "a diagonal matrix of 4 million rows")


def name_of(problem: Problem, solver: str, nodes: int) -> str:
    return f"{problem.prefix}_{solver.replace('(', '').replace(')', '')}_{nodes}"


def points(problem: Problem) -> list[Point]:
    machine = machine_words(MACHINE, RANKS_PER_NODE, RANKS_PER_NODE // 2)
    return [
        Point(name_of(problem, solver, nodes), problem.deck,
              (f"problem.ranks={RANKS_PER_NODE * nodes}", *machine, *problem.words, *words))
        for solver, words in SOLVERS.items() for nodes in NODES
    ]  # fmt: skip


def iteration(solve: Record, late: float) -> float:
    return float(noisy(solve, late)["seconds"] / solve["bottom_iterations"])


def make(problem: Problem, records: Records) -> Made:
    found = {(solver, nodes): records(name_of(problem, solver, nodes)).of("solve")[0] for solver in SOLVERS for nodes in NODES}
    figure, axes = new(3, 2, width=9.0, height=6.4)
    for column, late in enumerate(LATE):
        upper, lower = axes[0][column], axes[1][column]
        first = iteration(found["CG", NODES[0]], late)
        for number, solver in enumerate(SOLVERS):
            upper.plot(NODES, [first / iteration(found[solver, nodes], late) for nodes in NODES], label=solver, **series(number))
        upper.set(yscale="log", title=f"{1e6 * late:.0f} us late" if late else "no rank late", xlabel="nodes of 16 ranks")
        upper.get_yaxis().set_major_formatter(lambda value, _: f"{value:g}")
        powers_of_two(upper, list(NODES))
        upper.tick_params(axis="x", labelsize=8)
        below = [0.0] * len(SOLVERS)
        for n, (part, label) in enumerate(PARTS.items()):
            values = []
            for solver in SOLVERS:
                solve = found[solver, BARS]
                # What is late, is late in the sums: their part is what the others leave.
                others = sum(solve["parts"][other] for other in ("bottom", "bottom_exchange"))
                seconds = noisy(solve, late)["seconds"] - others if part == "all_reduce" else solve["parts"][part]
                values.append(1e6 * seconds / solve["bottom_iterations"])
            lower.bar(list(SOLVERS), values, bottom=below, width=0.7, label=label, color=COLOURS[n + 5], hatch=HATCHES[n],
                      edgecolor="#ffffff80", linewidth=0.4)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        lower.grid(visible=False, axis="x")
        lower.tick_params(axis="x", labelsize=8, rotation=30)
    axes[0][0].set_ylabel("speed-up of an iteration\nover CG on one node")
    axes[1][0].set_ylabel(f"us an iteration on {BARS} nodes")
    axes[1][2].legend(loc="upper right", frameon=False, fontsize=8)
    legend(figure, axes[0][0])
    rows = []
    for nodes in NODES:
        for solver in SOLVERS:
            values = [iteration(found[solver, nodes], late) for late in LATE]
            gains = [iteration(found["CG", nodes], late) / value for late, value in zip(LATE, values, strict=True)]
            rows.append([f"{nodes}", solver, *(f"{1e6 * value:.1f}" for value in values), *(f"{gain:.2f}" for gain in gains)])
    head = ["nodes", "method", *(f"us an iteration: {1e6 * late:.0f} us late" for late in LATE),
            *(f"over CG: {1e6 * late:.0f} us late" for late in LATE)]  # fmt: skip
    caption = f"Iterations of CG and its pipelined forms on {problem.caption}; {MACHINE}, 16 ranks a node."
    return Made(Picture(figure, caption, "predicted"), table(head, rows) + sentences("Cools"))


def figure_of(name: str, about: str, problem: Problem) -> Figure:
    return Figure(name, f"Cools et al. 2019, {about}: CG, p-CG, p(l)-CG, l = 1, 2, 3", lambda: points(problem),
                  lambda records, _: make(problem, records))  # fmt: skip


FIGURES = [figure_of("strong_scaling", "figures 2 and 3", LAPLACIAN), figure_of("strong_scaling_diagonal", "figure 3", DIAGONAL)]
