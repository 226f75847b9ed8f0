"""Costs of messages from host to host by class and size, as machine files (inputs/machines) have them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.define.checked_toml import CheckedToml, Refused

CLASSES = {"socket": "in a socket", "node": "in a node", "off_node": "between nodes"}
PROTOCOLS = ("short", "eager", "rendezvous")
SIZES = [2**power for power in range(23)]  # bytes, to 4 MiB


@dataclass(frozen=True)
class Messages:
    """The costs of a machine's messages; a class that the file lacks is not in `classes`."""

    name: str
    begins: dict[str, float]  # bytes from which a protocol is used
    classes: dict[str, dict[str, tuple[float, float]]]  # alpha and beta by protocol
    others: dict[str, float]  # injection and triad, seconds a byte; overhead and all-reduce noise, seconds

    def protocol(self, name: str, size: float) -> str:
        used = [one for one in PROTOCOLS if one in self.classes[name] and self.begins[one] <= size]
        return used[-1] if used else next(iter(self.classes[name]))

    def seconds(self, name: str, size: float) -> float:
        alpha, beta = self.classes[name][self.protocol(name, size)]
        return alpha + beta * size


def beta_of(cost: dict[str, Any]) -> float | None:
    return cost.get("beta") or (1 / cost["rate"] if cost.get("rate") else None)


def read_messages(path: Path) -> Messages:
    """Refuses a file without the costs of any message; keel itself checks the rest of a machine file."""
    values = CheckedToml(path).values
    host = values.get("host")
    host = host if isinstance(host, dict) else {}
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name in CLASSES:
        for protocol in PROTOCOLS:
            cost = (host.get(name) or {}).get(protocol) if isinstance(host.get(name), dict) else None
            if isinstance(cost, dict) and isinstance(cost.get("alpha"), (int, float)) and (beta := beta_of(cost)):
                found.setdefault(name, {})[protocol] = float(cost["alpha"]), float(beta)
    if not found:
        raise Refused(f"{path}: no alpha and rate of [host.off_node], [host.node] or [host.socket]; write a machine file by"
                      " run.mode=network network.write=FILE")  # fmt: skip
    begins = {"short": 0.0} | {name: float(host.get(f"{name}_from") or 0) for name in PROTOCOLS[1:]}
    machine, compute, noise = (values.get(name) or {} for name in ("machine", "compute", "noise"))
    others = {"injection of a node": beta_of(machine.get("injection") or {}), "triad of a rank": beta_of(compute)}
    if noise.get("all_reduce"):
        others["all-reduce beyond its messages"] = noise["all_reduce"]
    return Messages(path.stem, begins, found, {name: float(value) for name, value in others.items() if value})
