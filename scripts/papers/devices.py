"""Exchanges of devices by closed forms, after figures 5.6 to 5.12 of Lockhart 2023: a discontinuous Galerkin method on an unstructured
mesh, whose sizes are equations (5.12), (5.13) and Table 5.3, on the pattern of a banded matrix with as many neighbours and bytes."""

from dataclasses import dataclass
from math import ceil, comb

from papers.formulas import device_forms, machine_named
from papers.points import Figure, Made, Point, Records, numbers
from studies.evaluate.figures.style import INK, Picture, legend, new, series
from studies.records import Record, Run

DECK = "results/papers/devices.toml"
RANKS = 64
MOST_COLUMNS = 1000
NEIGHBOURS = (4, 8, 12, 16, 20, 24)  # n_pb
ELEMENTS = (1_000, 10_000)  # on a device
ON_BOUNDARIES = 0.2  # part of the elements
MESSAGES = ("grad T", "Q", "grad Q")


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


FLOW = Discretisation()


def values_of(flow: Discretisation, message: str, elements_of_boundary: float) -> float:
    """Values of one partition boundary with so many boundary elements; Table 5.3 has numbers where it says bytes."""
    return elements_of_boundary * flow.points_of_boundary_element() * flow.values(message)


def rows_and_columns(values: float) -> tuple[int, int]:
    """Rows of a rank and columns at a time whose product is `values`, up to half a row."""
    rows = ceil(values / MOST_COLUMNS)
    return rows, round(values / rows)


def name_of(elements: int, message: str, neighbours: int) -> str:
    return f"devices_{elements}_{message.replace(' ', '_')}_{neighbours}"


def points() -> list[Point]:
    found = []
    for elements in ELEMENTS:
        for message in MESSAGES:
            for neighbours in NEIGHBOURS:
                rows, columns = rows_and_columns(values_of(FLOW, message, elements * ON_BOUNDARIES / neighbours))
                words = (f"problem.rows={RANKS * rows}", f"problem.row_entries={neighbours // 2 * rows}", f"problem.columns={columns}")
                found.append(Point(name_of(elements, message, neighbours), DECK, words))
    return found


def gain(forms: Record, over: str, shared: str) -> float:
    return float(forms[f"{over}_seconds"] / forms[shared])


SHARED = {"what is sent": "shared_seconds", "as printed": "shared_seconds_as_printed"}


def forms_of(run: Run) -> Record:
    standard = run.of("scheme")[0]
    return device_forms(machine_named("lassen"), standard["pattern"], standard["columns"])


def make(records: Records, every: list[Point]) -> Made:
    figure, axes = new(len(MESSAGES), len(ELEMENTS), width=9.0, height=5.6, sharex=True, sharey=True)
    rows = []
    for down, elements in enumerate(ELEMENTS):
        for across, message in enumerate(MESSAGES):
            axis = axes[down][across]
            found = {n: forms_of(records(name_of(elements, message, n))) for n in NEIGHBOURS}
            for neighbours, forms in found.items():
                assert forms["neighbours"] == neighbours
                times = [f"{1e6 * forms[field]:.0f}" for field in ("straight_seconds", "staged_seconds", *SHARED.values())]
                gains = [f"{gain(forms, over, shared):.2f}" for over in ("straight", "staged") for shared in SHARED.values()]
                rows.append([f"{elements}", message, f"{neighbours}", f"{forms['message_bytes']:.0f}", *times, *gains,
                             forms["chosen"], forms["chosen_as_printed"]])  # fmt: skip
            number = 0
            for over in ("straight", "staged"):
                for charged, shared in SHARED.items():
                    axis.plot(NEIGHBOURS, [gain(forms, over, shared) for forms in found.values()], label=f"over {over}, {charged}",
                              **series(number))  # fmt: skip
                    number += 1
            axis.axhline(1, color=INK, linewidth=1)
            axis.set_yscale("log", base=2)
            axis.set_yticks([0.125, 0.25, 0.5, 1, 2])
            axis.get_yaxis().set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_xticks(NEIGHBOURS)
            sizes = sorted(forms["message_bytes"] for forms in found.values())
            axis.set_title(f"{message}, {elements:,} elements\n{sizes[0] / 1000:.3g} to {sizes[-1] / 1000:.3g} kB a message")
        axes[down][0].set_ylabel("times as fast with helpers")
    for axis in axes[-1]:
        axis.set_xlabel("neighbours of a device")
    legend(figure, axes[0][0])
    head = ["elements a device", "message", "neighbours", "bytes", "straight, us", "staged, us", "shared, us", "shared, us, as printed",
            *(f"gain over {over}{', as printed' if shared == 'as printed' else ''}" for over in ("straight", "staged") for shared in SHARED),
            "chosen", "chosen, as printed"]  # fmt: skip
    caption = (f"Closed forms for one exchange of devices, lassen, 4 devices a node and 9 helpers each; order {FLOW.order}, "
               f"{FLOW.species} species, a fifth of the elements at boundaries.")  # fmt: skip
    return Made(Picture(figure, caption, "predicted"), numbers(head, rows))


FIGURES = [Figure("devices", "Lockhart 2023, figures 5.6 to 5.12: exchanges of devices, helped by idle cores", points, make)]
