"""Sensitivity of the gain of communication avoiding: ranks on a network interface, protocols, all-reduce algorithms, delays."""

from papers.points import Figure, Made, Point, Records, machine_words, numbers
from papers.weak_scaling import SIMULATED as SIMULATED_PARTS
from papers.weak_scaling import (
    LATE, QUANTITIES, mark_printed, simulated_speed_up, solves, speed_up, surveyed,
)  # fmt: skip
from studies.evaluate.figures.style import Picture, legend, new, powers_of_two, series

DECK = "results/papers/two_bottoms.toml"
SMALL = "results/papers/two_bottoms_small.toml"
RANKS = (64, 512, 4096)
SIMULATED = 64  # ranks
PREDICTED = {"mpich": "mpi", "node_slices": "node_aware"}  # comm.allreduce
SUMS = {"mpich": "recursive_doubling", "node_slices": "node_aware"}  # sums of these words, by our own rounds
CASES = {
    "hopper, 4 ranks a node": ("hopper", 4, "mpich"),
    "hopper, 1 a node": ("hopper", 1, "mpich"),
    "hopper, 4 a node, slices": ("hopper", 4, "node_slices"),
    "hopper_optimistic, 4 a node": ("hopper_optimistic", 4, "mpich"),
    "hopper_optimistic, 1 a node": ("hopper_optimistic", 1, "mpich"),
}


def points() -> list[Point]:
    found = []
    for machine, per_node, model in CASES.values():
        for ranks in RANKS:
            words = (f"problem.ranks={ranks}", f"comm.allreduce={PREDICTED[model]}", *machine_words(machine, per_node))
            found.append(Point(f"mapping_{machine}_{per_node}_{model}_{ranks}", DECK, words))
        if model in SUMS:
            name = f"mapping_simulated_{machine}_{per_node}_{model}"
            words = (f"comm.allreduce={SUMS[model]}",)
            found.append(Point(name, SMALL, words, "simulated", f"results/papers/{name}.json"))
    return found


def make(records: Records, every: list[Point]) -> Made:
    figure, axes = new(len(LATE), len(QUANTITIES), width=9.0, height=7.4, sharex=True, sharey="row")
    rows = []
    for number, (case, (machine, per_node, model)) in enumerate(CASES.items()):
        found = {ranks: solves(records(f"mapping_{machine}_{per_node}_{model}_{ranks}")) for ranks in RANKS}
        name = f"mapping_simulated_{machine}_{per_node}_{model}"
        simulated = surveyed(records(name)) if any(point.name == name for point in every) else {}
        for down, quantity in enumerate(QUANTITIES):
            for across, late in enumerate(LATE):
                gains = [speed_up(one, "ca_bicgstab", quantity, late) for one in found.values()]
                axes[down][across].plot(RANKS, gains, label=case, **series(number))
                if simulated and quantity in SIMULATED_PARTS and not late:
                    look = series(number) | {"linestyle": "none", "markerfacecolor": "none", "markersize": 11}
                    axes[down][across].plot([SIMULATED], [simulated_speed_up(simulated, "ca_bicgstab", quantity)], **look)
        if simulated:
            cells = [f"{simulated_speed_up(simulated, 'ca_bicgstab', quantity):.2f}" if quantity in SIMULATED_PARTS and not late else "-"
                     for quantity in QUANTITIES for late in LATE]  # fmt: skip
            rows.append([f"{case}, simulated", f"{SIMULATED}", *cells])
        for ranks, one in found.items():
            values = [f"{speed_up(one, 'ca_bicgstab', quantity, late):.2f}" for quantity in QUANTITIES for late in LATE]
            rows.append([case, f"{ranks}", *values])
    for down, quantity in enumerate(QUANTITIES):
        for across, late in enumerate(LATE):
            axis = axes[down][across]
            mark_printed(axis, quantity)
            powers_of_two(axis, list(RANKS))
            axis.set_ylim(0 if quantity != "solve" else 0.9, None)
            if down == 0:
                axis.set_title(f"{1e6 * late:.0f} us late" if late else "no rank late")
        axes[down][0].set_ylabel(f"{quantity}: bicgstab's time\nover ca_bicgstab's")
    for axis in axes[-1]:
        axis.set_xlabel("ranks")
    axes[0][0].plot([], [], linestyle="none", marker="o", markerfacecolor="none", color="#7F7F7F", markersize=11,
                    label="hollow: simulated, 8^3 above the bottom")  # fmt: skip
    legend(figure, axes[0][0])
    head = ["machine, mapping, sums", "ranks", *(f"{quantity}: {1e6 * late:.0f} us late" for quantity in QUANTITIES for late in LATE)]
    caption = "Speed-up of ca_bicgstab over bicgstab by machine, ranks a node and how sums travel."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


FIGURES = [Figure("mapping", "Williams et al. 2014, their 11.2, 4.2 and 2.5: what they hang on", points, make)]
