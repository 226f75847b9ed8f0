"""Dry runs of the communication schemes, by results/node-aware's decks: with half of a node's ranks on each of its two sockets, and
where nobody knows the sockets, which gives the time if no two ranks share one and the time if all of a node do."""

from dataclasses import dataclass

from papers.points import Point, Records
from studies.records import Record

NODES = {"blue_waters": 16, "lassen": 40}  # ranks a node, the machines' own
APART, TOGETHER = "predicted_seconds", "predicted_on_one_socket"
GRIDS = {"faces": "faces", "all_depth1": "26 neighbours", "all_depth4": "26, four layers"}
MATRICES = ("natural", "band", "rcm", "shuffled", "shuffled_band", "wide_band", "random", "arrow")
COLUMNS = (1, 20)


def name_of(work: str, machine: str, columns: int = 0) -> str:
    return f"schemes_{work}_{machine}" + (f"_{columns}" if columns else "")


def points_of(work: str, machine: str, columns: int = 0) -> list[Point]:
    deck = f"results/node-aware/{'matrix_' if columns else ''}{work}.toml"
    nodes = NODES[machine]
    words = (f"comm.ranks_per_node={nodes}", *([f"problem.columns={columns}"] if columns else []))
    name = name_of(work, machine, columns)
    known = (*words, f"comm.ranks_per_socket={nodes // 2}", f"comm.machine={machine}")
    return [Point(name, deck, known), Point(f"{name}_unknown", deck, words, sockets_unknown=machine)]


def grid_points() -> list[Point]:
    return [point for work in GRIDS for machine in NODES for point in points_of(work, machine)]


def matrix_points() -> list[Point]:
    return [point for work in MATRICES for machine in NODES for t in COLUMNS for point in points_of(work, machine, t)]


@dataclass(frozen=True)
class Scheme:
    """One scheme of one pattern: seconds with two sockets a node, if none share one, if all of a node do."""

    record: Record
    seconds: float
    apart: float
    together: float


def schemes_of(records: Records, work: str, machine: str, columns: int = 0) -> dict[int, dict[str, Scheme]]:
    """By level; standard first."""
    name = name_of(work, machine, columns)
    known, unknown = records(name).of("scheme"), records(f"{name}_unknown").of("scheme")
    found: dict[int, dict[str, Scheme]] = {}
    for one, other in zip(known, unknown, strict=True):
        assert (one["level"], one["scheme"]) == (other["level"], other["scheme"])
        found.setdefault(one["level"], {})[one["scheme"]] = Scheme(one, one[APART], other[APART], other[TOGETHER])
    return found


def faster_rule(schemes: dict[str, Scheme], family: str) -> Scheme:
    """The faster one of a scheme's rules."""
    return min((one for name, one in schemes.items() if name.partition("/")[0] == family), key=lambda one: one.seconds)


def gains(schemes: dict[str, Scheme], family: str) -> tuple[float, float, float]:
    """Over standard: two sockets a node, and the bounds of the rule that is faster there."""
    first, one = schemes["standard"], faster_rule(schemes, family)
    return first.seconds / one.seconds, first.apart / one.apart, first.together / one.together


def told(values: tuple[float, float, float]) -> str:
    return f"{values[0]:.2f} ({values[1]:.2f} to {values[2]:.2f})"
