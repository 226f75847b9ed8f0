"""Platforms and machines for SimGrid: the words of inputs/platforms/platform.cpp and the options of SMPI.

A machine's file (inputs/machines) says what messages and computing cost, a platform's (inputs/platforms) how the nodes are
connected. A message takes the file's alpha and rate by its protocol, off the node over the shortest way; every other way takes
more.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from studies.define.checked_toml import CheckedToml, Key, Refused, nearest
from studies.layout import INPUTS

# Seconds that a message keeps the process at each of its ends busy, where the machine's file does not say: assumed.
OVERHEAD = 0.2e-6
# Seconds that it takes to ask whether a message has come, where the machine's file does not say: assumed.
LOOK = 3e-8
# The rounds of a torus' links, switches and so on between two nodes as near as can be.
NEAREST = {"torus": 1, "fat_tree": 2, "dragonfly": 2}
SHAPES = {
    "torus": {},
    "fat_tree": {"nodes_per_leaf": Key(int, "nodes on a leaf switch", least=1, needed=True)},
    "dragonfly": {
        "chassis": Key(int, "chassis of a group", least=1, needed=True),
        "routers": Key(int, "routers of a chassis", least=1, needed=True),
        "nodes_per_router": Key(int, "nodes on a router", least=1, needed=True),
    },
}
LINKS = {"torus": 0, "fat_tree": 1, "dragonfly": 3}


@dataclass(frozen=True)
class Platform:
    name: str
    cores: int  # in a node
    fabric: dict[str, Any]

    @property
    def nodes(self) -> int:
        return int(self.fabric["nodes"])

    def counts(self, nodes: int) -> list[int]:
        """How many of everything make the smallest whole shape with these nodes."""
        fabric = self.fabric
        if fabric["shape"] == "torus":
            edges = [1, 1, 1]
            while prod(edges) < nodes:
                edges[min((2, 0, 1), key=lambda axis: edges[axis])] *= 2
            return [edge for edge in edges if edge > 1] or [2]  # SimGrid connects no router to itself
        if fabric["shape"] == "fat_tree":
            return [fabric["nodes_per_leaf"], -(-nodes // fabric["nodes_per_leaf"])]
        group = fabric["chassis"] * fabric["routers"] * fabric["nodes_per_router"]
        return [max(2, -(-nodes // group)), fabric["chassis"], fabric["routers"], fabric["nodes_per_router"]]


@dataclass(frozen=True)
class Protocol:
    """From `size` bytes on."""

    begin: int
    alpha: float
    rate: float


def slower(protocols: Sequence[Protocol]) -> list[float]:
    """Seconds a byte of each, beyond those of the fastest."""
    fastest = max(protocol.rate for protocol in protocols)
    return [1 / protocol.rate - 1 / fastest for protocol in protocols]


@dataclass(frozen=True)
class Machine:
    name: str
    ranks_per_node: int
    injection: float  # bytes a second
    overhead: float
    inside: tuple[Protocol, ...]  # a node
    outside: tuple[Protocol, ...]
    rendezvous_from: int  # bytes
    look: float

    @property
    def copied(self) -> list[float]:
        """Seconds a byte that keep the sender busy, protocol by protocol: messages that are not the fastest are copied. SMPI does
        not tell messages within a node from others there, so that it is the less of the two."""
        return [min(pair) for pair in zip(slower(self.inside), slower(self.outside), strict=True)]


def find(word: str, folder: str) -> Path:
    """A name in inputs/FOLDER, in $KEEL_DATA/FOLDER or of those that come with Keel, as keel looks for machines; or a path."""
    if "/" in word or word.endswith(".toml"):
        return Path(word)
    own = os.environ.get("KEEL_DATA")
    folders = [Path("inputs", folder), *([Path(own, folder)] if own else []), INPUTS / folder]
    known = {path.stem: path for one in reversed(folders) for path in sorted(one.rglob("*.toml"))}
    if word not in known:
        what = "study" if folder == "studies" else folder.removesuffix("s")
        option = "" if folder == "studies" else f"--{what} "
        raise Refused(f"{option}{word}: no such {what}; choose {', '.join(sorted(known))}, or give a file.toml"
                      f"{nearest(word, known)}")  # fmt: skip
    return known[word]


def read_platform(path: Path) -> Platform:
    file = CheckedToml(path)
    file.check(file.values, (), {name: Key(dict, f"[{name}]", needed=True) for name in ("node", "fabric")}, "a platform")
    node, fabric = (file.values.get(name, {}) for name in ("node", "fabric"))
    file.check(node, ("node",), {"cores": Key(int, "cores of a node", least=1, needed=True)}, "[node]")
    shape = fabric.get("shape", "torus")
    keys = {
        "shape": Key(str, "how routers are connected", list(SHAPES), needed=True),
        "nodes": Key(int, "nodes that there are", least=1, needed=True),
        "hop": Key((int, float), "seconds from a router to the next", least=0, needed=True),
        "rate": Key((int, float), "bytes a second of a link between routers", least=1, needed=True),
    } | SHAPES.get(shape, {})
    if LINKS.get(shape):
        keys["links"] = Key(list, f"cables between two routers, {LINKS[shape]} in all", needed=True)
    file.check(fabric, ("fabric",), keys, "[fabric]")
    links = fabric.get("links", [])
    if LINKS.get(shape) and isinstance(links, list) and (
        len(links) != LINKS[shape] or not all(isinstance(link, int) and link > 0 for link in links)
    ):  # fmt: skip
        file.refuse(("fabric", "links"), f"fabric.links = {links}: wants {LINKS[shape]} whole numbers from 1 on")
    file.done()
    return Platform(path.stem, node["cores"], fabric)


def read_machine(path: Path) -> Machine:
    """The part of a machine file that a simulation needs; keel checks the file. All missing keys are refused at once."""
    file = CheckedToml(path)
    missing: list[str] = []

    def at(*names: str) -> Any:
        value: Any = file.values
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            missing.append(".".join(names))
        return value

    def rate(cost: dict[str, float]) -> float:
        return cost["rate"] if "rate" in cost else 1 / cost["beta"]

    at("compute", "rate"), at("compute", "launch")
    per_node, injection = at("machine", "ranks_per_node"), at("machine", "injection")
    eager, rendezvous = at("host", "eager_from"), at("host", "rendezvous_from")
    begins = {"short": 0, "eager": eager or 0, "rendezvous": rendezvous or 0}
    used = [name for name in begins if not (name == "short" and not eager or name == "eager" and eager == rendezvous)]
    outer = {name: at("host", "off_node", name) for name in used}
    inner = {name: at("host", "node", name) for name in used}
    if missing:
        raise Refused(
            f"{path}: a simulation needs {', '.join(missing)}; measure messages with run.mode = network on the machine,"
            " or write down what is published, with its source; or choose another --machine"
        )
    first = used[0]
    overhead = outer[first].get("overhead", OVERHEAD)
    inside, outside = (
        tuple(Protocol(begins[name], costs[name]["alpha"], rate(costs[name])) for name in used) for costs in (inner, outer)
    )
    if not min(protocol.alpha for protocol in inside + outside) > 2 * overhead:
        raise Refused(
            f"{path}: each alpha of host.off_node and host.node must be more than twice the overhead of {overhead:g} s,"
            f" which both ends have; give host.off_node.{first} an overhead, or a smaller one"
        )
    look = file.values["compute"].get("look", LOOK)
    if not look > 0:
        raise Refused(
            f"{path}: compute.look = {look:g}: who asks again and again would ask for ever; give some nanoseconds,"
            " or leave it out"
        )
    return Machine(path.stem, per_node, rate(injection), overhead, inside, outside, begins["rendezvous"], look)


def mistakes(machine: Machine, platform: Platform, ranks: int, per_node: int) -> list[str]:
    """Why these ranks cannot run there."""
    found = []
    nodes = -(-ranks // per_node)
    if nodes > platform.nodes:
        found.append(f"--ranks {ranks}: {nodes} nodes of {per_node} ranks; platform {platform.name} has {platform.nodes}:"
                     f" at most {platform.nodes * per_node} ranks, or more of them on a node (--ranks-per-node)")  # fmt: skip
    if per_node > platform.cores:
        source = "" if per_node != machine.ranks_per_node else f" (of machine {machine.name})"
        found.append(f"{per_node} ranks a node{source}: a node of platform {platform.name} has {platform.cores} cores;"
                     " choose --ranks-per-node, or another --platform")  # fmt: skip
    return found


def words(machine: Machine, platform: Platform, nodes: int) -> str:
    """KEEL_PLATFORM."""
    fabric = platform.fabric
    hops = NEAREST[fabric["shape"]] * fabric["hop"]
    # The overhead of both ends and the nearest route is no latency of the nodes' own links.
    latency = max(0.0, (machine.outside[0].alpha - 2 * machine.overhead - hops) / 2)
    values = {
        "name": platform.name,
        "shape": fabric["shape"],
        "counts": ",".join(map(str, platform.counts(nodes))),
        "links": ",".join(map(str, fabric.get("links", []))),
        "cores": platform.cores,
        "hop": f"{fabric['hop']:g}",
        "rate": f"{fabric['rate']:g}",
        "nic_latency": f"{latency:g}",
        "nic_rate": f"{machine.injection:g}",
        "inner_latency": f"{machine.inside[0].alpha - 2 * machine.overhead:g}",
        "inside_rate": f"{max(one.rate for one in machine.inside):g}",
        "outside_rate": f"{max(one.rate for one in machine.outside):g}",
        "inside": told(machine.inside, machine.copied),
        "outside": told(machine.outside, machine.copied),
    }
    return " ".join(f"{key}={value}" for key, value in values.items() if value != "")


def told(protocols: Sequence[Protocol], copied: Sequence[float]) -> str:
    """Their seconds beyond the first one's alpha and bytes at the fastest rate, and the sender's seconds a byte copied."""
    each_byte = (here - there for here, there in zip(slower(protocols), copied, strict=True))
    return ";".join(f"{one.begin}:{one.alpha - protocols[0].alpha:g}:{each:g}"
                    for one, each in zip(protocols, each_byte, strict=True))  # fmt: skip


def options(machine: Machine) -> list[str]:
    """Options of SMPI, by their names."""
    send = ";".join(f"{one.begin}:{machine.overhead:g}:{copied:g}"
                    for one, copied in zip(machine.outside, machine.copied, strict=True))  # fmt: skip
    return [
        f"smpi/os:{send}",
        f"smpi/ois:{send}",
        f"smpi/or:0:{machine.overhead:g}:0",
        # Short and eager messages travel as soon as they are sent. By itself SimGrid lets all wait until they are asked for, as
        # a rendezvous does: pending all-reduces then lose a round whenever they are progressed late.
        f"smpi/async-small-thresh:{machine.rendezvous_from}",
        f"smpi/send-is-detached-thresh:{max(machine.rendezvous_from, 65536)}",
        # Keel charges its operations itself, so that a run repeats to the last digit.
        "smpi/simulate-computation:no",
        "smpi/host-speed:1Gf",
        # The time to look at one request, two for a pending all-reduce. By default a look at a message that is not there takes
        # 100 us, and longer each time.
        f"smpi/test:{machine.look:g}",
        # The time of a look for uncounted messages, as ranks agree on plans: assumed. Shorter ones make simulations long.
        "smpi/iprobe:1e-6",
        "smpi/grow-injected-times:no",
        # Collectives that take log2 of the ranks; as a set SimGrid's choices take seconds to start on hundreds of ranks.
        "smpi/allreduce:rdb",
        "smpi/barrier:ompi_recursivedoubling",
        "smpi/reduce:binomial",
        "smpi/allgather:rdb",
        "smpi/allgatherv:ompi_bruck",
        "smpi/gather:ompi_binomial",
        "smpi/bcast:binomial_tree",
        # All ranks share what is static: Keel changes nothing of that but the note that a signal came. A test compares.
        "smpi/privatization:no",
        # No acknowledgements, which TCP sends.
        "network/crosstraffic:no",
        "contexts/stack-size:1024",
    ]
