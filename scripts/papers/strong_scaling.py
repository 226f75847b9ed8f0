"""Strong scaling of CG and its pipelined forms, after figures 2 and 3 of Cools et al. 2019."""

from dataclasses import dataclass

from papers.points import Figure, Made, Point, Records, machine_words, numbers
from papers.weak_scaling import LATE, delayed
from studies.evaluate.figures.style import COLOURS, HATCHES, Picture, legend, new, powers_of_two, series
from studies.records import Record, Run

# The methods do 50 iterations, where they do not end before.
SAMPLED = ("bottom.assumed_iterations=50", "bottom.tolerance=1e-14")
# One layer of 4,096 columns of 8^3 cells; 20 iterations, whatever the residual, where 1e-6 takes 3 to 13.
COLUMNS = ("problem.box=8", "problem.boxes=[64,64,1]", "bottom.max_iterations=20", "bottom.tolerance=1e-30")
MACHINE, RANKS_PER_NODE = "cori", 16
NODES = (1, 4, 16, 64, 128, 256)
BARS = 128  # nodes, as in the paper
SOLVERS = {
    "CG": ("bottom.solver=cg",),
    "p-CG": ("bottom.solver=pipelined_cg",),
    **{f"p({depth})-CG": ("bottom.solver=deep_pipelined_cg", f"bottom.depth={depth}") for depth in (1, 2, 3)},
}
# Operations by the kernels of Alg. 1 in the paper, as the records `kernel` of runs have them. What of all-reduces is not hidden is what
# the others leave.
KERNELS = {
    "product and ghosts, K1": ("bottom.operator", "exchange."),
    "preconditioner, K1": ("bottom.preconditioner",),
    "sums of vectors, K4 and K6": ("bottom.vector",),
    "inner products, K5": ("bottom.dots",),
}
WAITING = "all-reduces not hidden, K2"


@dataclass(frozen=True)
class Problem:
    prefix: str  # first part of its points' names
    deck: str
    words: tuple[str, ...]
    caption: str


ICE_SHEET = Problem("strong_ice", "inputs/papers/ice_sheet.toml", COLUMNS, "a layer of 2 million cells, coupled a thousand times more along z")
LAPLACIAN = Problem("strong", "results/papers/laplace_2d.toml", (), "a 2-D Laplacian of 4 million cells")
DIAGONAL = Problem("strong_diagonal", "inputs/papers/diagonal.toml", SAMPLED, "a diagonal matrix of 4 million rows")


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
    return float(delayed(solve, late)["seconds"] / solve["bottom_iterations"])


def kernels(run: Run, late: float) -> dict[str, float]:
    """Seconds of an iteration by kernel, where each all-reduce comes so much later: what is late, is late in the sums."""
    solve = run.of("solve")[0]
    seconds = dict.fromkeys(KERNELS, 0.0)
    for timer in run.of("timer"):
        for kernel, operations in KERNELS.items():
            if timer["op"].startswith(operations):
                seconds[kernel] += timer["t_max"]
    found = {**seconds, WAITING: delayed(solve, late)["seconds"] - sum(seconds.values())}
    return {kernel: value / solve["bottom_iterations"] for kernel, value in found.items()}


def make(problem: Problem, records: Records) -> Made:
    runs = {(solver, nodes): records(name_of(problem, solver, nodes)) for solver in SOLVERS for nodes in NODES}
    found = {point: run.of("solve")[0] for point, run in runs.items()}
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
        by_kernel = [kernels(runs[solver, BARS], late) for solver in SOLVERS]
        for n, kernel in enumerate((*KERNELS, WAITING)):
            values = [1e6 * one[kernel] for one in by_kernel]
            lower.bar(list(SOLVERS), values, bottom=below, width=0.7, label=kernel, color=COLOURS[n + 3], hatch=HATCHES[n],
                      edgecolor="#ffffff80", linewidth=0.4)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        lower.grid(visible=False, axis="x")
        lower.tick_params(axis="x", labelsize=8, rotation=30)
    axes[0][0].set_ylabel("speed-up of an iteration\nover CG on one node")
    axes[1][0].set_ylabel(f"us an iteration on {BARS} nodes")
    axes[1][2].legend(loc="upper right", frameon=False, fontsize=7)
    legend(figure, axes[0][0])
    rows = []
    for nodes in NODES:
        for solver in SOLVERS:
            values = [iteration(found[solver, nodes], late) for late in LATE]
            gains = [iteration(found["CG", nodes], late) / value for late, value in zip(LATE, values, strict=True)]
            rows.append([f"{nodes}", solver, *(f"{1e6 * value:.1f}" for value in values), *(f"{gain:.2f}" for gain in gains)])
    head = ["nodes", "method", *(f"us an iteration: {1e6 * late:.0f} us late" for late in LATE),
            *(f"over CG: {1e6 * late:.0f} us late" for late in LATE)]  # fmt: skip
    bars = [[solver, *(f"{1e6 * value:.1f}" for late in LATE[:1] for value in kernels(runs[solver, BARS], late).values()),
             *(f"{1e6 * kernels(runs[solver, BARS], late)[WAITING]:.1f}" for late in LATE[1:])] for solver in SOLVERS]  # fmt: skip
    of_bars = ["method", *KERNELS, WAITING, *(f"{1e6 * late:.0f} us late" for late in LATE[1:])]
    caption = f"Iterations of CG and its pipelined forms on {problem.caption}; {MACHINE}, 16 ranks a node."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows) + numbers(of_bars, bars, "kernels"))


def figure_of(name: str, about: str, problem: Problem) -> Figure:
    return Figure(name, f"Cools et al. 2019, {about}: CG, p-CG, p(l)-CG, l = 1, 2, 3", lambda: points(problem),
                  lambda records, _: make(problem, records))  # fmt: skip


FIGURES = [
    figure_of("strong_scaling", "figure 3", LAPLACIAN),
    figure_of("strong_scaling_diagonal", "figure 3", DIAGONAL),
    figure_of("strong_scaling_ice_sheet", "figure 2", ICE_SHEET),
]
