"""Weak scaling of the solve and its bottom, after figures 2 to 5 of Williams et al. 2014."""

from typing import Any

from papers.points import Figure, Made, Point, Records, machine_words, numbers
from papers.printed import printed
from studies.evaluate.figures.style import COLOURS, HATCHES, Picture, legend, new, powers_of_two, series
from studies.records import Record, Run

PAPER = "Williams"
DECK = "results/scale/weak.toml"
SMALL = "results/scale/small_boxes.toml"
SUMS = ("comm.allreduce=recursive_doubling",)
RANKS = (8, 64, 512, 4096)
PARTS = {
    "v_cycle": "V-cycle, work",
    "v_cycle_exchange": "V-cycle, exchanges",
    "bottom": "bottom, work",
    "bottom_exchange": "bottom, exchanges",
    "all_reduce": "all-reduces",
}
SHOWN = ("bicgstab_fused", "cg", "ca_bicgstab", "ca_cg", "pipelined_cg", "deep_pipelined_cg depth=2")
LATE = (0.0, 60e-6, 200e-6)
# A simulated survey solves with smaller boxes.
SIMULATED = {"bottom": ("bottom", "bottom_exchange", "all_reduce"), "all-reduces": ("all_reduce",)}
QUANTITIES = {"bottom": "bottom_seconds", "solve": "seconds", "all-reduces": "all_reduce_seconds"}


def points() -> list[Point]:
    found = []
    for ranks in RANKS:
        words = (f"problem.ranks={ranks}", *machine_words("hopper", 4))
        kept = f"results/scale/hopper.{ranks}.json" if ranks in (64, 512, 4096) else ""
        found.append(Point(f"weak_hopper_{ranks}", DECK, words, kept=kept))
    return found


def with_simulated() -> list[Point]:
    """The bottoms of a smaller problem, of 8^3 boxes, whose bottom boxes have 4^3 cells as well."""
    kept = {8: "results/papers/weak_simulated_8.json", 64: "results/scale/simulated.64.json"}
    simulated = [Point(f"weak_simulated_{ranks}", SMALL, SUMS, "simulated", file) for ranks, file in kept.items()]
    return points() + simulated


def solves(run: Run) -> dict[str, Record]:
    return {run.solver_of(solve): solve for solve in run.of("solve")}


def surveyed(run: Run) -> dict[str, Record]:
    return {survey["solver"]: survey for survey in run.of("survey")}


def delayed(solve: Record, late: float) -> Record:
    return next(entry for entry in solve["delayed"] if abs(entry["all_reduce_delay"] - late) < 1e-9)


def speed_up(found: dict[str, Record], solver: str, quantity: str, late: float, over: str = "bicgstab") -> float:
    """Speed-up of one solver over another with a delay for each all-reduce."""
    field = QUANTITIES[quantity]
    return float(delayed(found[over], late)[field] / delayed(found[solver], late)[field])


def all_solves(records: Records, every: list[Point]) -> dict[int, dict[str, Record]]:
    return {
        int(point.name.rpartition("_")[2]): solves(records(point.name)) for point in every if point.kind == "predicted"
    }


def times(records: Records, every: list[Point]) -> Made:
    found = all_solves(records, every)
    figure, axes = new(3, width=10.2, height=3.6)
    low, high, right = axes[0]
    rows = []
    for number, solver in enumerate(("bicgstab", "ca_bicgstab")):
        axis = (low, high)[number]
        below = [0.0] * len(found)
        names = [f"{ranks:,}" for ranks in found]
        for n, (part, label) in enumerate(PARTS.items()):
            values = [1e3 * one[solver]["parts"][part] for one in found.values()]
            axis.bar(names, values, bottom=below, width=0.7, label=label, color=COLOURS[n], hatch=HATCHES[n],
                     edgecolor="#ffffff80", linewidth=0.4)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        axis.set(title=solver, xlabel="ranks", ylabel="ms a solve, no rank late" if number == 0 else "")
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(visible=False, axis="x")
    top = max(low.get_ylim()[1], high.get_ylim()[1])
    low.set_ylim(0, top), high.set_ylim(0, top)
    for number, solver in enumerate(("bicgstab", "ca_bicgstab", "cg")):
        right.plot(list(found), [one[solver]["bottom_iterations"] for one in found.values()], label=solver, **series(number))
    powers_of_two(right, list(found))
    right.tick_params(axis="x", labelsize=8, rotation=30)
    right.set(yscale="log", title="bottom iterations of a solve", xlabel="ranks")
    right.legend(loc="upper left", frameon=False)
    legend(figure, low)
    for ranks, one in found.items():
        for solver in (name for name in ("bicgstab", "bicgstab_fused", "ca_bicgstab", "cg", "ca_cg") if name in one):
            parts = [f"{1e3 * one[solver]['parts'][part]:.2f}" for part in PARTS]
            rows.append([f"{ranks}", f"`{solver}`", f"{one[solver]['cycles']:.0f}", f"{one[solver]['bottom_iterations']:.0f}",
                         f"{one[solver]['reductions']:.0f}", *parts, f"{1e3 * one[solver]['seconds']:.1f}"])  # fmt: skip
    head = ["ranks", "bottom", "V-cycles", "bottom iterations", "all-reduces", *(f"{name}, ms" for name in PARTS.values()), "solve, ms"]
    caption = "Time of a solve by operation and iterations at the bottom, hopper, 4 ranks a node, one box of 64^3 a rank."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


