"""The papers' closed forms for the time of an exchange between nodes, from a few counts of its pattern (`pattern` of a record
`scheme`) and a machine's file. Seconds and bytes.

Equations (2.x), (4.x) and (5.x): Lockhart, "Reducing Communication Bottlenecks in Iterative Solvers", PhD thesis, University of
Illinois 2023; "2020": Bienz, Gropp, Olson, "Reducing communication in algebraic multigrid with multi-step node aware
communication", IJHPCA 2020. All of them count what is sent, never what is received: for a gather to one rank they find one message
and choose the standard scheme, where counting receives gives the node-aware ones 5 to 25 times. Nor do they know the messages of a
plan, or those that stay within a node. Tables 3.7 and 3.8 of the thesis, the only ones with the split scheme, let each message of
split within a node carry all of the node's bytes, and so never find split the fastest where the text does; `shares` lets it carry
what one process sends to the network."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MACHINES = Path(__file__).resolve().parents[2] / "inputs/machines"

Counts = dict[str, float]


@dataclass(frozen=True)
class Postal:
    alpha: float = 0.0
    beta: float = 0.0

    def time(self, size: float) -> float:
        return self.alpha + self.beta * size


def seconds_a_byte(cost: dict[str, float]) -> float:
    """Files have either of the two."""
    return cost["beta"] if "beta" in cost else 1 / cost["rate"]


def postal(cost: dict[str, float]) -> Postal:
    return Postal(cost["alpha"], seconds_a_byte(cost))


class Machine:
    """The machine file inputs/machines/NAME.toml."""

    def __init__(self, file: dict[str, Any]):
        self.file = file
        self.injection: float = seconds_a_byte(file["machine"]["injection"])  # 1 / R_N

    def message(self, memory: str, locality: str, size: float) -> Postal:
        costs = self.file[memory]
        protocol = "short" if size < costs["eager_from"] else "eager" if size < costs["rendezvous_from"] else "rendezvous"
        return postal(costs[locality][protocol])

    def devices(self, of: str = "node") -> int:
        return int(self.file["machine"][f"gpus_per_{of}"])

    def ranks(self, of: str = "node") -> int:
        return int(self.file["machine"][f"ranks_per_{of}"])

    def copy(self, way: str, processes: int = 1) -> Postal:
        """By `processes` processes a device; `way` is to_host or to_device."""
        (cost,) = (copy[way] for copy in self.file["copy"] if copy["processes"] == processes)
        return postal(cost)


def machine_named(name: str) -> Machine:
    return Machine(tomllib.loads((MACHINES / f"{name}.toml").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Network:
    """The costs of messages of one size."""

    off_node: Postal
    on_node: Postal
    injection: float
    ranks_per_node: int


def network(machine: Machine, size: float, ranks_per_node: int) -> Network:
    """For messages of `size` bytes from the host. Nothing is passed on within nodes of one rank."""
    on_node = machine.message("host", "node", size) if ranks_per_node > 1 else Postal()
    return Network(machine.message("host", "off_node", size), on_node, machine.injection, ranks_per_node)


def on_node_time(net: Network, messages: float, size: float) -> float:
    """(2.4), 2020 (3)."""
    return net.on_node.alpha * messages + net.on_node.beta * size


def standard_time(net: Network, n: Counts, t: int) -> float:
    """2020 (4), t columns. What leaves a node is counted with duplicates, as what leaves a rank is: this scheme sends them."""
    rate = max(t * n["bytes_per_node_sent"] * net.injection, t * n["bytes"] * net.off_node.beta)
    return net.off_node.alpha * n["messages"] + rate


def two_step_time(net: Network, n: Counts, t: int) -> float:
    """(2.6), (4.9), 2020 (5)."""
    rate = max(t * n["bytes_per_node"] * net.injection, t * n["bytes_per_rank"] * net.off_node.beta)
    return net.off_node.alpha * n["nodes_per_rank"] + rate + on_node_time(net, net.ranks_per_node - 1, t * n["bytes_per_rank"])


def three_step_time(net: Network, n: Counts, t: int) -> float:
    """2020 (6). (2.5) and (4.10) are the same with the bytes of one process, not of a pair of nodes, in the network."""
    rate = max(t * n["bytes_per_node"] * net.injection, t * n["bytes_per_node_pair"] * net.off_node.beta)
    within = on_node_time(net, net.ranks_per_node - 1, t * n["bytes_per_node_pair"])
    return net.off_node.alpha * n["nodes_per_node"] / net.ranks_per_node + rate + 2 * within


# The formula of a scheme, and the bytes of its mean message between nodes, of one column.
FORMS: dict[str, tuple[Callable[[Network, Counts, int], float], Callable[[Counts], float]]] = {
    "standard": (standard_time, lambda n: n["bytes"] / n["messages"]),
    "two_step": (two_step_time, lambda n: n["bytes_per_rank"] / n["nodes_per_rank"]),
    "three_step": (three_step_time, lambda n: n["bytes_per_node_pair"]),
}


def closed_form_time(scheme: str, n: Counts, columns: int, machine: Machine, ranks_per_node: int) -> float | None:
    """With the costs of the scheme's mean message; None where nothing crosses between nodes."""
    if n["messages"] == 0:
        return None
    form, size = FORMS[scheme]
    return form(network(machine, columns * size(n), ranks_per_node), n, columns)


