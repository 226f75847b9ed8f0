"""Who the papers' closed forms would choose, and who the time of the plan, after figures 3.11 to 3.13 and 4.6 of Lockhart 2023."""

from papers.formulas import closed_form_time, machine_named
from papers.points import Figure, Made, Point, Records, numbers
from papers.schemes import COLUMNS, GRIDS, MATRICES, NODES, Scheme, grid_points, matrix_points, schemes_of
from studies.evaluate.figures.style import COLOURS, Picture, legend, new
from studies.records import Record

# The schemes that have a closed form, by a rule each.
FAMILIES = ("standard", "two_step", "three_step")
CHOOSERS = ("closed form", "plan, none on a socket", "plan, two sockets", "plan, one socket")


def choices(schemes: dict[str, Scheme], machine: str) -> dict[str, str]:
    """Who each would choose."""
    have = {family: schemes[family] for family in FAMILIES}
    first = have["standard"].record
    known = machine_named(machine)
    forms = {family: closed_form_time(family, first["pattern"], first["columns"], known, NODES[machine]) for family in have}
    found = {
        "plan, none on a socket": min(have, key=lambda family: have[family].apart),
        "plan, two sockets": min(have, key=lambda family: have[family].seconds),
        "plan, one socket": min(have, key=lambda family: have[family].together),
    }
    times = {family: seconds for family, seconds in forms.items() if seconds is not None}
    if times:
        found["closed form"] = min(times, key=lambda family: times[family])
    return found


def cases(records: Records, machine: str) -> dict[str, dict[str, Scheme]]:
    found = {}
    for work, title in GRIDS.items():
        for schemes in schemes_of(records, work, machine).values():
            found[f"{title}, {schemes['standard'].record['box']}^3"] = schemes
    for work in MATRICES:
        for t in COLUMNS:
            found[f"{work}, t = {t}"] = schemes_of(records, work, machine, t)[0]
    return found


def points() -> list[Point]:
    return grid_points() + matrix_points()


def make(records: Records, every: list[Point]) -> Made:
    figure, axes = new(len(NODES), width=8.6, height=9.0, sharey=True)
    rows = []
    totals: list[Record] = []
    for axis, (machine, nodes) in zip(axes[0], NODES.items(), strict=True):
        found = cases(records, machine)
        agreed = 0
        for place, (case, schemes) in enumerate(found.items()):
            chosen = choices(schemes, machine)
            first = schemes["standard"].seconds
            best = min(schemes[family].seconds for family in FAMILIES)
            for number, chooser in enumerate(CHOOSERS):
                if chooser in chosen:
                    scheme = chosen[chooser]
                    axis.barh(place, 1, left=number, height=1, color=COLOURS[FAMILIES.index(scheme)], alpha=0.55, edgecolor="white")
                    axis.text(number + 0.5, place, f"{first / schemes[scheme].seconds:.2f}", ha="center", va="center", fontsize=8)
            agreed += chosen.get("closed form") == chosen["plan, two sockets"]
            form = chosen.get("closed form", "-")
            loss = f"{schemes[form].seconds / best:.2f}" if form != "-" else "-"
            rows.append([case, machine, f"{nodes}", *(chosen.get(chooser, "-") for chooser in CHOOSERS), loss])
        axis.set_xticks([0.5 + n for n in range(len(CHOOSERS))], [name.replace(", ", ",\n").replace("closed ", "closed\n") for name in CHOOSERS])
        axis.tick_params(axis="x", labelsize=7, length=0)
        axis.set_yticks(range(len(found)), list(found))
        axis.tick_params(axis="y", labelsize=8, length=0)
        axis.set(title=f"{machine}, {nodes} ranks a node", xlim=(0, len(CHOOSERS)), ylim=(len(found) - 0.5, -0.5))
        axis.grid(visible=False)
        totals.append({"record": "total", "machine": machine, "patterns": len(found), "closed form chooses as plan with two sockets": agreed})
    for number, family in enumerate(FAMILIES):
        axes[0][0].bar([0], [0], color=COLOURS[number], alpha=0.55, label=family)
    legend(figure, axes[0][0])
    head = ["pattern", "machine", "ranks a node", *CHOOSERS, "closed form's choice over the fastest"]
    caption = ("Who the closed forms choose and who the times of the plans, of the three schemes that have a closed form; in the fields "
               "the gain of that choice over standard by the plan, two sockets a node.")  # fmt: skip
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows) + totals)


FIGURES = [Figure("closed_forms", "Lockhart 2023, figures 3.11 to 3.13 and 4.6: who each would choose", points, make)]