def mark_printed(axis: Any, quantity: str) -> None:
    for one in printed(PAPER):
        if one.quantity == quantity and one.value is not None:
            axis.plot([one.ranks], [one.value], linestyle="none", marker="*", markersize=13, color="#d00000", zorder=5,
                      label="ca_bicgstab, printed in the paper")  # fmt: skip


def speed_ups(records: Records, every: list[Point]) -> Made:
    found = all_solves(records, every)
    simulated = {int(point.name.rpartition("_")[2]): surveyed(records(point.name)) for point in every if point.kind == "simulated"}
    figure, axes = new(3, 3, width=9.0, height=7.4, sharex=True, sharey="row")
    head = ["ranks", "solver", "seconds are", *(f"{quantity}: {1e6 * late:.0f} us late" for quantity in QUANTITIES for late in LATE)]
    rows = []
    for row, quantity in enumerate(QUANTITIES):
        for column, late in enumerate(LATE):
            axis = axes[row][column]
            for number, solver in enumerate(SHOWN):
                x = [ranks for ranks, one in found.items() if solver in one]
                axis.plot(x, [speed_up(found[ranks], solver, quantity, late) for ranks in x], label=solver, **series(number))
            mark_printed(axis, quantity)
            if column == 0 and quantity in SIMULATED and simulated:
                for ranks, one in simulated.items():
                    for number, solver in enumerate(SHOWN):
                        look = series(number) | {"linestyle": "none", "markerfacecolor": "none", "markersize": 10}
                        axis.plot([ranks], [simulated_speed_up(one, solver, quantity)], **look)
                axis.plot([], [], linestyle="none", marker="o", markerfacecolor="none", color="#7F7F7F", markersize=10,
                          label="hollow: simulated, 8^3 above the bottom")  # fmt: skip
            axis.set_yscale("log", base=2)
            axis.set_yticks([1, 2, 4, 8, 16, 32] if quantity != "solve" else [1, 1.5, 2, 3, 4])
            axis.get_yaxis().set_major_formatter(lambda value, _: f"{value:g}")
            powers_of_two(axis, list(found))
            axis.tick_params(axis="x", labelsize=8, rotation=30)
            if row == 0:
                axis.set_title(f"{1e6 * late:.0f} us late" if late else "no rank late")
        axes[row][0].set_ylabel(f"{quantity}: times\nas fast as bicgstab's")
    for axis in axes[2]:
        axis.set_xlabel("ranks")
    legend(figure, axes[0][0])
    for ranks, one in found.items():
        for solver in (name for name in one if name != "bicgstab"):
            values = [f"{speed_up(one, solver, quantity, late):.2f}" for quantity in QUANTITIES for late in LATE]
            rows.append([f"{ranks}", f"`{solver}`", "predicted", *values])
    for ranks, entries in simulated.items():
        for solver in SHOWN:
            values = [f"{simulated_speed_up(entries, solver, quantity):.2f}" if quantity in SIMULATED and not late else "-"
                      for quantity in QUANTITIES for late in LATE]  # fmt: skip
            rows.append([f"{ranks}", f"`{solver}`", "simulated", *values])
    caption = "Speed-up over bicgstab by how late each all-reduce is; hopper, 4 ranks a node."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


def simulated_speed_up(found: dict[str, Record], solver: str, quantity: str) -> float:
    parts = SIMULATED[quantity]
    first, other = (sum(found[name]["parts"][part] for part in parts) for name in ("bicgstab", solver))
    return float(first / other)


FIGURES = [
    Figure("weak_times", "Williams et al. 2014, figures 2 and 3: time by operation, iterations", points, times),
    Figure("weak_speed_ups", "Williams et al. 2014, figures 4 and 5: speed-ups of sums, bottom, solve", with_simulated, speed_ups),
]
