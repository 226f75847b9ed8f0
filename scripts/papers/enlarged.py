"""Enlarged conjugate gradients: iterations saved against work and words, after chapter 4 of Lockhart 2023."""

from papers.points import Figure, Made, Point, Records, machine_words, numbers
from papers.weak_scaling import LATE, delayed
from studies.evaluate.figures.style import COLOURS, HATCHES, Picture, legend, new

DECK = "results/papers/enlarged.toml"
RANKS = (64, 512, 4096)
WIDTHS = (1, 2, 4, 8)
PARTS = {"bottom": "work", "bottom_exchange": "exchanges", "all_reduce": "all-reduces"}


def points() -> list[Point]:
    return [
        Point(f"enlarged_{width}_{ranks}", DECK, (f"bottom.block={width}", f"problem.ranks={ranks}", *machine_words("hopper", 4)))
        for ranks in RANKS for width in WIDTHS
    ]  # fmt: skip


def make(records: Records, every: list[Point]) -> Made:
    found = {(width, ranks): records(f"enlarged_{width}_{ranks}").of("solve")[0] for width in WIDTHS for ranks in RANKS}
    figure, axes = new(len(RANKS), width=9.0, height=3.5)
    rows = []
    names = [f"{width}" for width in WIDTHS]
    for axis, ranks in zip(axes[0], RANKS, strict=True):
        below = [0.0] * len(WIDTHS)
        for n, (part, label) in enumerate(PARTS.items()):
            values = [1e3 * found[width, ranks]["parts"][part] for width in WIDTHS]
            axis.bar(names, values, bottom=below, width=0.7, label=label, color=COLOURS[n + 5], hatch=HATCHES[n],
                     edgecolor="#ffffff80", linewidth=0.4)  # fmt: skip
            below = [a + b for a, b in zip(below, values, strict=True)]
        late = [1e3 * delayed(found[width, ranks], LATE[2])["seconds"] for width in WIDTHS]
        axis.plot(names, late, linestyle="none", marker="_", markersize=16, color="#d00000", label="solve, sums 200 us late")
        axis.set(title=f"{ranks:,} ranks", xlabel="t, directions at a time")
        axis.grid(visible=False, axis="x")
        for width in WIDTHS:
            solve = found[width, ranks]
            values = [f"{1e3 * delayed(solve, one)['seconds']:.2f}" for one in LATE]
            rows.append([f"{ranks}", f"{width}", f"{solve['bottom_iterations']:.0f}", f"{solve['reductions']:.0f}",
                         f"{solve['reduction_words']:.0f}", *(f"{1e3 * solve['parts'][part]:.2f}" for part in PARTS), *values])  # fmt: skip
    axes[0][0].set_ylabel("ms a solve")
    legend(figure, axes[0][0])
    head = ["ranks", "t", "iterations", "all-reduces", "words", *(f"{name}, ms" for name in PARTS.values()),
            *(f"solve, ms: {1e6 * late:.0f} us late" for late in LATE)]  # fmt: skip
    caption = "Enlarged CG on 64^3 cells by the number of directions t; hopper, 4 ranks a node, standard scheme; no rank late in the bars."
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


FIGURES = [Figure("enlarged", "Lockhart 2023, figures 4.3 to 4.14: enlarged CG by its t", points, make)]
