"""Messages by the machine files, which hold Tables 3.3 to 3.5 and 5.4 of Lockhart 2023, after its figures 3.1 to 3.3, 3.8 and 5.5."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from papers.formulas import Machine, copy_time, machine_named
from papers.points import Figure, Made, Point, Records
from studies.evaluate.figures.style import Picture, label_y, new, plain_decades, series
from studies.records import Record

SIZES = tuple(4**n for n in range(1, 12))  # bytes, to 4 MiB
MACHINES = ("blue_waters", "lassen")
Curve = Callable[[float], float]  # seconds by bytes


def localities(machine: Machine, memory: str) -> dict[str, Curve]:
    def curve(locality: str) -> Curve:
        return lambda size: machine.message(memory, locality, size).time(size)

    return {name: curve(locality) for name, locality in (("within a socket", "socket"), ("within a node", "node"), ("between nodes", "off_node"))}


def node_pong(machine: Machine, active: int) -> Curve:
    """Some ranks of a node share the bytes between two nodes: (2.2) of one message each."""

    def seconds(size: float) -> float:
        cost = machine.message("host", "off_node", size / active)
        return cost.alpha + max(size * machine.injection, size / active * cost.beta)

    return seconds


def between_devices(machine: Machine) -> dict[str, Curve]:
    """One message between nodes from a device's memory, from managed memory, or staged by one or four processes that copy."""

    def staged(processes: int) -> Curve:
        def seconds(size: float) -> float:
            return copy_time(machine, size, size, processes) + machine.message("host", "off_node", size / processes).time(size / processes)

        return seconds

    return {"device": localities(machine, "device")["between nodes"], "managed": localities(machine, "managed")["between nodes"],
            "staged, one process": staged(1), "staged, four processes": staged(4)}  # fmt: skip


def panels() -> Iterator[tuple[str, dict[str, Curve]]]:
    machines = {name: machine_named(name) for name in MACHINES}
    for name, machine in machines.items():
        yield f"{name}, host memory", localities(machine, "host")
    for name, machine in machines.items():
        actives = [active for active in (1, 2, 4, 8, 16, 40) if active <= machine.ranks()]
        yield f"{name}, node to node", {f"{active} active": node_pong(machine, active) for active in actives}
    yield "lassen, device memory", localities(machines["lassen"], "device")
    yield "lassen, between devices of two nodes", between_devices(machines["lassen"])


def make(records: Records, every: list[Point]) -> Made:
    figure, axes = new(2, 3, width=9.0, height=10.0, sharex=True)
    rows: list[Record] = []
    for (title, curves), (down, across) in zip(panels(), product(range(3), range(2)), strict=True):
        axis: Any = axes[down][across]
        for number, (name, curve) in enumerate(curves.items()):
            seconds = [curve(size) for size in SIZES]
            axis.loglog(SIZES, [1e6 * one for one in seconds], label=name, **series(number))
            rows.append({"record": "row", "panel": title, "curve": name, "us": [float(f"{1e6 * one:.4g}") for one in seconds]})
        axis.set(xlabel="bytes", title=title)
        plain_decades(axis.get_yaxis())
        axis.minorticks_off()
        axis.legend(fontsize=8)
    label_y(axes, "us a message")
    return Made(Picture(figure, "Messages by the files of Blue Waters and Lassen: one message, and bytes between two nodes by ranks that share them.", "predicted"), rows)


FIGURES = [Figure("network", "Lockhart 2023, Tables 3.3 to 3.5 and 5.4, figures 3.1 to 3.3, 3.8, 5.5: messages by machine files", lambda: [], make)]
