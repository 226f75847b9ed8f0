"""Exchanges of devices by closed forms at the parameters of section 5.3.1 of Lockhart 2023, after its figures 5.6, 5.7 and 5.9 to
5.12: a discontinuous Galerkin method on an unstructured mesh, whose sizes are equations (5.10) to (5.13) and Table 5.3."""

from dataclasses import dataclass
from itertools import product
from math import comb

from papers.formulas import device_forms, machine_named
from papers.points import Figure, Made, Point, Records
from papers.printed import printed
from studies.evaluate.figures.style import COLOURS, INK, Picture, label_y, legend, new, plain_decades, series
from studies.records import Record

ELEMENTS = 200_000  # a device
ON_BOUNDARIES = (20, 40)  # % of the elements
ORDERS = (2, 3, 4)  # p_o
NEIGHBOURS = (4, 10, 20)  # n_pb
SPECIES = (1, 2, 3, 4, 5, 6, 7)  # N_s
BYTES = {1: "numbers taken for bytes", 8: "8 bytes a number"}  # Table 5.3 has numbers and says bytes
MESSAGES = ("Q", "grad Q", "grad T")
BOUND = "exchanges of a right-hand side, s"  # printed


@dataclass(frozen=True)
class Discretisation:
    """Sizes of a reacting flow."""

    dimensions: int = 3  # N_d
    order: int = 2  # p_o
    species: int = 7  # N_s

    def points_of_boundary_element(self) -> int:
        """(5.13)."""
        return comb(self.dimensions - 1 + self.order, self.order)

    def values(self, message: str) -> int:
        """A point's numbers in one message, Table 5.3."""
        state = self.dimensions + 2 + self.species
        return {"grad T": self.dimensions, "Q": state, "grad Q": self.dimensions * state}[message]


def values_of(flow: Discretisation, message: str, elements_of_boundary: float) -> float:
    """Values of one partition boundary with `elements` boundary elements."""
    return elements_of_boundary * flow.points_of_boundary_element() * flow.values(message)


def right_hand_side(flow: Discretisation, share: int, neighbours: int, size: int, copies: bool) -> dict[str, float]:
    """Seconds of its three exchanges, one after the other, by each way."""
    elements = ELEMENTS * share / 100 / neighbours
    lassen = machine_named("lassen")
    every = [device_forms(lassen, size * values_of(flow, message, elements), neighbours, copies) for message in MESSAGES]
    return {way: sum(forms[way] for forms in every) for way in every[0]}


def rows() -> list[Record]:
    """Milliseconds and gains by species, in the order of SPECIES."""
    found: list[Record] = []
    for size, share, order, neighbours in product(BYTES, ON_BOUNDARIES, ORDERS, NEIGHBOURS):
        flows = [Discretisation(order=order, species=species) for species in SPECIES]
        with_copies, without = ([right_hand_side(flow, share, neighbours, size, copies) for flow in flows] for copies in (True, False))
        found.append({
            "record": "row", "bytes a number": size, "at boundaries, %": share, "order": order, "neighbours": neighbours,
            "kB of grad Q": [round4(size * values_of(flow, "grad Q", ELEMENTS * share / 100 / neighbours) / 1000) for flow in flows],
            "straight, ms": [round4(1e3 * times["straight"]) for times in with_copies],
            "staged, ms": [round4(1e3 * times["staged"]) for times in with_copies],
            **{f"gain, {'' if copies else 'no copies, '}{way}": [round4(times["straight"] / times[shared]) for times in every]
               for copies, every in ((True, with_copies), (False, without))
               for way, shared in (("as printed", "shared as printed"), ("each message", "shared"))},
            "gain over staged, as printed": [round4(times["staged"] / times["shared as printed"]) for times in with_copies],
        })  # fmt: skip
    return found


def round4(value: float) -> float:
    return float(f"{value:.4g}")


PANELS = {
    "straight, ms": "ms a right-hand side,\nstraight",
    "kB of grad Q": "kB a message,\ngrad Q",
    "gain, as printed": "times as fast with helpers,\nwith copies",
    "gain, no copies, as printed": "times as fast with helpers,\nwithout copies",
}


def make(records: Records, every: list[Point]) -> Made:
    found = rows()
    (bound,) = (one.value for one in printed("Lockhart") if one.quantity == BOUND)
    figure, axes = new(len(ON_BOUNDARIES), len(PANELS), width=9.0, height=10.0, sharex=True, sharey="row")
    for (down, (field, label)), (across, share) in product(enumerate(PANELS.items()), enumerate(ON_BOUNDARIES)):
        axis = axes[down][across]
        for number, neighbours in enumerate(NEIGHBOURS):
            for size, line in zip(BYTES, (":", "-"), strict=True):
                of_orders = [row[field] for row in found if (row["bytes a number"], row["at boundaries, %"], row["neighbours"]) == (size, share, neighbours)]
                axis.fill_between(SPECIES, *of_orders[:: len(of_orders) - 1], color=COLOURS[number], alpha=0.2, linewidth=0)
                axis.plot(SPECIES, of_orders[1], label=f"{neighbours} neighbours, {BYTES[size]}", **series(number) | {"linestyle": line, "marker": ""})
        if field != "kB of grad Q":
            axis.axhline(1 if field.startswith("gain") else 1e3 * (bound or 0), color=INK, linewidth=1)
        axis.set(yscale="log", xticks=SPECIES, xlabel="species", title=f"{share} % of the elements at boundaries")
        plain_decades(axis.get_yaxis())
        axis.minorticks_off()
    for down, label in enumerate(PANELS.values()):
        label_y(axes[down : down + 1], label)
    legend(figure, axes[0][0])
    caption = (f"Exchanges of a right-hand side between devices of lassen, {ELEMENTS:,} elements each, order 3 (bands: 2 to 4); 4 devices "
               f"a node, 9 helpers each, by the equations as printed; the line at {1e3 * (bound or 0):g} ms is the printed bound.")  # fmt: skip
    return Made(Picture(figure, caption, "predicted"), found)


FIGURES = [Figure("devices", "Lockhart 2023, figures 5.6 to 5.12: exchanges of devices, helped by idle cores", lambda: [], make)]
