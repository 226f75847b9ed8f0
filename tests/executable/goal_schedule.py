"""Reads a schedule in GOAL, as LogGOPSim's txt2bin would, and says how long its chains of messages are."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

Node = tuple[int, int]  # rank, label
RANK = re.compile(r"rank (\d+) \{")
OPERATION = re.compile(r"l(\d+): (?:(calc) (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))( cpu 1)?")
REQUIRES = re.compile(r"l(\d+) requires l(\d+)")


@dataclass
class Schedule:
    ranks: int = 0
    computed: dict[Node, int] = field(default_factory=dict)  # nanoseconds
    required: dict[Node, set[Node]] = field(default_factory=dict)
    sent: dict[tuple[int, int, int], list[tuple[Node, int]]] = field(default_factory=lambda: defaultdict(list))
    received: dict[tuple[int, int, int], list[tuple[Node, int]]] = field(default_factory=lambda: defaultdict(list))
    second_processor: int = 0  # operations on it

    def messages(self) -> int:
        return sum(map(len, self.sent.values()))

    def longest_chain(self) -> int:
        """Messages one after the other, each received after it is sent. Raises CycleError."""
        graph = {node: set(before) for node, before in self.required.items()}
        arrival = {}
        for route, sends in self.sent.items():
            for (source, _), (target, _) in zip(sends, self.received[route], strict=True):
                graph[target].add(source)
                arrival[target] = source
        chain: dict[Node, int] = {}
        for node in TopologicalSorter(graph).static_order():
            chain[node] = max((chain[before] + (arrival.get(node) == before) for before in graph[node]), default=0)
        return max(chain.values())


def read_schedule(text: str) -> Schedule:
    """Fails on whatever is not known, and on labels that are used before they are given."""
    schedule = Schedule()
    rank = -1
    for line in text.splitlines():
        if line.startswith("//") or line == "}":
            continue
        if line.startswith("num_ranks "):
            schedule.ranks = int(line.split()[1])
        elif found := RANK.fullmatch(line):
            assert int(found[1]) == rank + 1, line
            rank += 1
        elif found := REQUIRES.fullmatch(line):
            here, before = (rank, int(found[1])), (rank, int(found[2]))
            assert before in schedule.required, line
            schedule.required[here].add(before)
        else:
            found = OPERATION.fullmatch(line)
            assert found, line
            node = (rank, int(found[1]))
            assert node not in schedule.required, line
            schedule.required[node] = set()
            schedule.second_processor += found[8] is not None
            if found[2]:
                schedule.computed[node] = int(found[3])
                continue
            peer, tag, size = int(found[6]), int(found[7]), int(found[5])
            if found[4] == "send":
                schedule.sent[rank, peer, tag].append((node, size))
            else:
                schedule.received[peer, rank, tag].append((node, size))
    assert schedule.ranks == rank + 1
    return schedule