def within_node_time(machine: Machine, memory: str, of_socket: float, size: float) -> float:
    """(3.1) to (3.4): one process sends a message to each other process of its socket, and to each of the other socket."""
    return (of_socket - 1) * machine.message(memory, "socket", size).time(size) + of_socket * machine.message(memory, "node", size).time(size)


def off_node_time(machine: Machine, memory: str, messages: float, size: float, node_bytes: float, message: float) -> float:
    """(3.5): messages of a process with `size` bytes in all; (3.6) of device memory, without the node's injection rate. The
    costs are those of one of `message` bytes."""
    net = machine.message(memory, "off_node", message)
    injected = node_bytes * machine.injection if memory == "host" else 0.0
    return net.alpha * messages + max(injected, size * net.beta)


def copy_time(machine: Machine, sent: float, received: float, processes: int = 1) -> float:
    """(3.7), whose labels are exchanged on the page: the sender copies to the host."""
    return machine.copy("to_host", processes).time(sent) + machine.copy("to_device", processes).time(received)


def mean(size: float, messages: float) -> float:
    return size / messages if messages else 0.0


def step_times(machine: Machine, memory: str, n: Counts, of_socket: int, senders: int) -> dict[str, float]:
    """Standard, three-step and two-step as Tables 3.7 and 3.8 have them, without copies; `senders` of a node. Of three-step they
    count the nodes that a node sends to, and the bytes of one message."""
    node, one, pair = n["bytes_per_node"], n["bytes_per_rank"], n["bytes_per_node_pair"]
    costs = {
        "standard": (n["messages"], n["bytes"], senders * n["bytes"], mean(n["bytes"], n["messages"])),
        "three_step": (n["nodes_per_node"], pair, node, pair),
        "two_step": (n["nodes_per_rank"], one, node, mean(one, n["nodes_per_rank"])),
    }
    within = {"standard": 0.0, "three_step": 2 * within_node_time(machine, memory, of_socket, pair),
              "two_step": within_node_time(machine, memory, of_socket, one)}  # fmt: skip
    return {scheme: off_node_time(machine, memory, *cost) + within[scheme] for scheme, cost in costs.items()}


def split_time(machine: Machine, n: Counts, ranks_per_device: int = 1, shares: bool = False) -> float:
    """Split in both tables, without copies: after (3.3), or (3.4) where several ranks of a device copy."""
    node, messages = n["bytes_per_node"], n["nodes_per_rank"]
    share = node / machine.ranks()
    of_socket = machine.ranks("socket") / ranks_per_device
    within = within_node_time(machine, "host", of_socket, share if shares else node)
    return off_node_time(machine, "host", messages, share, node, mean(share, messages)) + 2 * within


def table_3_7(machine: Machine, n: Counts, shares: bool = False) -> dict[str, float]:
    """The schemes between processes."""
    return {**step_times(machine, "host", n, machine.ranks("socket"), machine.ranks()), "split": split_time(machine, n, shares=shares)}


def table_3_8(machine: Machine, n: Counts, shares: bool = False) -> dict[str, float]:
    """The schemes between devices, by counts of the process of a device: staged through the host, device-aware, and split where one
    process a device copies (md) or four do (dd). In the table staged standard messages copy nothing."""
    found = {}
    for memory, way in (("host", "staged"), ("device", "device_aware")):
        for scheme, seconds in step_times(machine, memory, n, machine.devices("socket"), machine.devices()).items():
            copies = memory == "host" and scheme != "standard"
            found[f"{scheme} {way}"] = seconds + (copy_time(machine, n["bytes_per_rank"], n["bytes_per_node_pair"]) if copies else 0.0)
    for name, processes in (("md", 1), ("dd", 4)):
        copies_of = copy_time(machine, n["bytes_per_rank"], n["bytes_per_node_pair"], processes)
        found[f"split {name}"] = split_time(machine, n, processes, shares) + copies_of
    return found


