#!/usr/bin/env python3
"""Prints the times of records as a literal of Hatchet, the calling-context trees of LLNL's tools (also Thicket's):

    scripts/export_hatchet.py run.json >run.literal.json
    hatchet.GraphFrame.from_literal(json.load(open("run.literal.json")))

A tree is a solver of a run: its levels, on each its operations, words with dots as branches (exchange, below it pack). Times are
seconds per solve, the mean over ranks: "time" what a node took itself, "time (inc)" with all below it; "time (max)" is the slowest
rank's. Counts are those of one solve.
"""

import json
import sys
from pathlib import Path
from typing import Any

from studies.records import Record, Run, UnreadableRecords, read_all
from studies.view import print_view

Node = dict[str, Any]
COUNTS = ("calls", "bytes_moved", "flops", "messages", "bytes", "off_node_messages", "off_node_bytes")


def node(name: str, kind: str) -> Node:
    metrics = dict.fromkeys(("time", "time (inc)", "time (max)", *COUNTS), 0.0)
    return {"frame": {"name": name, "type": kind}, "metrics": metrics, "children": []}


def child(parent: Node, name: str, kind: str) -> Node:
    """The one of that name; made where there is none yet."""
    children: list[Node] = parent["children"]
    for one in children:
        if one["frame"]["name"] == name:
            return one
    children.append(node(name, kind))
    return children[-1]


def add(root: Node, timer: Record) -> None:
    # What belongs to no operation belongs to no level either.
    words = [("other", "operation")] if timer["op"] == "other" else [
        (f"level {timer['level']}", "level"), *((word, "operation") for word in timer["op"].split("."))]  # fmt: skip
    path = [root]
    for name, kind in words:
        path.append(child(path[-1], name, kind))
    for one in path:
        one["metrics"]["time (inc)"] += timer["t_mean"]
    last = path[-1]["metrics"]
    last["time"] += timer["t_mean"]
    last["time (max)"] += timer["t_max"]
    for count in COUNTS:
        last[count] += timer.get(count, 0.0)


def trees(run: Run) -> list[Node]:
    solvers = list(dict.fromkeys(run.solver_of(timer) for timer in run.of("timer")))
    roots = []
    for solver in solvers:
        root = node(f"{solver}, {run.head.get('ranks')}x{run.head.get('threads')}", "solver")
        for timer in run.timers(solver):
            add(root, timer)
        roots.append(root)
    return roots


def literal(paths: list[Path]) -> list[Node]:
    roots = [root for run in read_all(paths) for root in trees(run)]
    if not roots:
        raise UnreadableRecords(f"{', '.join(map(str, paths))}: no timer record; dry runs and runs that were killed have none")
    return roots


def main(words: list[str]) -> int:
    return print_view(__doc__, words, lambda files: json.dumps(literal(files), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