@dataclass(frozen=True)
class DeviceExchange:
    """An exchange of devices that have a rank each. (5.14), (5.16) and (5.20) as printed charge the bytes of one message for several,
    and (5.17) to (5.19) let every helper of the node send even where there are fewer messages than helpers; else each message is
    charged. The other devices of the node are taken for neighbours first."""

    message_bytes: float
    neighbours: int  # n_pb: ranks that a rank sends to, on its node or not
    ranks_per_device: int = 2  # ppg: a device's own rank and its helpers
    copies: bool = True  # from and to the device; not with memory that both share
    as_printed: bool = False

    def sent(self, cost: Postal, messages: int) -> float:
        return cost.alpha * messages + cost.beta * (1 if self.as_printed else messages) * self.message_bytes

    def messages_off_node(self, machine: Machine) -> int:
        return max(self.neighbours - (machine.devices() - 1), 0)


def time_on_node(machine: Machine, exchange: DeviceExchange) -> float:
    """Between the devices of a node, (5.16): what goes on meanwhile, on all processes that send to other nodes."""
    on_socket = machine.devices("socket")
    return exchange.sent(machine.message("managed", "socket", exchange.message_bytes), on_socket - 1) + exchange.sent(
        machine.message("managed", "node", exchange.message_bytes), machine.devices() - on_socket
    )


@dataclass(frozen=True)
class SharedTime:
    """Each rank passes its messages to helpers, who send them from host memory."""

    to_helpers: float  # (5.14)
    on_node: float  # (5.16)
    off_node: float  # (5.17)
    from_helpers: float  # (5.20)
    messages_of_helper: int  # (5.18), of the busiest
    sending_ranks: int  # (5.19), of a node

    @property
    def total(self) -> float:
        """(5.21)."""
        return self.to_helpers + max(self.on_node, self.off_node) + self.from_helpers


def shared_time(machine: Machine, exchange: DeviceExchange) -> SharedTime:
    """The speed-ups of the thesis' figures 5.9 to 5.12 do not follow from these formulas. Fewer neighbours than the other devices of
    the node leave no messages to other nodes, on the page a negative number."""
    size, helpers = exchange.message_bytes, exchange.ranks_per_device - 1
    n = exchange.messages_off_node(machine)
    each = -(-n // helpers)
    senders = (helpers if exchange.as_printed else min(n, helpers)) * machine.devices()
    within = exchange.sent(machine.message("host", "socket", size), n)
    to_host = machine.copy("to_host").time(size * n) if exchange.copies else 0.0
    to_device = machine.copy("to_device").time(size * n) if exchange.copies else 0.0
    off_node = machine.message("host", "off_node", size)
    node_bytes = (senders if exchange.as_printed else n * machine.devices()) * size
    helper_bytes = (1 if exchange.as_printed else each) * size
    network_time = off_node.alpha * each + max(node_bytes * machine.injection, helper_bytes * off_node.beta)
    return SharedTime(within + to_host, time_on_node(machine, exchange), network_time, within + to_device, each, senders)


def straight_time(machine: Machine, exchange: DeviceExchange) -> float:
    """Every rank sends from managed memory, message after message, (2.1)."""
    off_node = machine.message("managed", "off_node", exchange.message_bytes)
    return max(time_on_node(machine, exchange), exchange.messages_off_node(machine) * off_node.time(exchange.message_bytes))


def staged_time(machine: Machine, exchange: DeviceExchange) -> float:
    """Every rank sends from host memory, copies before and behind, (3.7) with its labels put right and (2.2)."""
    n = exchange.messages_off_node(machine)
    total = n * exchange.message_bytes
    off_node = machine.message("host", "off_node", exchange.message_bytes)
    network_time = off_node.alpha * n + max(machine.devices() * total * machine.injection, total * off_node.beta)
    return machine.copy("to_host").time(total) + max(time_on_node(machine, exchange), network_time) + machine.copy("to_device").time(total)


def device_forms(machine: Machine, message_bytes: float, neighbours: int, copies: bool = True) -> dict[str, float]:
    """Seconds of all three ways to exchange messages of these bytes with these ranks, sharing by the printed equations, too."""
    exchange = DeviceExchange(message_bytes, neighbours, machine.ranks() // machine.devices(), copies)
    printed = replace(exchange, as_printed=True)
    return {"straight": straight_time(machine, exchange), "staged": staged_time(machine, exchange),
            "shared": shared_time(machine, exchange).total, "shared as printed": shared_time(machine, printed).total}  # fmt: skip
